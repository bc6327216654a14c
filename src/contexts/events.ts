// The events that contexts write and fold, with their schemas: of `holdfast/contexts` alone, and of the loop, which reads them too.

import * as z from "../ledger/event-schema.ts";
import type { EventDefs } from "../ledger/events.ts";

const valueFacts = {
  hash: z.string(),
  bytes: z.number(),
  type: z.enum(["null", "boolean", "number", "string", "array", "object"]),
  preview: z.string(),
  value: z.unknown().optional(),
};
const facts = { key: z.string(), ...valueFacts, call: z.string().optional(), ttlMs: z.number().optional() };
/** A keeper of files may say more of it. */
const mark = z.looseObject({ id: z.string() });
const names = z.array(z.string()).optional();

/** What only the runtime, a person at the front door, or the library's caller says: no tool brings these. */
export const RESERVED_EVENTS: ReadonlySet<string> = new Set([
  ...["context.created", "context.moved", "context.configured", "context.restored", "context.forked"],
  ...["context.started", "context.imported", "workflow.begun", "workflow.recorded", "input.given", "hub.asked"],
  ...["data.shared", "data.appended", "data.removed", "approval.answered"],
]);

export const contextEvents = {
  /** `machine`: whose folder the root is, where other machines reach the store. */
  "context.created": {
    v: 1,
    schema: () =>
      z.object({ root: z.string(), title: z.string(), version: z.string(), machine: z.string().optional() }),
  },
  "agent.created": { v: 1, schema: () => z.object({ name: z.string(), cwd: z.string() }) },
  /** The project's folder is elsewhere now: every recorded path below the old one is below the new one. */
  "context.moved": { v: 1, schema: () => z.object({ from: z.string(), to: z.string() }) },
  "context.configured": { v: 1, schema: () => z.looseObject({}) },
  "data.shared": { v: 1, schema: () => z.object({ ...facts, recovers: z.number().optional() }) },
  "data.appended": { v: 1, schema: () => z.object(facts) },
  "data.removed": { v: 1, schema: () => z.object({ key: z.string(), call: z.string().optional() }) },
  /** What the hub asked an agent for: the keys of `exports` are its to write. `question`: a hash of what was asked; older Holdfasts did not record it. */
  "hub.asked": {
    v: 1,
    schema: () => z.object({ type: z.string(), exports: z.looseObject({}), question: z.string().optional() }),
  },
  "workflow.begun": {
    v: 1,
    schema: () =>
      z.object({
        ...valueFacts,
        keys: z.array(
          z.object({ key: z.string(), input: z.boolean(), phases: z.array(z.string()), people: z.array(z.string()) }),
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
        files: mark.optional(),
        /** They are kept before anything changes, also by whoever takes the work up after a crash. */
        owes: z.enum(["files"]).optional(),
      }),
  },
  "checkpoint.kept": { v: 1, schema: () => z.object({ checkpoint: z.number(), files: mark }) },
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
  "files.restored": { v: 1, schema: () => z.object({ restore: z.number(), report: z.looseObject({}) }) },
  /** `goesOn`: the turn that its lead was in is open in the copy too, and everything for its next request is taken in. */
  "context.forked": {
    v: 1,
    schema: () =>
      z.object({
        context: z.string(),
        checkpoint: z.string(),
        seq: z.number(),
        title: z.string(),
        goesOn: z.literal(true).optional(),
      }),
  },
  /** How the front door started the work, or went on with it. */
  "context.started": {
    v: 1,
    schema: () =>
      z.object({
        model: z.string().optional(),
        fallbackModels: names,
        agent: z.string().optional(),
        maxRounds: z.number().optional(),
        contextWindow: z.number().optional(),
        approvals: z.enum(["deny", "wait"]).optional(),
        appendSystemPrompt: z.string().optional(),
        systemPrompt: z.string().optional(),
        settings: z.boolean().optional(),
        permissionMode: z.string().optional(),
        allow: names,
        deny: names,
        ask: names,
        pluginDirs: names,
        mcpConfig: z
          .object({ files: z.array(z.object({ file: z.string(), hash: z.string() })), json: z.boolean() })
          .optional(),
        strictMcpConfig: z.boolean().optional(),
        directories: names,
        given: z.object({
          ledger: z.string(),
          project: z.string(),
          store: z.string(),
          user: z.string(),
          machine: z.string(),
          trust: z.string(),
        }),
        /** Of all the others, by a key of that user on that machine; on a store of one machine there is none. */
        seal: z.string().optional(),
      }),
  },
  /** A copy from an exported file begins here: what was open belongs to the original. `root`: the tree that it works in from here on, whatever the file says. */
  "context.imported": {
    v: 1,
    schema: () => z.object({ context: z.string(), events: z.number(), root: z.string().optional() }),
  },
  "agent.updated": { v: 1, schema: () => z.object({ name: z.string(), patch: z.looseObject({}) }) },
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
