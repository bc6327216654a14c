// A context as of any of its events: the page's server and the terminal say the same, and it is what was true then, also on timelines that were left.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openContexts } from "../../../src/contexts/index.ts";
import { openProject } from "../../../src/contexts/project.ts";
import type { ActionAnswer } from "../../../src/front/monitor/api.ts";
import type { ContextAt, FilesChanged, RowsWindow } from "../../../src/front/monitor/context-api.ts";
import type { StoredEvent } from "../../../src/ledger/store.ts";
import { startModelServer } from "../../../src/testing/model-server.ts";
import type { ScriptRound } from "../../../src/testing/model-server-script.ts";
import { runCli } from "../../cli/cli.ts";
import { KEYS } from "../../environment.ts";
import { scratch } from "../../turn.ts";
import { makeLongContext } from "../monitor/long-context.ts";
import { openMonitor, openWorld } from "../monitor/monitor.ts";

const todo = (...states: string[]) => ({
  name: "todo_write",
  input: { todos: states.map((status, i) => ({ content: `step \u001b[31m${i + 1}`, status })) },
});
const write = (file: string, content: string) => ({ name: "write_file", input: { path: file, content } });

const ROUNDS: ScriptRound[] = [
  { calls: [todo("in_progress", "pending"), { name: "create_task", input: { subject: "the parser" } }] },
  { calls: [write("a.txt", "one\n")] },
  { text: "the first is done" },
  { calls: [todo("completed", "in_progress"), { name: "claim_task", input: { task_id: "task_1" } }] },
  { calls: [write("b.txt", "two\n")] },
  { text: "the second is done" },
  { text: "something else" },
];

const FLAGS = ["--model", "anthropic/mock", "--permission-mode", "acceptEdits"];

/** Two prompts, a value between them, a way back to the second and another prompt. */
async function setUp() {
  const server = await startModelServer({ script: ROUNDS, match: "arrival" });
  onTestFinished(() => server.close());
  const opts = {
    ...{ cwd: scratch(onTestFinished), state: scratch(onTestFinished) },
    env: { ANTHROPIC_BASE_URL: server.anthropicUrl, ...KEYS },
  };
  const run = async (...args: string[]) => {
    const done = await runCli(args, opts);
    expect([args, done.stderr, done.code]).toEqual([args, done.stderr, 0]);
    return done.stdout;
  };
  await run("-p", "the first", ...FLAGS);
  const contexts = await openContexts({ cwd: opts.cwd, state: path.join(opts.state, "holdfast") });
  onTestFinished(() => contexts.close());
  const [{ id } = { id: "" }] = await contexts.list();
  const context = await contexts.get(id);
  await context.share("answer", 41);
  await run("-p", "-r", id, "the second", ...FLAGS);
  await run("contexts", "restore", id, "prompt 2");
  await run("-p", "-r", id, "the third", ...FLAGS);
  const { stateDir } = openProject({ cwd: opts.cwd, state: path.join(opts.state, "holdfast") });
  const events: StoredEvent[] = [];
  for await (const event of contexts.store.read(id)) events.push(event);
  const monitor = await openMonitor(contexts.store, { root: opts.cwd, files: path.join(stateDir, "files") });
  const at = (seq: number) => monitor.json<ContextAt>(`/api/p/p/c/${id}/at/${seq}`);
  /** Of the nth event of that type. */
  const seqOf = (type: string, n = 0) => events.filter((one) => one.type === type)[n]!.seq;
  return { opts, run, id, context, events, monitor, at, seqOf };
}

