// Event schemas: what goes in is checked, what comes out is upcast in one place and checked again.
import { HoldfastError } from "./error.ts";
import { isRecord } from "./guards.ts";
import type { EventInput, StoredEvent } from "./store.ts";

/** What an event's data must look like; a zod schema is one. */
export interface EventSchema<T = unknown> {
  safeParse(
    data: unknown,
    how?: { jitless: boolean },
  ): { success: true; data: T } | { success: false; error: SchemaError };
}

export interface SchemaError {
  issues: { path: PropertyKey[]; message: string }[];
}

export interface EventDef {
  /** Current schema version. Contract: above 1 there is a step in `upcast` from every older one. */
  v: number;
  /** Built on first use, so that start-up pays only for the events of this run. */
  schema: () => EventSchema;
  /** What makes data of the next version out of data of version N: `{ 1: (data) => …, 2: (data) => … }`. A new version adds a step, and no step ever changes. */
  upcast?: Readonly<Record<number, (data: unknown) => unknown>>;
}

export type EventDefs = Record<string, EventDef>;

type DataOf<D extends EventDef> = ReturnType<D["schema"]> extends EventSchema<infer T> ? T : never;

/** An event of these definitions, once its schema has checked it: `type` says what its data is. */
export type Fact<D extends EventDefs> = {
  [T in keyof D & string]: Omit<StoredEvent, "type" | "data"> & { type: T; data: DataOf<D[T]> };
}[keyof D & string];

/**
 * Events of a mechanism that is not part of Holdfast: programs without it meet them too. `required`: those may only read the ledger;
 * otherwise they pass over the events and go on.
 */
export interface Extension {
  mechanism: string;
  required: boolean;
  types: string[];
}

export interface EventGroup {
  events: EventDefs;
  extension?: Omit<Extension, "types">;
}

type Decoded =
  | { ok: true; event: StoredEvent }
  /** `unknown`: no such type here. `newer`: a later version of it. `invalid`: kept raw and reported. */
  | { ok: false; event: StoredEvent; problem: "unknown" | "newer" | "invalid"; reason: string };

export interface Codec {
  encode(event: EventInput): EventInput;
  decode(event: StoredEvent): Decoded;
  /** Of which mechanism beside Holdfast's own an event type is. */
  extensionOf(type: string): Extension | undefined;
}

interface Known extends EventDef {
  built?: EventSchema;
  checks: number;
  extension?: Extension;
}

/** Zod writes a program for each schema it checks with: fewer checks than this cost less without. */
const WORTH_COMPILING = 100;
/** For what is checked a few times in a process. */
export const SELDOM = { jitless: true } as const;

export function createCodec(groups: EventGroup[]): Codec {
  const defs = new Map<string, Known>();
  const all: EventGroup[] = [{ events: EXTENDED_EVENTS }, ...groups];
  for (const { events, extension } of all) {
    const types = Object.keys(events);
    for (const [type, def] of Object.entries(events)) {
      if (defs.has(type)) throw new HoldfastError("invalid", `event type ${type} is defined twice`);
      checkSteps(type, def);
      defs.set(type, { ...def, checks: 0, ...(extension && { extension: { ...extension, types } }) });
    }
  }
  const check = (def: Known, data: unknown) => {
    def.built ??= def.schema();
    return def.built.safeParse(data, { jitless: def.checks++ < WORTH_COMPILING });
  };
  return {
    encode(event) {
      const def = defs.get(event.type);
      if (!def) throw new HoldfastError("invalid", `no schema for event type ${event.type}`);
      const parsed = check(def, event.data);
      if (!parsed.success) throw new HoldfastError("invalid", `${event.type}: ${explain(parsed.error)}`);
      return { ...event, v: def.v, data: parsed.data };
    },
    decode(event) {
      const def = defs.get(event.type);
      if (!def) return { ok: false, event, problem: "unknown", reason: `event type ${event.type}` };
      if (event.v > def.v) {
        return { ok: false, event, problem: "newer", reason: `${event.type} version ${event.v} (known: ${def.v})` };
      }
      const parsed = check(def, upcast(def, event));
      if (!parsed.success) return { ok: false, event, problem: "invalid", reason: explain(parsed.error) };
      return { ok: true, event: { ...event, v: def.v, data: parsed.data } };
    },
    extensionOf: (type) => defs.get(type)?.extension,
  };
}

/** An old ledger must not be met by a version that nobody thought of. */
function checkSteps(type: string, { v, upcast = {} }: EventDef): void {
  for (let from = 1; from < v; from++)
    if (!upcast[from])
      throw new HoldfastError(
        "invalid",
        `event type ${type} has version ${v} and no upcast from version ${from}: add it`,
      );
  const beyond = Object.keys(upcast).filter((from) => !(Number(from) >= 1 && Number(from) < v));
  if (beyond.length > 0)
    throw new HoldfastError(
      "invalid",
      `event type ${type} has an upcast from version ${beyond[0]}, and is version ${v}`,
    );
}

/** Step by step, from the version it was written in to that of now. */
function upcast(def: EventDef, event: StoredEvent): unknown {
  let { data } = event;
  for (let from = event.v; from < def.v; from++) data = def.upcast?.[from]?.(data);
  return data;
}

/** `path: reason; path: reason`, as users and models read it. */
export function explain(error: SchemaError): string {
  return error.issues.map((i) => `${i.path.map(String).join(".") || "(root)"}: ${i.message}`).join("; ");
}

/** Stands before the first event of an extension: from here on every reader knows whose event types these are. */
export const EXTENDED = "ledger.extended";

const EXTENDED_EVENTS: EventDefs = {
  [EXTENDED]: {
    v: 1,
    schema: () => ({
      safeParse(data) {
        const { mechanism, required, types }: Record<string, unknown> = isRecord(data) ? data : {};
        if (typeof mechanism === "string" && typeof required === "boolean" && Array.isArray(types))
          return { success: true, data: { mechanism, required, types } };
        return { success: false, error: { issues: [{ path: [], message: "no extension" }] } };
      },
    }),
  },
};
