// Approvals through the command line: asked, killed, asked again, answered from a second terminal.
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { runCli, startCli } from "../cli/cli.ts";
import { here } from "../cli/here.ts";
import { scratch } from "../turn.ts";

interface Listed {
  requestId: string;
  context: string;
  tool: string;
  input: { command: string };
  reason: string;
}

function setUp(command: string, again = 1) {
  const cwd = scratch(onTestFinished);
  const state = scratch(onTestFinished);
  const script = join(state, "script.yaml");
  writeFileSync(join(cwd, "work.sh"), "#!/bin/sh\necho ran >> times\n", { mode: 0o755 });
  const round = `  - calls:\n      - { name: bash, input: { command: ${JSON.stringify(command)} } }\n`;
  writeFileSync(script, `rounds:\n${round.repeat(again)}  - text: finished\n`);
  const opts = { cwd, state };
  const args = ["--model", `rehearsal:${script}`, "--approvals", "wait"];
  const pending = async (): Promise<Listed[]> => JSON.parse((await runCli(["approve", "--json"], opts)).stdout);
  const untilAsked = async (): Promise<Listed> => {
    for (;;) {
      const [first] = await pending();
      if (first) return first;
      await sleep(20);
    }
  };
  const text = (name: string) => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : undefined);
  return { opts, args, pending, untilAsked, text };
}

/** Running project code asks, and shows what it did. */
const COMMAND = "./work.sh";

test("an approval asked before kill -9 is still asked after resume; the answer of a second terminal continues the turn", async () => {
  const { opts, args, untilAsked, pending, text } = setUp(COMMAND);
  const first = startCli(["-p", "go", ...args], opts);
  const asked = await untilAsked();
  expect([asked.tool, asked.input.command]).toEqual(["bash", COMMAND]);
  first.child.kill("SIGKILL");
  expect((await first.exited).signal).toBe("SIGKILL");
  expect((await pending()).map((r) => r.requestId)).toEqual([asked.requestId]);
  const second = startCli(["-p", "-r", asked.context, ...args], opts);
  await sleep(500);
  expect([(await pending()).length, text("times")]).toEqual([1, undefined]); // a resume approves nothing
  const answered = await runCli(["approve", asked.requestId], opts);
  expect([answered.code, answered.stdout]).toEqual([0, expect.stringContaining("Allowed: bash")]);
  const { code, stdout } = await second.exited;
  expect([code, stdout, text("times")]).toEqual([0, expect.stringContaining("finished"), "ran\n"]);
  expect(await pending()).toEqual([]);
});

test("a context that waits for an answer says so, and no longer once it is answered or its process is gone", async () => {
  const { opts, args, untilAsked } = setUp(COMMAND, 2);
  const statuses = async () => {
    const listed: { id: string; status: string }[] = JSON.parse(
      (await runCli(["contexts", "ls", "--json"], opts)).stdout,
    );
    const shown = (await runCli(["contexts", "show", listed[0]!.id], opts)).stdout.split("\n")[0]!.split("  ")[1];
    return [listed[0]!.status, shown];
  };
  const first = startCli(["-p", "go", ...args], opts);
  const asked = await untilAsked();
  expect(await statuses()).toEqual(["waiting", "waiting"]);
  await runCli(["approve", asked.requestId], opts);
  await untilAsked(); // the second call
  expect(await statuses()).toEqual(["waiting", "waiting"]);
  first.child.kill("SIGKILL");
  await first.exited;
  expect(await statuses()).toEqual(["interrupted", "interrupted"]);
  const second = startCli(["-p", "-r", asked.context, ...args], opts);
  await sleep(500);
  await runCli(["deny", (await untilAsked()).requestId], opts);
  await second.exited;
  expect(await statuses()).toEqual(["completed", "completed"]);
});

