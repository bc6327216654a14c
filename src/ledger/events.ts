// Owns event schemas: what goes in is checked, what comes out is upcast in one place and checked again.
import type { output, ZodType } from "zod";
import { HoldfastError } from "./error.ts";
import type { EventInput, StoredEvent } from "./store.ts";

interface EventDef {
  /** Current schema version; older data passes through `upcast`. */
  v: number;
  /** Built on first use, so that start-up pays only for the events of this run. */
  schema: () => ZodType;
  upcast?: (data: unknown, v: number) => unknown;
}

export type EventDefs = Record<string, EventDef>;

/** An event of these definitions, once its schema has checked it: `type` says what its data is. */
export type Fact<D extends EventDefs> = {
  [T in keyof D & string]: Omit<StoredEvent, "type" | "data"> & { type: T; data: output<ReturnType<D[T]["schema"]>> };
}[keyof D & string];

type Decoded =
  | { ok: true; event: StoredEvent }
  /** `newer`: another Holdfast wrote it: open read-only. `invalid`: kept raw and reported. */
  | { ok: false; event: StoredEvent; problem: "newer" | "invalid"; reason: string };

export interface Codec {
  encode(event: EventInput): EventInput;
  decode(event: StoredEvent): Decoded;
}

export function createCodec(all: EventDefs[]): Codec {
  const defs = new Map<string, EventDef & { built?: ZodType }>();
  for (const group of all) {
    for (const [type, def] of Object.entries(group)) {
      if (defs.has(type)) throw new HoldfastError("invalid", `event type ${type} is defined twice`);
      defs.set(type, { ...def });
    }
  }
  const schemaOf = (def: EventDef & { built?: ZodType }) => {
    def.built ??= def.schema();
    return def.built;
  };
  return {
    encode(event) {
      const def = defs.get(event.type);
      if (!def) throw new HoldfastError("invalid", `no schema for event type ${event.type}`);
      const parsed = schemaOf(def).safeParse(event.data);
      if (!parsed.success) throw new HoldfastError("invalid", `${event.type}: ${explain(parsed.error)}`);
      return { ...event, v: def.v, data: parsed.data };
    },
    decode(event) {
      const def = defs.get(event.type);
      if (!def) return { ok: false, event, problem: "newer", reason: `unknown event type ${event.type}` };
      if (event.v > def.v) {
        return { ok: false, event, problem: "newer", reason: `${event.type} version ${event.v} (known: ${def.v})` };
      }
      const data = event.v < def.v && def.upcast ? def.upcast(event.data, event.v) : event.data;
      const parsed = schemaOf(def).safeParse(data);
      if (!parsed.success) return { ok: false, event, problem: "invalid", reason: explain(parsed.error) };
      return { ok: true, event: { ...event, v: def.v, data: parsed.data } };
    },
  };
}

/** `path: reason; path: reason`, as users and models read it. */
export function explain(error: { issues: { path: PropertyKey[]; message: string }[] }): string {
  return error.issues.map((i) => `${i.path.map(String).join(".") || "(root)"}: ${i.message}`).join("; ");
}
