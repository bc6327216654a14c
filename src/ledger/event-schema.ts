// Schemas for events: the part of zod's interface that events need, in plain functions. A start that writes thirty events builds some
// hundred schemas, and those of zod took seven milliseconds of it; programs that only share data load no schema library at all.
import type { EventSchema, SchemaError } from "./events.ts";
import { isRecord } from "./guards.ts";

type Issues = SchemaError["issues"];

/** Gives what is to be kept of the value; adds to `issues` what is wrong with it. */
type Read = (value: unknown, issues: Issues) => unknown;

/** What a schema is of, for whoever makes data that fits. */
export type FactKind =
  | { is: "string" | "number" | "boolean" | "unknown" }
  | { is: "literal"; value: unknown }
  | { is: "enum"; values: readonly string[] }
  | { is: "array" | "record"; of: FactSchema<unknown> }
  | { is: "object"; shape: FactShape }
  | { is: "union"; options: readonly FactSchema<unknown>[] };

/** Contract: as zod's of the same name: keys that an object does not name are left out, the others come in the order of the schema. */
export class FactSchema<T> implements EventSchema<T> {
  readonly read: Read;
  readonly kind: FactKind;
  /** Says what it accepts, to the compiler alone. */
  declare readonly accepts: T;

  constructor(kind: FactKind, read: Read) {
    this.kind = kind;
    this.read = read;
  }

  safeParse(data: unknown): ReturnType<EventSchema<T>["safeParse"]> {
    const issues: Issues = [];
    const value = this.read(data, issues);
    return issues.length > 0 ? { success: false, error: { issues } } : { success: true, data: value as T };
  }

  optional(): OptionalSchema<T> {
    return new OptionalSchema(this.kind, (value, issues) =>
      value === undefined ? undefined : this.read(value, issues),
    );
  }

  nullable(): FactSchema<T | null> {
    return new FactSchema(this.kind, (value, issues) => (value === null ? null : this.read(value, issues)));
  }

  nullish(): OptionalSchema<T | null> {
    return this.nullable().optional();
  }
}

/** Contract: asked only of what is of its type. */
function and<T>({ read }: FactSchema<T>, isRight: (value: T) => boolean, message: string): Read {
  return (value, issues) => {
    const before = issues.length;
    const kept = read(value, issues) as T;
    if (issues.length === before && !isRight(kept)) issues.push({ path: [], message });
    return kept;
  };
}

export class OptionalSchema<T> extends FactSchema<T | undefined> {
  declare readonly isOptional: true;
}

export class StringSchema extends FactSchema<string> {
  regex(pattern: RegExp): StringSchema {
    const message = `Invalid string: must match pattern ${pattern}`;
    return new StringSchema(
      this.kind,
      and(this, (text) => pattern.test(text), message),
    );
  }
}

export class NumberSchema extends FactSchema<number> {
  nonnegative(): NumberSchema {
    return new NumberSchema(
      this.kind,
      and(this, (number) => number >= 0, "Too small: expected number to be >=0"),
    );
  }
}

export type FactShape = Record<string, FactSchema<unknown>>;
type OptionalKeys<S extends FactShape> = { [K in keyof S]: S[K] extends OptionalSchema<unknown> ? K : never }[keyof S];
type Flat<T> = { [K in keyof T]: T[K] };
type ObjectOf<S extends FactShape> = Flat<
  { [K in Exclude<keyof S, OptionalKeys<S>>]: S[K]["accepts"] } & { [K in OptionalKeys<S>]?: S[K]["accepts"] }
>;
export type infer<S extends FactSchema<unknown>> = S["accepts"];

const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

function expected(what: string, value: unknown, issues: Issues): undefined {
  issues.push({ path: [], message: `Invalid input: expected ${what}, received ${typeOf(value)}` });
}

/** Whatever it is, it has to be there. */
const MISSING = "Invalid input: expected nonoptional, received undefined";

/** The issues that reading one part of a value adds are those of that part. */
function readPart(schema: FactSchema<unknown>, { value, key }: { value: unknown; key: PropertyKey }, issues: Issues) {
  const before = issues.length;
  const kept = schema.read(value, issues);
  for (let i = before; i < issues.length; i++) issues[i]?.path.unshift(key);
  return kept;
}

export class ObjectSchema<S extends FactShape> extends FactSchema<ObjectOf<S>> {
  readonly shape: S;

