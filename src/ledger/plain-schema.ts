// Schemas for events in plain functions: for programs that load no schema library, such as those that only share data.
import type { EventSchema } from "./events.ts";
import { isRecord } from "./guards.ts";

interface Issue {
  path: PropertyKey[];
  message: string;
}

type Check = (value: unknown) => Issue | undefined;

/** Contract: it checks and changes nothing; keys that it does not name stay. */
export interface Plain<T> extends EventSchema<T> {
  check: Check;
  isOptional: boolean;
}

interface OptionalPlain<T> extends Plain<T> {
  isOptional: true;
}

type TypeOf<P> = P extends Plain<infer T> ? T : never;
type Shape = Record<string, Plain<unknown>>;
type OptionalKeys<S extends Shape> = { [K in keyof S]: S[K] extends OptionalPlain<unknown> ? K : never }[keyof S];
type ObjectOf<S extends Shape> = { [K in Exclude<keyof S, OptionalKeys<S>>]: TypeOf<S[K]> } & {
  [K in OptionalKeys<S>]?: TypeOf<S[K]>;
};

function plain<T>(check: Check): Plain<T> {
  return {
    check,
    isOptional: false,
    safeParse(data) {
      const issue = check(data);
      return issue ? { success: false, error: { issues: [issue] } } : { success: true, data: data as T };
    },
  };
}

const expected = (what: string, value: unknown): Issue => ({
  path: [],
  message: `expected ${what}, received ${value === null ? "null" : Array.isArray(value) ? "array" : typeof value}`,
});

const below = (key: PropertyKey, issue: Issue | undefined): Issue | undefined =>
  issue && { ...issue, path: [key, ...issue.path] };

const ofType = <T>(type: "string" | "number" | "boolean"): Plain<T> =>
  plain((value) => (typeof value === type ? undefined : expected(type, value)));

export const string: Plain<string> = ofType("string");
export const number: Plain<number> = ofType("number");
export const boolean: Plain<boolean> = ofType("boolean");
export const unknown: Plain<unknown> = plain(() => undefined);

export const oneOf = <const T extends string>(...values: T[]): Plain<T> =>
  plain((value) => (values.some((one) => one === value) ? undefined : expected(`one of ${values.join(", ")}`, value)));

export const optional = <T>({ check }: Plain<T>): OptionalPlain<T> => ({
  ...plain<T>((value) => (value === undefined ? undefined : check(value))),
  isOptional: true,
});

export const array = <T>({ check }: Plain<T>): Plain<T[]> =>
  plain((value) => {
    if (!Array.isArray(value)) return expected("array", value);
    for (const [i, one] of value.entries()) {
      const issue = below(i, check(one));
      if (issue) return issue;
    }
    return undefined;
  });

export const record: Plain<Record<string, unknown>> = plain((value) =>
  isRecord(value) ? undefined : expected("object", value),
);

export function object<S extends Shape>(shape: S): Plain<ObjectOf<S>> {
  const fields = Object.entries(shape).map(([key, { check }]) => ({ key, check }));
  return plain((value) => {
    if (!isRecord(value)) return expected("object", value);
    for (const field of fields) {
      const issue = field.check(value[field.key]);
      if (issue) return below(field.key, issue);
    }
    return undefined;
  });
}
