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

interface SchemaError {
  issues: { path: PropertyKey[]; message: string }[];
}

export interface EventDef {
  /** Current schema version; older data passes through `upcast`. */
  v: number;
  /** Built on first use, so that start-up pays only for the events of this run. */
  schema: () => EventSchema;
  /** Contract: gives data of the current version; asked only for older data. */
  upcast?: (data: unknown, v: number) => unknown;
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
      const data = event.v < def.v && def.upcast ? def.upcast(event.data, event.v) : event.data;
      const parsed = check(def, data);
      if (!parsed.success) return { ok: false, event, problem: "invalid", reason: explain(parsed.error) };
      return { ok: true, event: { ...event, v: def.v, data: parsed.data } };
    },
    extensionOf: (type) => defs.get(type)?.extension,
  };
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
