import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ChangeIntent } from "../../src/file-access/file-change.ts";
import { hashOf } from "../../src/file-access/seen-files.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { scratch, testTurn } from "../turn.ts";

function setUp(files: Record<string, string> = {}) {
  const root = scratch(onTestFinished);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const turn = testTurn([createFiles()], { root });
  return { root, turn, text: (name: string) => readFileSync(join(root, name), "utf8") };
}

const sha = (text: string) => hashOf(Buffer.from(text));

test("a new file is created with its parents and remembered as seen", async () => {
  const { root, turn, text } = setUp();
  const output = await turn.call("write_file", { path: "a/b/c.txt", content: "hello\n" });
  expect(output).toEqual({
    content: "Created a/b/c.txt (6 bytes)",
    display: "--- /dev/null\n+++ a/b/c.txt\n@@ -0,0 +1,1 @@\n+hello",
    events: [
      { type: "file.seen", data: { path: join(root, "a/b/c.txt"), hash: sha("hello\n"), callId: "c1", how: "wrote" } },
    ],
  });
  expect([text("a/b/c.txt"), readdirSync(join(root, "a/b"))]).toEqual(["hello\n", ["c.txt"]]);
  expect((await turn.call("write_file", { path: "a/b/c.txt", content: "again\n" })).isError).toBeUndefined();
});

test("a file that was not read, or changed since, is not overwritten", async () => {
  const { root, turn, text } = setUp({ "a.txt": "one" });
  expect(await turn.call("write_file", { path: "a.txt", content: "two" })).toEqual({
    content: "a.txt exists and you have not read it; read it first",
    isError: true,
  });
  await turn.call("read_file", { path: "a.txt" });
  writeFileSync(join(root, "a.txt"), "theirs");
  for (const [name, input] of [
    ["write_file", { content: "two" }],
    ["edit_file", { old_text: "theirs", new_text: "x" }],
    ["multi_edit", { edits: [{ old_text: "theirs", new_text: "x" }] }],
  ] as const) {
    expect(await turn.call(name, { path: "a.txt", ...input })).toEqual({
      content: "a.txt has changed since you read it; read it again first",
      isError: true,
    });
  }
  expect(text("a.txt")).toBe("theirs");
});

test("what another agent read does not count", async () => {
  const { root, turn } = setUp({ "a.txt": "one" });
  await turn.call("read_file", { path: "a.txt" });
  const other = testTurn([createFiles()], { root, agent: "other" });
  expect((await other.call("write_file", { path: "a.txt", content: "two" })).isError).toBe(true);
});

test("a write keeps mode, line endings and byte order mark", async () => {
  const { root, turn } = setUp({ "run.bat": "\ufeffa\r\nb\r\n" });
  chmodSync(join(root, "run.bat"), 0o755);
  await turn.call("read_file", { path: "run.bat" });
  await turn.call("write_file", { path: "run.bat", content: "c\nd\n" });
  expect([readFileSync(join(root, "run.bat"), "utf8"), statSync(join(root, "run.bat")).mode & 0o777]).toEqual([
    "\ufeffc\r\nd\r\n",
    0o755,
  ]);
});

test("a write through a link changes the file behind it and keeps the link", async () => {
  const { root, turn, text } = setUp({ "real.txt": "one" });
  symlinkSync("real.txt", join(root, "link.txt"));
  await turn.call("read_file", { path: "link.txt" });
  await turn.call("edit_file", { path: "link.txt", old_text: "one", new_text: "two" });
  expect([text("real.txt"), readdirSync(root)]).toEqual(["two", ["link.txt", "real.txt"]]);
});

test("a directory cannot be written", async () => {
  const { root, turn } = setUp();
  mkdirSync(join(root, "d"));
  expect(await turn.call("write_file", { path: "d", content: "" })).toEqual({
    content: "d is a directory",
    isError: true,
  });
});