test("an answer given while no process runs counts at the resume", async () => {
  const { opts, args, untilAsked, text } = setUp(COMMAND);
  const first = startCli(["-p", "go", ...args], opts);
  const asked = await untilAsked();
  first.child.kill("SIGKILL");
  await first.exited;
  await runCli(["approve", asked.requestId], opts);
  const { code } = await runCli(["-p", "-r", asked.context, ...args], opts);
  expect([code, text("times")]).toEqual([0, "ran\n"]);
});

test("a refusal with its reason reaches the model and the result; a second answer is told so", async () => {
  const { opts, args, untilAsked, text } = setUp(COMMAND);
  const run = startCli(["-p", "go", "--output-format", "json", ...args], opts);
  const asked = await untilAsked();
  const denied = await runCli(["deny", asked.requestId, "--reason", "not today"], opts);
  expect([denied.code, denied.stdout]).toEqual([0, expect.stringContaining("Denied: bash")]);
  const result = JSON.parse((await run.exited).stdout);
  expect(result.permission_denials).toEqual([
    { tool_name: "Bash", tool_use_id: "c1", tool_input: { command: COMMAND }, reason: "not today" },
  ]);
  expect(text("times")).toBe(undefined);
  const late = await runCli(["approve", asked.requestId], opts);
  expect([late.code, late.stderr]).toEqual([4, expect.stringContaining("was answered already: refused")]);
});

test("a remembered answer holds for exactly that call, in that context", async () => {
  const { opts, args, untilAsked, text } = setUp(COMMAND, 2);
  const run = startCli(["-p", "go", ...args], opts);
  const asked = await untilAsked();
  await runCli(["approve", asked.requestId, "--remember"], opts);
  expect([(await run.exited).code, text("times")]).toEqual([0, "ran\nran\n"]);
  const other = startCli(["-p", "go", ...args], opts);
  expect((await untilAsked()).context).not.toBe(asked.context);
  other.child.kill("SIGKILL");
  await other.exited;
});

test("a request is looked at before it is answered, needs enough of its id, is found from elsewhere, and a second answer is told of the first", async () => {
  const { opts, args, untilAsked, text } = setUp(COMMAND, 2);
  const run = startCli(["-p", "go", ...args], opts);
  const { requestId: id, context } = await untilAsked();
  const told = async (...words: string[]) => {
    const { code, stdout, stderr } = await here(words, opts);
    return [code, stdout.split("\n")[0], stderr];
  };
  const elsewhere = await here(["approve", id], { ...opts, cwd: scratch(onTestFinished) });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    2,
    `holdfast: ${id} is asked in another project; it belongs to ${opts.cwd}: add --cwd ${opts.cwd}\n`,
  ]);
  const see = `see \`holdfast approve ls --cwd ${opts.cwd}\`\n`;
  const short = (what: string) => [
    2,
    "",
    expect.stringContaining(`holdfast: ${what} is too short for a part of an id`),
  ];
  expect([
    await told("approve", "apr_"),
    await told("approve", "apr"),
    await told("deny", id.slice(0, 7)),
    await told("approve", "zzzz"),
    await told("approve", "show", id),
    await told("completion", "ids", "request"),
  ]).toEqual([
    short("apr_"),
    short("apr"),
    short(id.slice(0, 7)),
    [2, "", `holdfast: there is no request zzzz: ${see}`],
    [0, `${id}  ${context}  lead asks`, ""],
    [0, expect.stringMatching(`^${id}\t`), ""],
  ]);
  expect(text("times")).toBe(undefined); // nothing of it was a yes
  expect(await told("approve", id.slice(-6))).toEqual([0, "Allowed: bash ./work.sh", ""]);
  let { requestId: next } = await untilAsked();
  while (next === id) next = (await untilAsked()).requestId;
  const both = id.slice(0, 8); // the time of day: both have it
  expect([await told("deny", id), await told("approve", both), await told("deny", next)]).toEqual([
    [4, "", `holdfast: ${id} was answered already: allowed, from another terminal; the first answer counts\n`],
    [2, "", `holdfast: 2 requests are meant by ${both}: give more of the id; ${see}`],
    [0, "Denied: bash ./work.sh", ""],
  ]);
  const { code, stderr } = await run.exited;
  expect([code, text("times")]).toEqual([0, "ran\n"]);
  expect(stderr).toContain(`waits for approval; see it with: holdfast approve show ${id} --cwd ${opts.cwd}\n`);
  // Who answers is a matter of the run: where nobody sits, a later one does not wait.
  const later = await runCli(["-p", "-c", "again"], opts);
  expect(later.stderr).not.toContain("--approvals");
});