test("as of any event the page and the terminal say the same, and what was true then", {
  timeout: 120_000,
}, async () => {
  const { opts, run, id, events, monitor, at, seqOf } = await setUp();
  const head = events.length;
  const some = [1, 2, seqOf("reply.received"), seqOf("tool.started", 2), seqOf("context.restored"), head - 3, head];
  const all = events.map(({ seq }) => seq);
  for (const seq of process.env.HOLDFAST_LONG ? all : some)
    expect(JSON.parse(await run("contexts", "show", id, "--at", String(seq), "--json"))).toEqual(await at(seq));

  const started = events.find(({ type, data }) => type === "tool.started" && Object(data).name === "write_file")!.seq;
  const then = await at(started);
  const { tokens, usd, ...lead } = then.agents[0]!;
  expect(lead).toEqual({
    ...{ name: "lead", role: "lead", doing: "runs write_file", rounds: 2, openCalls: ["write_file a.txt"] },
  });
  const { at: _, board, agents: __, ...rest } = then;
  const [prompt] = events.filter(({ type }) => type === "context.checkpointed");
  expect(rest).toEqual({
    ...{ seq: started, head, waiting: [], data: [] },
    todos: [
      { agent: "lead", text: "step 1", status: "in_progress" },
      { agent: "lead", text: "step 2", status: "pending" },
    ],
    files: { checkpoint: { seq: prompt!.seq, at: prompt!.at, name: "prompt 1" }, edits: [] },
    fork: { seq: seqOf("reply.received", 1) - 1, request: { agent: "lead", n: 2 } },
    restore: { seq: prompt!.seq, name: "prompt 1", files: true },
  });
  expect(board.map(({ id: task, subject, status, owner }) => ({ task, subject, status, owner }))).toEqual([
    { task: "task_1", subject: "the parser", status: "pending", owner: undefined },
  ]);

  // Just before the way back everything of the second prompt is there; behind it, what was there at its beginning.
  const back = seqOf("context.restored");
  const whole = await at(back - 2);
  expect([whole.todos.map(({ status }) => status), whole.data.map(({ key, preview }) => [key, preview])]).toEqual([
    ["completed", "in_progress"],
    [["answer", "41"]],
  ]);
  expect(whole.board.map(({ status, owner }) => [status, owner])).toEqual([["in_progress", `${id}/lead`]]);
  expect(whole.files.edits.map(({ path: file, tool }) => [file, tool])).toEqual([["b.txt", "write_file"]]);
  const after = await at(back);
  expect(after.todos.map(({ status }) => status)).toEqual(["in_progress", "pending"]);
  expect([after.restore?.name, after.files.checkpoint?.name, after.files.edits]).toEqual(["prompt 2", "prompt 2", []]);

  // The transcript of then: what is left now was not left then.
  const rows = (query: string) => monitor.json<RowsWindow>(`/api/p/p/c/${id}/rows?from=0&count=300${query}`);
  const [now, before] = [await rows(""), await rows(`&upTo=${back - 1}`)];
  expect([now.total, before.total, before.rows.length, before.rows.some(({ left }) => left)]).toEqual([
    ...[head, back - 1, back - 1, false],
  ]);
  expect(now.rows.filter(({ left }) => left).length).toBeGreaterThan(5);
  const calls = await rows(`&upTo=${started}&kinds=call`);
  expect([calls.total, calls.rows.at(-1)?.seq]).toEqual([3, started]);

  const files = await monitor.json<FilesChanged>(`/api/p/p/c/${id}/files?at=${back - 2}`);
  expect([
    files.from.name,
    files.to?.name,
    files.files.map((one) => [one.path, one.status]),
    files.edits.length,
  ]).toEqual([...["prompt 1", "prompt 2", [["a.txt", "added"]], 1]]);

  const text = await run("contexts", "show", id, "--at", String(started));
  expect(text).not.toContain("\u001b");
  expect(text.split("\n").filter((line) => /^[a-z]/.test(line) && line.endsWith(":"))).toEqual([
    ...["agents:", "todos:", "board:", "files:", "from here:", "transcript up to then:"],
  ]);
  expect(text).toContain("  lead: runs write_file; 2 rounds, ");
  expect(text).toContain("  [>] step 1 (lead)\n  [ ] step 2 (lead)\n");
  expect(text).toContain(`holdfast contexts fork ${id} ${started} --cwd ${opts.cwd}\n`);
  expect((await monitor.get(`/api/p/p/c/${id}/at/${head + 1}`)).status).toBe(404);
});

