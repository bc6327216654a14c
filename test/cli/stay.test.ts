// A headless run that stays: a schedule fires and a job ends without any input.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "../turn.ts";
import { runCli, startCli } from "./cli.ts";

function setUp(rounds: string) {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const script = path.join(opts.state, "s.yaml");
  fs.writeFileSync(script, `rounds:\n${rounds}`);
  return { opts, args: ["-p", "remind me", "--model", `rehearsal:${script}`, "--stay"] };
}

test("a one-shot fires once, runs a turn, and the run ends when nothing is left", async () => {
  const { opts, args } = setUp(
    "  - calls:\n      - { name: schedule_cron, input: { when: in 1 second, prompt: the meeting } }\n  - text: I will.\n  - text: Time for the meeting!\n",
  );
  const { code, stdout } = await runCli(args, opts);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/I will\.[\s\S]*Time for the meeting!/)]);
  const listed = await runCli(["cron", "ls", "--json"], opts);
  expect(JSON.parse(listed.stdout)).toEqual([]);
});

test("a background job's end is told while nobody speaks", async () => {
  const { opts, args } = setUp(
    "  - calls:\n      - { name: bash, input: { command: 'sleep 1; echo ready', run_in_background: true } }\n  - text: Started.\n  - text: It is ready.\n",
  );
  const { code, stdout } = await runCli(args, opts);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Started\.[\s\S]*It is ready\./)]);
});

test("a schedule is listed and can be taken away from outside", async () => {
  const { opts, args } = setUp(
    "  - calls:\n      - { name: schedule_cron, input: { when: in 2 hours, prompt: later } }\n  - text: Later.\n",
  );
  await runCli(args.slice(0, -1), opts);
  const [one] = JSON.parse((await runCli(["cron", "ls", "--json"], opts)).stdout);
  expect(one.standing.prompt).toBe("later");
  const id = one.standing.scheduleId ?? one.standing.id;
  expect((await runCli(["cron", "rm", id], opts)).stdout).toContain("Cancelled");
  expect(JSON.parse((await runCli(["cron", "ls", "--json"], opts)).stdout)).toEqual([]);
});

const JOINED =
  "  - calls:\n      - { name: spawn_teammate, input: { name: alice, role: writer, prompt: Hello } }\n      - { name: schedule_cron, input: { when: in 2 hours, prompt: later } }\n  - text: Both are there.\n";

/** Alice plays the same script: her schedule counts too. */
const LEFT =
  /^Left: 1 teammate, \d schedules?\. Nothing of it runs while no host does; keep one with: holdfast worker --cwd \S+$/m;

test("told to end, it says what is left, how to go on and how to keep a host", async () => {
  const { opts, args } = setUp(JOINED);
  const running = startCli(args, opts);
  await new Promise<void>((resolve) =>
    running.child.stdout!.on("data", (text) => String(text).includes("Both are there") && resolve()),
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  running.child.kill("SIGTERM");
  const { code, stderr } = await running.exited;
  const [context] = JSON.parse((await runCli(["team", "ls", "--json"], opts)).stdout);
  expect([code, stderr.split("\n").slice(-4)]).toEqual([
    130,
    [
      "interrupted",
      `Take it up again with: holdfast -p -r ${context.context} --stay --cwd ${opts.cwd}`,
      expect.stringMatching(LEFT),
      "",
    ],
  ]);
  const script = args[3]!;
  const plain = await runCli(["-p", "and?", "-r", context.context, "--model", script], opts);
  expect([plain.code, plain.stderr]).toEqual([0, expect.stringMatching(LEFT)]);
});
