// The shape of a workflow as it is written: which keys there are and of what kind, each mistake with its place.

import * as z from "zod";
import { isRecord } from "../ledger/guards.ts";
import { own } from "../ledger/own.ts";
import { didYouMean, quotedSource } from "../templates/source.ts";
import type { PhaseSpec, WorkflowSpec } from "./definition.ts";
import type { At, Places } from "./places.ts";

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,59}$/;
const KEY = /^[\p{L}_][\p{L}\p{M}\p{N}_-]{0,99}$/u;
const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/;
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST_MS = 2_147_483_647; // what a timer of Node can wait

const PHASE_KEYS: (keyof PhaseSpec)[] = [
  ...(["id", "title", "agent", "prompt", "template", "reads", "exports", "needs", "when", "foreach"] as const),
  ...(["concurrency", "until", "retry", "timeout", "budget", "wait"] as const),
];
const KNOWN = {
  workflow: ["name", "description", "inputs", "concurrency", "budget", "phases"],
  phase: PHASE_KEYS,
  until: ["when", "max", "repeat", "exhausted"],
  budget: ["tokens", "rounds"],
} satisfies Record<string, readonly string[]>;

function shape() {
  const id = z.string().regex(ID, "an id has letters, digits, - and _, and begins with a letter");
  const key = z.string().regex(KEY, "a key has letters, digits, - and _, and begins with a letter");
  const text = z.string().min(1, "is empty");
  const count = (most: number) => z.number().int().min(1).max(most);
  const duration = z
    .string()
    .refine((one) => durationMs(one) !== undefined, 'write a time with its unit, as "90s" or "10m"');
  // A record passes over this one without a word.
  const nameable = z.custom(
    (one) => !isRecord(one) || !Object.hasOwn(one, "__proto__"),
    "no key can be called __proto__",
  );
  const schemas = nameable.pipe(z.record(key, z.unknown()));
  const phase = z.strictObject({
    id,
    title: text.optional(),
    agent: text.optional(),
    prompt: text.optional(),
    template: text.optional(),
    reads: z.array(key).optional(),
    exports: schemas.optional(),
    needs: z.array(z.string()).optional(),
    when: text.optional(),
    foreach: text.optional(),
    concurrency: count(1000).optional(),
    until: z
      .strictObject({
        when: text,
        max: count(1000),
        repeat: z.array(z.string()),
        exhausted: z.enum(["fail", "continue"]).optional(),
      })
      .optional(),
    retry: z.number().int().min(0).max(100).optional(),
    timeout: duration.optional(),
    budget: z.strictObject({ tokens: count(1e12).optional(), rounds: count(1e6).optional() }).optional(),
    wait: z.enum(["input"], 'only "input": the exported keys are what the person gives').optional(),
  });
  return z.strictObject({
    name: text,
    description: z.string().optional(),
    inputs: schemas.optional(),
    concurrency: count(1000).optional(),
    budget: z.strictObject({ tokens: count(1e12).optional() }).optional(),
    phases: z.array(phase).min(1, "there is no phase"),
  });
}

/** Reports what is wrong with the shape; undefined when something is. */
export function readShape(value: unknown, places: Places): WorkflowSpec | undefined {
  const parsed = shape().safeParse(value);
  if (parsed.success) return parsed.data as WorkflowSpec;
  for (const issue of parsed.error.issues) {
    const at: At = issue.path.filter((one) => typeof one !== "symbol");
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const known = knownAt(at);
        const advice = `Take it out; known are ${known.join(", ")}.`;
        places.report(at, `there is no key ${quotedSource(key)} here${didYouMean(key, known)}`, advice, key);
      }
      continue;
    }
    const named = at.length > 0 ? `${at.join(".")}: ` : "";
    // A key of a record is wrong, not its value.
    const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    const what = places.line(at) === undefined ? message : named + message;
    places.report(at, what, "The format is in docs/workflows.md.");
  }
  return undefined;
}

function knownAt(at: At): readonly string[] {
  if (at.length === 0) return KNOWN.workflow;
  const last = at.at(-1);
  return (typeof last === "string" && own<readonly string[]>(KNOWN, last)) || KNOWN.phase;
}

export function durationMs(text: string): number | undefined {
  const [, amount, unit = ""] = DURATION.exec(text) ?? [];
  const factor = own(UNITS, unit);
  if (amount === undefined || factor === undefined) return undefined;
  const ms = Math.round(Number(amount) * factor);
  return ms >= 1 && ms <= LONGEST_MS ? ms : undefined;
}