test("without anybody to ask the call is refused with the reason, and recorded", async () => {
  const { opts, args, text } = setUp(COMMAND);
  const { stdout } = await runCli(["-p", "go", ...args.slice(0, 2), "--output-format", "json"], opts);
  const [denial] = JSON.parse(stdout).permission_denials;
  expect([denial.tool_name, denial.reason]).toEqual(["Bash", expect.stringContaining("no one is there to ask")]);
  expect(text("times")).toBe(undefined);
});

test("what is to be approved is shown whole, with nothing that a terminal acts on or hides, and with every answer there is", async () => {
  const { opts, args, untilAsked } = setUp(`./work.sh # \u001b[2J\u202e\u{e0041}${"x".repeat(300)} end`);
  const run = startCli(["-p", "go", ...args], opts);
  const { requestId: id, context } = await untilAsked();
  const { stdout } = await runCli(["approve", "ls"], opts);
  expect(stdout.split("\n")).toEqual([
    `${id}  ${context}  lead asks`,
    `  bash in ${realpathSync(opts.cwd)}`,
    `  │ ./work.sh # \\u001b[2J\\u202e\\u{e0041}${"x".repeat(300)} end`,
    expect.stringMatching(/^ {2}why: protected: .*the command contains control characters/),
    `  holdfast approve ${id} allow --cwd ${opts.cwd}   yes, this once`,
    `  holdfast approve ${id} deny --cwd ${opts.cwd} [--reason "why"]   no`,
    "",
    "",
  ]);
  const wrong = await runCli(["approve", id, "rule"], opts); // nothing that hides is kept
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("can only be allowed this once")]);
  await runCli(["approve", id, "deny", "--reason", "no"], opts);
  expect((await run.exited).stderr).toContain("  ✗ refused: no\n");
});

test("a rule that is kept for the context holds for what it says, in that context and in no copy of it", async () => {
  const { opts, args, untilAsked, text } = setUp("./work.sh a");
  const script = args[1]!.replace("rehearsal:", "");
  const bash = (command: string) => ({ calls: [{ name: "bash", input: { command } }] });
  const rounds = ["./work.sh a", "./work.sh b && ./work.sh", "./other.sh"].map(bash);
  writeFileSync(script, JSON.stringify({ rounds: [...rounds, { text: "finished" }, bash("./work.sh c")] }));
  const run = startCli(["-p", "go", ...args], opts);
  const first = await untilAsked();
  const answered = await runCli(["approve", first.requestId, "rule"], opts);
  expect(answered.stdout).toBe("Allowed: bash ./work.sh a; in this context from now on: Bash(./work.sh *)\n");
  let last = first;
  while (last.requestId === first.requestId) last = await untilAsked();
  expect([last.input.command, text("times")]).toEqual(["./other.sh", "ran\nran\nran\n"]);
  await runCli(["approve", last.requestId, "deny"], opts);
  expect((await run.exited).code).toBe(0);
  const fork = JSON.parse((await runCli(["contexts", "fork", first.context, "--json"], opts)).stdout);
  const { stderr } = await runCli(["-p", "again", "-r", fork.id, ...args.slice(0, 2), "--approvals", "deny"], opts);
  expect(stderr).toContain("bash ./work.sh c\n  ✗ refused");
});
