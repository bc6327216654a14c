import { expect, test } from "vitest";
import { fitsRule } from "../../src/shell-policy/rule-matches.ts";

test.each([
  ["Bash", "Bash", { command: "ls" }, true],
  ["Bash(git *)", "Bash", { command: "git push" }, true],
  ["Bash(git *)", "Bash", { command: "cd sub && git  push" }, true],
  ["Bash(git *)", "Bash", { command: "gitk" }, false],
  ["Bash(git *)", "Edit", { file_path: "git x" }, false],
  ["Edit(src/**)", "Write", { file_path: "/project/src/a.ts" }, true],
  ["Edit(src/**)", "Write", { file_path: "/project/lib/a.ts" }, false],
  ["Edit(src/**)", "Read", { file_path: "/project/src/a.ts" }, false],
  ["Read(*.env)", "Read", { file_path: "/project/a/b.env" }, true],
  ["Bash(git", "Bash", { command: "git" }, false],
])("%s for %s %j: %s", (rule, name, input, fits) => {
  expect(fitsRule(rule, "/project", { name, input })).toBe(fits);
});
