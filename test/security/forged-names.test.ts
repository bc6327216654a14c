// Names in a store that somebody else writes to: none of them leads to a folder of their choice.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sweepExpired } from "../../src/contexts/index.ts";
import { newContext } from "../../src/contexts/new-context.ts";
import { forgetHookFiles, forgetTranscript, longTextsOf } from "../../src/mechanisms/hooks/transcript-places.ts";
import { isTeamWake } from "../../src/mechanisms/team/talk.ts";
import { openWorld, refusal } from "../contexts/world.ts";
import { openHouse } from "../house.ts";
import { setUp, works } from "../jobs/sandboxed.ts";
import { scratch } from "../turn.ts";

const FORGED = ["..", "ctx_x/../../../victim", "ctx_", "ctx_a b", `ctx_${"x".repeat(101)}`];

const forged = (id: string) =>
  newContext({ id, title: "forged", root: "/", author: "user", version: "0", facts: [], summary: { ttlMs: 0 } });

test("a ledger whose name is no id of a context is none: not listed, not gone on with, not removed as one", async () => {
  const world = await openWorld();
  onTestFinished(() => world.dispose());
  const { contexts } = world;
  for (const id of FORGED) await contexts.store.append([forged(id)]);
  expect(await contexts.list()).toEqual([]);
  expect(await contexts.gc({ now: Date.now() + 1_000 })).toMatchObject({ removed: [], kept: [] });
  expect((await contexts.verify()).damage.map(({ ledger }) => ledger)).toEqual(FORGED.slice(1).sort());
  expect(await sweepExpired(contexts.store, { whole: true })).toEqual([]);
  for (const id of FORGED) {
    expect((await refusal(contexts.get(id))).code).toBe("not_found");
    expect((await refusal(contexts.delete(id))).code).toBe("not_found");
    expect(isTeamWake({ context: id, agent: null, by: "team", dueAt: 1 })).toBe(false);
  }
});

test("a host takes up no such ledger, though it is due; and none is begun", async () => {
  const house = await openHouse([{ text: "hello" }], { hooks: {} });
  onTestFinished(() => house.close());
  const { harness, store } = house;
  for (const id of FORGED) {
    await store.append(
      [forged(id)],
      id.includes("/") ? {} : { wake: [{ context: id, agent: null, by: "team", dueAt: 1 }] },
    );
    expect((await refusal(harness.host.take(id))).code).toBe("not_found");
    expect((await refusal(harness.host.create({ id, root: house.root, title: "" }))).code).toBe("invalid");
  }
  const problems: string[] = [];
  const due: unknown[] = [];
  const asked = Promise.withResolvers<void>();
  const hosting = await harness.hosting({
    onProblem: (text) => problems.push(text),
    onDue(wakes) {
      due.push(...wakes);
      asked.resolve();
    },
  });
  const over = new AbortController();
  const done = hosting.run(over.signal);
  await asked.promise;
  over.abort();
  await done;
  expect({ problems, due }).toEqual({ problems: [], due: [] });
});

test("what is kept for hooks of a context goes, and nothing outside of its folder", () => {
  const base = scratch(onTestFinished);
  const state = path.join(base, "state");
  const kept = ["state/transcripts/ctx_a/x", "state/hooks/ctx_a/x", "state/mine", "victim/x"];
  for (const file of kept) {
    fs.mkdirSync(path.dirname(path.join(base, file)), { recursive: true });
    fs.writeFileSync(path.join(base, file), "");
  }
  for (const name of ["..", ".", "", "../..", "../../victim", "ctx_a/../../../victim"]) {
    forgetTranscript(state, name);
    forgetHookFiles(state, [name]);
    expect(path.dirname(longTextsOf(path.join(state, "hooks"), name))).toBe(path.join(state, "hooks"));
  }
  expect(kept.filter((file) => fs.existsSync(path.join(base, file)))).toEqual(kept);
  forgetHookFiles(state, ["ctx_a"]);
  expect(kept.filter((file) => fs.existsSync(path.join(base, file)))).toEqual(["state/mine", "victim/x"]);
});

test.skipIf(!works)("home and /tmp of a context's commands lie in their folder, whatever it is called", () => {
  const { base, root, sandbox } = setUp();
  const spec = { agent: "lead", callId: "c1", command: "true", cwd: root, root, background: false };
  sandbox({ ...spec, context: "../../outside" }, new Set());
  sandbox({ ...spec, context: ".." }, new Set());
  expect([fs.existsSync(path.join(base, "..", "outside")), fs.existsSync(path.join(base, "tmp"))]).toEqual([
    false,
    false,
  ]);
  expect(fs.readdirSync(path.join(base, "private")).sort()).toEqual(["%2e.", "%2e.%2f..%2foutside"]);
});
