// The graph of phases: who needs whom, what goes round, in which order.

export interface Vertex {
  id: string;
  needs: readonly string[];
}

/** The first way round, beginning and ending with the same id; undefined when there is none. */
export function cycleIn(vertices: readonly Vertex[]): string[] | undefined {
  const needs = new Map(vertices.map((one) => [one.id, one.needs]));
  const done = new Set<string>();
  for (const { id } of vertices) {
    // By hand, not by recursion: a chain of phases may be long.
    const way: { id: string; next: number }[] = [{ id, next: 0 }];
    const on = new Set([id]);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const to = done.has(top.id) ? undefined : needs.get(top.id)?.[top.next++];
      if (to === undefined) {
        done.add(top.id);
        on.delete(top.id);
        way.pop();
      } else if (on.has(to)) {
        const ids = way.map((one) => one.id);
        return [...ids.slice(ids.indexOf(to)), to];
      } else if (needs.has(to) && !done.has(to)) {
        way.push({ id: to, next: 0 });
        on.add(to);
      }
    }
  }
  return undefined;
}

/** Each after what it needs; otherwise as written. Contract: nothing goes round. */
export function phasesInOrder<T extends Vertex>(vertices: readonly T[]): T[] {
  const placed = new Set<string>();
  const order: T[] = [];
  let left = [...vertices];
  while (left.length > 0) {
    // One at a time keeps the order that was written.
    const free = left.find((one) => one.needs.every((id) => placed.has(id)));
    if (!free) return [...order, ...left];
    order.push(free);
    placed.add(free.id);
    left = left.filter((one) => one !== free);
  }
  return order;
}

/** For each phase all that it needs, directly or not. */
export function ancestorsOf(vertices: readonly Vertex[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { id, needs } of phasesInOrder(vertices)) {
    const all = new Set<string>();
    for (const need of needs) {
      all.add(need);
      for (const one of found.get(need) ?? []) all.add(one);
    }
    found.set(id, all);
  }
  return found;
}
