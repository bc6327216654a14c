// A yes holds for what was shown: tool, input, directory, tree. In another directory it is asked again, across a kill too.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openProject } from "../../src/contexts/index.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import { approvalsSlice, isSameQuestion } from "../../src/mechanisms/approvals/events.ts";
import { askingPerson, createApprovals, keptRules, whoAnswers } from "../../src/mechanisms/approvals/index.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { scratch, testTurn } from "../turn.ts";

interface Listed {
  requestId: string;
  context: string;
  agent: string;
  callId: string;
  tool: string;
  input: { command: string };
  cwd: string;
  root: string;
  code: string;
  reason: string;
}

/** One reply that goes to another directory, then runs a program by the same words as before. */
function setUp(calls = ["cd vendor/evil", "./work.sh"]) {
  const cwd = realpathSync(scratch(onTestFinished));
  const state = scratch(onTestFinished);
  const evil = join(cwd, "vendor/evil");
  mkdirSync(evil, { recursive: true });
  for (const dir of [cwd, evil]) writeFileSync(join(dir, "work.sh"), "#!/bin/sh\necho ran >> times\n", { mode: 0o755 });
  const script = join(state, "script.yaml");
  const reply = calls.map((command) => ({ name: "bash", input: { command } }));
  writeFileSync(script, JSON.stringify({ rounds: [{ calls: reply }, { text: "finished" }] }));
  const opts = { cwd, state };
  const args = ["--model", `rehearsal:${script}`, "--approvals", "wait"];
  const pending = async (): Promise<Listed[]> => JSON.parse((await runCli(["approve", "--json"], opts)).stdout);
  const untilAsked = async (past?: Listed): Promise<Listed> => {
    for (;;) {
      const next = (await pending()).find((r) => r.requestId !== past?.requestId);
      if (next) return next;
      await sleep(20);
    }
  };
  const ran = () => [cwd, evil].map((dir) => existsSync(join(dir, "times")));
  return { cwd, evil, opts, args, pending, untilAsked, ran };
}

test("an approval shown for one directory never runs in another: it is asked again, with that directory shown", async () => {
  const { cwd, evil, opts, args, untilAsked, ran } = setUp();
  const run = startCli(["-p", "go", ...args], opts);
  const first = await untilAsked();
  expect([first.input.command, first.cwd]).toEqual(["./work.sh", cwd]);
  await runCli(["approve", first.requestId, "--remember"], opts);
  await Promise.race([untilAsked(first), run.exited]);
  expect(ran()).toEqual([false, false]);
  const second = await untilAsked(first);
  expect([first.root, second.root]).toEqual([cwd, cwd]);
  expect([second.input, second.reason, second.code, second.cwd]).toEqual([first.input, first.reason, first.code, evil]);
  expect((await runCli(["approve"], opts)).stdout).toContain(`bash in ${evil}`);
  const late = await runCli(["approve", first.requestId], opts); // the question before is void
  expect([late.code, late.stderr]).toEqual([4, expect.stringContaining("was answered already: allowed")]);
  expect(ran()).toEqual([false, false]);
  await runCli(["deny", second.requestId], opts);
  expect([(await run.exited).code, ran()]).toEqual([0, [false, false]]);
});

test("an answer recorded before kill -9 for one directory does not serve in another after the resume", async () => {
  const { evil, opts, args, untilAsked, pending, ran } = setUp();
  // Killed when the change of directory is durable: the yes for the program was given before it, for the project.
  const first = startCli(["-p", "go", ...args], { ...opts, env: { HOLDFAST_CRASH_AT: "results.durable" } });
  const asked = await untilAsked();
  await runCli(["approve", asked.requestId], opts);
  expect((await first.exited).signal).toBe("SIGKILL");
  const second = startCli(["-p", "-r", asked.context, ...args], opts);
  await Promise.race([untilAsked(asked), second.exited]);
  expect(ran()).toEqual([false, false]);
  const again = await untilAsked(asked);
  expect([again.callId, again.cwd, ran()]).toEqual([asked.callId, evil, [false, false]]);
  expect((await pending()).map((r) => r.requestId)).toEqual([again.requestId]);
  await runCli(["approve", again.requestId], opts); // and this one holds here
  expect([(await second.exited).code, ran()]).toEqual([0, [false, true]]);
});

