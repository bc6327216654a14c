// Whether two values are the same as JSON: what a ledger gives back, and what is about to be written.

/** Contract: the order of keys and what JSON leaves out (undefined, functions) make no difference; the order of a list does. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const [left, right] = [asJson(a), asJson(b)];
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return left === right;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((value, i) => sameJson(inList(value), inList(right[i])));
  }
  const keys = keysOf(left);
  return (
    keys.length === keysOf(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  );
}

type Json = null | undefined | boolean | number | string | unknown[] | Record<string, unknown>;

/** What JSON makes of a value, its parts not looked at yet. */
function asJson(value: unknown): Json {
  const given = isOwnWriter(value) ? value.toJSON() : value;
  switch (typeof given) {
    case "function":
    case "symbol":
      return undefined;
    case "number":
      return Number.isFinite(given) ? given : null;
    default:
      return given as Json;
  }
}

const isOwnWriter = (value: unknown): value is { toJSON(): unknown } =>
  typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function";

/** A list keeps its length: what JSON leaves out elsewhere is null there. */
const inList = (value: unknown): unknown => asJson(value) ?? null;

const keysOf = (value: Record<string, unknown>): string[] =>
  Object.keys(value).filter((key) => asJson(value[key]) !== undefined);