test("an edit replaces the one match and shows a diff to people", async () => {
  const { turn, text } = setUp({ "a.ts": "one\ntwo\nthree\nfour\nfive\nsix\n" });
  await turn.call("read_file", { path: "a.ts" });
  const output = await turn.call("edit_file", { path: "a.ts", old_text: "five", new_text: "5\n5b" });
  expect(output).toMatchObject({
    content: "Edited a.ts at line 5",
    display: "--- a.ts\n+++ a.ts\n@@ -2,5 +2,6 @@\n two\n three\n four\n-five\n+5\n+5b\n six",
  });
  expect(text("a.ts")).toBe("one\ntwo\nthree\nfour\n5\n5b\nsix\n");
});

test("two edits of one file in one reply both apply before the ledger knows of the first", async () => {
  const { turn, text } = setUp({ "a.ts": "one\ntwo\n" });
  await turn.call("read_file", { path: "a.ts" });
  const append = turn.append;
  turn.append = async () => []; // durable only after both
  await turn.call("edit_file", { path: "a.ts", old_text: "one", new_text: "1" });
  await turn.call("edit_file", { path: "a.ts", old_text: "two", new_text: "2" });
  turn.append = append;
  expect(text("a.ts")).toBe("1\n2\n");
});

test("several matches are counted by line, and all replaced when asked", async () => {
  const { turn, text } = setUp({ "a.ts": "x\ny\nx\nx x\n" });
  await turn.call("read_file", { path: "a.ts" });
  expect(await turn.call("edit_file", { path: "a.ts", old_text: "x", new_text: "z" })).toEqual({
    content: "old_text was found 4 times (lines 1, 3, 4, 4); add lines around it, or set replace_all",
    isError: true,
  });
  const all = await turn.call("edit_file", { path: "a.ts", old_text: "x", new_text: "z", replace_all: true });
  expect([all.content, text("a.ts")]).toEqual(["Edited a.ts at line 1, 3, 4, 4", "z\ny\nz\nz z\n"]);
});

test("an edit without a match names the nearest lines", async () => {
  const { turn } = setUp({ "a.ts": "function first() {\n  return 1;\n}\nfunction second() {}\n" });
  await turn.call("read_file", { path: "a.ts" });
  const said = async (old_text: string) =>
    (await turn.call("edit_file", { path: "a.ts", old_text, new_text: "!" })).content;
  expect(await said("function frist() {")).toBe(
    "old_text was not found; nearest:\nline 1: function first() {\nline 4: function second() {}",
  );
  expect(await said("function first() {\n    return 1;\n}")).toBe(
    "old_text was not found; lines 1-3 differ only in white space:\nfunction first() {\n  return 1;\n}",
  );
  expect(await said("1|function first() {\n|  return 1;")).toBe(
    "old_text was not found: leave out the `N|` that read_file puts before each line",
  );
  expect(await said("qqqqqq")).toBe("old_text was not found; nothing like it is there");
});

test("an edit keeps CRLF, lone LF and a byte order mark where they are", async () => {
  const { turn, text } = setUp({ "a.txt": "\ufeffone\r\ntwo\r\nthree\nfour\r\n" });
  await turn.call("read_file", { path: "a.txt" });
  await turn.call("edit_file", { path: "a.txt", old_text: "one\ntwo\n", new_text: "1\n2\n2b\n" });
  expect(text("a.txt")).toBe("\ufeff1\r\n2\r\n2b\r\nthree\nfour\r\n");
  await turn.call("edit_file", { path: "a.txt", old_text: "three\r\nfour", new_text: "3" });
  expect(text("a.txt")).toBe("\ufeff1\r\n2\r\n2b\r\n3\r\n");
});