test("an answer of an older version, which does not say for which tree, is asked again", async () => {
  const { cwd, opts, args, untilAsked, ran } = setUp(["./work.sh"]);
  const first = startCli(["-p", "go", ...args], opts);
  const asked = await untilAsked();
  first.child.kill("SIGKILL");
  await first.exited;
  const old = {
    requestId: "apr_old",
    callId: asked.callId,
    tool: "bash",
    input: asked.input,
    cwd,
    reason: asked.reason,
  };
  const store = await openStore(openProject({ cwd, env: { HOME: opts.state, XDG_STATE_HOME: opts.state } }).ledgers);
  try {
    await store.append([
      {
        ledger: asked.context,
        events: [
          { type: "approval.asked", v: 1, actor: asked.agent, data: { ...old, firm: false } },
          {
            type: "approval.answered",
            v: 1,
            actor: "user",
            data: { requestId: "apr_old", decision: "allow", remember: true, from: "another terminal" },
          },
        ],
      },
    ]);
  } finally {
    await store.close();
  }
  const second = startCli(["-p", "-r", asked.context, ...args], opts);
  await Promise.race([untilAsked(asked), second.exited]);
  expect(ran()[0]).toBe(false);
  const again = await untilAsked(asked);
  expect([again.requestId === "apr_old", again.cwd, ran()[0]]).toEqual([false, cwd, false]);
  await runCli(["deny", again.requestId], opts);
  expect([(await second.exited).code, ran()[0]]).toEqual([4, false]);
});

/** Asked in the project, and the process that asked is killed; then the folder is moved. */
async function askedThenMoved(answer?: string[]) {
  const world = setUp(["./work.sh"]);
  const { cwd, opts, args } = world;
  const first = startCli(["-p", "go", ...args], opts);
  const asked = await world.untilAsked();
  first.child.kill("SIGKILL");
  await first.exited;
  if (answer) expect((await runCli(["approve", asked.requestId, ...answer], opts)).code).toBe(0);
  const moved = `${cwd}-moved`;
  onTestFinished(() => rmSync(moved, { recursive: true, force: true }));
  renameSync(cwd, moved);
  const there = { ...opts, cwd: moved };
  const pending = async (): Promise<Listed[]> => JSON.parse((await runCli(["approve", "--json"], there)).stdout);
  const times = (dir: string) =>
    existsSync(join(dir, "times")) ? readFileSync(join(dir, "times"), "utf8").split("\n").length - 1 : 0;
  return { ...world, asked, moved, there, pending, times };
}

const untilOther = async (past: Listed, pending: () => Promise<Listed[]>): Promise<Listed> => {
  for (;;) {
    const next = (await pending()).find((r) => r.requestId !== past.requestId);
    if (next) return next;
    await sleep(20);
  }
};

test("a question from before the project was moved cannot be answered any more, says so, and is asked anew in the new place", async () => {
  const { cwd, moved, there, asked, args, pending, times } = await askedThenMoved();
  const line = `${asked.requestId} is void: it was asked in ${cwd}, and the project's folder has moved to ${moved} since. It is asked anew when its context goes on: holdfast -p -r ${asked.context} --cwd ${moved}\n`;
  expect(await pending()).toEqual([]);
  const listed = await runCli(["approve"], there);
  expect(listed).toEqual({ code: 0, signal: null, stdout: "", stderr: `Nothing waits for approval.\n${line}` });
  for (const verb of ["approve", "deny"]) {
    const refused = await runCli([verb, asked.requestId], there);
    expect(refused).toEqual({ code: 2, signal: null, stdout: "", stderr: `holdfast: ${line}` });
  }
  const again = startCli(["-p", "-r", asked.context, ...args], there);
  const anew = await untilOther(asked, pending);
  expect([anew.callId, anew.cwd, anew.root, times(moved)]).toEqual([asked.callId, moved, moved, 0]);
  const late = await runCli(["approve", asked.requestId], there);
  expect([late.code, late.stderr]).toEqual([2, expect.stringContaining("is not asked any more")]);
  await runCli(["approve", anew.requestId], there);
  expect([(await again.exited).code, times(moved), existsSync(cwd)]).toEqual([0, 1, false]);
});

test("an answer given before the move is not carried over: not to the new place, and not to another folder at the old one", async () => {
  const { cwd, moved, opts, there, asked, args, pending, times } = await askedThenMoved(["--remember"]);
  const first = startCli(["-p", "-r", asked.context, ...args], there);
  const second = await untilOther(asked, pending);
  expect([second.cwd, times(moved)]).toEqual([moved, 0]);
  first.child.kill("SIGKILL");
  await first.exited;
  // A copy at the old path, which a person lets go on with the contexts: not the folder that the first answer spoke of.
  cpSync(moved, cwd, { recursive: true });
  rmSync(moved, { recursive: true });
  expect((await runCli(["project", "adopt", moved], opts)).code).toBe(0);
  const back = async (): Promise<Listed[]> => JSON.parse((await runCli(["approve", "--json"], opts)).stdout);
  const last = startCli(["-p", "-r", asked.context, ...args], opts);
  const third = await Promise.race([untilOther(asked, back), last.exited]);
  expect([third, times(cwd)]).toEqual([expect.objectContaining({ callId: asked.callId, cwd, root: cwd }), 0]);
  await runCli(["deny", (third as Listed).requestId], opts);
  expect([(await last.exited).code, times(cwd)]).toEqual([4, 0]); // all that it wanted was refused
});

