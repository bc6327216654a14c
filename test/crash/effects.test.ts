// Effects that a kill cut off, through the command line as users have it: a real key in the environment, hooks, redaction.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ScriptRound } from "../../src/testing/model-server.ts";
import { type Exit, openWorld, type Way, type World } from "./driver.ts";

/** As long as real ones are: redaction is at work. */
const KEY = `sk-proj-${"Zm9sZGZhc3Q0Mg".repeat(8)}`;
const call = (name: string, input: object) => ({ calls: [{ name, input }] });
const END = { text: "ALL DONE" };
const FLAGS = ["--model", "openai-compatible/mock", "--permission-mode", "bypass"];

interface Cut {
  world: World;
  /** How the killed process ended. */
  killed: Exit;
  context: string;
  resume(way?: Way): Promise<Exit>;
  /** What the model saw as the results, in order. */
  results(): string[];
  text(name: string): string;
}

/** A run that is killed at a point; a git repository, a hook after every call. */
async function cutAt(
  point: string,
  script: ScriptRound[],
  opts: { flags?: string[]; hooks?: object } = {},
): Promise<Cut> {
  const world = await openWorld([...script, END], { flags: opts.flags ?? FLAGS });
  onTestFinished(() => world.close());
  const { project, dir } = world;
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@x", ...args], {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: dir },
    });
  git("init", "-q", "-b", "main");
  fs.writeFileSync(path.join(project, "notes.txt"), "one\ntwo\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  const after = { PostToolUse: [{ hooks: [{ type: "command", command: `echo told >> ${dir}/told` }] }] };
  fs.mkdirSync(path.join(dir, ".config/holdfast"), { recursive: true });
  fs.writeFileSync(path.join(dir, ".config/holdfast/settings.json"), JSON.stringify({ hooks: opts.hooks ?? after }));
  const env = { OPENAI_API_KEY: KEY };
  const killed = await world.run(["-p", "Go"], { env: { ...env, HOLDFAST_CRASH_AT: point } });
  const listed = await world.run(["contexts", "ls", "--json"]);
  const context = /ctx_\w+/.exec(listed.stdout)![0];
  return {
    world,
    killed,
    context,
    resume: (way = {}) => world.run(["-p", "-r", context], { ...way, env: { ...env, ...way.env } }),
    results: () =>
      world.server
        .log()
        .requests.at(-1)!
        .body.messages.filter((m: { role: string }) => m.role === "tool")
        .map((m: { content: string }) => m.content),
    text: (name) => (fs.existsSync(path.join(project, name)) ? fs.readFileSync(path.join(project, name), "utf8") : ""),
  };
}

test.each<[string, ScriptRound[], (cut: Cut) => void]>([
  [
    "bash",
    [call("bash", { command: "echo ran >> effects; echo said" })],
    ({ text }) => expect(text("effects")).toBe("ran\n"),
  ],
  [
    "write_file",
    [call("write_file", { path: "new.txt", content: "n\n" })],
    ({ text }) => expect(text("new.txt")).toBe("n\n"),
  ],
  [
    "edit_file",
    [
      call("read_file", { path: "notes.txt" }),
      call("edit_file", { path: "notes.txt", old_text: "two", new_text: "2" }),
    ],
    ({ text }) => expect(text("notes.txt")).toBe("one\n2\n"),
  ],
])(
  "%s, killed when only its intent was durable: it is done once, and its result is its own",
  async (_, script, judge) => {
    const cut = await cutAt("intent.durable", script);
    const { code, stdout } = await cut.resume();
    expect([cut.killed.signal, code, stdout]).toEqual(["SIGKILL", 0, "ALL DONE\n"]);
    judge(cut);
    for (const result of cut.results()) expect(result).not.toBe("");
    expect(fs.readFileSync(path.join(cut.world.dir, "told"), "utf8")).toBe("told\n".repeat(script.length));
  },
);

const trees = (cut: Cut) =>
  execFileSync("git", ["worktree", "list", "--verbose"], { cwd: cut.world.project, encoding: "utf8" });

test.each([
  ["create_worktree", 1, (cut: Cut) => expect(trees(cut)).toMatch(/worktrees\/api .*\[holdfast\/api\]/)],
  ["keep_worktree", 2, (cut: Cut) => expect(trees(cut)).toContain("please look")],
  ["remove_worktree", 3, (cut: Cut) => expect(trees(cut).trim().split("\n").length).toBe(1)],
] as const)("%s, killed when only its intent was durable: it is done", { timeout: 60_000 }, async (_, n, judge) => {
  const steps = [
    call("create_worktree", { name: "api" }),
    call("keep_worktree", { name: "api", note: "please look" }),
    call("remove_worktree", { name: "api" }),
  ];
  const cut = await cutAt(`intent.durable:${n}`, steps.slice(0, n), { flags: ["--stay", ...FLAGS] });
  const { code, stdout } = await cut.resume();
  expect([cut.killed.signal, code, stdout]).toEqual(["SIGKILL", 0, "ALL DONE\n"]);
  judge(cut);
  for (const result of cut.results()) expect(result).not.toBe("");
});
