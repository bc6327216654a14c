// Owns the schemas of the events that contexts write, for readers with a codec (the loop): what is listed here is not a newer writer's.
import * as z from "zod";
import type { EventDefs } from "../ledger/events.ts";

const json = () => z.record(z.string(), z.unknown());
const valueFacts = {
  hash: z.string(),
  bytes: z.number(),
  type: z.enum(["null", "boolean", "number", "string", "array", "object"]),
  preview: z.string(),
  value: z.unknown().optional(),
};
const facts = { key: z.string(), ...valueFacts, call: z.string().optional(), ttlMs: z.number().optional() };
const mark = () => z.looseObject({ id: z.string() });

export const contextEvents = {
  "context.configured": { v: 1, schema: json },
  "data.shared": { v: 1, schema: () => z.object({ ...facts, recovers: z.number().optional() }) },
  "data.appended": { v: 1, schema: () => z.object(facts) },
  "data.removed": { v: 1, schema: () => z.object({ key: z.string(), call: z.string().optional() }) },
  "workflow.begun": {
    v: 1,
    schema: () =>
      z.object({
        ...valueFacts,
        keys: z.array(
          z.object({
            key: z.string(),
            input: z.boolean(),
            phases: z.array(z.string()),
            people: z.array(z.string()),
          }),
        ),
      }),
  },
  "workflow.recorded": { v: 1, schema: () => z.object({ phase: z.string(), ...valueFacts }) },
  "input.given": {
    v: 1,
    schema: () => z.object({ phase: z.string(), run: z.number(), key: z.string(), ...valueFacts }),
  },
  "context.checkpointed": {
    v: 1,
    schema: () =>
      z.object({
        name: z.string(),
        auto: z.boolean(),
        note: z.string().optional(),
        files: mark().optional(),
        /** They are kept before anything changes, also by whoever takes the work up after a crash. */
        owes: z.literal("files").optional(),
      }),
  },
  "checkpoint.kept": { v: 1, schema: () => z.object({ checkpoint: z.number(), files: mark() }) },
  "context.restored": {
    v: 1,
    schema: () =>
      z.object({
        checkpoint: z.string(),
        seq: z.number(),
        conversation: z.boolean(),
        data: z.boolean(),
        files: z.boolean(),
        undoes: z.number().optional(),
      }),
  },
  "files.restored": { v: 1, schema: () => z.object({ restore: z.number(), report: json() }) },
  "context.forked": {
    v: 1,
    schema: () => z.object({ context: z.string(), checkpoint: z.string(), seq: z.number(), title: z.string() }),
  },
  /** How the front door started the work, or went on with it. */
  "context.started": {
    v: 1,
    schema: () =>
      z.object({
        model: z.string().optional(),
        fallbackModels: z.array(z.string()).optional(),
        agent: z.string().optional(),
        maxRounds: z.number().optional(),
        approvals: z.enum(["deny", "wait"]).optional(),
        appendSystemPrompt: z.string().optional(),
        permissionMode: z.string().optional(),
        allow: z.array(z.string()).optional(),
        deny: z.array(z.string()).optional(),
        directories: z.array(z.string()).optional(),
        given: z.object({
          ledger: z.string(),
          project: z.string(),
          store: z.string(),
          user: z.string(),
          machine: z.string(),
          trust: z.string(),
        }),
      }),
  },
  "context.imported": { v: 1, schema: () => z.object({ context: z.string(), events: z.number() }) },
  "agent.updated": { v: 1, schema: () => z.object({ name: z.string(), patch: json() }) },
  "work.started": { v: 1, schema: () => z.object({ agent: z.string() }) },
  "work.ended": {
    v: 1,
    schema: () =>
      z.object({ agent: z.string(), reason: z.enum(["done", "paused", "failed"]), error: z.string().optional() }),
  },
  "error.logged": {
    v: 1,
    schema: () =>
      z.object({
        agent: z.string().optional(),
        tool: z.string().optional(),
        message: z.string(),
        cause: z.string().optional(),
      }),
  },
} satisfies EventDefs;
