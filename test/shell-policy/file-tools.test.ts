import { describe, expect, it } from "vitest";
import { decideCall } from "../../src/shell-policy/engine.ts";
import { judgeFile, makePolicy, makeWorld } from "./world.ts";

const SETUP = [
  "ln -s ../outside/dir dirlink",
  "ln -s src in-dir",
  "ln -s .git/config cfg",
  "mkfifo pipe",
  "echo x > '~'",
  "ln -s loop loop",
  "echo x > ../outside/s && ln ../outside/s hard",
];

describe("file tools", () => {
  it.each([
    ["src/a.ts", "allow"],
    ["src/../src/a.ts", "allow"],
    ["in-dir/a.ts", "allow"],
    [".", "allow"],
    ["blob:abc", "allow"],
    ["job:1", "allow"],
    ["~", "allow"],
    ["../outside/x", "ask"],
    ["dirlink/x", "ask"],
    ["dirlink/../x", "ask"],
    ["/etc/hosts", "ask"],
    [".env", "ask"],
    [".env.bak", "ask"],
    [".env.example", "allow"],
    [".env.example.bak", "allow"],
    [".env.example.orig~", "allow"],
    ["keys/id_rsa.old", "ask"],
    ["server.pem~", "ask"],
    ["src/a.ts.bak", "allow"],
    ["loop", "ask"],
    ["~/notes", "ask"],
    ["~/.ssh/id_ed25519", "deny"],
    ["~/.netrc.bak", "deny"],
    ["/proc/self/environ", "deny"],
    ["/dev/sda", "deny"],
    ["pipe", "deny"],
    ["a\0b", "deny"],
    ["a\u001b[2J", "deny"],
    ["", "deny"],
  ])("read %j: %s", async (path, decision) => {
    expect((await judgeFile(makeWorld({}, SETUP), "read_file", { path })).decision).toBe(decision);
  });

  it.each([
    ["src/new.ts", "allow"],
    ["in-dir/new.ts", "allow"],
    [".gitignore", "allow"],
    [".github/dependabot.yml", "allow"],
    ["CLAUDE.md", "allow"],
    [".npmrc", "ask"],
    [".vscode/tasks.json", "ask"],
    [".mcp.json", "ask"],
    [".env", "ask"],
    ["CON", "ask"],
    ["x./y", "ask"],
    ["hard", "ask"],
    [".husky/pre-commit", "ask"],
    [".claude/skills/x/SKILL.md", "ask"],
    ["a\u200bb", "ask"],
    [".git/config", "deny"],
    ["sub/.git", "deny"],
    [".GIT/hooks/x", "deny"],
    ["cfg", "deny"],
    [".claude/settings.json", "deny"],
    [".holdfast/x", "deny"],
    ["dirlink/x", "deny"],
    ["../x", "deny"],
    ["~/x", "deny"],
    ["pipe", "deny"],
    ["a\u202eb", "deny"],
  ])("write %j when edits are accepted: %s", async (path, decision) => {
    expect((await judgeFile(makeWorld({}, SETUP), "write_file", { path }, { mode: "acceptEdits" })).decision).toBe(
      decision,
    );
  });

  it("search inside, by patterns that stay inside", async () => {
    const world = makeWorld({}, SETUP);
    const glob = async (pattern: string, path?: string) => (await judgeFile(world, "glob", { pattern, path })).decision;
    expect([
      await glob("**/*.ts"),
      await glob("../*"),
      await glob("{src,../outside}/*"),
      await glob("dirlink/*"),
      await glob("*", ".."),
    ]).toEqual(["allow", "ask", "ask", "ask", "ask"]);
    expect((await judgeFile(world, "grep", { pattern: "x", glob: ".env*" })).decision).toBe("ask");
  });

  it("know the additional and the readable directories", async () => {
    const base = makeWorld();
    const world = { ...base, additionalDirectories: [`${base.base}/outside`], readable: [`${base.base}/home/kept`] };
    const read = async (path: string) => (await judgeFile(world, "read_file", { path })).decision;
    const write = async (path: string) =>
      (await judgeFile(world, "write_file", { path }, { mode: "acceptEdits" })).decision;
    expect([
      await read("../outside/a"),
      await write("../outside/a"),
      await write("../outside/.git/x"),
      await read("~/kept/a"),
      await write("~/kept/a"),
    ]).toEqual(["allow", "allow", "deny", "allow", "deny"]);
  });

  it("leave other tools to their effect, the embedding program and the rules", async () => {
    const world = { ...makeWorld(), trustedTools: ["mine"] };
    const judge = async (tool: string, effect: "internal" | "external" | "job") =>
      (await decideCall(makePolicy(world), { tool, effect, input: {} }, world)).decision;
    expect([
      await judge("todo_write", "internal"),
      await judge("job_output", "job"),
      await judge("mine", "external"),
      await judge("strange", "external"),
    ]).toEqual(["allow", "allow", "allow", "ask"]);
  });
});
