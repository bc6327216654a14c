// Approvals through the command line: asked, killed, asked again, answered from a second terminal.
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { runCli, startCli } from "../cli/cli.ts";
import { scratch } from "../tools/turn.ts";

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
  expect([late.code, late.stderr]).toEqual([2, expect.stringContaining("no request")]);
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
    `  holdfast approve ${id} allow   yes, this once`,
    `  holdfast approve ${id} deny [--reason "why"]   no`,
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
