// Ledgers as long work leaves them: one context of tens of thousands of events, or a thousand contexts. Real event types, read by every mechanism.
import { newId } from "../../../src/ledger/id.ts";
import type { EventInput, Store } from "../../../src/ledger/store.ts";

const BATCH = 500;
const AGENTS = ["lead", "alice", "bob", "花子"];
const usage = (n: number) => ({ input: 900 + (n % 50), output: 120, cacheRead: 20_000 + n, cacheWrite: 300 });

interface LongOptions {
  root: string;
  events: number;
  /** When the first one happened. */
  from?: number;
}

/** Contract: exactly so many events, of several agents with turns, rounds, calls, notes, data and checkpoints. */
export async function makeLongContext(
  store: Store,
  { root, events, from = Date.now() - 3_600_000 }: LongOptions,
): Promise<string> {
  const context = newId("ctx");
  let waiting: EventInput[] = [];
  let written = 0;
  const flush = async (isLast = false) => {
    const batch = waiting;
    waiting = [];
    const summary = isLast
      ? { open: false, reason: "done", rounds: 10 }
      : { title: "長い作業: a long piece of work", root, open: true };
    if (batch.length > 0) await store.append([{ ledger: context, events: batch, summary }]);
  };
  for (const event of eventsOf(root)) {
    if (written >= events) break;
    waiting.push({ ...event, at: from + written * 70 });
    written++;
    if (waiting.length >= BATCH) await flush();
  }
  await flush(true);
  return context;
}

function* eventsOf(root: string): Generator<EventInput> {
  yield {
    type: "context.created",
    actor: "user",
    data: { root, title: "長い作業: a long piece of work", version: "0.1.0" },
  };
  for (const name of AGENTS)
    yield { type: "agent.created", actor: name, touches: [`agent:${name}`], data: { name, cwd: root } };
  for (let turn = 1; ; turn++) {
    const actor = AGENTS[turn % AGENTS.length]!;
    yield* turnOf(actor, turn);
  }
}

const calls = new Map<string, number>();

function* turnOf(actor: string, turn: number): Generator<EventInput> {
  const inputId = `in-${turn}`;
  const turnId = `turn-${turn}`;
  const text = `Step ${turn}: look at the <b>parser</b> & the 日本語 tests, then fix what is wrong`;
  yield {
    type: "input.received",
    actor: "user",
    data: { inputId, agent: actor, content: [{ type: "text", text }], origin: "user" },
  };
  yield { type: "turn.started", actor, data: { turnId, cause: "input" } };
  yield {
    type: "context.checkpointed",
    actor,
    touches: [`checkpoint:prompt ${turn}`],
    data: { name: `prompt ${turn}`, auto: true, note: text },
  };
  yield { type: "input.taken", actor, data: { inputId } };
  for (let round = 1; round <= 6; round++) {
    const n = (calls.get(actor) ?? 0) + 1;
    calls.set(actor, n);
    const id = `c${n}`;
    const input = round % 2 ? { command: `npm test -- --run ${turn}.${round}` } : { path: `src/file-${turn % 40}.ts` };
    const name = round % 2 ? "bash" : "read_file";
    yield {
      type: "reply.received",
      actor,
      data: {
        ...{ model: "anthropic/claude-sonnet-5-5", finish: "calls", usage: usage(turn * 6 + round) },
        parts: [
          { type: "text", text: `Round ${round}: 次に ${name} を実行します.` },
          { type: "call", id, name, input },
        ],
      },
    };
    yield {
      type: "tool.started",
      actor,
      data: { callId: id, name, input, effect: name === "bash" ? "job" : "read", cwd: "/project" },
    };
    const printed = Array.from({ length: 12 }, (_, i) => `line ${i} of step ${turn}: ok`).join("\n");
    const failed = (turn + round) % 17 === 0;
    yield {
      type: "tool.finished",
      actor,
      data: { callId: id, name, content: [{ type: "text", text: printed }], isError: failed, durationMs: 40 + round },
    };
  }
  if (turn % 5 === 0) {
    const facts = {
      hash: "0".repeat(64),
      bytes: 24,
      type: "string",
      preview: `"finding ${turn}"`,
      value: `finding ${turn}`,
    };
    yield {
      type: "data.shared",
      actor,
      touches: [`data:finding ${turn % 30}`],
      data: { key: `finding ${turn % 30}`, ...facts },
    };
  }
  yield {
    type: "reply.received",
    actor,
    data: {
      model: "anthropic/claude-sonnet-5-5",
      finish: "stop",
      usage: usage(turn * 7),
      parts: [{ type: "text", text: `Step ${turn} is done.` }],
    },
  };
  yield { type: "turn.ended", actor, data: { turnId, reason: "done", text: `Step ${turn} is done.` } };
}

/** Small ones, as a year leaves them. */
export async function makeContexts(store: Store, root: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = newId("ctx");
    ids.push(id);
    const title = `Task ${n}: 整理 and tests`;
    const at = Date.now() - n * 60_000;
    const events: EventInput[] = [
      { type: "context.created", actor: "user", at, data: { root, title, version: "0.1.0" } },
      { type: "agent.created", actor: "lead", at, touches: ["agent:lead"], data: { name: "lead", cwd: root } },
    ];
    const reason = n % 9 === 0 ? "failed" : "done";
    await store.append([{ ledger: id, events, summary: { title, root, open: false, reason, rounds: 3 } }]);
  }
  return ids;
}
