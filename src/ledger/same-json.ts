// Whether two values are the same as JSON: what a ledger gives back, and what is about to be written.
import { isDeepStrictEqual } from "node:util";

/** Contract: the order of keys and what JSON leaves out (undefined, functions) make no difference; the order of a list does. */
export const sameJson = (a: unknown, b: unknown): boolean => isDeepStrictEqual(asJson(a), asJson(b));

const asJson = (value: unknown): unknown => {
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
};
