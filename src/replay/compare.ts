// Comparing what was recorded with what this build makes of the same: which field differs, and what kind of difference that is.
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../ledger/guards.ts";
import type { Seq } from "../ledger/store.ts";

/** What a difference is about: what a model is shown; what was decided; what a call was asked with; what came of it; what comes after what. */
export type Kind = "prompt bytes" | "decision" | "call" | "result" | "order";

export interface Difference {
  /** Of the recorded event at which it shows. */
  seq: Seq;
  /** The type of that event. */
  event: string;
  agent: string;
  kind: Kind;
  /** Where in the loop, and by whom: `loop` where it is no mechanism. */
  seam: string;
  mechanism: string;
  /** Which field of the event; not there where one of the two is no such event. */
  field?: string;
  recorded: unknown;
  computed: unknown;
}

/** What is measured or drawn by lot: no build gives it twice. */
const MEASURED: Readonly<Record<string, readonly string[]>> = {
  "turn.started": ["turnId"],
  "reply.received": ["askedAt"],
  "note.added": ["withResults"], // what the process knew that wrote it: which of its requests had gone out
  "tool.finished": ["durationMs"],
  "model.retried": ["delayMs"],
  "approval.asked": ["requestId"],
};

/** Where an event belongs that the loop records itself. */
const SEAM_OF: Readonly<Record<string, string>> = {
  "turn.started": "input",
  "input.taken": "input",
  "input.blocked": "input",
  "input.answered": "input",
  "note.added": "intake",
  "request.changed": "system",
  "reply.received": "model",
  "reply.aside": "model",
  "tool.started": "gate",
  "tool.finished": "tool",
  "turn.ended": "stop",
};

export const seamOf = (type: string): string => SEAM_OF[type] ?? "loop";

const KIND_OF: Readonly<Record<string, Kind>> = {
  "input.taken": "prompt bytes",
  "note.added": "prompt bytes",
  "request.changed": "prompt bytes",
  "tool.started": "call",
  "tool.finished": "result",
  "context.compacted": "prompt bytes",
  "context.summarised": "prompt bytes",
};

/** Fields that say more than their event does. */
const KIND_OF_FIELD: Readonly<Record<string, Kind>> = {
  "tool.started.grants": "decision",
  "tool.finished.denied": "decision",
  "tool.finished.refusal": "decision",
  "reply.received.shown": "prompt bytes",
  "reply.received.sentAs": "prompt bytes",
  "reply.received.parts": "call",
  "input.taken.inputId": "order",
};

export function kindOfField(type: string, field: string | undefined): Kind {
  const top = field?.split(".")[0];
  return KIND_OF_FIELD[`${type}.${top}`] ?? KIND_OF[type] ?? "decision";
}

export interface Unlike {
  field: string;
  recorded: unknown;
  computed: unknown;
}

/** The first field in which they differ. Contract: `computed` has passed its schema. */
export function unlike(type: string, recorded: unknown, computed: unknown): Unlike | undefined {
  const left = without(recorded, MEASURED[type] ?? []);
  const right = without(plain(computed), MEASURED[type] ?? []);
  if (isDeepStrictEqual(left, right)) return undefined;
  return firstUnlike(left, right, []);
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

const without = (value: unknown, names: readonly string[]): unknown =>
  isRecord(value) && names.length > 0
    ? Object.fromEntries(Object.entries(value).filter(([key]) => !names.includes(key)))
    : value;

function firstUnlike(recorded: unknown, computed: unknown, path: string[]): Unlike {
  const keys = new Set([...keysOf(recorded), ...keysOf(computed)]);
  const bothHold = isRecord(recorded) ? isRecord(computed) : Array.isArray(recorded) && Array.isArray(computed);
  // A hash says less than what it is of.
  const told = [...keys].sort((a, b) => Number(a === "hash") - Number(b === "hash"));
  for (const key of bothHold ? told : []) {
    const [left, right] = [at(recorded, key), at(computed, key)];
    if (!isDeepStrictEqual(left, right)) return firstUnlike(left, right, [...path, key]);
  }
  return { field: path.join("."), recorded, computed };
}

const keysOf = (value: unknown): string[] => (typeof value === "object" && value !== null ? Object.keys(value) : []);

function at(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
