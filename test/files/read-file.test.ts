import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hashOf } from "../../src/file-access/seen-files.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { scratch, testTurn } from "../turn.ts";

function setUp() {
  const root = scratch(onTestFinished);
  return { root, turn: testTurn([createFiles()], { root }) };
}

const lines = (n: number) => Array.from({ length: n }, (_, i) => `l${i + 1}`).join("\n");

test("lines are numbered at the first one and at every fifth, and the hash is remembered", async () => {
  const { root, turn } = setUp();
  const text = `${lines(7)}\n`;
  writeFileSync(join(root, "a.txt"), text);
  const seen = {
    type: "file.seen",
    data: { path: join(root, "a.txt"), hash: hashOf(Buffer.from(text)), callId: "c1", how: "read" },
  };
  expect(await turn.call("read_file", { path: "a.txt" })).toEqual({
    content: "1|l1\n|l2\n|l3\n|l4\n5|l5\n|l6\n|l7",
    events: [seen],
  });
  expect(await turn.call("read_file", { path: "a.txt", offset: 3, limit: 2 })).toEqual({
    content: "3|l3\n|l4\n[lines 3-4 of 7; read on with offset 5]",
    events: [],
  });
});

test("a long file is cut by lines and says how to read on", async () => {
  const { root, turn } = setUp();
  writeFileSync(join(root, "a.txt"), lines(2_500));
  const first = (await turn.call("read_file", { path: "a.txt" })).content as string;
  expect(first.split("\n").at(-1)).toBe("[lines 1-2000 of 2500; read on with offset 2001]");
  const second = (await turn.call("read_file", { path: "a.txt", offset: 2001 })).content as string;
  expect([second.split("\n")[0], second.split("\n").at(-1)]).toEqual(["2001|l2001", "2500|l2500"]);
});

test("a wide file is cut by bytes, a long line by characters without breaking one", async () => {
  const { root, turn } = setUp();
  writeFileSync(join(root, "wide.txt"), `${"x".repeat(1_000)}\n`.repeat(100));
  const wide = (await turn.call("read_file", { path: "wide.txt" })).content as string;
  expect(wide.split("\n").at(-1)).toBe("[lines 1-49 of 100; read on with offset 50]");
  writeFileSync(join(root, "long.txt"), `a${"😀".repeat(2_000)}`);
  const long = (await turn.call("read_file", { path: "long.txt" })).content;
  expect(long).toBe(`1|a${"😀".repeat(999)}…[4001 characters]`);
});

test("CRLF and a byte order mark are not shown", async () => {
  const { root, turn } = setUp();
  writeFileSync(join(root, "a.txt"), "\ufeffone\r\ntwo\r\n");
  expect((await turn.call("read_file", { path: "a.txt" })).content).toBe("1|one\n|two");
});

test("what cannot be read says why and what to do", async () => {
  const { root, turn } = setUp();
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src", "Harness.ts"), "");
  writeFileSync(join(root, "bin"), Buffer.from([1, 0, 2]));
  writeFileSync(join(root, "two.txt"), "a\nb");
  const said = async (input: object) => turn.call("read_file", input);
  expect(await said({ path: "src" })).toEqual({
    content: "src is a directory; list it with glob, path src",
    isError: true,
  });
  expect(await said({ path: "src/harnes.ts" })).toEqual({
    content: "src/harnes.ts does not exist; did you mean src/Harness.ts?",
    isError: true,
  });
  expect(await said({ path: "srcs/x/y.ts" })).toEqual({
    content: "srcs/x/y.ts does not exist; did you mean src?",
    isError: true,
  });
  expect(await said({ path: "bin" })).toEqual({
    content: "bin is binary (3 bytes); look at it with bash (file, xxd)",
    isError: true,
  });
  expect(await said({ path: "two.txt", offset: 3 })).toMatchObject({
    content: "two.txt has only 2 lines",
    isError: true,
  });
  expect((await said({ path: "src/Harness.ts" })).content).toBe("(empty file)");
});

test("images and PDFs are model content, by what they hold", async () => {
  const { root, turn } = setUp();
  const png = Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1");
  writeFileSync(join(root, "picture.dat"), png);
  writeFileSync(join(root, "paper.pdf"), "%PDF-1.7\n");
  expect(await turn.call("read_file", { path: "picture.dat" })).toEqual({
    content: [
      { type: "text", text: "picture.dat (image/png, 12 bytes)" },
      { type: "image", mediaType: "image/png", data: png.toString("base64") },
    ],
  });
  expect(await turn.call("read_file", { path: "paper.pdf" })).toEqual({
    content: [
      { type: "text", text: "paper.pdf (application/pdf, 9 bytes)" },
      {
        type: "document",
        mediaType: "application/pdf",
        data: Buffer.from("%PDF-1.7\n").toString("base64"),
        name: "paper.pdf",
      },
    ],
  });
});

test("a blob is read by its hash", async () => {
  const { turn } = setUp();
  turn.blobs.set("abc", Buffer.from("whole\noutput\n"));
  expect(await turn.call("read_file", { path: "blob:abc", offset: 2 })).toEqual({ content: "2|output" });
  expect(await turn.call("read_file", { path: "blob:zzz" })).toEqual({
    content: "there is no blob:zzz",
    isError: true,
  });
});

test("a link is remembered by the file it points at", async () => {
  const { root, turn } = setUp();
  writeFileSync(join(root, "real.txt"), "x");
  symlinkSync("real.txt", join(root, "link.txt"));
  await turn.call("read_file", { path: "link.txt" });
  const seen = { path: join(root, "real.txt"), hash: hashOf(Buffer.from("x")), callId: "c1", how: "read" };
  expect(turn.events.map((e) => e.data)).toEqual([seen]);
});
