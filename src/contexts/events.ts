// The events that contexts write and fold, with their schemas: of `holdfast/contexts` alone, and of the loop, which reads them too.
import type { EventDefs } from "../ledger/events.ts";
import { array, boolean, number, object, oneOf, optional, record, string, unknown } from "../ledger/plain-schema.ts";

const valueFacts = {
  hash: string,
  bytes: number,
  type: oneOf("null", "boolean", "number", "string", "array", "object"),
  preview: string,
  value: optional(unknown),
};
const facts = { key: string, ...valueFacts, call: optional(string), ttlMs: optional(number) };
const mark = object({ id: string });
const names = optional(array(string));

/** What only the runtime, a person at the front door, or the library's caller says: no tool brings these. */
export const RESERVED_EVENTS: ReadonlySet<string> = new Set([
  ...["context.created", "context.moved", "context.configured", "context.restored", "context.forked"],
  ...["context.started", "context.imported", "workflow.begun", "workflow.recorded", "input.given", "hub.asked"],
  ...["data.shared", "data.appended", "data.removed", "approval.answered"],
]);

export const contextEvents = {
  "context.created": { v: 1, schema: () => object({ root: string, title: string, version: string }) },
  "agent.created": { v: 1, schema: () => object({ name: string, cwd: string }) },
  /** The project's folder is elsewhere now: every recorded path below the old one is below the new one. */
  "context.moved": { v: 1, schema: () => object({ from: string, to: string }) },
  "context.configured": { v: 1, schema: () => record },
  "data.shared": { v: 1, schema: () => object({ ...facts, recovers: optional(number) }) },
  "data.appended": { v: 1, schema: () => object(facts) },
  "data.removed": { v: 1, schema: () => object({ key: string, call: optional(string) }) },
  /** What the hub asked an agent for: the keys of `exports` are its to write. `question`: a hash of what was asked; older Holdfasts did not record it. */
  "hub.asked": { v: 1, schema: () => object({ type: string, exports: record, question: optional(string) }) },
  "workflow.begun": {
    v: 1,
    schema: () =>
      object({
        ...valueFacts,
        keys: array(object({ key: string, input: boolean, phases: array(string), people: array(string) })),
      }),
  },
  "workflow.recorded": { v: 1, schema: () => object({ phase: string, ...valueFacts }) },
  "input.given": { v: 1, schema: () => object({ phase: string, run: number, key: string, ...valueFacts }) },
  "context.checkpointed": {
    v: 1,
    schema: () =>
      object({
        name: string,
        auto: boolean,
        note: optional(string),
        files: optional(mark),
        /** They are kept before anything changes, also by whoever takes the work up after a crash. */
        owes: optional(oneOf("files")),
      }),
  },
  "checkpoint.kept": { v: 1, schema: () => object({ checkpoint: number, files: mark }) },
  "context.restored": {
    v: 1,
    schema: () =>
      object({
        checkpoint: string,
        seq: number,
        conversation: boolean,
        data: boolean,
        files: boolean,
        undoes: optional(number),
      }),
  },
  "files.restored": { v: 1, schema: () => object({ restore: number, report: record }) },
  "context.forked": {
    v: 1,
    schema: () => object({ context: string, checkpoint: string, seq: number, title: string }),
  },
  /** How the front door started the work, or went on with it. */
  "context.started": {
    v: 1,
    schema: () =>
      object({
        model: optional(string),
        fallbackModels: names,
        agent: optional(string),
        maxRounds: optional(number),
        contextWindow: optional(number),
        approvals: optional(oneOf("deny", "wait")),
        appendSystemPrompt: optional(string),
        systemPrompt: optional(string),
        settings: optional(boolean),
        permissionMode: optional(string),
        allow: names,
        deny: names,
        ask: names,
        pluginDirs: names,
        mcpConfig: optional(object({ files: array(object({ file: string, hash: string })), json: boolean })),
        strictMcpConfig: optional(boolean),
        directories: names,
        given: object({
          ledger: string,
          project: string,
          store: string,
          user: string,
          machine: string,
          trust: string,
        }),
      }),
  },
  /** A copy from an exported file begins here: what was open belongs to the original. `root`: the tree that it works in from here on, whatever the file says. */
  "context.imported": { v: 1, schema: () => object({ context: string, events: number, root: optional(string) }) },
  "agent.updated": { v: 1, schema: () => object({ name: string, patch: record }) },
  "work.started": { v: 1, schema: () => object({ agent: string }) },
  "work.ended": {
    v: 1,
    schema: () => object({ agent: string, reason: oneOf("done", "paused", "failed"), error: optional(string) }),
  },
  "error.logged": {
    v: 1,
    schema: () => object({ agent: optional(string), tool: optional(string), message: string, cause: optional(string) }),
  },
} satisfies EventDefs;
