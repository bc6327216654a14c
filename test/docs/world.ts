// A small project in which printed commands are run: a repository, contexts, a job, calls that wait, a team with plans.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bin, type CliOptions, runCli, startCli } from "../cli/cli.ts";
import { here } from "../cli/here.ts";
import { tempDir } from "../house.ts";
import type { World } from "./rewrites.ts";

const ROOT = path.join(import.meta.dirname, "../..");

const WAITS = `name: waits
phases:
  - { id: ask, wait: input, prompt: "Which one?", exports: { choice: { type: string } } }
`;

interface Place extends CliOptions {
  /** Where `holdfast` is found. */
  path: string;
  env: Record<string, string>;
}

export function openPlace(): { place: Place; close(): void } {
  const home = tempDir("printed");
  const at = (...names: string[]) => path.join(home, ...names);
  const cwd = at("project");
  for (const dir of ["bin", "board", "tasks", "other", "gone", "shop", ".config/fish/completions"])
    fs.mkdirSync(at(dir), { recursive: true });
  fs.cpSync(path.join(ROOT, "examples/three-phase"), path.join(cwd, "examples/three-phase"), { recursive: true });
  fs.writeFileSync(path.join(cwd, "README.md"), "# A project\n");
  fs.writeFileSync(path.join(cwd, "package.json"), '{ "devDependencies": { "vitest": "1.0.0" } }\n');
  fs.writeFileSync(path.join(cwd, "main.py"), "print(1)\n");
  fs.writeFileSync(path.join(cwd, "waits.yaml"), WAITS);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd, stdio: "ignore" });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "all");
  fs.writeFileSync(at("bin/holdfast"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, { mode: 0o755 });
  fs.cpSync("examples/skills", at(".claude", "skills"), { recursive: true });
  fs.cpSync("examples/skills", at("team-plugin", "skills"), { recursive: true });
  const env = { HOME: home, XDG_STATE_HOME: at("state") };
  const place = { cwd, state: home, env, path: `${at("bin")}:${process.env.PATH}` };
  return { place, close: () => fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 }) };
}

const TEAM =
  "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.";

/** What the examples speak of; made by the commands that README shows. */
export async function makeWorld(place: Place): Promise<World> {
  const sound = <T extends { code: number | null; stderr: string }>(args: string[], done: T): T => {
    if (done.code !== 0) throw new Error(`${args.join(" ")}: exit code ${done.code}: ${done.stderr}`);
    return done;
  };
  const now = async (...args: string[]) => sound(args, await here(args, place)).stdout;
  const json = async (...args: string[]) => JSON.parse(await now(...args, "--json"));
  const run = async (...args: string[]) => sound(args, await runCli(args, place));
  const until = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      await sleep(100);
    }
  };
  // A team and calls that wait: each is left as a killed process leaves it.
  const flags = ["--approvals", "wait"];
  const waiting = [
    startCli(["-p", "--stay", "--permission-mode", "acceptEdits", TEAM], place),
    ...[1, 2, 3].map((n) => startCli(["-p", ...flags, `Create a file new-${n}.txt containing \`x\``], place)),
  ];
  const requests = await until(async () => {
    const open = await json("approve");
    return open.length === 3 ? open.map((one: { requestId: string }) => one.requestId) : undefined;
  });
  await until(async () => ((await json("team", "plans")).length === 2 ? true : undefined));
  for (const { child, exited } of waiting) {
    child.kill("SIGKILL");
    await exited;
  }
  await run("-p", "-q", "Run `sleep 60` in the background and continue reading README.md");
  // What changes something keeps the files of its checkpoint; both go on with the mode they were started in.
  const edits = ["-p", "--json", "--permission-mode", "acceptEdits", "Create a file one.md containing `x`"];
  const first = JSON.parse((await run(...edits)).stdout).session_id;
  await run("-p", "-q", "-r", first, "Create a file two.md containing `y`");
  await run("workflow", "run", "examples/three-phase/workflow.yaml", "-q");
  await now("workflow", "run", "waits.yaml", "-q");
  const [waits, workflow] = await json("workflow", "ls");
  const { scheduleId } = await json("cron", "add", "every weekday at 9", "Look around");
  const home = place.env.HOME!;
  for (const n of [1, 2, 3, 4, 5]) await now("tasks", "add", `Task ${n}`, "--cwd", `${home}/tasks`);
  await now("tasks", "add", "Left behind", "--cwd", `${home}/gone`);
  const known: { id: string; folders: { path: string }[] }[] = await json("project", "ls");
  fs.rmSync(`${home}/gone`, { recursive: true });
  const [job] = await json("jobs", "ls");
  return {
    project: place.cwd,
    context: first,
    spare: (await json("contexts", "fork", first)).id,
    workflow: workflow.context,
    waiting: waits.context,
    job: job.jobId,
    requests,
    schedule: scheduleId,
    plugin: `${home}/team-plugin`,
    board: `${home}/board`,
    tasks: `${home}/tasks`,
    gone: known.find(({ folders }) => folders[0]?.path === `${home}/gone`)!.id.slice(0, 8),
    other: `${home}/other`,
    exported: `${home}/exported.holdfast`,
  };
}
