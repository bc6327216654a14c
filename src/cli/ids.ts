// What a part of an id means, wherever one is typed: enough of it, and only one that has it. The prefix that all ids of a kind have says nothing.

/** Fewer characters say too little to be a part of an id. */
const ENOUGH = 4;

export interface IdKind<T> {
  /** `ctx_` */
  prefix: string;
  idOf: (one: T) => string;
}

/** What the id says beyond its prefix; a name that is typed without it is read the same. */
const bodyOf = (id: string, prefix: string): string =>
  (id.startsWith(prefix) ? id.slice(prefix.length) : id).toLowerCase();

/** Too little to mean one, whatever there is. */
export const isTooShort = (given: string, prefix: string): boolean => bodyOf(given, prefix).length < ENOUGH;

type Fits<T> = (one: T) => boolean;

export const isId = <T>({ prefix, idOf }: IdKind<T>, given: string): Fits<T> => {
  const body = bodyOf(given, prefix);
  return (one) => idOf(one) === given || bodyOf(idOf(one), prefix) === body;
};

export const beginsId = <T>(kind: IdKind<T>, given: string): Fits<T> => partly(kind, given, "startsWith");
export const isInId = <T>(kind: IdKind<T>, given: string): Fits<T> => partly(kind, given, "includes");

function partly<T>({ prefix, idOf }: IdKind<T>, given: string, how: "startsWith" | "includes"): Fits<T> {
  const body = bodyOf(given, prefix);
  return isTooShort(given, prefix) ? () => false : (one) => bodyOf(idOf(one), prefix)[how](body);
}

/** Those that the given whole id, or the given part of one, may mean: more than one tells nothing apart. */
export function idsMeant<T>(all: readonly T[], given: string, kind: IdKind<T>): T[] {
  for (const fits of [isId, beginsId, isInId]) {
    const found = all.filter(fits(kind, given));
    if (found.length > 0) return found;
  }
  return [];
}