test("an edit of what is not UTF-8, of nothing, or of a missing file is refused", async () => {
  const { root, turn } = setUp({ "a.txt": "same" });
  writeFileSync(join(root, "latin.txt"), Buffer.from([0x61, 0xe9, 0x0a]));
  await turn.call("read_file", { path: "latin.txt" });
  await turn.call("read_file", { path: "a.txt" });
  const said = async (path: string, old_text: string, new_text: string) =>
    (await turn.call("edit_file", { path, old_text, new_text })).content;
  expect([
    await said("latin.txt", "a", "b"),
    await said("a.txt", "same", "same"),
    await said("a.txt", "", "x"),
    await said("none.txt", "a", "b"),
  ]).toEqual([
    "latin.txt is not UTF-8 text; change it with bash",
    "old_text and new_text are the same",
    "old_text is empty",
    "none.txt does not exist; create it with write_file",
  ]);
});

test("several edits apply in order, or none does", async () => {
  const { turn, text } = setUp({ "a.txt": "a\nb\n" });
  await turn.call("read_file", { path: "a.txt" });
  const failed = await turn.call("multi_edit", {
    path: "a.txt",
    edits: [
      { old_text: "a", new_text: "c" },
      { old_text: "missing", new_text: "x" },
    ],
  });
  expect([failed, text("a.txt")]).toEqual([
    { content: "edits.1: old_text was not found; nothing like it is there\nNothing was changed.", isError: true },
    "a\nb\n",
  ]);
  const done = await turn.call("multi_edit", {
    path: "a.txt",
    edits: [
      { old_text: "a", new_text: "c" },
      { old_text: "c\nb", new_text: "d" },
    ],
  });
  expect([done.content, text("a.txt")]).toEqual(["Edited a.txt at line 1; 1", "d\n"]);
});

test("after a crash, a write that had happened gives its result and is not repeated", async () => {
  const { root, turn } = setUp();
  const input = { path: "a.txt", content: "new" };
  const intent = await turn.intend("write_file", input);
  expect(intent).toEqual({
    path: join(root, "a.txt"),
    before: null,
    after: sha("new"),
    said: "Created a.txt (3 bytes)",
  });
  writeFileSync(join(root, "a.txt"), "new");
  const before = statSync(join(root, "a.txt")).ino;
  expect(await turn.resume("write_file", input, intent)).toEqual({
    content: "Created a.txt (3 bytes)",
    events: [{ type: "file.seen", data: { path: join(root, "a.txt"), hash: sha("new"), callId: "c1", how: "wrote" } }],
  });
  expect([turn.reran, statSync(join(root, "a.txt")).ino]).toEqual([false, before]);
});

test("after a crash, an edit that had not happened is made, and the leftover of the dead attempt is gone", async () => {
  const { root, turn, text } = setUp({ "a.txt": "one" });
  await turn.call("read_file", { path: "a.txt" });
  const input = { path: "a.txt", old_text: "one", new_text: "two" };
  const intent = (await turn.intend("edit_file", input)) as ChangeIntent;
  const { hash } = await import("node:crypto");
  const id = hash("sha256", `ctx_test\0lead\0c2\0${intent.path}`, "hex").slice(0, 16);
  writeFileSync(join(root, `.holdfast-${id}.tmp`), "tw");
  await turn.resume("edit_file", input, intent);
  expect([turn.reran, text("a.txt"), readdirSync(root)]).toEqual([true, "two", ["a.txt"]]);
});

test("after a crash, a file that someone else changed is left alone", async () => {
  const { root, turn, text } = setUp({ "a.txt": "one" });
  await turn.call("read_file", { path: "a.txt" });
  const input = { path: "a.txt", old_text: "one", new_text: "two" };
  const intent = await turn.intend("edit_file", input);
  const interrupted = {
    content: `interrupted: ${join(root, "a.txt")} was changed by someone else meanwhile; read it before you change it`,
    isError: true,
  };
  writeFileSync(join(root, "a.txt"), "theirs");
  expect([await turn.resume("edit_file", input, intent), text("a.txt")]).toEqual([interrupted, "theirs"]);
  rmSync(join(root, "a.txt"));
  expect(await turn.resume("edit_file", input, intent)).toEqual(interrupted);
});
