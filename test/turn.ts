// A small stand-in for an agent's turn: it records what was appended and folds the slices of the mechanisms under test.
import { createHash } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createCodec } from "../src/ledger/events.ts";
import type { EventInput, StoredEvent } from "../src/ledger/store.ts";
import { loopEvents } from "../src/loop/events.ts";
import type { Grants, Mechanism, Progress, Tool, ToolOutput, ToolRun, Turn } from "../src/loop/seams.ts";
import type { StopOptions } from "../src/loop/stop-options.ts";
import type { AgentState } from "../src/loop/transcript.ts";
import { noUsage } from "../src/models/model.ts";

/** Seam `stop`, for who asks no model there. */
export const NOT_ASKED: StopOptions = {
  goesOn: false,
  ask: () => Promise.reject(new Error("no model here")),
};

export interface TestTurn extends Turn {
  cwd: string;
  signal: AbortSignal;
  readonly events: StoredEvent[];
  readonly progress: Progress[];
  /** What mechanisms announced, such as events of hooks. */
  readonly announced: [event: string, payload: unknown][];
  readonly blobs: Map<string, Uint8Array>;
  /** Runs a call as the loop does: schema, intent, effect, and what it says becomes durable. */
  call(name: string, input: unknown, opts?: { signal?: AbortSignal; grants?: Grants }): Promise<ToolOutput>;
  /** Only the first half: what is durable when the process dies. */
  intend(name: string, input: unknown): Promise<unknown>;
  /** What a new process does with that intent. */
  resume(name: string, input: unknown, intent: unknown): Promise<ToolOutput>;
  /** Whether a reconcile asked for the effect to be run. */
  reran: boolean;
  /** How the last command ended. */
  ran?: ToolOutput["ran"];
}

export function testTurn(
  mechanisms: Mechanism[],
  opts: { root: string; agent?: string; context?: string } = { root: "/" },
): TestTurn {
  const codec = createCodec(
    [loopEvents, ...mechanisms.flatMap((m) => (m.events ? [m.events] : []))].map((events) => ({ events })),
  );
  const slices = new Map(mechanisms.flatMap((m) => (m.fold ? [[m.name, m.fold.initial()] as const] : [])));
  const blobs = new Map<string, Uint8Array>();
  let calls = 0;
  const toolOf = (name: string): Tool => {
    const tools = mechanisms.flatMap((m) => (typeof m.tools === "function" ? m.tools(turn) : (m.tools ?? [])));
    return tools.find((t) => t.name === name)!;
  };
  const runOf = (name: string, input: unknown, extra: Partial<ToolRun>): ToolRun => {
    const tool = toolOf(name);
    return {
      call: { type: "call", id: `c${calls}`, name, input },
      tool,
      input: tool.schema().parse(input),
      cwd: turn.cwd,
      root: turn.root,
      turn,
      signal: turn.signal,
      intent: undefined,
      grants: {},
      resumed: false,
      ...extra,
    };
  };
  const settle = async (output: ToolOutput) => {
    for (const bytes of output.blobs ?? []) blobs.set(createHash("sha256").update(bytes).digest("hex"), bytes);
    await turn.append(output.events ?? []);
    output.after?.();
    const { after: _, ran, ...seen } = output;
    turn.ran = ran;
    return seen;
  };
  const turn: TestTurn = {
    runInside: async () => ({ content: "not here", isError: true }),
    announce: async (event, payload) => {
      turn.announced.push([event, payload]);
      return { context: [] };
    },
    announced: [],
    context: opts.context ?? "ctx_test",
    agent: opts.agent ?? "lead",
    root: opts.root,
    cwd: opts.root,
    state: emptyState(opts.root),
    model: { id: "test/none", limits: { contextTokens: 1, outputTokens: 1, images: true, documents: true } } as never,
    signal: new AbortController().signal,
    events: [],
    progress: [],
    blobs,
    reran: false,
    slice: <T>(name: string) => slices.get(name) as T,
    async until(condition, signal) {
      while (!condition() && !signal.aborted) await sleep(5);
    },
    durable: async () => {},
    blob: async (hash) => blobs.get(hash),
    emit: (progress) => turn.progress.push(progress),
    async append(inputs) {
      return inputs.map((input) => record({ actor: turn.agent, ...input }));
    },
    async call(name, input, extra = {}) {
      calls++;
      try {
        const run = runOf(name, input, extra);
        const intent = await run.tool.intend?.(run);
        return await settle(await run.tool.execute({ ...run, intent }));
      } catch (error) {
        return { content: (error as Error).message, isError: true };
      }
    },
    async intend(name, input) {
      calls++;
      return toolOf(name).intend?.(runOf(name, input, {}));
    },
    async resume(name, input, intent) {
      const run = runOf(name, input, { intent, resumed: true });
      const outcome = await toolOf(name).reconcile!(run);
      turn.reran = outcome.kind === "undone";
      switch (outcome.kind) {
        case "undone":
          return turn.call(name, input);
        case "finished":
          return settle(outcome.output);
        case "adopted":
          return settle(await outcome.follow(run));
        case "unknown":
          return settle({ content: outcome.why ?? "unknown", isError: true });
      }
    },
  };
  const record = (input: EventInput): StoredEvent => {
    const encoded = codec.encode(input);
    const event = {
      touches: [],
      id: `e${turn.events.length}`,
      v: 1,
      ...encoded,
      seq: turn.events.length + 1,
      at: Date.now(),
    };
    turn.events.push(event as StoredEvent);
    if (event.type === "agent.moved") turn.cwd = (event.data as { cwd: string }).cwd;
    for (const m of mechanisms) if (m.fold) slices.set(m.name, m.fold.apply(slices.get(m.name), event as StoredEvent));
    return event as StoredEvent;
  };
  return turn;
}

function emptyState(cwd: string): AgentState {
  const none = { items: [], pending: [], queue: [], denials: [], rounds: 0, said: 0, calls: 0 };
  return { name: "lead", cwd, ...none, usage: noUsage(), usageByModel: {} };
}

/** A temporary directory by its real path, gone after the test. */
export function scratch(onEnd: (clean: () => void) => void): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-test-")));
  onEnd(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }));
  return dir;
}
