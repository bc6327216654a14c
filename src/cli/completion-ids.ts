// placeholder
export async function contextIds(_flags: unknown): Promise<number> {
  return 0;
}
