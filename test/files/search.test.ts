import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { scratch, testTurn } from "../turn.ts";

/** Files in the order given, each newer than the one before. */
function setUp(files: Record<string, string>) {
  const root = scratch(onTestFinished);
  Object.entries(files).forEach(([name, text], i) => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
    utimesSync(join(root, name), 1_000 + i, 1_000 + i);
  });
  return { root, turn: testTurn([createFiles()], { root }) };
}

const project = {
  ".gitignore": "ignored/\n*.log\n",
  "src/main.py": "def main():\n  pass\n",
  "src/deep/util.py": "def util():\n  return MAIN\n",
  "ignored/x.py": "def main():\n",
  "debug.log": "main\n",
  ".github/ci.yml": "run: main\n",
  "top.py": "import main\n",
};

test("files are found at any depth, newest first, without what .gitignore names, also outside git", async () => {
  const { turn } = setUp(project);
  const found = async (input: object) => (await turn.call("glob", input)).content;
  expect(await found({ pattern: "*.py" })).toBe("top.py\nsrc/deep/util.py\nsrc/main.py");
  expect(await found({ pattern: "**/*.{py,yml}" })).toBe("top.py\n.github/ci.yml\nsrc/deep/util.py\nsrc/main.py");
  expect(await found({ pattern: "src/*.py" })).toBe("src/main.py");
  expect(await found({ pattern: "*.py", path: "src/deep" })).toBe("src/deep/util.py");
  expect(await found({ pattern: "*.log" })).toBe("(no files)");
});

test("a glob that leaves its directory, or names none, is refused", async () => {
  const { root, turn } = setUp(project);
  const outside = { content: "the pattern must stay below path: give the directory as path", isError: true };
  expect(await turn.call("glob", { pattern: "../*" })).toEqual(outside);
  expect(await turn.call("glob", { pattern: "/etc/*" })).toEqual({
    content: `/etc is outside ${root}`,
    isError: true,
  });
  expect((await turn.call("glob", { pattern: `${root}/*.py` })).content).toBe("top.py");
  expect((await turn.call("glob", { pattern: `${root}/src/*/*.py` })).content).toBe("src/deep/util.py");
  expect(await turn.call("glob", { pattern: "*", path: "srcs" })).toEqual({
    content: "srcs does not exist; did you mean src?",
    isError: true,
  });
  expect(await turn.call("glob", { pattern: "*", path: "top.py" })).toEqual({
    content: "top.py is not a directory",
    isError: true,
  });
});

test("long listings are capped with a count of the rest", async () => {
  const { turn } = setUp(Object.fromEntries(Array.from({ length: 230 }, (_, i) => [`f${i}.txt`, "x\n"])));
  const files = ((await turn.call("glob", { pattern: "*.txt" })).content as string).split("\n");
  expect([files.length, files[0], files.at(-1)]).toEqual([201, "f229.txt", "[30 more; narrow the pattern]"]);
  const hits = ((await turn.call("grep", { pattern: "x" })).content as string).split("\n");
  expect([hits.length, hits.at(-1)]).toEqual([401, "[30 more; narrow the search]"]);
});

test("grep groups by file, newest first", async () => {
  const { turn } = setUp(project);
  const found = async (input: object) => (await turn.call("grep", input)).content;
  expect(await found({ pattern: "main" })).toBe(
    "top.py\n1:import main\n.github/ci.yml\n1:run: main\nsrc/main.py\n1:def main():",
  );
  expect(await found({ pattern: "main", mode: "files" })).toBe("top.py\n.github/ci.yml\nsrc/main.py");
  expect(await found({ pattern: "def", mode: "count" })).toBe("src/deep/util.py:1\nsrc/main.py:1");
  expect(await found({ pattern: "main", glob: "*.py", ignore_case: true, path: "src" })).toBe(
    "src/deep/util.py\n2:  return MAIN\nsrc/main.py\n1:def main():",
  );
  expect(await found({ pattern: "util", context: 1, path: "src/deep/util.py" })).toBe(
    "src/deep/util.py\n1:def util():\n2-  return MAIN",
  );
  expect(await found({ pattern: "(?<=def )util" })).toBe("src/deep/util.py\n1:def util():");
  expect(await found({ pattern: "-nothing-" })).toBe("(no matches)");
});

test("a bad regular expression is a clear error", async () => {
  const { turn } = setUp(project);
  const output = await turn.call("grep", { pattern: "(" });
  expect(output.isError).toBe(true);
  expect(output.content).toMatch(/unclosed group|missing/);
});
