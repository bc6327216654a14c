// What people at a shell are told: in their words, with what to type, in lines that fit. Nothing names a call of the library or a tool of a model.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { listJobs, makeJobDir } from "../../src/mechanisms/jobs/job-dir.ts";
import { bootId } from "../../src/mechanisms/jobs/process.ts";
import { scratch } from "../turn.ts";
import { type CliOptions, runCli } from "./cli.ts";
import { here } from "./here.ts";

const setUp = (): CliOptions => ({ cwd: scratch(onTestFinished), state: scratch(onTestFinished) });

describe("an error", () => {
  it("says what to type, not what a program or a model would call", async () => {
    const opts = setUp();
    const { session_id: id } = JSON.parse((await runCli(["-p", "--json", "list Markdown files"], opts)).stdout);
    const told = async (...args: string[]) => {
      const { code, stderr } = await here(args, opts);
      return [code, stderr.trimEnd()];
    };
    expect([
      await told("contexts", "rm", "nothere"),
      await told("contexts", "undo", id),
      await told("contexts", "data", id),
      await told("tasks", "show", "task_9"),
      await told("team", "show", "nobody"),
      await told("team", "reject", "plan_1", ""),
      await told("team", "approve", "plan_1"),
      await told("contexts", "export", id, "no/folder/x"),
      await told("contexts", "import", "nofile"),
      await told("workflow", "run", "no.yaml"),
      await told("tasks", "import", "nodir"),
    ]).toEqual([
      [
        2,
        'holdfast: there is no context "nothere" in this project (an id, at least four characters of one, or a title): see `holdfast contexts ls`',
      ],
      [
        2,
        expect.stringMatching(
          /^holdfast: there is no restore to take back in ctx_\w+; .*: see `holdfast contexts checkpoints ctx_\w+ --cwd \S+`$/,
        ),
      ],
      [0, `Nothing is shared in ${id}.`],
      [2, "holdfast: there is no task task_9: see `holdfast tasks ls`"],
      [2, "holdfast: nobody here is nobody: there is no team; `holdfast -p … --stay` builds one"],
      [2, "holdfast: team reject needs TEXT: say why, so that a better plan can follow"],
      [2, "holdfast: there is no plan plan_1: see `holdfast team plans --all`"],
      [2, `holdfast: no/folder/x cannot be written: ${path.join(opts.cwd, "no/folder")} is not there`],
      [2, "holdfast: nofile is not there: give the path of an exported context"],
      [2, `holdfast: the workflow cannot be read: ${path.join(opts.cwd, "no.yaml")} is not there; check the path`],
      [2, `holdfast: the tasks cannot be read: ${path.join(opts.cwd, "nodir")} is not there`],
    ]);
  });

  it("comes at once, in one line, where a state directory cannot be", async () => {
    const opts = setUp();
    const file = path.join(opts.state, "file");
    fs.writeFileSync(file, "");
    const states = ["/proc/x", "sqlite:/proc/x/y.db", file];
    // Each in a process of its own: the mistake was one that never ends.
    const ends = await Promise.all(states.map((state) => runCli(["contexts", "ls", "--state", state], opts)));
    const home = await runCli(["contexts", "ls"], { ...opts, env: { HOME: "/proc", XDG_STATE_HOME: "" } });
    const advice = "give --state or XDG_STATE_HOME a folder that can be written\n";
    expect([...ends, home].map(({ code, stderr }) => [code, stderr])).toEqual([
      [2, `holdfast: the state directory /proc/x cannot be written (it cannot be made there): ${advice}`],
      [2, `holdfast: the state directory /proc/x cannot be written (it cannot be made there): ${advice}`],
      [
        2,
        `holdfast: the state directory ${file} cannot be written (${file}/projects cannot be: a part of this path is a file, not a folder): ${advice}`,
      ],
      [
        2,
        `holdfast: the state directory /proc/.local/state/holdfast cannot be written (it cannot be made there): ${advice}`,
      ],
    ]);
    expect((await runCli(["tasks", "export", "/proc/x"], opts)).stderr).toBe(
      "holdfast: /proc/x cannot be made: nothing can be made there\n",
    );
  });
});