test("from an event the page forks, goes back and copies as a test", { timeout: 120_000 }, async () => {
  const { opts, run, id, context, monitor, at, seqOf } = await setUp();
  const act = async (action: unknown) => (await (await monitor.act(id, action)).json()) as ActionAnswer;
  const seq = seqOf("tool.started", 2);
  const forked = await act({ action: "fork", seq });
  const { fork } = await at(seq);
  expect(forked).toEqual({
    ok: true,
    says: `forked at event ${fork.seq}; its turn goes on`,
    context: expect.stringMatching(/^ctx_/),
    command: `holdfast -p -r ${forked.context} --cwd ${opts.cwd}`,
  });
  const [copy] = JSON.parse(await run("contexts", "ls", "--json"));
  expect([copy.id, copy.status, copy.forkOf.seq]).toEqual([forked.context, "interrupted", fork.seq]);

  const recording = await monitor.get(`/api/p/p/c/${id}/test`);
  expect([recording.headers.get("content-disposition"), recording.headers.get("content-type")]).toEqual([
    `attachment; filename="${id}.jsonl"`,
    "application/octet-stream",
  ]);
  const file = path.join(opts.state, "as-test.jsonl");
  await run("contexts", "export", id, file, "--as-test");
  const lines = (text: string) => text.split("\n").slice(1); // the first says which build wrote it
  expect(lines(await recording.text())).toEqual(lines(fs.readFileSync(file, "utf8")));

  // Files that somebody else changed are named, and nothing is touched until the person says how.
  fs.writeFileSync(path.join(opts.cwd, "a.txt"), "mine\n");
  const parts = { conversation: true, data: true, files: true };
  const first = seqOf("reply.received");
  const refused = await act({ action: "restore", seq: first, parts });
  expect([refused.ok, refused.code, refused.paths]).toEqual([false, "conflict", ["a.txt"]]);
  const kept = await act({ action: "restore", seq: first, parts, keepChanged: true });
  expect([kept.ok, kept.says]).toEqual([true, expect.stringContaining("back at prompt 1; files: ")]);
  expect(fs.readFileSync(path.join(opts.cwd, "a.txt"), "utf8")).toBe("mine\n");
  expect((await act({ action: "restore", seq: 1, parts })).code).toBe("not_found");
  expect((await context.checkpoints()).at(-1)?.name).toBe("before restoring prompt 1");
});

test("a random event of a long context is looked at without reading it all", { timeout: 120_000 }, async () => {
  const { store, root } = await openWorld();
  const id = await makeLongContext(store, { root, events: 6_000 });
  const monitor = await openMonitor(store, { root });
  const base = `/api/p/p/c/${id}`;
  const last = await monitor.json<ContextAt>(`${base}/at/6000`);
  expect(last.agents.map(({ name }) => name)).toEqual(["lead", "alice", "bob", "花子"]);
  const times: number[] = [];
  for (let i = 0; i < 100; i++) {
    const seq = 1 + ((i * 7919) % 6_000);
    const since = performance.now();
    const then = await monitor.json<ContextAt>(`${base}/at/${seq}`);
    times.push(performance.now() - since);
    const { rows } = await monitor.json<RowsWindow>(`${base}/rows?from=-1&count=1&upTo=${seq}&kinds=reply`);
    const rounds = then.agents.reduce((sum, one) => sum + one.rounds, 0);
    const { total } = await monitor.json<RowsWindow>(`${base}/rows?from=0&count=1&upTo=${seq}&kinds=reply`);
    expect([seq, rounds, rows.length]).toEqual([seq, total, Math.min(1, total)]);
    expect(then.fork.seq).toBeLessThanOrEqual(seq);
  }
  times.sort((a, b) => a - b);
  console.log(`100 random events of 6,000: median ${times[50]!.toFixed(1)} ms, slowest ${times[99]!.toFixed(1)} ms`);
  expect((await monitor.get(`${base}/files?at=3000`)).status).toBe(200);
});
