// What a model was asked, through the command line: each request of a conversation with a compaction, kill -9, a restore and a fork is shown again
// byte for byte as the server got it, how two differ, and what the breaks were. One conversation, several processes: each step needs the one before.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { scratch } from "../turn.ts";

async function setUp() {
  const server = await startModelServer({ match: "arrival" });
  onTestFinished(() => server.close());
  const opts = {
    cwd: scratch(onTestFinished),
    state: scratch(onTestFinished),
    env: { ANTHROPIC_BASE_URL: server.anthropicUrl, ...KEYS },
  };
  const run = async (...args: string[]) => {
    const done = await runCli(args, opts);
    expect([done.stderr, done.code]).toEqual([done.stderr, 0]);
    return done.stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await run(...args, "--json"));
  return { server, opts, run, json };
}

const MODEL = ["--model", "anthropic/mock", "--context-window", "20000"];
/** As a provider that caches counts them. */
const counts = (cacheRead: number, cacheWrite: number) => ({ usage: { input: 5, cacheRead, cacheWrite } });
const read = (file: string): ScriptRound => ({
  reasoning: { text: `look at ${file}`, signature: `signed ${file}` },
  calls: [{ name: "read_file", input: { path: file } }],
});

const SHEET =
  'note  note, 375 B  <note from="compaction"> The conversation above was made smaller. All of it is kept, and recall…';

/** Those that were answered, by the hash of their bytes. */
const answered = (server: ModelServer) =>
  server.log().requests.flatMap(({ delivered, sha256 }) => (delivered ? [sha256] : []));

test("each request is shown again as it was sent: across an epoch, kill -9, a restore and a fork; and so is what differs and what broke", async () => {
  const { server, opts, run, json } = await setUp();
  for (const name of ["a", "b", "c"])
    fs.writeFileSync(path.join(opts.cwd, `${name}.txt`), `${name} line\n`.repeat(900));
  server.setScript([
    { ...read("a.txt"), ...counts(0, 2_100) },
    { ...read("b.txt"), ...counts(2_100, 2_200) },
    { calls: [{ name: "compact", input: {} }], ...counts(4_300, 2_200) },
    { text: "one", ...counts(2_100, 700) },
    { ...read("c.txt"), ...counts(2_800, 20), faults: [{ pauseAt: 1 }] },
    { ...read("c.txt"), ...counts(0, 2_800) },
    { text: "two", ...counts(2_800, 2_200) },
    { text: "three", ...counts(2_700, 20) },
    { text: "four", ...counts(2_700, 20) },
  ]);
  await run("-p", "read both", ...MODEL);
  const second = startCli(["-p", "-c", "now c", ...MODEL], opts);
  await server.paused();
  second.child.kill("SIGKILL");
  await second.exited;
  server.release();
  await run("-p", "-c", ...MODEL);
  const [{ id }] = await json("contexts", "ls");
  await run("contexts", "restore", id, "prompt 2");
  const result = JSON.parse(await run("-p", "-r", id, "something else", ...MODEL, "--output-format", "json"));
  const { id: fork } = await json("contexts", "fork", id, "prompt 1");
  await run("-p", "-r", fork, "in the fork", ...MODEL);

  const sent = answered(server);
  expect([sent.length, server.log().invalid]).toEqual([8, []]);
  const show = (context: string, ...args: string[]) => run("contexts", "show", context, ...args);
  const shown = async (context: string, n: string) =>
    createHash("sha256")
      .update(await show(context, "--view", n, "--json"))
      .digest("hex");
  expect([await shown(id, "3"), await shown(id, "r4"), await shown(id, "6")]).toEqual([sent[2], sent[3], sent[5]]);
  expect([await shown(id, "7"), await shown(fork, "1")]).toEqual([sent[6], sent[7]]);

  const [c1, c2] = ["a", "b"].map((name, i) => {
    const line = `[c${i + 1} read_file "${name}.txt": 900 lines, left out to make room; recall c${i + 1}]`;
    return `c${i + 1}  result, 96 B  read_file: ${line}`;
  });
  const text = await show(id, "--view", "4");
  expect(text.split("\n")[0]).toMatch(
    /^lead: request of r4 to anthropic\/mock, about [\d.]+ kB, at most \d+ tokens back$/,
  );
  expect(text.slice(text.indexOf("Messages")).replaceAll(/\d{4}-\d\d-\d\d/g, "DAY")).toBe(`Messages: 8, 1.1 kB
  u1  said, 117 B  read both · <note from="holdfast"> Today is DAY. </note>
  r1  reply, 142 B  (thought) look at a.txt · c1 read_file {"path":"a.txt"}
  ${c1}
  r2  reply, 142 B  (thought) look at b.txt · c2 read_file {"path":"b.txt"}
  ${c2}
  ${SHEET}
  r3  reply, 55 B  c3 compact {}
  c3  result, 55 B  compact: Done before your next reply.
`);
  expect((await show(id, "--diff", "3", "r4")).split("\n").slice(1)).toEqual([
    "The first 2 messages are the same.",
    "+ tools: recall",
    ...[c1, c2].map((line) => `~ masked       ${line}, before 8.6 kB`),
    `+ added        ${SHEET}`,
    "+ added        r3  reply, 55 B  c3 compact {}",
    "+ added        c3  result, 55 B  compact: Done before your next reply.",
    "",
  ]);
  const { rounds } = await json("contexts", "show", id, "--breaks");
  expect(rounds.map(({ n, causes }: { n: number; causes: string[] }) => [n, ...causes])).toEqual([
    ...[[1], [2], [3], [4, "epoch", "tools"], [5, "expired"], [6], [7, "restore"]],
  ]);
  expect((await show(id, "--breaks")).split("\n").slice(1)).toEqual([
    expect.stringMatching(
      /^ {2}r4 {2}the conversation was made smaller, the tools changed: 0 B kept, [\d.]+ kB sent anew \(2.1k tokens from cache, 705 not\)$/,
    ),
    "      + tools: recall",
    expect.stringMatching(/^ {2}r5 {2}the provider had nothing of it any more: [\d.]+ kB kept, 62 B sent anew/),
    expect.stringMatching(/^ {2}r7 {2}went back to a checkpoint: [\d.]+ kB kept, 41 B sent anew/),
    "",
  ]);
  // The counter of all processes says the same, without making a request again.
  const all = { requests: 3, byCause: { epoch: 1, restore: 1, tools: 1, expired: 1 } };
  expect((await json("contexts", "show", id)).cacheBreaks).toEqual(all);
  expect(result.usage.cache_breaks).toEqual({ requests: 1, by_cause: { restore: 1 } });
  expect(await show(id)).toContain(
    "\n  3 requests broke the cached prefix: 1 × the conversation was made smaller, 1 × went back to a checkpoint, " +
      `1 × the tools changed, 1 × the provider had nothing of it any more (holdfast contexts show ${id} --breaks --cwd ${opts.cwd})\n`,
  );
  const wrong = await runCli(["contexts", "show", id, "--view", "8"], opts);
  expect([wrong.code, wrong.stderr]).toEqual([2, `holdfast: lead of ${id} has 7 replies: give 1 to 7, or next\n`]);
});
