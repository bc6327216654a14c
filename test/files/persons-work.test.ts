// A change that was cut off, and what a person did before it is taken up: nothing that they have written is gone over, wherever the cut was.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { scratch, testTurn } from "../turn.ts";

type Edit =
  | { op: "write"; at: string; text: string }
  | { op: "remove" | "folder" | "link" | "run"; at: string }
  | { op: "move"; at: string; to: string };
interface Call {
  tool: "write_file" | "edit_file" | "multi_edit";
  at: string;
  text: string;
  /** Where it was cut off: before the file changed, or after. */
  isDone: boolean;
}

const at = fc.constantFrom("a", "b", "d", "d/a", "new/deep/f");
const text = fc.constantFrom("one", "two", "three", "");
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant("write" as const), at, text }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constantFrom("remove", "folder", "link", "run"), at }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("move" as const), at, to: at }) },
);
const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom("write_file", "edit_file", "multi_edit"),
  at,
  text,
  isDone: fc.boolean(),
});

/** What does not fit the tree does nothing. */
function apply(root: string, one: Edit): void {
  const full = (name: string) => join(root, name);
  try {
    mkdirSync(dirname(full("to" in one ? one.to : one.at)), { recursive: true });
    if (one.op === "write") writeFileSync(full(one.at), one.text);
    else if (one.op === "remove") rmSync(full(one.at), { recursive: true });
    else if (one.op === "folder") mkdirSync(full(one.at));
    else if (one.op === "link") symlinkSync(full("b"), full(one.at));
    else if (one.op === "run") chmodSync(full(one.at), 0o755);
    else if (one.op === "move") renameSync(full(one.at), full(one.to));
  } catch {}
}

function treeOf(root: string): Record<string, string> {
  const entries = readdirSync(root, { withFileTypes: true, recursive: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) return [relative(root, file), "folder"];
      if (entry.isSymbolicLink()) return [relative(root, file), `-> ${readlinkSync(file)}`];
      return [relative(root, file), `${lstatSync(file).mode & 0o777} ${readFileSync(file, "utf8")}`];
    }),
  );
}

const inputOf = ({ tool, at: path, text: to }: Call, from: string) => {
  const change = { old_text: from, new_text: `${to}!` };
  if (tool === "write_file") return { path, content: `${to}!` };
  return tool === "edit_file" ? { path, ...change } : { path, edits: [change] };
};

async function cutOff(before: Edit[], one: Call, after: Edit[]): Promise<"made" | "left" | "finished" | "never"> {
  const root = scratch(onTestFinished);
  const fresh = () => testTurn([createFiles()], { root });
  for (const name of ["a", "b", "d/a"]) apply(root, { op: "write", at: name, text: name });
  for (const each of before) apply(root, each);
  const turn = fresh();
  const file = join(root, one.at);
  const isFile = existsSync(file) && lstatSync(file).isFile();
  const from = isFile ? readFileSync(file, "utf8") : null;
  if (from !== null) await turn.call("read_file", { path: one.at });
  const input = inputOf(one, from ?? "");
  const intent = await turn.intend(one.tool, input).catch(() => undefined);
  if (intent === undefined) return "never"; // refused before anything was intended
  if (one.isDone) {
    const other = fresh();
    if (from !== null) await other.call("read_file", { path: one.at });
    expect(await other.call(one.tool, input)).not.toHaveProperty("isError");
  }
  for (const each of after) apply(root, each);

  const then = treeOf(root);
  const now = () => (existsSync(file) && lstatSync(file).isFile() ? readFileSync(file, "utf8") : null);
  const found = now();
  const output = await turn
    .resume(one.tool, input, intent)
    .catch((error: Error) => ({ isError: true, content: error.message }));
  const made = `${one.text}!`;
  if (found === made) {
    expect([treeOf(root), output.isError]).toEqual([then, undefined]);
    return "finished";
  }
  if (turn.reran && output.isError !== true) {
    // It may be made only where it finds what it was meant for.
    const { [one.at]: left, ...others } = treeOf(root);
    const { [one.at]: _, ...othersThen } = then;
    const kept = Object.fromEntries(Object.entries(others).filter(([name]) => name in othersThen));
    // A link that led nowhere stays, and leads to what was made.
    const link = then[one.at]?.startsWith("-> ") ? then[one.at] : undefined;
    expect([found, kept, left]).toEqual([from, othersThen, link ?? expect.stringMatching(/^\d+ /)]);
    expect(readFileSync(file, "utf8")).toBe(made);
    return "made";
  }
  expect([treeOf(root), output.isError]).toEqual([then, true]);
  return "left";
}

const RUNS = process.env.HOLDFAST_LONG ? 5_000 : 150;

test("what a person wrote after a change was cut off is left alone when it is taken up", {
  timeout: 3_600_000,
}, async () => {
  const counts: Record<string, number> = {};
  const few = fc.array(edit, { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(few, call, few, async (before, one, after) => {
      const what = await cutOff(before, one, after);
      counts[what] = (counts[what] ?? 0) + 1;
    }),
    { numRuns: RUNS },
  );
  expect(Object.keys(counts).sort()).toEqual(["finished", "left", "made", "never"]);
});