  constructor(shape: S, { keepsOthers = false } = {}) {
    const keys = Object.keys(shape);
    super({ is: "object", shape }, (value, issues) => {
      if (!isRecord(value)) return expected("object", value, issues);
      const kept: Record<string, unknown> = keepsOthers ? ownOf(value) : {};
      for (const key of keys) {
        const has = Object.hasOwn(value, key);
        if (!has && shape[key] === UNKNOWN) issues.push({ path: [key], message: MISSING });
        const given = has ? value[key] : undefined;
        const part = readPart(shape[key] as FactSchema<unknown>, { value: given, key }, issues);
        if (part !== undefined) kept[key] = part;
      }
      return kept;
    });
    this.shape = shape;
  }

  extend<More extends FactShape>(more: More): ObjectSchema<S & More> {
    return new ObjectSchema({ ...this.shape, ...more });
  }
}

/** Events may come from a file of somebody else's: `__proto__` is no key. */
const ownOf = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== "__proto__"));

const STRING = new StringSchema({ is: "string" }, (value, issues) =>
  typeof value === "string" ? value : expected("string", value, issues),
);
const NUMBER = new NumberSchema({ is: "number" }, (value, issues) =>
  typeof value === "number" && Number.isFinite(value) ? value : expected("number", value, issues),
);
const BOOLEAN = new FactSchema<boolean>({ is: "boolean" }, (value, issues) =>
  typeof value === "boolean" ? value : expected("boolean", value, issues),
);
const UNKNOWN = new FactSchema<unknown>({ is: "unknown" }, (value) => value);

export const string = (): StringSchema => STRING;
export const number = (): NumberSchema => NUMBER;
export const boolean = (): FactSchema<boolean> => BOOLEAN;
export const unknown = (): FactSchema<unknown> => UNKNOWN;

type Literal = string | number | boolean | null;

export class LiteralSchema<T extends Literal> extends FactSchema<T> {
  readonly value: T;

  constructor(literal: T) {
    const message = `Invalid input: expected ${JSON.stringify(literal)}`;
    super({ is: "literal", value: literal }, (value, issues) =>
      value === literal ? value : void issues.push({ path: [], message }),
    );
    this.value = literal;
  }
}

export const literal = <const T extends Literal>(value: T): LiteralSchema<T> => new LiteralSchema(value);

function oneOf<const T extends readonly string[]>(values: T): FactSchema<T[number]> {
  return new FactSchema({ is: "enum", values }, (value, issues) => {
    if (values.some((one) => one === value)) return value;
    const options = values.map((one) => `"${one}"`).join("|");
    return void issues.push({ path: [], message: `Invalid option: expected one of ${options}` });
  });
}

export { oneOf as enum };

export const array = <T>(item: FactSchema<T>): FactSchema<T[]> =>
  new FactSchema({ is: "array", of: item }, (value, issues) => {
    if (!Array.isArray(value)) return expected("array", value, issues);
    return value.map((one, key) => readPart(item, { value: one, key }, issues));
  });

export const object = <S extends FactShape>(shape: S): ObjectSchema<S> => new ObjectSchema(shape);

/** Keys that it does not name stay. */
export const looseObject = <S extends FactShape>(shape: S): FactSchema<ObjectOf<S> & Record<string, unknown>> =>
  new ObjectSchema(shape, { keepsOthers: true }) as FactSchema<unknown> as FactSchema<
    ObjectOf<S> & Record<string, unknown>
  >;

export const record = <T>(_: FactSchema<string>, item: FactSchema<T>): FactSchema<Record<string, T>> =>
  new FactSchema({ is: "record", of: item }, (value, issues) => {
    if (!isRecord(value)) return expected("record", value, issues);
    const kept: Record<string, unknown> = {};
    for (const key of Object.keys(value))
      if (key !== "__proto__") kept[key] = readPart(item, { value: value[key], key }, issues);
    return kept;
  });

type Option<K extends string> = ObjectSchema<{ [_ in K]: LiteralSchema<string> } & FactShape>;

/** One of several objects, told apart by one field. */
export function discriminatedUnion<K extends string, O extends Option<K>>(
  field: K,
  options: O[],
): FactSchema<O["accepts"]> {
  const byName = new Map(options.map((option) => [option.shape[field].value, option]));
  return new FactSchema({ is: "union", options }, (value, issues) => {
    if (!isRecord(value)) return expected("object", value, issues);
    const option = byName.get(value[field] as string);
    if (option) return option.read(value, issues);
    return void issues.push({
      path: [field],
      message: `Invalid input: expected one of ${[...byName.keys()].join(", ")}`,
    });
  });
}
