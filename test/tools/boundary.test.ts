import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Tool } from "../../src/loop/seams.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { type BoundaryOptions, createBoundary } from "../../src/mechanisms/permissions/index.ts";
import { createTodo } from "../../src/mechanisms/todo/index.ts";
import { scratch, testTurn } from "./turn.ts";

function setUp(opts: BoundaryOptions = {}) {
  const base = scratch(onTestFinished);
  const root = join(base, "project");
  for (const dir of ["project/src", "project-other", "jobs"]) mkdirSync(join(base, dir), { recursive: true });
  writeFileSync(join(base, "secret.txt"), "s");
  symlinkSync("../secret.txt", join(root, "link.txt"));
  symlinkSync("..", join(root, "up"));
  symlinkSync("../not-yet.txt", join(root, "dangling.txt"));
  const mechanisms = [createFiles(), createJobs({ dir: join(base, "jobs") }), createTodo()];
  const turn = testTurn(mechanisms, { root });
  const tools = mechanisms.flatMap((m) => m.tools as Tool[]);
  const boundary = createBoundary({ readable: [join(base, "jobs")], ...opts });
  const judge = (name: string, input: unknown, tool = tools.find((t) => t.name === name)!) =>
    boundary.seams!.gate!.judge!({ call: { type: "call", id: "c1", name, input }, tool, input, turn });
  return { base, root, turn, judge };
}

const allow = { decision: "allow" };

test("paths inside the root are allowed, also those that do not exist yet", () => {
  const { judge, root } = setUp();
  const inside = [".", "src", "src/new/deep/file.ts", `${root}/a`, "src/../b"];
  for (const path of inside) {
    expect([path, judge("read_file", { path }), judge("write_file", { path, content: "" })]).toEqual([
      path,
      allow,
      allow,
    ]);
  }
  expect([judge("glob", { pattern: "*" }), judge("grep", { pattern: "x" })]).toEqual([allow, allow]);
});

test("paths outside are refused: relative, absolute, home, a name that only begins alike, and through links", () => {
  const { judge, base, root } = setUp();
  const outside = [
    "..",
    "../secret.txt",
    "/etc/passwd",
    "~/x",
    "../project-other/x",
    "link.txt",
    "up/secret.txt",
    "up/new",
    "dangling.txt",
  ];
  for (const path of outside) {
    const denied = { decision: "deny", reason: `${path} is outside ${root}` };
    for (const name of ["read_file", "glob", "grep", "write_file", "edit_file", "multi_edit"]) {
      expect([name, judge(name, { path })]).toEqual([name, denied]);
    }
  }
  expect(base).not.toBe(root);
});

test("blobs and output of jobs may be read but not written", () => {
  const { judge, base, root } = setUp();
  const path = join(base, "jobs", "job_1", "out");
  expect(judge("read_file", { path: "blob:abc" })).toEqual(allow);
  expect(judge("read_file", { path })).toEqual(allow);
  expect(judge("write_file", { path })).toEqual({ decision: "deny", reason: `${path} is outside ${root}` });
});

test("a command runs only inside the root", () => {
  const { judge, turn, base, root } = setUp();
  expect(judge("bash", { command: "ls" })).toEqual(allow);
  turn.cwd = join(root, "up");
  expect(judge("bash", { command: "ls" })).toEqual({ decision: "deny", reason: `${turn.cwd} is outside ${root}` });
  turn.cwd = base;
  expect(judge("bash", { command: "ls" })).toEqual({ decision: "deny", reason: `${base} is outside ${root}` });
});

test("internal tools are allowed, unknown ones refused", () => {
  const { judge } = setUp();
  const foreign = { name: "launch", effect: "external" } as Tool;
  expect([judge("todo_write", {}), judge("job_output", { id: "x" })]).toEqual([allow, allow]);
  expect(judge("launch", {}, foreign)).toEqual({ decision: "deny", reason: "launch is not allowed here" });
});

test("bypass allows everything", () => {
  for (const mode of ["bypass", "bypassPermissions"] as const) {
    const { judge } = setUp({ mode });
    expect(judge("write_file", { path: "/etc/passwd" })).toEqual(allow);
  }
});
