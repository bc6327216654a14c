import { expect, test } from "vitest";
import { hashOf } from "../../src/file-access/seen-files.ts";
import type { ToolOutput, ToolRun } from "../../src/loop/seams.ts";
import { createOutputBound } from "../../src/mechanisms/output/index.ts";

const bounded = (output: ToolOutput) =>
  createOutputBound({ max: 20, head: 5, tail: 5 }).seams!.tool!({} as ToolRun, async () => output);

test("an output within the bound passes untouched, as the same object", async () => {
  const output: ToolOutput = { content: "x".repeat(20) };
  expect(await bounded(output)).toBe(output);
});

test("a longer one shows head and tail, and the whole is a blob named by its hash", async () => {
  const text = `head-${"x".repeat(20)}-tail`;
  const bytes = Buffer.from(text);
  expect(await bounded({ content: text, isError: true, events: [] })).toEqual({
    content: `head-\n[… 20 of 30 characters left out; all of this text: read_file path blob:${hashOf(bytes)} …]\n-tail`,
    isError: true,
    events: [],
    lines: 1,
    whole: [{ part: 0, hash: hashOf(bytes), grams: expect.any(String) }],
    blobs: [bytes],
  });
});

test("no character is cut in two", async () => {
  const output = await bounded({ content: `abcd${"😀".repeat(10)}abcd` });
  const [head, , tail] = (output.content as string).split("\n");
  expect([head, tail]).toEqual(["abcd", "abcd"]);
});

test("text beside an image is bounded, the image is not", async () => {
  const image = { type: "image", mediaType: "image/png", data: "A".repeat(50) } as const;
  const output = await bounded({ content: [{ type: "text", text: "y".repeat(30) }, image] });
  expect((output.content as unknown[])[1]).toEqual(image);
  expect(output.blobs).toEqual([Buffer.from("y".repeat(30))]);
});
