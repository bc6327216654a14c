// node bench/recall.mjs [--events 50000] [--reps 20]: how long recall takes in a long conversation. A real SQLite ledger: rounds of a call each,
// results of 0.5 to 60 kB as the output bound leaves them (one in fifty is cut: head and tail in the event, the whole in a blob), a twentieth
// of them Japanese, a tenth of the conversation on a timeline that a restore abandoned. "no hit" reads everything there is.
// On a machine that does other things too, look at the time of the processor.
import { hash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { contextEvents } from "../src/contexts/events.ts";
import { createCodec } from "../src/ledger/events.ts";
import { createFold } from "../src/ledger/fold.ts";
import { openLedger } from "../src/ledger/ledger.ts";
import { openSqliteStore } from "../src/ledger/sqlite/index.ts";
import { loopEvents } from "../src/loop/events.ts";
import { transcript, transcriptIn } from "../src/loop/transcript.ts";
import { openRecall } from "../src/mechanisms/compaction/recall-program.ts";
import { recallByName, recallByWords } from "../src/mechanisms/compaction/recall-read.ts";
import { gramFilter } from "../src/text/gram-filter.ts";

const arg = (name, fallback) =>
  process.argv.includes(`--${name}`) ? Number(process.argv[process.argv.indexOf(`--${name}`) + 1]) : fallback;
const EVENTS = arg("events", 50_000);
const REPS = arg("reps", 20);
const NAME = "ctx_bench";
const dir = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-recall-"));
const usage = { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 };

const SIZES = [...Array(30).fill(500), ...Array(15).fill(3_000), ...Array(4).fill(12_000), 60_000];
const LATIN = (n, i) =>
  `src/module-${n % 97}/file-${i}.ts:${(i * 31) % 997}: step ${n} returns before it is checked (${hash("sha1", `${n}/${i}`).slice(0, 8)})`;
const JAPANESE = (n, i) => `手順${n}の${i}行目では結果を確認する前に処理が戻ります（${(n * i) % 997}番）`;

function textOf(n, size) {
  const lines = [];
  for (let i = 0, length = 0; length < size; i++) {
    lines.push((n % 20 === 7 ? JAPANESE : LATIN)(n, i));
    length += lines.at(-1).length + 1;
  }
  return lines.join("\n");
}

/** As the output bound leaves it. */
function resultOf(n, blobs) {
  const text =
    n === 25
      ? `${textOf(n, 40_000)}\nthe OLDEST needle of all\n${textOf(n, 20_000)}`
      : textOf(n, SIZES[(n * 7) % SIZES.length]);
  if (text.length <= 30_000) return { content: [{ type: "text", text }] };
  const bytes = Buffer.from(text);
  blobs.push(bytes);
  const name = hash("sha256", bytes);
  const shown = `${text.slice(0, 20_000)}\n[… all of this text: read_file path blob:${name} …]\n${text.slice(-8_000)}`;
  return { content: [{ type: "text", text: shown }], whole: [{ part: 0, hash: name, grams: gramFilter(text) }] };
}

function round(n, blobs) {
  const call =
    n % 3 === 0
      ? { name: "bash", input: { command: `npm test -- part-${n % 50}` } }
      : { name: "read_file", input: { path: `src/f${n % 400}.ts` } };
  const turn =
    n % 10 !== 1
      ? []
      : [
          ...(n > 1 ? [{ type: "turn.ended", data: { turnId: `t${n - 10}`, reason: "done", text: "Done." } }] : []),
          {
            type: "input.received",
            data: {
              inputId: `i${n}`,
              agent: "lead",
              content: [{ type: "text", text: `Request ${n}: go on with part ${n % 50}.` }],
              origin: "user",
            },
          },
          { type: "turn.started", data: { turnId: `t${n}`, cause: "input" } },
          { type: "input.taken", data: { inputId: `i${n}` } },
        ];
  const parts = [
    { type: "text", text: `Step ${n}: I look at part ${n % 50} first, then I decide.` },
    { type: "call", id: `c${n}`, ...call },
  ];
  const ran = call.name === "bash" ? { ran: { status: "completed", exitCode: n % 4 === 0 ? 1 : 0, ms: 10 } } : {};
  return [
    ...turn,
    { type: "reply.received", data: { model: "m", parts, finish: "calls", usage } },
    {
      type: "tool.started",
      data: { callId: `c${n}`, name: call.name, input: call.input, effect: "read", cwd: "/project" },
    },
    {
      type: "tool.finished",
      data: { callId: `c${n}`, name: call.name, ...resultOf(n, blobs), isError: false, durationMs: 5, ...ran },
    },
  ].map((event) => ({ actor: "lead", ...event }));
}

const readers = () => ({
  codec: createCodec([{ events: contextEvents }, { events: loopEvents }]),
  fold: createFold({ transcript }),
});
const store = await openSqliteStore(path.join(dir, "ledger.db"));
const ledger = await openLedger({ store, name: NAME, ...readers() });
await ledger.append([
  { type: "context.created", actor: "user", data: { root: "/project", title: "bench", version: "0" } },
  { type: "agent.created", actor: "lead", data: { name: "lead", cwd: "/project" } },
]);
let n = 0;
async function grow(upTo) {
  while (ledger.state.seq < upTo) {
    const blobs = [];
    const events = [];
    for (let i = 0; i < 100; i++) events.push(...round(++n, blobs));
    await ledger.append(events, { blobs });
  }
}
await grow(EVENTS * 0.8);
const checkpoint = { name: "here", auto: false };
const [mark] = await ledger.append([{ type: "context.checkpointed", actor: "user", data: checkpoint }]);
await grow(EVENTS * 0.9);
const [left] = await ledger.append([
  { type: "context.checkpointed", actor: "user", data: { ...checkpoint, name: "left" } },
]);
const back = { checkpoint: "here", seq: mark.seq, conversation: true, data: false, files: false };
await ledger.append([{ type: "context.restored", actor: "user", data: back }]);
n = Math.ceil(n / 10) * 10;
await grow(EVENTS);
await ledger.saveSnapshot();

const state = transcriptIn(ledger.state);
const { items } = state.agents.lead;
const bytes = items.reduce(
  (sum, item) => sum + (item.content ?? item.parts).reduce((s, p) => s + (p.text?.length ?? 0), 0),
  0,
);
const cut = items.filter((item) => item.whole).length;
console.log(
  `${ledger.state.seq} events (left at ${left.seq}), ${items.length} items now, ${(bytes / 1e6).toFixed(0)} M characters, ${cut} of them cut`,
);

const conversation = { state, blob: store.blob };
const words = (query, more = {}) => recallByWords(conversation, { agent: "lead", query, ...more });
const cases = {
  "by words, no hit": () => words("there is no such text"),
  "by words, no hit, Japanese": () => words("どこにもない文"),
  "by words, the oldest, in a blob": () => words("the oldest NEEDLE"),
  "by words, ten recent ones": () => words("returns before"),
  "by words, of one tool, no hit": () => words("there is no such text", { tool: "bash" }),
  "by name, cut": () => recallByName(conversation, { agent: "lead", ref: "c25" }, { offset: 600, limit: 5 }),
  "by name": () => recallByName(conversation, { agent: "lead", ref: "c1000" }),
};
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
for (const [name, run] of Object.entries(cases)) {
  const times = [];
  const busy = [];
  let found;
  for (let i = 0; i < REPS; i++) {
    const from = performance.now();
    const used = process.cpuUsage();
    found = await run();
    times.push(performance.now() - from);
    const { user, system } = process.cpuUsage(used);
    busy.push((user + system) / 1000);
  }
  const what = found.hits ? `${found.hits.length} hits` : `${found.ref}, ${found.content[0].text.length} characters`;
  const ms = (value) => `${value.toFixed(1).padStart(6)} ms`;
  const parts = [
    `first ${ms(times[0])}`,
    `best ${ms(Math.min(...times))}`,
    `median ${ms(median(times))}`,
    `processor ${ms(median(busy))}`,
    what,
  ];
  console.log(`${name.padEnd(33)} ${parts.join(", ")}`);
}
const from = performance.now();
const recall = await openRecall(store, NAME);
await recall("c1000");
console.log(`a program's first recall (it folds the conversation first): ${(performance.now() - from).toFixed(0)} ms`);
await store.close();
fs.rmSync(dir, { recursive: true, force: true });
