// How values are read and written: own data properties only, nothing of theirs is ever called.

import { isRecord } from "../ledger/guards.ts";
/** Called with what is wrong; throws. */
export type JsonFault = (code: "invalid" | "limit", what: string) => never;

const DEEPEST = 256;

export const isList = (value: unknown): value is unknown[] => Array.isArray(value);

/** What a property holds; undefined for one that is inherited, absent or computed by a getter. */
export function ownValue(container: object, key: string | number): unknown {
  return Object.getOwnPropertyDescriptor(container, key)?.value;
}

/** Where one step of a path leads: a number into a list, a name into an object. */
export function stepInto(holder: unknown, key: string | number): unknown {
  if (typeof key === "number") return isList(holder) ? ownValue(holder, key) : undefined;
  return isRecord(holder) ? ownValue(holder, key) : undefined;
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (isList(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}

/** JSON with 2 spaces and sorted keys: the same value always gives the same bytes. */
export function stableJson(value: unknown, limit: number, fault: JsonFault): string {
  const parts: string[] = [];
  const above = new Set<object>();
  let size = 0;
  const put = (text: string): void => {
    size += text.length;
    if (size > limit) fault("limit", "its JSON is too long");
    parts.push(text);
  };
  const write = (item: unknown, indent: string): void => {
    const number = typeof item === "number" && Number.isFinite(item);
    if (item === null || number || typeof item === "boolean" || typeof item === "string") {
      put(JSON.stringify(item));
      return;
    }
    if (typeof item !== "object") fault("invalid", `${typeof item === "number" ? item : typeof item} is not JSON`);
    if (above.has(item)) fault("invalid", "it contains itself");
    if (above.size >= DEEPEST) fault("limit", `it is nested deeper than ${DEEPEST}`);
    above.add(item);
    const inner = `${indent}  `;
    if (isList(item)) {
      if (item.length === 0) put("[]");
      for (let i = 0; i < item.length; i++) {
        put(`${i === 0 ? "[" : ","}\n${inner}`);
        write(ownValue(item, i), inner);
      }
      if (item.length > 0) put(`\n${indent}]`);
    } else {
      const proto: unknown = Object.getPrototypeOf(item);
      if (proto !== null && Object.getPrototypeOf(proto) !== null)
        fault("invalid", "an instance of a class is not JSON");
      // As JSON.stringify does it, a property that is undefined is left out.
      const keys = Object.keys(item).filter((key) => !isUndefined(item, key));
      keys.sort().forEach((key, i) => {
        put(`${i === 0 ? "{" : ","}\n${inner}${JSON.stringify(key)}: `);
        write(ownValue(item, key), inner);
      });
      put(keys.length === 0 ? "{}" : `\n${indent}}`);
    }
    above.delete(item);
  };
  write(value, "");
  return parts.join("");
}

function isUndefined(item: object, key: string): boolean {
  const property = Object.getOwnPropertyDescriptor(item, key);
  return property !== undefined && "value" in property && property.value === undefined;
}
