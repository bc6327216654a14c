// The gate and the tool together, while a folder is swapped for a link: what is granted is what was judged.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Tool } from "../../src/loop/seams.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { createPermissions } from "../../src/mechanisms/permissions/index.ts";
import { scratch, testTurn } from "../tools/turn.ts";

test("a call that was allowed for a path inside is never carried out outside", async () => {
  const base = scratch(onTestFinished);
  const root = join(base, "proj");
  for (const [dir, text] of [
    ["proj/d", "inside"],
    ["outside/d", "CANARY"],
  ] as const) {
    mkdirSync(join(base, dir), { recursive: true });
    writeFileSync(join(base, dir, "x.txt"), text);
  }
  const swap = fileURLToPath(new URL("./swap.ts", import.meta.url));
  const child = fork(swap, [join(root, "d"), join(base, "outside/d")]);
  const gone = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  await once(child, "message");
  const turn = testTurn([createFiles()], { root });
  const { judge } = createPermissions({ home: join(base, "home") }).seams!.gate!;
  const tool = (createFiles().tools as Tool[]).find((t) => t.name === "read_file")!;
  const input = { path: "d/x.txt" };
  const counts = { allowed: 0, leaked: 0 };
  for (let i = 0; i < 1_000; i++) {
    const verdict = await judge!({ call: { type: "call", id: "c1", name: tool.name, input }, tool, input, turn });
    if (verdict.decision !== "allow") continue;
    counts.allowed++;
    const output = await turn.call(tool.name, input, { grants: verdict.grants ?? {} });
    if (JSON.stringify(output).includes("CANARY")) counts.leaked++;
  }
  expect([counts.allowed > 0, counts.leaked]).toEqual([true, 0]);
});