describe("a listing", () => {
  it("has a heading, is cut by columns and not by letters, and counts the rounds of a turn that was cut off", async () => {
    const opts = setUp();
    const title = "このリポジトリを調べるための".repeat(12);
    const running = (await import("./cli.ts")).startCli(
      ["-p", title, "--model", `rehearsal:${slowScript(opts)}`, "--output-format", "stream-json"],
      opts,
    );
    let seen = "";
    await new Promise<void>((resolve) =>
      running.child.stdout!.on("data", (text) => {
        seen += text;
        if (seen.split('"type":"user"').length > 2) resolve();
      }),
    );
    running.child.kill("SIGKILL");
    await running.exited;
    const { stdout } = await here(["contexts", "ls"], opts);
    const [heading, line, ...more] = stdout.split("\n");
    expect([heading, more]).toEqual([expect.stringMatching(/^CONTEXT +STATUS +AGE +ROUNDS +TITLE$/), [""]]);
    const [, start, cut] = /^(ctx_\w+ +interrupted +\d+ s +2 +)(.*)$/.exec(line!)!;
    expect([cut!.endsWith("…"), start!.length, heading!.indexOf("TITLE")]).toEqual([
      true,
      start!.length,
      start!.length,
    ]);
    expect([...cut!].length * 2 - 1).toBeLessThanOrEqual(100);
    expect((await here(["contexts", "verify"], opts)).stdout).toMatch(
      /^sound: 1 ledger, \d+ events, \d+ kept values? read again, every checksum right\n$/,
    );
    expect(JSON.parse((await here(["contexts", "verify", "--json"], opts)).stdout)).toMatchObject({ damage: [] });
  });

  it("of jobs says of one that is only decided on that it is starting, and of one that ended its exit code, age, time and context", async () => {
    const opts = setUp();
    await runCli(["-p", "Run `exit 3` in the background and continue reading README.md"], opts);
    const [{ jobId, context }] = JSON.parse((await here(["jobs", "ls", "--json"], opts)).stdout);
    const dir = path.join(stateDir(opts), "jobs");
    const meta = {
      jobId: "job_planned",
      context,
      agent: "lead",
      callId: "c9",
      command: "sleep 1",
      cwd: opts.cwd,
      background: true,
    };
    makeJobDir(path.join(dir, "job_planned"), { ...meta, startedAt: Date.now(), boot: bootId() });
    const lines = (await here(["jobs", "ls"], opts)).stdout.trim().split("\n");
    expect(lines.map((line) => line.replace(/ +/g, " "))).toEqual([
      "JOB STATUS EXIT AGE RAN CONTEXT COMMAND",
      expect.stringMatching(new RegExp(`^${jobId} failed 3 \\d+ s \\d+\\.\\d s ${context} exit 3$`)),
      expect.stringMatching(new RegExp(`^job_planned starting \\d+ s ${context} sleep 1$`)),
    ]);
    expect(listJobs(dir).map(({ status }) => status)).toEqual(["failed", "starting"]);
  });
});

test("permissions check shows each part once, with the strictest answer, in text and in JSON", async () => {
  const opts = setUp();
  const { code, stdout } = await here(["permissions", "check", "git push && rm -rf dist", "--json"], opts);
  const { parts } = JSON.parse(stdout);
  expect([code, parts.map(({ text, decision }: { text: string; decision: string }) => [text, decision])]).toEqual([
    5,
    [
      ["git push", "ask"],
      ["rm -rf dist", "ask"],
    ],
  ]);
});

test("a workflow without a key plays the scripts beside its file, or says in one line what it needs, and records nothing", async () => {
  const opts = setUp();
  const example = path.join(import.meta.dirname, "../../examples/three-phase");
  fs.cpSync(example, path.join(opts.cwd, "played"), { recursive: true });
  fs.cpSync(example, path.join(opts.cwd, "silent"), { recursive: true });
  fs.rmSync(path.join(opts.cwd, "silent/rehearsal"), { recursive: true });
  const silent = await here(["workflow", "run", "silent/workflow.yaml"], opts);
  expect([silent.code, silent.stderr]).toEqual([
    2,
    expect.stringMatching(
      /the offline rehearsal model cannot make up what collect, generate, review must export: give --model, or set ANTHROPIC_API_KEY/,
    ),
  ]);
  expect(JSON.parse((await here(["contexts", "ls", "--json"], opts)).stdout)).toEqual([]);
  const played = await here(["workflow", "run", "played/workflow.yaml", "--json"], opts);
  expect([played.code, JSON.parse(played.stdout).state]).toEqual([0, "done"]);
});

function slowScript({ state }: CliOptions): string {
  const file = path.join(state, "slow.yaml");
  const glob = (pattern: string) => `  - calls:\n      - { name: glob, input: { pattern: "${pattern}" } }\n`;
  fs.writeFileSync(file, `rounds:\n${glob("*.a")}${glob("*.b")}  - text: late\n    delay_ms: 60000\n`);
  return file;
}

const stateDir = ({ state }: CliOptions): string => {
  const projects = path.join(state, "holdfast/projects");
  return path.join(
    projects,
    fs.readdirSync(projects).find((name) => fs.existsSync(path.join(projects, name, "ledger.db")))!,
  );
};
