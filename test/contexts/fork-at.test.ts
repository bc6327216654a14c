// A fork from any event, through the command line: its first request has the bytes of the recorded one, in a turn with files, jobs, a subagent
// and a compaction; where no turn was open it waits for a prompt. One conversation, many forks: each step needs the one before.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { Script, ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { scratch } from "../turn.ts";

interface Recorded {
  seq: number;
  type: string;
  actor: string;
  data: { callId?: string; name?: string };
}

const FLAGS = [
  "--model",
  "anthropic/claude-sonnet-5-5",
  "--context-window",
  "20000",
  "--permission-mode",
  "bypassPermissions",
];

/** `rounds`: each by its first attempt, and by those after it. */
async function setUp(rounds: (ScriptRound | [first: ScriptRound, later: ScriptRound])[]) {
  let isForking = false;
  const script: Script = (request) => {
    if (isSubtask(request)) return request.round === 0 ? { text: "the subtask is done" } : { text: "twice" };
    if (isForking) return { text: "in the fork" };
    const round = rounds[request.round] ?? { text: "over" };
    return Array.isArray(round) ? round[request.attempt === 1 ? 0 : 1] : round;
  };
  const server = await startModelServer({ script });
  onTestFinished(() => server.close());
  const env = { ANTHROPIC_BASE_URL: server.anthropicUrl, ...KEYS };
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished), env };
  const run = async (...args: string[]) => {
    const done = await runCli(args, opts);
    expect([args, done.stderr, done.code]).toEqual([args, done.stderr, 0]);
    return done.stdout;
  };
  const json = async (...args: string[]) => JSON.parse(await run(...args, "--json"));
  const asked = () => server.log().requests.filter(({ delivered, body }) => delivered && !isSubtask({ body }));
  /** The fork, and the hash of what it asks first. */
  const forkAt = async (id: string, seq: number, words: string[] = FLAGS) => {
    const fork = await json("contexts", "fork", id, String(seq));
    const before = asked().length;
    isForking = true;
    await run("-p", "-r", fork.id, ...words);
    isForking = false;
    return { fork, first: asked()[before]?.sha256 };
  };
  return { server, opts, run, json, asked, forkAt };
}

const isSubtask = ({ body }: Pick<ScriptRequest, "body">): boolean =>
  JSON.stringify(body.messages[0]).includes("Look at the subtask");

const ROUNDS: ScriptRound[] = [
  { calls: [{ name: "read_file", input: { path: "a.txt" } }] },
  { calls: [{ name: "write_file", input: { path: "new.txt", content: "new\n" } }] },
  {
    calls: [
      { name: "bash", input: { command: "echo one" } },
      { name: "bash", input: { command: "echo two" } },
    ],
  },
  { calls: [{ name: "bash", input: { command: "sleep 0.2; echo late", run_in_background: true } }] },
  { calls: [{ name: "task", input: { description: "look", prompt: "Look at the subtask" } }] },
  { calls: [{ name: "todo_write", input: { todos: [{ content: "first", status: "in_progress" }] } }] },
  { calls: [{ name: "compact", input: {} }] },
  { calls: [{ name: "read_file", input: { path: "b.txt" } }] },
  { text: "all is done" },
];

