import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HoldfastError } from "../../src/ledger/error.ts";
import type { Delta, Item, Reply } from "../../src/models/model.ts";
import { createRehearsal } from "../../src/models/rehearsal/index.ts";
import { readScript } from "../../src/models/rehearsal/script.ts";

let dir: string;
let file: string;
beforeEach(() => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), "rehearsal-script-"));
  file = path.join(dir, "s.yaml");
});
afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

const SCRIPT = `rounds:
  - text: Let me look.
    reasoning: hm
    chunks: 2
    calls:
      - { name: glob, input: { pattern: "*" } }
      - name: list_jobs
  - text: cut of
    finish: length
`;

const user = (text: string): Item => ({ kind: "user", content: [{ type: "text", text }] });

async function reply(
  items: Item[],
  opts: { signal?: AbortSignal; onDelta?: (delta: Delta) => void } = {},
): Promise<Reply> {
  const { signal = new AbortController().signal, onDelta } = opts;
  return createRehearsal({ script: file }).reply(
    { system: [], tools: [], items, maxOutputTokens: 100 },
    { signal, onDelta },
  );
}

const problem = async (source: string): Promise<{ code: string; message: string }> => {
  fs.writeFileSync(file, source);
  const error = await readScript(file).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(HoldfastError);
  const { code, message } = error as HoldfastError;
  return { code, message: message.replaceAll(dir, "") };
};

describe("a rehearsal script", () => {
  it("plays the round that follows the replies so far, whichever process asks", async () => {
    fs.writeFileSync(file, SCRIPT);
    const deltas: Delta[] = [];
    const first = await reply([user("go")], { onDelta: (delta) => deltas.push(delta) });
    expect(first).toEqual({
      model: "rehearsal/script",
      parts: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Let me look." },
        { type: "call", id: "c1", name: "glob", input: { pattern: "*" } },
        { type: "call", id: "c2", name: "list_jobs", input: {} },
      ],
      finish: "calls",
      usage: { input: expect.any(Number), output: expect.any(Number), cacheRead: 0, cacheWrite: 0 },
    });
    expect(deltas).toEqual([
      { type: "reasoning", text: "h" },
      { type: "reasoning", text: "m" },
      { type: "text", text: "Let me" },
      { type: "text", text: " look." },
      { type: "call", name: "glob" },
      { type: "call", name: "list_jobs" },
    ]);
    const items: Item[] = [user("go"), { kind: "reply", model: "m", parts: first.parts }, user("more")];
    const second = await reply(items);
    const third = await reply([...items, { kind: "reply", model: "m", parts: second.parts }]);
    expect([second, third].map(({ parts, finish }) => ({ parts, finish }))).toEqual([
      { parts: [{ type: "text", text: "cut of" }], finish: "length" },
      { parts: [{ type: "text", text: "Script finished." }], finish: "stop" },
    ]);
  });

  it("waits before each delta and stops waiting on abort", async () => {
    fs.writeFileSync(file, "rounds:\n  - { text: slow, delay_ms: 60000 }\n");
    const error = await reply([user("go")], { signal: AbortSignal.timeout(30) }).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: "model", kind: "aborted", partial: [] });
  });

  it("is refused with file, line and what to do when it is not a script", async () => {
    const format = "The format is in docs/rehearsal.md.";
    const found = [
      await problem("rounds:\n  - text: 'open\n"),
      await problem("rounds:\n  - text: ok\n  - text: ok\n    txet: 1\n"),
      await problem("rounds:\n  - calls:\n      - input: {}\n"),
      await problem("rounds:\n  - text: ok\n    finish: never\n"),
      await problem("rounds:\n  - delay_ms: 1\n"),
      await problem("- text: ok\n"),
      await problem(""),
    ];
    expect(found).toEqual([
      {
        code: "invalid",
        message: expect.stringMatching(/^\/s\.yaml:\d: not valid YAML: .+\. Correct the YAML there\.$/),
      },
      { code: "invalid", message: `/s.yaml:4: rounds.1: Unrecognized key: "txet". ${format}` },
      {
        code: "invalid",
        message: `/s.yaml:3: rounds.0.calls.0.name: Invalid input: expected string, received undefined. ${format}`,
      },
      { code: "invalid", message: expect.stringMatching(/^\/s\.yaml:3: rounds\.0\.finish: .+/) },
      { code: "invalid", message: `/s.yaml:2: rounds.0: a round needs text or calls. ${format}` },
      { code: "invalid", message: `/s.yaml:1: Invalid input: expected object, received array. ${format}` },
      { code: "invalid", message: `/s.yaml:1: Invalid input: expected object, received null. ${format}` },
    ]);
  });

  it("says which file cannot be read", async () => {
    const error = await reply([user("go")]).catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: "invalid",
      message: `the script cannot be read: ${file} is not there; check the path after "rehearsal:"`,
    });
  });
});
