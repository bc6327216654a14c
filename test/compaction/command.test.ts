// `/compact`, `/compact undo` and the tool `compact`, through the command line.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { runCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { scratch } from "../turn.ts";

const LINES = 200;
const UNDONE = "What was left out last is in the model's view again, as far as the next request has room for it.\n";

async function setUp(script: (request: ScriptRequest) => ScriptRound) {
  const server = await startModelServer({ script });
  onTestFinished(() => server.close());
  const [cwd, state] = [scratch(onTestFinished), scratch(onTestFinished)];
  for (let n = 0; n < 8; n++) fs.writeFileSync(path.join(cwd, `f${n}.txt`), `line of ${n}\n`.repeat(LINES));
  const env = { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: KEYS.OPENAI_API_KEY };
  const run = (first: string | { env: Record<string, string> }, ...args: string[]) => {
    const [words, more] = typeof first === "string" ? [[first, ...args], {}] : [args, first.env];
    return runCli([...words, "--model", "openai-compatible/mock"], { cwd, state, env: { ...env, ...more } });
  };
  /** Of the request, by their files: which results are shown as lines. */
  const masked = (at: number): string =>
    server
      .log()
      .requests.at(at)!
      .body.messages.flatMap(({ content }: { content: string }) => /^\[c\d+ read_file "(f\d)/.exec(content)?.[1] ?? [])
      .join(" ");
  return { server, run, masked };
}

const reads = (n: number): ScriptRound => ({ calls: [{ name: "read_file", input: { path: `f${n}.txt` } }] });

test("a person makes room and takes that back; no model is asked for it", async () => {
  const { server, run, masked } = await setUp(({ round }) => (round < 6 ? reads(round) : { text: "read" }));
  await run("-p", "read them");
  const asked = server.log().requests.length;
  const boundary = { type: "system", subtype: "compact_boundary", compact_metadata: { trigger: "manual" } };
  const made = await run("-p", "-c", "/compact", "--output-format", "stream-json", "--verbose");
  const lines = made.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.find(({ subtype }) => subtype === "compact_boundary")).toMatchObject(boundary);
  expect(lines.at(-1)).toMatchObject({
    type: "result",
    subtype: "success",
    num_turns: 0,
    result: expect.stringMatching(
      /^Room was made: 6 old tool results left out \(about [\d.]+k → [\d.]+k? tokens\)\. Nothing is lost: the agent can recall it, \/compact undo shows it again\.$/,
    ),
  });
  expect(server.log().requests.length).toBe(asked);
  await run("-p", "-c", "what now?");
  expect(masked(-1)).toBe("f0 f1 f2 f3 f4 f5");
  expect((await run("-p", "-c", "/compact UNDO")).stdout).toBe(UNDONE);
  await run("-p", "-c", "and now?");
  expect([masked(-1), server.log().requests.length]).toEqual(["", asked + 2]);
  const nothing = await run("-p", "-c", "/compact undo");
  expect([nothing.code, nothing.stdout]).toEqual([0, "Nothing is left out: there is nothing to undo.\n"]);
  const fresh = await run("-p", "/compact");
  expect([fresh.code, fresh.stdout]).toEqual([
    0,
    "There is nothing to leave out yet: what the model sees stays as it is.\n",
  ]);
});

test("the agent makes room itself, and brings back what it needs", async () => {
  const { run, masked, server } = await setUp(({ round }) => {
    if (round < 6) return reads(round);
    if (round === 6) return { calls: [{ name: "compact", input: {} }] };
    return round === 7 ? { calls: [{ name: "recall", input: { ref: "c2" } }] } : { text: "done" };
  });
  const { code, stdout } = await run("-p", "read them", "--context-window", "50000");
  expect([code, stdout]).toEqual([0, "done\n"]);
  expect([masked(6), masked(7), masked(8)]).toEqual(["", "f0 f1 f2 f3 f4 f5", "f0 f1 f2 f3 f4 f5"]);
  expect(server.log().requests.at(-1)!.body.messages.at(-1).content).toContain("|line of 1\n".repeat(3));
  expect(server.log().invalid).toEqual([]);
});

test("killed while it makes room or takes that back, a command does it once, and says what it did", async () => {
  const { server, run, masked } = await setUp(({ round }) => (round < 6 ? reads(round) : { text: "read" }));
  await run("-p", "read them");
  const asked = server.log().requests.length;
  const env = { HOLDFAST_CRASH_AT: "compaction.recorded" };
  expect((await run({ env }, "-p", "-c", "/compact")).signal).toBe("SIGKILL");
  expect((await run("-p", "-c")).stdout).toMatch(/Room was made: 6 old tool results left out/);
  await run("-p", "-c", "what now?");
  expect([masked(-1), server.log().requests.length]).toEqual(["f0 f1 f2 f3 f4 f5", asked + 1]);
  expect((await run("-p", "-c", "/compact")).stdout).toMatch(/^Room was made: \d old rounds left out/);
  const nothing = "There is nothing to leave out yet: what the model sees stays as it is.\n";
  expect((await run("-p", "-c", "/compact")).stdout).toBe(nothing);
  // One that is over asks for nothing any more: the next one does what it says, and once.
  const killed = await run({ env: { HOLDFAST_CRASH_AT: "append.committed:3" } }, "-p", "-c", "/compact undo");
  expect(killed.signal).toBe("SIGKILL");
  await run("-p", "-c");
  await run("-p", "-c", "and now?");
  expect(masked(-1)).toBe("f0 f1 f2 f3 f4 f5");
});

test("a hook that keeps the conversation as it is is named, and the request is over; before the end of the window the work goes on", async () => {
  const { run, masked } = await setUp(({ round }) =>
    round < 6 ? { ...reads(round), usage: { input: 20_000 } } : { text: "read" },
  );
  const hooks = { PreCompact: [{ hooks: [{ type: "command", command: "echo not now >&2; exit 2" }] }] };
  const settings = ["--settings", JSON.stringify({ hooks })];
  const first = await run("-p", "read them", "--context-window", "32000", ...settings);
  expect([first.code, first.stdout, masked(-1)]).toEqual([0, "read\n", ""]);
  const asked = await run("-p", "-c", "/compact", ...settings);
  expect(asked.stdout).toBe("A PreCompact hook keeps the conversation as it is: not now\n");
});