test("a fork from any event of a turn asks first what was asked there, byte for byte", {
  timeout: 240_000,
}, async () => {
  const { server, opts, run, json, asked, forkAt } = await setUp(ROUNDS);
  for (const name of ["a", "b"]) fs.writeFileSync(path.join(opts.cwd, `${name}.txt`), `${name} line\n`.repeat(900));
  await run("-p", "do it all", ...FLAGS);
  const sent = asked().map(({ sha256 }) => sha256);
  expect([sent.length, server.log().invalid]).toEqual([ROUNDS.length, []]);
  const [{ id }] = await json("contexts", "ls");
  const { events }: { events: Recorded[] } = await json("contexts", "show", id);
  const replies = events.filter(({ type, actor }) => type === "reply.received" && actor === "lead");
  expect(replies.length).toBe(ROUNDS.length);
  const types = new Set(events.map(({ type }) => type));
  expect(["job.started", "subagent.started", "context.compacted"].filter((type) => !types.has(type))).toEqual([]);

  const found: unknown[] = [];
  for (const [i, reply] of replies.entries()) {
    const { fork: place } = await json("contexts", "show", id, "--at", String(reply.seq));
    const { fork, first } = await forkAt(id, reply.seq);
    found.push([i + 1, place, { seq: fork.seq, goesOn: fork.goesOn }, first]);
  }
  expect(found).toEqual(
    replies.map(({ seq }, i) => [
      i + 1,
      { seq: seq - 1, request: { agent: "lead", n: i + 1 } },
      { seq: seq - 1, goesOn: true },
      sent[i],
    ]),
  );

  // Inside a round: what was asked last.
  const others: [type: string, name: string | undefined, n: number][] = [
    ["tool.started", "write_file", 2],
    ["tool.started", "bash", 3],
    ["tool.started", "task", 5],
  ];
  for (const [type, name, n] of others) {
    const event = events.find((one) => one.type === type && one.actor === "lead" && one.data.name === name)!;
    expect([type, name, (await forkAt(id, event.seq)).first]).toEqual([type, name, sent[n - 1]]);
  }
  // A subagent's own events are inside the round that started it.
  const ofSubagent = events.find(({ type, actor }) => type === "reply.received" && actor !== "lead")!;
  expect((await forkAt(id, ofSubagent.seq)).first).toBe(sent[4]);
  // What was not asked yet begins behind what was.
  const last = events.findLast(({ type, actor }) => type === "tool.finished" && actor === "lead")!;
  const { fork: where } = await json("contexts", "show", id, "--at", String(last.seq));
  expect((await forkAt(id, last.seq)).first).toBe(sent[where.request.n - 1]);
  // Before the turn it waits for words: the same ones are asked the same.
  const input = events.find(({ type }) => type === "input.received")!;
  const before = await forkAt(id, input.seq, ["do it all", ...FLAGS]);
  expect([before.fork.seq, before.fork.goesOn, before.first]).toEqual([input.seq, false, sent[0]]);
  // The wider mode is not remembered, and no part of a request.
  expect((await forkAt(id, replies[3]!.seq, [])).first).toBe(sent[3]);
  expect(server.log().invalid).toEqual([]);
});

test("what a turn remembers is in its fork too: a warning, a raised limit, a hook's word, an instruction of a folder", async () => {
  const again = { calls: [{ name: "read_file", input: { path: "a.txt" } }] };
  const { opts, run, json, asked, forkAt } = await setUp([
    [{ text: "cut o", finish: "length" }, again],
    ...[again, again, again],
    { calls: [{ name: "read_file", input: { path: "sub/b.txt" } }] },
    { text: "over" },
  ]);
  const settings = path.join(opts.state, ".config/holdfast/settings.json");
  fs.mkdirSync(path.dirname(settings), { recursive: true });
  const said = JSON.stringify({ hookSpecificOutput: { hookEventName: "PostToolBatch", additionalContext: "seen" } });
  const hooks = { PostToolBatch: [{ matcher: "", hooks: [{ type: "command", command: `echo '${said}'` }] }] };
  fs.writeFileSync(settings, JSON.stringify({ hooks }));
  fs.mkdirSync(path.join(opts.cwd, "sub"));
  for (const file of ["a.txt", "sub/b.txt"]) fs.writeFileSync(path.join(opts.cwd, file), "a line\n");
  fs.writeFileSync(path.join(opts.cwd, "sub/AGENTS.md"), "Be brief here.\n");
  await run("-p", "go", ...FLAGS);
  const requests = asked();
  const [{ id }] = await json("contexts", "ls");
  const { events }: { events: Recorded[] } = await json("contexts", "show", id);
  const types = new Set(events.map(({ type }) => type));
  expect(["model.escalated", "hook.ran", "note.added"].filter((type) => !types.has(type))).toEqual([]);
  const replies = events.filter(({ type }) => type === "reply.received");
  const found: (string | undefined)[] = [];
  for (const { seq } of replies) found.push((await forkAt(id, seq)).first);
  expect(found).toEqual(requests.slice(-replies.length).map(({ sha256 }) => sha256));
});

