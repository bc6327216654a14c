// Finding what an id, or a part of one, stands for: at least four characters beyond the prefix (`ctx_`), and only one match.

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

/** Contract: true also where only one id would match. */
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

/** What the given id matches: whole, else at its beginning, else anywhere. More than one: it is ambiguous. */
export function idsMeant<T>(all: readonly T[], given: string, kind: IdKind<T>): T[] {
  for (const fits of [isId, beginsId, isInId]) {
    const found = all.filter(fits(kind, given));
    if (found.length > 0) return found;
  }
  return [];
}
