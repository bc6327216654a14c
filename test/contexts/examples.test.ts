// The examples of docs/contexts.md: type-checked here, run here, and shown there as they are.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkpointAndRestore } from "../../examples/contexts/checkpoint-and-restore.ts";
import { moveAndSweep } from "../../examples/contexts/move-and-sweep.ts";
import { recallFrom } from "../../examples/contexts/recall.ts";
import { shareAndRead } from "../../examples/contexts/share-and-read.ts";
import { workAndResume } from "../../examples/contexts/work-and-resume.ts";
import { openContexts } from "../../src/contexts.ts";
import { openWorld, type World } from "./world.ts";

const root = join(import.meta.dirname, "../..");
let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

describe("the examples", () => {
  it("share and read", async () => {
    expect(await shareAndRead(world.folder)).toEqual({
      files: ["pay.ts", "refund.ts"],
      refused:
        "findings: line: Invalid input: expected number, received string; nothing was changed: share a value that fits its schema",
      listed: ["findings: array by collector", "rounds: number by user"],
    });
  });

  it("checkpoint and restore", async () => {
    expect(await checkpointAndRestore(world.folder)).toEqual({
      changed: ["draft"],
      back: "first",
      again: "second",
      beside: ["first", "by hand"],
    });
  });

  it("work and resume", async () => {
    expect(await workAndResume(world.folder)).toEqual({
      checkpoint: "phase 1",
      done: ["phase 1"],
      status: "completed",
      errors: ["Error: the network is gone"],
    });
  });

  it("move and sweep", async () => {
    expect(await moveAndSweep(world.folder)).toEqual({ same: true, ok: true, planned: 1, swept: 1, blobs: 1 });
  });

  it("recall", async () => {
    const contexts = await openContexts({ state: world.folder });
    const { id } = await contexts.create({ task: "Test", root: world.folder });
    const said = [{ type: "text", text: "Run the tests." }];
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const call = { type: "call", id: "c1", name: "bash", input: { command: "npm test" } };
    const content = [{ type: "text", text: "ok 1\nnot ok 2: No such table" }];
    const facts: [type: string, data: object][] = [
      ["input.received", { inputId: "i1", agent: "lead", content: said, origin: "user" }],
      ["turn.started", { turnId: "t1", cause: "input" }],
      ["input.taken", { inputId: "i1" }],
      ["reply.received", { model: "m", parts: [call], finish: "calls", usage }],
      ["tool.finished", { callId: "c1", name: "bash", content, isError: true, durationMs: 1 }],
    ];
    await contexts.store.append([{ ledger: id, events: facts.map(([type, data]) => ({ type, actor: "lead", data })) }]);
    await contexts.close();
    expect(await recallFrom(world.folder, id)).toEqual({
      places: ["c1, line 2: failed"],
      said,
      wrong: `context ${id} has no agent alice: its agents are lead`,
    });
  });

  it("stand in the page as they are", () => {
    const page = readFileSync(join(root, "docs/contexts.md"), "utf8");
    const folder = join(root, "examples/contexts");
    for (const file of readdirSync(folder)) {
      const shown = readFileSync(join(folder, file), "utf8").replace(
        /"\.\.\/\.\.\/src\/contexts(?:\/index)?\.ts"/,
        '"holdfast/contexts"',
      );
      expect(page).toContain(shown.trim());
    }
  });
});
