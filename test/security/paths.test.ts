import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratch } from "../turn.ts";
import { ownCases } from "./path-cases.ts";
import { filled, type PathCase, prepare, runCase, snapshot } from "./world.ts";

const RACE_S = 0.4;

/** For the tools these are files like others: to ask about them is the gate's part. */
const isGates = (one: PathCase): boolean =>
  one.tool === "bash" ||
  (one.tool === "write" && one.expect === "ask" && !/hard link/.test(one.why)) ||
  (one.tool === "read" && one.expect === "ask" && /hard link/.test(one.why));

/** In these files the path of a glob is its pattern, and the swapping of a race lasts 20 s. */
function read(name: string): PathCase[] {
  const text = readFileSync(fileURLToPath(new URL(name, import.meta.url)), "utf8");
  const cases = text.split("\n").filter(Boolean);
  return cases
    .map((line): PathCase => JSON.parse(line.replaceAll("timeout 20", `timeout ${RACE_S}`)))
    .filter((one) => !isGates(one))
    .map((one) => (one.tool === "glob" ? { ...one, pattern: one.path, path: "." } : one));
}

function setUp(): string {
  const base = join(scratch(onTestFinished), "w");
  mkdirSync(base);
  const home = process.env.HOME;
  process.env.HOME = join(base, "home");
  onTestFinished(() => {
    process.env.HOME = home;
  });
  return base;
}

async function judge(one: PathCase): Promise<void> {
  const base = setUp();
  prepare(one, base);
  if (!one.setup.some((line) => line.includes("timeout"))) return judgeOnce(one, base, { isRace: false });
  try {
    for (let i = 0; i < 10; i++) await judgeOnce(one, base, { isRace: true });
  } finally {
    await sleep(RACE_S * 1_000 + 100); // nobody swaps any more when the folder goes
  }
}

/** By effect: what is outside, and what is protected, is as it was; nothing of it was said. */
async function judgeOnce(one: PathCase, base: string, { isRace }: { isRace: boolean }): Promise<void> {
  const granted = (path: string) => one.grants?.paths?.some((g) => path.startsWith(filled(g, base))) === true;
  const mayChange = (path: string) =>
    granted(path) || (path.startsWith(`${base}/proj/`) && !/\/\.(git|claude|holdfast)(\/|$)/i.test(path));
  const before = snapshot(base, mayChange);
  const project = snapshot(join(base, "proj"));
  const { output, text } = await runCase(one, base);
  const refused = output.isError === true;
  expect(text).not.toBe("STUCK");
  if (one.expect === "allow") expect([refused, text]).toEqual([false, text]);
  else if (one.tier !== "soft" && one.tool !== "glob") expect([refused, text]).toEqual([true, text]);
  expect(snapshot(base, mayChange)).toEqual(before);
  if (refused && !isRace) expect(snapshot(join(base, "proj"))).toEqual(project);
  if (!one.grants?.paths) expect(text).not.toMatch(/CANARY-(OUT|DIR|EVIL|KEY)|root:x:|PATH=/);
  expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
  for (const line of one.assert) {
    const [, what, rest] = /^(output lacks|absent|unchanged-or-absent|unchanged) (.*)$/.exec(filled(line, base))!;
    if (what === "output lacks") expect(text).not.toContain(rest);
    else if (what === "absent") expect(existsSync(rest!)).toBe(false);
    else expect(snapshot(base)[rest!]).toBe(before[rest!] ?? project[rest!]);
  }
}

describe("the examples we were given", () => {
  for (const one of read("path-examples.jsonl")) test(`${one.id} ${one.tool} ${one.why}`, () => judge(one));
});

describe("cases by someone who had not seen the tools", () => {
  for (const one of read("path-cases.jsonl")) test(`${one.id} ${one.tool} ${one.why}`, () => judge(one));
});

describe("our own cases", () => {
  for (const one of ownCases) test(`${one.id} ${one.tool} ${one.expect}: ${one.why}`, () => judge(one));
});
