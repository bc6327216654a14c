import { describe, expect, it } from "vitest";
import { judgeCommand, judgeFile, makeWorld } from "./world.ts";

const MODES = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "bypass"] as const;
type Expected = Record<(typeof MODES)[number], string>;

async function byMode(command: string, sandboxed = true): Promise<Expected> {
  const world = makeWorld({ sandboxed });
  const entries = await Promise.all(
    MODES.map(async (mode) => [mode, (await judgeCommand(world, command, { mode })).decision]),
  );
  return Object.fromEntries(entries) as Expected;
}
const expected = (list: string): Expected =>
  Object.fromEntries(list.split(" ").map((word, i) => [MODES[i]!, word])) as Expected;

describe("modes", () => {
  it("turn what the parts say", async () => {
    expect({
      reads: await byMode("git status"),
      changes: await byMode("touch a"),
      "changes without a sandbox": await byMode("touch a", false),
      "edits by a redirection": await byMode("echo x > a"),
      "edits in place": await byMode("sed -i s/a/b/ README.md"),
      "writes to /tmp": await byMode("echo x > /tmp/a"),
      "deletes a tree": await byMode("rm -rf dist"),
      "deletes what is in no commit": await byMode("git clean -fdx"),
      "a script on the input": await byMode("python3 - <<'E'\n1\nE"),
      runs: await byMode("npm test"),
      "runs without a sandbox": await byMode("npm test", false),
      "reads outside": await byMode("cat /etc/hosts"),
      protected: await byMode("echo x > .npmrc"),
      destroys: await byMode("rm -rf ~"),
    }).toEqual({
      reads: expected("allow allow allow allow allow allow allow"),
      changes: expected("ask allow deny allow deny allow allow"),
      "changes without a sandbox": expected("ask allow deny ask deny allow allow"),
      "edits by a redirection": expected("ask allow deny allow deny allow allow"),
      "edits in place": expected("ask allow deny allow deny allow allow"),
      "writes to /tmp": expected("allow allow deny allow allow allow allow"),
      "deletes a tree": expected("ask ask deny allow deny allow allow"),
      "deletes what is in no commit": expected("ask ask deny ask deny allow allow"),
      "a script on the input": expected("ask ask deny allow deny allow allow"),
      runs: expected("ask ask deny allow deny allow allow"),
      "runs without a sandbox": expected("ask ask deny ask deny allow allow"),
      "reads outside": expected("ask ask ask allow deny allow allow"),
      protected: expected("ask ask deny ask deny ask ask"),
      destroys: expected("deny deny deny deny deny deny deny"),
    });
  });

  it("give the file tools the same", async () => {
    const write = async (path: string, sandboxed = true) => {
      const world = makeWorld({ sandboxed });
      const list = MODES.map(async (mode) => (await judgeFile(world, "write_file", { path }, { mode })).decision);
      return (await Promise.all(list)).join(" ");
    };
    expect({
      inside: await write("src/new.ts"),
      bare: await write("src/new.ts", false),
      git: await write(".git/config"),
      rc: await write(".bashrc"),
      outside: await write("../x"),
    }).toEqual({
      inside: "ask allow deny allow deny allow allow",
      bare: "ask allow deny ask deny allow allow",
      git: "deny deny deny deny deny deny deny",
      rc: "ask ask deny ask deny ask ask",
      outside: "deny deny deny deny deny deny deny",
    });
  });

  it("explain themselves in one line", async () => {
    const world = makeWorld();
    expect(await judgeCommand(world, "touch a", { mode: "plan" })).toMatchObject({
      reason: "plan mode: only what reads is allowed: touch a",
    });
    expect((await judgeCommand(world, "npm test", { mode: "dontAsk" })).reason).toContain("this mode asks nobody");
    expect(await judgeCommand(world, "ls; echo x > .npmrc")).toMatchObject({
      decision: "ask",
      firm: true,
      parts: [
        { text: "ls", decision: "allow" },
        { text: "> .npmrc", decision: "ask" },
        { text: "echo x", decision: "allow" },
      ],
    });
    // One row a part, with what weighs most.
    const { parts } = await judgeCommand(world, "git push && rm -rf dist");
    expect(parts.map(({ text, decision, reason }) => [text, decision, reason])).toEqual([
      ["git push", "ask", "git push reaches another machine"],
      ["rm -rf dist", "ask", "it deletes a tree"],
    ]);
  });
});
