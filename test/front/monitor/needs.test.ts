// What waits for a person, as the server gives it out: what may be allowed is whole, and a fork that nobody has gone on with is no failure.
import { expect, test } from "vitest";
import type { ActionAnswer, Need, Overview } from "../../../src/front/monitor/api.ts";
import { withinBounds } from "../../../src/front/monitor/needs.ts";
import { titleOf } from "../../../src/run-result.ts";
import { openMonitor, openWorld } from "./monitor.ts";
import { makeWaiting } from "./waiting.ts";

async function needsOf(opts: { commands?: string[]; plans?: string[] }): Promise<Need[]> {
  const { store, root } = await openWorld();
  await makeWaiting(store, { root, title: "waits", ...opts });
  const monitor = await openMonitor(store, { root });
  return (await monitor.json<Overview>("/api/overview")).needs;
}

test("a plan spells what cannot be seen; one that is too long is marked as cut", async () => {
  const [short] = await needsOf({ plans: ["read \u202ethen\u001b[2K write"] });
  expect(short).toMatchObject({ kind: "plan", text: "read \\u202ethen\\u001b[2K write" });
  expect(short).not.toHaveProperty("isCut");
  const [long] = await needsOf({ plans: [`${"a".repeat(20_000)}b`] });
  expect(long).toMatchObject({
    ...{ kind: "plan", isCut: true },
    text: `${"a".repeat(20_000)}\n… 1 more character, too long for the page: holdfast team plans`,
  });
});

test("what has no room among all that waits is cut, and marked so", () => {
  const plan = (n: number): Need => ({
    ...{ project: "p", context: "c", id: `${n}`, at: n, agent: "mate", title: "plan" },
    ...{ kind: "plan", text: "x".repeat(19_000) },
  });
  const bounded = withinBounds(Array.from({ length: 20 }, (_, n) => plan(n)));
  expect(bounded.map((need) => need.kind === "plan" && need.isCut === true)).toEqual([
    ...Array.from({ length: 15 }, () => false),
    ...Array.from({ length: 5 }, () => true),
  ]);
});

test("a rule is offered whole or not at all", async () => {
  const scopes = (need: Need | undefined) => need?.kind === "approval" && need.choices.map(({ scope }) => scope);
  const [whole] = await needsOf({ commands: [`${"x".repeat(900)} y`] });
  expect(scopes(whole)).toEqual(["once", "exactly", "rule", "no"]);
  expect(JSON.stringify(whole)).toContain(`Bash(${"x".repeat(900)}:*)`);
  const [longer] = await needsOf({ commands: [`${"x".repeat(3_000)} y`] });
  expect(scopes(longer)).toEqual(["once", "exactly", "no"]);
});

test("a fork that nobody has gone on with waits for that: it is no failure, and its command works anywhere", async () => {
  const { store, root } = await openWorld();
  const { context } = await makeWaiting(store, { root, title: "asks", commands: ["npm test"] });
  const monitor = await openMonitor(store, { root });
  // The model had just been asked.
  const asked = 5;
  const forked = (await (await monitor.act(context, { action: "fork", seq: asked })).json()) as ActionAnswer;
  expect(forked).toMatchObject({ ok: true, command: `holdfast -p -r ${forked.context} --cwd ${root}` });
  await expect.poll(async () => (await monitor.json<Overview>("/api/overview")).total).toBe(2);
  const { contexts, needs } = await monitor.json<Overview>("/api/overview");
  expect(contexts.find((one) => one.context === forked.context)).toMatchObject({
    ...{ status: "paused", why: "a fork that waits to be gone on with" },
  });
  expect(needs.filter((need) => need.context === forked.context)).toEqual([]);
});

test("a title that is cut ends with a sign of it", () => {
  expect([titleOf("x".repeat(80)), titleOf("x".repeat(81))]).toEqual(["x".repeat(80), `${"x".repeat(79)}…`]);
});