test("a link that is put in the place of the folder while somebody thinks is another folder: it is asked again, with that one shown", async () => {
  const { cwd, evil, opts, args, untilAsked, ran } = setUp(["./work.sh"]);
  const [work, kept] = [join(cwd, "work"), join(cwd, "kept")];
  mkdirSync(work);
  writeFileSync(join(work, "work.sh"), "#!/bin/sh\necho ran >> times\n", { mode: 0o755 });
  writeFileSync(
    join(opts.state, "script.yaml"),
    JSON.stringify({
      rounds: [
        { calls: [{ name: "bash", input: { command: "cd work" } }] },
        { calls: [{ name: "bash", input: { command: "./work.sh" } }] },
        { text: "finished" },
      ],
    }),
  );
  const run = startCli(["-p", "go", ...args], opts);
  const first = await untilAsked();
  expect([first.input.command, first.cwd]).toEqual(["./work.sh", work]);
  renameSync(work, kept);
  symlinkSync(evil, work);
  await runCli(["approve", first.requestId], opts);
  await Promise.race([untilAsked(first), run.exited]);
  expect([ran(), existsSync(join(kept, "times"))]).toEqual([[false, false], false]);
  const second = await untilAsked(first);
  expect([second.callId, second.input, second.cwd]).toEqual([first.callId, first.input, evil]);
  await runCli(["deny", second.requestId], opts);
  expect([(await run.exited).code, ran()]).toEqual([0, [false, false]]);
});

test("a rule is kept only if it was shown, and holds only for whoever gave it, where it was given", () => {
  const event = (type: string, data: object) =>
    ({ seq: 1, id: "e", v: 1, at: 0, actor: "lead", touches: [], type, data }) as never;
  const asked = { callId: "c1", tool: "bash", input: {}, cwd: "/p", reason: "", firm: false, rules: ["Bash(a *)"] };
  const answers = [
    { requestId: "own", keeps: { rule: "Bash(a *)", ...whoAnswers() } },
    { requestId: "unshown", keeps: { rule: "Bash", ...whoAnswers() } },
    { requestId: "elsewhere", keeps: { rule: "Bash(a *)", ...whoAnswers(), machine: "another" } },
    { requestId: "somebody", keeps: { rule: "Bash(a *)", ...whoAnswers(), user: "another" } },
  ];
  let state = approvalsSlice.initial();
  for (const answer of answers) {
    state = approvalsSlice.apply(state, event("approval.asked", { ...asked, ...answer, callId: answer.requestId }));
    state = approvalsSlice.apply(state, event("approval.answered", { ...answer, decision: "allow", from: "here" }));
  }
  expect(state.rules.length).toBe(3);
  expect(keptRules({ slice: <T>() => state as T })).toEqual(["Bash(a *)"]);
});

test("a yes holds for what was shown beside the call, and not for what a server says in its place later", () => {
  const shown = { tool: "mcp__a__pay", input: {}, cwd: "/p", root: "/p", code: "tool" as const, about: "v1" };
  const request = { ...shown, requestId: "apr_1", agent: "lead", callId: "c1", reason: "", firm: true, askedAt: 0 };
  const { about: _, ...before } = shown;
  expect([shown, { ...shown, about: "v2" }, before].map((one) => isSameQuestion(request, one))).toEqual([
    true,
    false,
    false,
  ]);
});

test("what is to be remembered holds for whoever said so, where they said it; elsewhere it is asked again, with why", async () => {
  const root = realpathSync(scratch(onTestFinished));
  const asked = { decision: "ask" as const, code: "tool" as const, reason: "it acts outside", firm: false };
  /** The same call a second time; the first was answered by somebody. */
  const second = async (change: (by: object) => object | undefined) => {
    const turn = testTurn([createApprovals()], { root });
    const call = (id: string) =>
      ({ turn, tool: { name: "bash" }, input: { command: "./check.sh" }, call: { id } }) as never;
    const seen: string[] = [];
    const answering = (remember: boolean) =>
      askingPerson({
        async onAsk({ reason }) {
          seen.push(reason);
          return { decision: "allow", remember, from: "test" };
        },
      });
    const { append } = turn;
    turn.append = async (events) =>
      append(
        events.map((one) => ({
          ...one,
          data: { ...(one.data as object), ...(isRemembered(one) && { by: change(one.data.by) }) },
        })),
      );
    await answering(true)(call("c1"), asked);
    expect(await answering(false)(call("c2"), asked)).toEqual({ decision: "allow" });
    return seen.slice(1);
  };
  const isRemembered = (event: object): event is { data: { by: object } } =>
    "data" in event && (event.data as { remember?: boolean }).remember === true;
  expect(await second((by) => by)).toEqual([]);
  const others = [{ machine: "another" }, { user: "another" }];
  for (const other of others)
    expect(await second((by) => ({ ...by, ...other }))).toEqual([expect.stringContaining("on another machine")]);
  expect(await second(() => undefined)).toEqual([expect.stringContaining("that does not count here")]);
});
