// Projects in folders, and what each of them reaches: for the tests of whose state a folder goes on with.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { tempDir } from "../house.ts";
import { type Exited, runCli } from "./cli.ts";
import { here } from "./here.ts";

/** Where everything of one test is; `p` is a folder in it. */
export let world: string;
export let state: string;
export let server: ModelServer | undefined;

/** A world and a state of its own for each test of the file. */
export function freshWorlds(): void {
  beforeEach(() => {
    world = tempDir("projects");
    state = tempDir("state");
    fs.mkdirSync(at("p"));
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
    fs.rmSync(world, { recursive: true, force: true });
    fs.rmSync(state, { recursive: true, force: true });
  });
}

export const at = (...names: string[]) => path.join(world, ...names);

/** As a process of its own. */
export const cli = (folder: string, ...args: string[]): Promise<Exited> => runCli(args, { cwd: at(folder), state });

/** In this process: for what only looks, or only writes a fact. */
export const look = (folder: string, ...args: string[]) => here(args, { cwd: at(folder), state });

export const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: at(folder), stdio: "pipe" });

export function repository(folder: string): void {
  git(folder, "init", "-q");
  git(folder, "commit", "-q", "--allow-empty", "-m", "first");
}

/** What a folder reaches: its board, its contexts, its schedules; and what was said about it. */
export async function reached(folder: string) {
  const [tasks, contexts, crons] = [
    await look(folder, "tasks", "ls", "--json"),
    await look(folder, "contexts", "ls", "--json"),
    await look(folder, "cron", "ls", "--json"),
  ];
  const said = [tasks, contexts, crons].flatMap(({ stderr }) => stderr.split("\n").filter(Boolean));
  if (tasks.code !== 0) return { code: tasks.code, said: said.length };
  return {
    tasks: JSON.parse(tasks.stdout).map((one: { subject: string }) => one.subject),
    contexts: JSON.parse(contexts.stdout).map((one: { title: string }) => one.title),
    schedules: JSON.parse(crons.stdout).length,
    said,
  };
}

export async function work(folder: string): Promise<void> {
  expect((await look(folder, "tasks", "add", "a task")).code).toBe(0);
  expect((await look(folder, "cron", "add", "every day at 9", "look")).code).toBe(0);
}

export const everything = { tasks: ["a task"], contexts: ["look"], schedules: 1 };
export const nothing = { tasks: [], contexts: [], schedules: 0 };

export async function serve(script: Script): Promise<Record<string, string>> {
  server = await startModelServer({ script });
  return { OPENAI_BASE_URL: server.openaiUrl, OPENAI_API_KEY: "dummy" };
}
export const MODEL = ["--model", "openai-compatible/mock", "--permission-mode", "bypassPermissions"];
