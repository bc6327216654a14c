// The gate and the tool together, while a name is swapped for a link: what is done is done to what was judged, inside the project too.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { hashOf, markSeen } from "../../src/file-access/seen-files.ts";
import type { Tool } from "../../src/loop/seams.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { createPermissions } from "../../src/mechanisms/permissions/index.ts";
import { scratch, testTurn } from "../turn.ts";
import { snapshot } from "./world.ts";

/** `HOLDFAST_RACES=20` for a long run that tells its counts. */
const ROUNDS = Number(process.env.HOLDFAST_RACES ?? 1);
const FILES = {
  "proj/d/x.txt": "inside",
  "proj/p/d/x.txt": "inside",
  "proj/.env": "CANARY",
  "proj/.npmrc": "CANARY",
  "proj/.vscode/x.txt": "CANARY",
  "proj/.git/x.txt": "CANARY",
  "proj/denied/x.txt": "CANARY",
  "proj/denied/d/x.txt": "CANARY",
  "outside/d/x.txt": "CANARY",
  "outside/x.txt": "CANARY",
};
const GUARDED = ["outside", "proj/.git", "proj/.vscode", "proj/denied"];

/** `swapped` is a link to `target` half of the time. */
async function setUp(swapped: string, target: string) {
  const base = scratch(onTestFinished);
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(base, name, ".."), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  const root = join(base, "proj");
  const child = fork(fileURLToPath(new URL("./swap.ts", import.meta.url)), [join(root, swapped), join(base, target)]);
  const gone = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  await once(child, "message");
  const turn = testTurn([createFiles()], { root });
  const deny = [{ text: "Read(./denied/**)", source: "test", base: root }];
  const policy = { mode: "acceptEdits" as const, deny };
  const { judge } = createPermissions({ home: join(base, "home"), policy, sandboxed: true }).seams!.gate!;
  const guarded = () => {
    const { [join(root, ".env")]: env, [join(root, ".npmrc")]: npmrc } = snapshot(
      root,
      (path) => path !== root && !/\/\.(?:env|npmrc)$/.test(path),
    );
    return [env, npmrc, ...GUARDED.map((dir) => snapshot(join(base, dir)))];
  };
  return { root, turn, judge: judge!, guarded };
}

const CASES: [tool: string, swapped: string, target: string, input: Record<string, unknown>][] = [
  ["read_file", "d", "outside/d", { path: "d/x.txt" }],
  ["read_file", "d/x.txt", "proj/.env", { path: "d/x.txt" }],
  ["read_file", "d", "proj/denied", { path: "d/x.txt" }],
  ["read_file", "p", "outside", { path: "p/d/x.txt" }],
  ["read_file", "p", "proj/denied", { path: "p/d/../d/x.txt" }],
  ["grep", "d/x.txt", "proj/.env", { pattern: "[A-Z]{6}|inside", path: "d/x.txt" }],
  ["grep", "d", "proj/denied", { pattern: "[A-Z]{6}|inside", path: "d" }],
  ["grep", "p", "outside", { pattern: "[A-Z]{6}|inside", path: "p/d" }],
  ["grep", "d", "outside", { pattern: "[A-Z]{6}|inside", glob: "d/**" }],
  ["write_file", "d", "outside/d", { path: "d/x.txt", content: "written" }],
  ["write_file", "d", "proj/.vscode", { path: "d/x.txt", content: "written" }],
  ["write_file", "d", "proj/.vscode", { path: "d/new/tasks.json", content: "written" }],
  ["write_file", "d/x.txt", "proj/.npmrc", { path: "d/x.txt", content: "written" }],
  ["write_file", "p", "proj/denied", { path: "p/d/new.txt", content: "written" }],
  ["edit_file", "d", "proj/.git", { path: "d/x.txt", old_text: "i", new_text: "i" }],
  ["edit_file", "d/x.txt", "proj/.npmrc", { path: "d/x.txt", old_text: "CAN", new_text: "CAN'T" }],
  ["multi_edit", "d", "proj/.vscode", { path: "d/x.txt", edits: [{ old_text: "CAN", new_text: "CAN'T" }] }],
];

test.each(CASES)("%s while %s is swapped for a link to %s", async (name, swapped, target, input) => {
  const { root, turn, judge, guarded } = await setUp(swapped, target);
  const before = guarded();
  const tool = (createFiles().tools as Tool[]).find((t) => t.name === name)!;
  const counts = { allowed: 0, done: 0 };
  const tries = (tool.effect === "read" && name !== "grep" ? 600 : 150) * ROUNDS;
  // On a busy machine whoever swaps may sleep through all of them, with the link in place.
  const isUntried = () => tool.effect === "read" && counts.allowed === 0;
  for (let i = 0; i < tries || (isUntried() && i < 100 * tries); i++) {
    const verdict = await judge({ call: { type: "call", id: "c1", name, input }, tool, input, turn });
    if (verdict.decision !== "allow") continue;
    counts.allowed++;
    for (const path of [String(input.path), ".vscode/x.txt", ".git/x.txt", ".npmrc", "denied/x.txt"]) {
      for (const text of ["inside", "CANARY", "written"])
        if (i % 2 === 0 || text === "CANARY") markSeen(turn, join(root, path), hashOf(Buffer.from(text)));
    }
    const output = await turn.call(name, input, { grants: verdict.grants ?? {} });
    expect(JSON.stringify(output)).not.toContain("CANARY");
    if (!output.isError) counts.done++;
  }
  if (process.env.HOLDFAST_RACES) console.log(name, swapped, target, counts);
  if (tool.effect === "read") expect(counts.allowed).toBeGreaterThan(0);
  expect(guarded()).toEqual(before);
});