test("a fork in the middle of a turn is listed as interrupted, and is taken up without a prompt", async () => {
  const { run, json, forkAt } = await setUp(ROUNDS.slice(0, 2));
  await run("-p", "go", ...FLAGS);
  const [{ id }] = await json("contexts", "ls");
  const { events }: { events: Recorded[] } = await json("contexts", "show", id);
  const second = events.filter(({ type }) => type === "reply.received")[1]!;
  const said = await run("contexts", "fork", id, String(second.seq));
  const fork = said.split("\n")[0]!;
  expect(said).toMatch(/^(ctx_\w+)\nGo on with it: holdfast -p -r \1[^"]*\n$/);
  const [listed] = await json("contexts", "ls");
  const forkOf = { context: id, checkpoint: `event ${second.seq - 1}`, seq: second.seq - 1, goesOn: true };
  expect([listed.id, listed.status, listed.forkOf]).toEqual([fork, "interrupted", forkOf]);
  expect((await json("contexts", "resumable")).map((one: { id: string }) => one.id)).toEqual([fork]);
  await run("-p", "-r", fork, ...FLAGS);
  const [done] = await json("contexts", "ls");
  expect([done.id, done.status]).toEqual([fork, "completed"]);
  // The fork of a fork, at the place where it was forked.
  const copy = await forkAt(fork, second.seq);
  expect(copy.fork.goesOn).toBe(true);
});

test("there is nothing to fork or to look at beyond the last event", async () => {
  const { opts, run, json } = await setUp([{ text: "hello" }]);
  await run("-p", "go", ...FLAGS);
  const [{ id, events }] = await json("contexts", "ls");
  const fork = await runCli(["contexts", "fork", id, String(events + 1)], opts);
  expect([fork.code, fork.stderr]).toEqual([
    2,
    `holdfast: there is no event ${events + 1} in ${id}: give 1 to ${events}\n`,
  ]);
  for (const at of ["0", "x", "-1", String(events + 1), "1.5"]) {
    const shown = await runCli(["contexts", "show", id, `--at=${at}`], opts);
    expect([shown.code, shown.stdout, shown.stderr]).toEqual([
      2,
      "",
      `holdfast: --at takes the number of an event of ${id}, 1 to ${events}, not "${at}"\n`,
    ]);
  }
});

test("kill -9 while forking leaves a whole fork or none", { timeout: 120_000 }, async () => {
  const { opts, run, json } = await setUp(ROUNDS.slice(0, 3));
  await run("-p", "go", ...FLAGS);
  const [{ id }] = await json("contexts", "ls");
  const { events }: { events: Recorded[] } = await json("contexts", "show", id);
  const reply = events.filter(({ type }) => type === "reply.received").at(-1)!;
  for (const afterMs of [40, 60, 80, 90, 100, 110, 120, 140, 160, 200]) {
    const forking = startCli(["contexts", "fork", id, String(reply.seq)], opts);
    setTimeout(() => forking.child.kill("SIGKILL"), afterMs);
    await forking.exited;
  }
  const all: { id: string; events: number }[] = await json("contexts", "ls");
  const forks = all.filter((one) => one.id !== id);
  expect(forks.map((one) => one.events)).toEqual(forks.map(() => reply.seq));
  expect((await json("contexts", "verify")).damage).toEqual([]);
});
