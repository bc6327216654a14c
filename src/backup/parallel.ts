// Some work at a time. The first failure stops the rest, and is thrown when nothing is going on any more.

export async function inParallel<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let failed: { error: unknown } | undefined;
  const one = async () => {
    for (let next = rest.next(); !next.done && !failed; next = rest.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: width }, one));
  if (failed) throw failed.error;
}
