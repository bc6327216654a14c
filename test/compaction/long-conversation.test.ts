// A conversation many times longer than the window, killed twice: never a request that is too long or not valid, and never one without what it is about.
import fs from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { startCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";

const dirs: string[] = [];
let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  for (const dir of dirs.splice(0)) fs.rmSync(dir, { recursive: true, force: true });
});

const BYTES_A_TOKEN = 4;
const REQUEST = "Read every file, one after the other, and never touch keep.txt.";

/** What it does in its nth step, whatever is in view: a list at first, then files, a decision now and then. */
function step(n: number, rounds: number): ScriptRound {
  if (n === 0)
    return {
      reasoning: { text: "I begin with a list.", signature: "sig-0" },
      calls: [{ name: "todo_write", input: { todos: [{ content: "read all", status: "in_progress" }] } }],
    };
  if (n >= rounds) return { text: "All are read." };
  const call = { name: "read_file", input: { path: `f${n % 50}.txt`, offset: 1, limit: 40 + (n % 7) } };
  return {
    ...(n % 3 === 0 && { reasoning: { text: `step ${n}`, signature: `sig-${n}` } }),
    ...(n % 10 === 0 && { text: `Decision ${n}: what f${n % 50}.txt says is used.` }),
    calls: [call],
  };
}

async function converse({ rounds, window, kills }: { rounds: number; window: number; kills: number[] }) {
  const [cwd, state] = [tempDir("project"), tempDir("state")];
  dirs.push(cwd, state);
  for (let n = 0; n < 50; n++)
    fs.writeFileSync(path.join(cwd, `f${n}.txt`), `fact ${n} ${"y".repeat(60)}\n`.repeat(60));
  const bytes = window * BYTES_A_TOKEN;
  let done = 0;
  let tooLong = 0;
  let largest = 0;
  let [grown, size] = [0, 0];
  const lacking: string[] = [];
  const waiting = new Set(kills);
  const script = ({ body, attempt }: ScriptRequest): ScriptRound => {
    const sent = JSON.stringify(body);
    if (sent.length > bytes) {
      tooLong++;
      const fault = { status: 400, type: "invalid_request_error", message: "prompt is too long: 3 tokens > 2 maximum" };
      return { text: "", faults: [...Array(attempt - 1).fill(null), fault] };
    }
    largest = Math.max(largest, sent.length);
    grown += Math.max(0, sent.length - size);
    size = sent.length;
    const missing = [REQUEST, ...(done > 0 ? ["read all"] : [])].filter((text) => !sent.includes(text));
    if (missing.length > 0) lacking.push(`${done}: ${missing.join(", ")}`);
    const usage = { input: Math.round(sent.length / BYTES_A_TOKEN), output: 10 };
    if (waiting.delete(done))
      return { ...step(done, rounds), usage, faults: [...Array(attempt - 1).fill(null), { pauseAt: 0 }] };
    return { ...step(done++, rounds), usage };
  };
  server = await startModelServer({ script });
  const env = { ANTHROPIC_BASE_URL: server.anthropicUrl, ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY };
  const flags = [
    "--model",
    "anthropic/mock",
    "--context-window",
    String(window),
    "--max-rounds",
    String(rounds + 10),
    "-q",
  ];
  for (const _ of kills) {
    const run = startCli(["-p", ...(done === 0 ? [REQUEST] : ["-c"]), ...flags], { cwd, state, env });
    await server.paused();
    run.child.kill("SIGKILL");
    await run.exited;
    server.release();
  }
  const last = await startCli(["-p", ...(done === 0 ? [REQUEST] : ["-c"]), ...flags], { cwd, state, env }).exited;
  const { requests, invalid } = server.log();
  const file = fs.globSync("**/ledger.db", { cwd: state })[0];
  const store = await openSqliteStore(path.join(state, file!));
  const [context] = await (await openContexts({ store })).list();
  const events = [];
  for await (const event of store.read(context!.id)) events.push(event);
  await store.close();
  const epochs = events.filter(({ type }) => type === "context.compacted").length;
  const most = grown / bytes / 0.35;
  return {
    stdout: last.stdout,
    code: last.code,
    invalid,
    tooLong,
    lacking,
    largest: largest / bytes,
    epochs,
    most,
    requests: requests.length,
  };
}

const LONG = process.env.HOLDFAST_LONG === "1";

test.runIf(!LONG)("100 rounds with a window of 16 000 tokens, killed twice", async () => {
  const { largest, epochs, most, requests, ...rest } = await converse({ rounds: 100, window: 16_000, kills: [40, 71] });
  expect(rest).toEqual({ stdout: "All are read.\n", code: 0, invalid: [], tooLong: 0, lacking: [] });
  expect([largest < 1, epochs >= 5, requests]).toEqual([true, true, 103]);
});

test.runIf(LONG).each([
  { rounds: 1_000, window: 64_000, kills: [] },
  { rounds: 2_000, window: 32_000, kills: [700, 1_400] },
])("$rounds rounds with a window of $window tokens", { timeout: 1_200_000 }, async (conversation) => {
  const { largest, epochs, most, requests, ...rest } = await converse(conversation);
  expect(rest).toEqual({ stdout: "All are read.\n", code: 0, invalid: [], tooLong: 0, lacking: [] });
  expect(largest).toBeLessThan(1);
  expect(epochs).toBeLessThanOrEqual(most);
  console.log({ ...conversation, epochs, most, largest, requests });
});
