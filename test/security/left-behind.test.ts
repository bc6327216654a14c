// What commands may not make does not stay: while one runs in the background, and after everything was killed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { killJob } from "../../src/mechanisms/jobs/job-dir.ts";
import { takeLeftBehind } from "../../src/mechanisms/jobs/left-behind.ts";
import { bin, startProgram } from "../cli/cli.ts";
import { openHouse } from "../house.ts";
import { setUp, works } from "../jobs/sandboxed.ts";
import { scratch } from "../turn.ts";
import { openCage } from "./cage.ts";

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; !(await isSo()); await sleep(20))
    if (Date.now() > end) throw new Error("it never came");
}

test.runIf(works)(
  "a job in the background that makes what it may not loses it at once; one that makes it again and again is ended",
  async () => {
    const { root, turn } = setUp();
    const start = async (command: string) =>
      /job_\w+/.exec((await turn.call("bash", { command, run_in_background: true })).content as string)![0];
    const once = await start("mkdir .vscode; echo evil > .vscode/tasks.json; touch made; exec sleep 60");
    await until(() => existsSync(join(root, "made")) && !existsSync(join(root, ".vscode")));
    expect((await turn.call("list_jobs", {})).content).toMatch(new RegExp(`${once}.*running`));
    await turn.call("job_kill", { id: once });

    const again = await start("while :; do echo evil > .npmrc; sleep 0.05; done");
    const shown = async () => (await turn.call("job_output", { id: again })).content as string;
    await until(async () => !(await shown()).includes("still running"));
    expect(existsSync(join(root, ".npmrc"))).toBe(false);
    expect(await shown()).toMatch(
      /^\(no output\)\n\[taken away, because commands may not make it here: .npmrc \(kept in .+\)\]\n\[killed: it made again and again what commands may not make here\]$/,
    );
  },
);

const NAMESPACE = ["--pid", "--mount", "--fork", "--mount-proc", "--kill-child"];
const canUnshare = spawnSync("unshare", [...NAMESPACE, "true"]).status === 0;

test.runIf(works && canUnshare)(
  "what a job made when everything was killed at once is taken away at the next start",
  async () => {
    const cage = openCage({ "project/make.sh": "echo evil > .npmrc; mkdir .husky; sleep 60" });
    const script = join(cage.base, "s.json");
    const calls = [{ name: "bash", input: { command: "bash make.sh" } }];
    writeFileSync(script, JSON.stringify({ rounds: [{ calls }, { text: "done" }] }));
    const cli = [process.execPath, bin, "-p", "go", "--model", `rehearsal:${script}`, "--permission-mode", "auto"];
    // With the first process of a namespace everything in it is gone, as in a container that is stopped.
    const { child, exited } = startProgram(
      "unshare",
      [...NAMESPACE, "sh", "-c", '"$@"; exit $?', "sh", ...cli],
      cage.opts,
    );
    await until(() => existsSync(join(cage.root, ".husky")));
    child.kill("SIGKILL");
    await exited;
    expect(readdirSync(cage.root).sort()).toEqual([".husky", ".npmrc", "make.sh"]);

    const [said] = await cage.run(["ls -A"]);
    expect(said).toBe("make.sh");
    const taken = join(cage.base, "state/holdfast/projects");
    const kept = readdirSync(taken, { recursive: true, encoding: "utf8" }).filter((name) =>
      /taken\/left[^/]+\/\./.test(name),
    );
    expect(kept.map((name) => name.split("/").at(-1)).sort()).toEqual([".husky", ".npmrc"]);
    expect(readFileSync(join(taken, kept.find((name) => name.endsWith(".npmrc"))!), "utf8")).toBe("evil\n");
  },
);

test.runIf(works)("a job that outlives the harness and makes it again and again is ended too", async () => {
  const cage = openCage({ "project/again.sh": "while :; do echo evil > .npmrc; echo > beat; sleep 0.05; done" });
  const [started] = await cage.run([{ command: "bash again.sh", run_in_background: true }]);
  expect(started).toMatch(/^\[Background job job_\w+ started\]$/);
  const beat = () => statSync(join(cage.root, "beat"), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  await until(() => Date.now() - beat() > 1_500);
  expect(readdirSync(cage.root)).toEqual(["again.sh", "beat"]);
});

test("what somebody made long after the last command could have is theirs", () => {
  const base = scratch(onTestFinished);
  const jobs = join(base, "state/jobs");
  mkdirSync(jobs, { recursive: true });
  const paths = [".npmrc", ".envrc"].map((name) => join(base, name));
  for (const path of paths) writeFileSync(path, "mine");
  const record = (tag: string, path: string, ageSeconds: number) => {
    const file = join(jobs, `.absent${tag}`);
    writeFileSync(file, JSON.stringify([path]));
    utimesSync(file, Date.now() / 1000 - ageSeconds, Date.now() / 1000 - ageSeconds);
  };
  record("1.1-1", paths[0]!, 3600);
  record("1.1-2", paths[1]!, 0);
  expect(takeLeftBehind(jobs)).toEqual([{ names: [".envrc"], dir: join(base, "state/taken/left1.1-2") }]);
  expect([readdirSync(base).sort(), readdirSync(jobs)]).toEqual([[".npmrc", "state"], []]);
});

test.runIf(works)("what a person lets a tool write stays, whatever runs in the background", async () => {
  const calls = [
    { name: "bash", input: { command: "sleep 60", run_in_background: true } },
    { name: "write_file", input: { path: ".vscode/launch.json", content: "{}" } },
    { name: "bash", input: { command: "sleep 2.5; cat .vscode/launch.json" } },
  ];
  const house = await openHouse([...calls.map((call) => ({ calls: [call] })), { text: "done" }], {
    permissionMode: "auto",
    approvals: { wait: true, onAsk: async () => ({ decision: "allow", from: "test" }) },
  });
  onTestFinished(() => house.close());
  const run = await house.harness.run("go");
  expect((await run.result).text).toBe("done");
  expect(readFileSync(join(house.root, ".vscode/launch.json"), "utf8")).toBe("{}");
  const events = await house.events(run.context);
  const job = events.find(({ type }) => type === "job.started")!.data as { jobId: string };
  await killJob(join(house.state, "jobs"), job.jobId);
});
