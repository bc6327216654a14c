// A name of a file for any text: none leads out of its folder, and no two are the same.
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { fileName } from "../../src/ledger/file-name.ts";

it("an id of the house is its own name; any other text is one name, in its folder, and another text another name", () => {
  expect(["ctx_06a3k", "lead", "agent-1.2"].map(fileName)).toEqual(["ctx_06a3k", "lead", "agent-1.2"]);
  const hostile = [
    "..",
    ".",
    "",
    "/",
    "a/../../b",
    "..%2f",
    "%2e.",
    ".swept",
    "a\0b",
    "\ud800",
    "é",
    "e\u0301",
    "日本",
  ];
  const long = [`${"x".repeat(400)}a`, `${"x".repeat(400)}b`, "日".repeat(300)];
  const names = [...hostile, ...long].map(fileName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) {
    expect([basename(join("/dir", name)), join("/dir", name)]).toEqual([name, `/dir/${name}`]);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    expect(name).not.toMatch(/^\.|\0/);
  }
});
