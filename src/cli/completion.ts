export async function completion(_shell: string): Promise<number> {
  return 0;
}
