// Changes of the house as a later version might make them, each in one place: every one is found at the right event, as its own doing.
import path from "node:path";
import { expect, test } from "vitest";
import * as z from "zod";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { defineMechanism, type Mechanism, type Seams, type Tool, type Turn } from "../../src/loop/seams.ts";
import { toolSpecs } from "../../src/loop/tool-specs.ts";
import { createBudget } from "../../src/mechanisms/budget/index.ts";
import { identity } from "../../src/mechanisms/identity/index.ts";
import { limits } from "../../src/mechanisms/limits/index.ts";
import { readFixture, replayFixture } from "../../src/replay/fixture.ts";

const fileOf = (recording: string) => path.join(import.meta.dirname, "recordings", `${recording}.jsonl`);

interface Mutation {
  what: string;
  recording: string;
  change: (mechanisms: Mechanism[]) => Mechanism[];
  /** The first event that it must be found at. */
  at: (event: StoredEvent, data: Record<string, unknown>) => boolean;
  is: { kind: string; seam: string; mechanism: string };
}

/** One mechanism by another. */
const instead =
  (name: string, made: (one: Mechanism) => Mechanism) =>
  (all: Mechanism[]): Mechanism[] =>
    all.map((one) => (one.name === name ? made(one) : one));

const withSeams = (name: string, made: (seams: Partial<Seams>) => Partial<Seams>) =>
  instead(name, (one) => ({ ...one, seams: { ...one.seams, ...made(one.seams ?? {}) } }));

const withTool = (mechanism: string, name: string, made: (tool: Tool) => Tool | undefined) =>
  instead(mechanism, (one) => ({
    ...one,
    tools: (turn) =>
      (typeof one.tools === "function" ? one.tools(turn) : (one.tools ?? [])).flatMap((tool) =>
        tool.name === name ? (made(tool) ?? []) : [tool],
      ),
  }));

const added = (mechanism: Mechanism) => (all: Mechanism[]) => [...all, mechanism];
const judging = (name: string, stricter: (tool: string, turn: Turn) => boolean) =>
  withSeams(name, ({ gate }) => ({
    gate: {
      ...gate,
      judge: (call) =>
        stricter(call.tool.name, call.turn)
          ? { decision: "deny", code: "rule", reason: "not any more" }
          : (gate?.judge?.(call) ?? { decision: "allow" }),
    },
  }));

const isFirst = (type: string) => (event: StoredEvent) => event.type === type;
const starts = (name: string) => (event: StoredEvent, data: Record<string, unknown>) =>
  event.type === "tool.started" && data.name === name;

/** With the same words for the model. */
const silently = (tool: Tool, made: Partial<Tool>): Tool => ({ ...tool, json: toolSpecs([tool])[0]!.input, ...made });

