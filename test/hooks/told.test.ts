// What a hook is told: the call, its result, and where everything is, in Claude's names.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { readFileTool } from "../../src/mechanisms/files/read-file.ts";
import { testTurn } from "../turn.ts";
import { fired, on } from "./fixture.ts";

describe("a call that an earlier process began", () => {
  it("and that a resume found finished is told of, also when its output is empty", async () => {
    const { seams, callOf, turn, dir } = fired({ hooks: on("PostToolUse", ["echo no >&2; exit 2"]) });
    const run = {
      ...callOf("look", {}),
      cwd: dir,
      root: dir,
      signal: turn.signal,
      intent: 1,
      grants: {},
      resumed: true,
    };
    for (const content of ["", "written"])
      expect((await seams.tool(run, async () => ({ content }))).content).toContain("PostToolUse hook: no");
  });
});

describe("what a hook is told", () => {
  it("is the call in Claude's names with absolute paths, and where everything is", async () => {
    const { gate, dir, read } = fired({
      hooks: on("PreToolUse", [
        "cat > told.json; env | grep -c SECRET > env.txt; echo $CLAUDE_PROJECT_DIR $HOLDFAST_PROJECT_DIR > dirs.txt",
      ]),
      permissionMode: () => "bypass",
      agentType: () => "reviewer", // of a lead that was started with --agent
    });
    process.env.MY_SECRET = "x";
    await gate("write_file", { path: "a/b.txt", content: "x" });
    delete process.env.MY_SECRET;
    expect(JSON.parse(read("told.json"))).toEqual({
      session_id: "ctx_test",
      transcript_path: "",
      cwd: dir,
      permission_mode: "bypassPermissions",
      agent_type: "reviewer",
      hook_event_name: "PreToolUse",
      tool_name: "Write",
      tool_input: { file_path: `${dir}/a/b.txt`, content: "x" },
      tool_use_id: "c1",
    });
    expect([read("env.txt"), read("dirs.txt")]).toEqual(["0\n", `${dir} ${dir}\n`]);
  });

  it("is the permission mode in Claude's word", async () => {
    const { gate, read } = fired({ hooks: on("PreToolUse", ["cat > told.json"]), permissionMode: () => "bypass" });
    await gate("glob", { pattern: "*" });
    expect(JSON.parse(read("told.json")).permission_mode).toBe("bypassPermissions");
  });

  it("is the result too, once there is one, and which agent", async () => {
    const now = (() => {
      let at = 0;
      return () => (at += 5);
    })();
    const hooks = on("PostToolUse", ["cat > told.json"]);
    const { tool, dir, read, callOf, turn } = fired({ hooks, now }, { agent: "explorer" });
    const output = { content: [{ type: "text" as const, text: "1 line" }] };
    expect(await tool("read_file", { path: "x.txt" }, output)).toBe(output);
    expect(JSON.parse(read("told.json"))).toMatchObject({
      agent_id: "explorer",
      tool_name: "Read",
      tool_input: { file_path: `${dir}/x.txt` },
      tool_response: { content: "1 line", filePath: `${dir}/x.txt`, success: true },
      duration_ms: 5,
    });
    await tool("read_file", { path: "x.txt" }, { content: "7|hello\n8|  there\n[2 of 9 lines]", lines: 9 });
    expect(JSON.parse(read("told.json")).tool_response).toMatchObject({
      type: "text",
      file: { filePath: `${dir}/x.txt`, content: "hello\n  there", numLines: 2, startLine: 7, totalLines: 9 },
    });
    // As the tool shows a file: not every line has its number.
    fs.writeFileSync(path.join(dir, "x.txt"), "a\nb\n\n  d\ne\nf\ng\n");
    const input = { path: "x.txt", offset: 2, limit: 5 };
    const reader = testTurn([createFiles()], { root: dir });
    const run = { ...callOf("read_file", input), cwd: dir, root: dir, signal: turn.signal, intent: undefined };
    const seen = await readFileTool.execute({ ...run, input, turn: reader, grants: {}, resumed: false });
    await tool("read_file", input, seen);
    const lines = { content: "b\n\n  d\ne\nf", numLines: 5, startLine: 2, totalLines: 6 };
    expect(JSON.parse(read("told.json")).tool_response.file).toEqual({ filePath: `${dir}/x.txt`, ...lines });
    await tool("write_file", { path: "x.txt", content: "hello" }, { content: "Created x.txt (5 bytes)" });
    expect(JSON.parse(read("told.json"))).toMatchObject({
      tool_use_id: "explorer.c5",
      tool_response: { filePath: `${dir}/x.txt`, content: "hello", success: true },
    });
  });
});
