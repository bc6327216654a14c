// A turn longer than any window: over the real command line, with a server that refuses what is too long, as providers do.
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script, ScriptRound } from "../../src/testing/model-server-script.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { openHouse, tempDir } from "../house.ts";

let cwd: string;
let state: string;
let server: ModelServer;

beforeEach(() => {
  cwd = tempDir("project");
  state = tempDir("state");
});
afterEach(async () => {
  await server?.close();
  for (const dir of [cwd, state]) fs.rmSync(dir, { recursive: true, force: true });
});

const nameOf = (n: number) => `f${n}.txt`;

/** 8 kB each. */
function writeFiles(dir: string, count: number): void {
  for (let n = 1; n <= count; n++) {
    fs.writeFileSync(path.join(dir, nameOf(n)), `line of file ${n} `.padEnd(79, ".").concat("\n").repeat(100));
  }
}

const recallsFirst: ScriptRound = { calls: [{ name: "recall", input: { ref: "c1" } }] };
const reads = (path: string): ScriptRound => ({ calls: [{ name: "read_file", input: { path } }] });

/** Says `play` for what fits, and what OpenAI says of a prompt above that many bytes. */
const withWindow =
  (bytes: number, play: (request: { round: number; arrival: number }) => ScriptRound): Script =>
  (request) => {
    const { attempt, body } = request;
    const tooLong = {
      status: 400,
      type: "invalid_request_error",
      code: "context_length_exceeded",
      message: "This model's maximum context length is 128000 tokens. However, your messages resulted in more.",
    };
    const { faults = [null], ...round } = play(request);
    const fault = JSON.stringify(body).length > bytes ? tooLong : faults[0]!;
    return { ...round, faults: [...Array(attempt - 1).fill(null), fault] };
  };

/** The lines that stand for results in a request. */
const maskedIn = (body: { messages: { role: string; content: string }[] }): string[] =>
  body.messages.flatMap(({ role, content }) =>
    role === "tool" && /^\[c\d+ \w+(?: ".*")?: /.test(content) ? [content] : [],
  );

test("120 results of 8 kB in one turn with a window of 190 kB: to the end, also killed in the middle; the resume sends the same bytes", async () => {
  writeFiles(cwd, 120);
  const killedAt = 70;
  let killed = false;
  server = await startModelServer({
    script: withWindow(190_000, ({ round }) => {
      if (round === killedAt && !killed) {
        killed = true;
        return { ...reads(nameOf(round + 1)), faults: [{ pauseAt: 0 }] };
      }
      if (round < 120) return reads(nameOf(round + 1));
      return round === 120 ? recallsFirst : { text: "All 120 are read." };
    }),
  });
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const model = ["--model", "openai-compatible/mock"];
  const first = startCli(["-p", "Read all files.", ...model], { cwd, state, env });
  const ended = first.exited.then(({ stderr }) => Promise.reject(new Error(`it ended before: ${stderr}`)));
  ended.catch(() => undefined);
  const paused = await Promise.race([server.paused(), ended]);
  first.child.kill("SIGKILL");
  await first.exited;
  server.release();
  const second = await runCli(["-p", "-c", ...model], { cwd, state, env });
  expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 0, stdout: "All 120 are read.\n" });

  const { requests, invalid } = server.log();
  expect([paused.round, requests[paused.arrival]?.repeatOf, invalid]).toEqual([killedAt, paused.arrival, []]);
  const refused = requests.filter((r) => r.status === 400).length;
  expect(refused).toBeGreaterThan(4);
  // Each overflow changes the view once, and only at its end; between them every request begins with the one before it.
  const sent = requests.map((r) => maskedIn(r.body));
  for (const [i, lines] of sent.entries()) expect(lines.slice(0, sent[i - 1]?.length ?? 0)).toEqual(sent[i - 1] ?? []);
  expect(new Set(sent.map((lines) => lines.length)).size).toBe(refused + 1);
  expect(sent.at(-1)![0]).toBe('[c1 read_file "f1.txt": 100 lines, left out to make room; recall c1]');
  const last = requests.at(-1)!.body.messages.at(-1);
  expect([last.role, last.content]).toEqual([
    "tool",
    `[c1: read_file, succeeded]\n{"path":"f1.txt"}\n${requests[1]!.body.messages.at(-1).content}`, // as it was shown the first time
  ]);
});

test("after a restore, its undo, in a fork and an import that is masked which was masked there, and can be opened there too", async () => {
  const house = await openHouse(
    withWindow(50_000, ({ round, arrival }) => (round % 4 < 3 ? reads(nameOf(arrival)) : { text: "read" })),
  );
  server = house.server;
  writeFiles(house.root, 40);
  const contexts = await openContexts({ store: house.store });
  /** The calls of which its first request shows a line, and those of its last one. */
  const prompt = async (context?: string) => {
    const from = server.log().requests.length;
    const run = await house.harness.run("go on", { ...(context && { context }) });
    expect((await run.result).reason).toBe("done");
    await run.taken.release();
    const bodies = server
      .log()
      .requests.slice(from)
      .map((r) => maskedIn(r.body));
    const ids = (lines: string[]) => lines.map((line) => line.slice(1, line.indexOf(" "))).join(" ");
    return { id: run.context, first: ids(bodies[0]!), last: ids(bodies.at(-1)!) };
  };
  const { id } = await prompt();
  const [second, third] = [await prompt(id), await prompt(id)];
  expect([second, third]).toEqual([
    { id, first: "", last: "c1 c2 c3 c4" },
    { id, first: "c1 c2 c3 c4", last: "c1 c2 c3 c4 c5 c6 c7 c8" },
  ]);
  const context = await contexts.get(id);
  await context.restore("prompt 2", { conversation: true });
  const back = await prompt(id);
  await context.undo();
  const undone = await prompt(id);
  const fork = await context.fork("prompt 3");
  const forked = await prompt(fork.id);
  const file = path.join(house.state, "context.hfctx");
  await contexts.export(id, file);
  const imported = await prompt((await contexts.import(file, { root: house.root })).id);
  expect([back.first, back.last, undone.first, forked.first, imported.first]).toEqual([
    "",
    "c1 c2 c3 c10",
    "c1 c2 c3 c4 c5 c6 c7 c8",
    "c1 c2 c3 c4",
    undone.last,
  ]);
  server.setScript(withWindow(50_000, ({ round }) => (round % 4 === 0 ? recallsFirst : { text: "read" })));
  const run = await house.harness.run("and c1?", { context: imported.id });
  await run.result;
  const shown = server.log().requests.at(-1)!.body.messages.at(-1).content;
  expect(shown.endsWith(`\n${server.log().requests[1]!.body.messages.at(-1).content}`)).toBe(true);
  await house.close();
});