const MUTATIONS: Mutation[] = [
  {
    what: "a word of the prompt",
    recording: "todo-killed",
    change: withSeams("identity", ({ system }) => ({
      system: async (turn) => (await system!(turn)).replace("coding agent", "code agent"),
    })),
    at: isFirst("request.changed"),
    is: { kind: "prompt bytes", seam: "system", mechanism: "identity" },
  },
  {
    what: "another text of the prompt's end",
    recording: "compaction",
    change: instead("identity", () => identity({ append: "Be brief." })),
    at: isFirst("request.changed"),
    is: { kind: "prompt bytes", seam: "system", mechanism: "identity" },
  },
  {
    what: "a permission rule that refuses",
    recording: "edits-and-denials",
    change: judging("permissions", (tool) => tool === "bash"),
    at: starts("bash"),
    is: { kind: "decision", seam: "gate", mechanism: "permissions" },
  },
  {
    what: "a question where none was asked",
    recording: "edits-and-denials",
    change: withSeams("permissions", ({ gate }) => ({
      gate: {
        judge: (call) =>
          call.tool.name === "edit_file"
            ? { decision: "ask", code: "edit", reason: "look at it first" }
            : gate!.judge!(call),
      },
    })),
    at: starts("edit_file"),
    is: { kind: "decision", seam: "gate", mechanism: "permissions" },
  },
  {
    what: "a rule that no longer refuses",
    recording: "edits-and-denials",
    change: withSeams("permissions", () => ({ gate: { judge: () => ({ decision: "allow" }) } })),
    at: starts("write_file"), // what it grants is another thing
    is: { kind: "decision", seam: "gate", mechanism: "permissions" },
  },
  {
    what: "the words of a refusal",
    recording: "edits-and-denials",
    change: withSeams("permissions", ({ gate }) => ({
      gate: {
        async judge(call) {
          const said = await gate!.judge!(call);
          return said.decision === "allow" ? said : { ...said, reason: `${said.reason}!` };
        },
      },
    })),
    at: (event, data) => event.type === "tool.finished" && data.denied !== undefined,
    is: { kind: "decision", seam: "gate", mechanism: "permissions" },
  },
  {
    what: "a tool's default",
    recording: "command-killed",
    change: withTool("jobs", "bash", (tool) =>
      silently(tool, { schema: () => tool.schema().transform((input: object) => ({ timeout: 60, ...input })) }),
    ),
    at: starts("bash"),
    is: { kind: "call", seam: "tools", mechanism: "jobs" },
  },
  {
    what: "a schema that no longer takes what was sent",
    recording: "todo-killed",
    change: withTool("files", "glob", (tool) =>
      silently(tool, { schema: () => z.strictObject({ never: z.string() }) }),
    ),
    at: starts("glob"),
    is: { kind: "decision", seam: "tool", mechanism: "loop" },
  },
  {
    what: "an effect class",
    recording: "edits-and-denials",
    change: withTool("files", "read_file", (tool) => silently(tool, { effect: "internal" })),
    at: starts("read_file"),
    is: { kind: "call", seam: "tools", mechanism: "files" },
  },
  {
    what: "the description of a tool",
    recording: "job-killed",
    change: withTool("files", "read_file", (tool) => ({ ...tool, description: `${tool.description} Really.` })),
    at: isFirst("request.changed"),
    is: { kind: "prompt bytes", seam: "tools", mechanism: "files" },
  },
  {
    what: "a tool that is gone",
    recording: "reminder-killed",
    change: withTool("cron", "list_crons", () => undefined),
    at: isFirst("request.changed"),
    is: { kind: "prompt bytes", seam: "tools", mechanism: "cron" },
  },
  {
    what: "the order of notes",
    recording: "team",
    change: withSeams("team", ({ intake }) => ({ intake: async (turn) => (await intake!(turn)).toReversed() })),
    at: (event) => event.type === "note.added" && event.actor === "lead",
    is: { kind: "order", seam: "intake", mechanism: "team" },
  },
  {
    what: "the text of a note",
    recording: "compaction",
    change: withSeams("todo", ({ intake }) => ({
      intake: async (turn) => (await intake!(turn)).map((note) => ({ ...note, text: `${note.text}\nNow.` })),
    })),
    at: isFirst("note.added"),
    is: { kind: "prompt bytes", seam: "intake", mechanism: "todo" },
  },
  {
    what: "a note that is no longer said",
    recording: "compaction",
    change: withSeams("todo", () => ({ intake: () => [] })),
    at: isFirst("note.added"),
    is: { kind: "prompt bytes", seam: "intake", mechanism: "todo" },
  },
  {
    what: "a fact that no longer goes with its note",
    recording: "compaction",
    change: withSeams("todo", ({ intake }) => ({
      intake: async (turn) => (await intake!(turn)).map(({ events: _, ...note }) => note),
    })),
    at: isFirst("todo.reminded"),
    is: { kind: "decision", seam: "loop", mechanism: "loop" },
  },
  {
    what: "a compaction threshold",
    recording: "compaction",
    change: withSeams("compaction", ({ context }) => ({
      context: (items, turn, opts) => {
        const smaller = { ...turn.model, limits: { ...turn.model.limits, contextTokens: 16_000 } };
        return context!(items, Object.create(turn, { model: { value: smaller } }), opts);
      },
    })),
    at: (event, data) => event.type === "reply.received" && JSON.stringify(data).includes("round 4"),
    is: { kind: "decision", seam: "context", mechanism: "compaction" },
  },
  {
    what: "what is carried over a compaction",
    recording: "compaction",
    change: instead("todo", (one) => ({ ...one, carry: () => "Nothing is open." })),
    at: isFirst("context.compacted"),
    is: { kind: "prompt bytes", seam: "context", mechanism: "compaction" },
  },
  {
    what: "the view of the conversation",
    recording: "todo-killed",
    change: added(
      defineMechanism({
        name: "forgetful",
        seams: { context: (items) => (items.length > 3 ? items.slice(2) : items) },
      }),
    ),
    at: isFirst("reply.received"), // who made it is said with the first
    is: { kind: "prompt bytes", seam: "model", mechanism: "loop" },
  },
  {
    what: "a limit",
    recording: "todo-killed",
    change: instead("limits", () => limits({ maxRounds: 2 })),
    at: (event, data) => event.type === "reply.received" && JSON.stringify(data).includes('"id":"c3"'),
    is: { kind: "decision", seam: "model", mechanism: "limits" },
  },
  {
    what: "a budget",
    recording: "subagent-killed",
    change: instead("budget", () => createBudget({ budget: { rounds: 100 } })),
    at: isFirst("reply.received"),
    is: { kind: "order", seam: "model", mechanism: "budget" },
  },
  {
    what: "what a checkpoint says",
    recording: "todo-killed",
    change: withSeams("checkpoints", ({ input }) => ({
      input: (said, turn) => input!({ ...said, content: [{ type: "text", text: "shorter" }] }, turn),
    })),
    at: isFirst("context.checkpointed"),
    is: { kind: "decision", seam: "input", mechanism: "checkpoints" },
  },
  {
    what: "who a teammate is told to be",
    recording: "team",
    change: withSeams("team", ({ system }) => ({
      system: async (turn) => (await system!(turn)).replace("alice", "Alice"),
    })),
    at: (event, data) => event.type === "request.changed" && JSON.stringify(data.system ?? "").includes("alice"),
    is: { kind: "prompt bytes", seam: "system", mechanism: "team" },
  },
  {
    what: "what a teammate may do",
    recording: "team",
    change: judging("team", (tool, { agent }) => tool === "bash" && agent !== "lead"),
    at: (event, data) => starts("bash")(event, data) && event.actor !== "lead",
    is: { kind: "decision", seam: "gate", mechanism: "team" },
  },
  {
    what: "a turn that goes on",
    recording: "reminder-killed",
    change: added(defineMechanism({ name: "eager", seams: { stop: () => [{ origin: "eager", text: "Go on." }] } })),
    at: isFirst("turn.ended"),
    is: { kind: "decision", seam: "stop", mechanism: "eager" },
  },
];

for (const { what, recording, change, at, is } of MUTATIONS)
  test(`${what} is found (${recording})`, async () => {
    const { events } = await readFixture(fileOf(recording));
    const { seq, type } = events.find((event) => at(event, event.data as Record<string, unknown>))!;
    const [first] = (await replayFixture(fileOf(recording), { change, most: 1 })).differences;
    const { kind, seam, mechanism } = first ?? {};
    expect({ seq: first?.seq, event: first?.event, kind, seam, mechanism }).toEqual({ seq, event: type, ...is });
  });
