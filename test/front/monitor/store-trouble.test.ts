// What the monitor says when contexts are removed, when a store goes away and comes back, and when a ledger is damaged.
import fs from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import type { ContextRow, Overview, OverviewMessage, ProjectRow } from "../../../src/front/monitor/api.ts";
import { createStreamReader } from "../../../src/front/monitor/page/event-stream.ts";
import { openRedisStore } from "../../../src/ledger/redis/index.ts";
import { hasRedis, startRedis } from "../../ledger/redis-server.ts";
import { makeLongContext } from "./long-context.ts";
import { openMonitor, openWorld, type TestMonitor } from "./monitor.ts";
import { until } from "./running-monitor.ts";
import { makeWaiting } from "./waiting.ts";

/** What a page hears, as it comes. */
async function listen(monitor: TestMonitor): Promise<OverviewMessage[]> {
  const ends = new AbortController();
  onTestFinished(() => ends.abort());
  const heard: OverviewMessage[] = [];
  const { body } = await monitor.get("/api/live", {}, ends.signal);
  const reader = createStreamReader();
  (async () => {
    for await (const piece of body!.pipeThrough(new TextDecoderStream()))
      for (const { data } of reader.take(piece)) heard.push(JSON.parse(data) as OverviewMessage);
  })().catch(() => undefined);
  await until(() => heard[0]);
  return heard;
}

const projectOf = async (monitor: TestMonitor): Promise<ProjectRow> =>
  (await monitor.json<Overview>("/api/overview")).projects[0]!;

const lines = async (monitor: TestMonitor, name: string): Promise<string[]> =>
  (await (await monitor.get("/metrics")).text()).split("\n").filter((line) => line.startsWith(`holdfast_${name}{`));

test("a context that is removed is gone from an open list, from a fresh one and from what waits; its page's stream ends", async () => {
  const { store, root } = await openWorld();
  const { context } = await makeWaiting(store, { root, title: "goes", commands: ["rm x"] });
  const other = await makeLongContext(store, { root, events: 50 });
  const monitor = await openMonitor(store, { root });
  const heard = await listen(monitor);
  const page = await monitor.get(`/api/p/p/c/${context}/live`);
  const ended = page.text();
  await store.remove(context);
  const { contexts, needs } = await monitor.json<Overview>("/api/overview");
  expect([contexts.map((row) => row.context), needs]).toEqual([[other], []]);
  const told = await until(() => heard.find((one) => one.kind === "contexts" && one.gone.length > 0));
  expect(told).toEqual({ kind: "contexts", rows: [], gone: [{ project: "p", context }] });
  expect(await until(() => heard.findLast((one) => one.kind === "needs"))).toEqual({ kind: "needs", needs: [] });
  expect(await ended).toContain(": holdfast");
  expect((await monitor.get(`/api/p/p/c/${context}/live`)).status).toBe(404);
});

test("a removal that nobody asks about is told to who listens", async () => {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 50 });
  const heard = await listen(await openMonitor(store, { root }));
  await store.remove(context);
  const told = await until(() => heard.find((one) => one.kind === "contexts" && one.gone.length > 0));
  expect(told).toEqual({ kind: "contexts", rows: [], gone: [{ project: "p", context }] });
});

test.runIf(hasRedis())(
  "a server that ends is told with the time, its contexts are not counted any more, and all is current when it is back",
  { timeout: 60_000 },
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const { root } = await openWorld();
    const store = await openRedisStore(redis.url("shop"), { patient: true });
    onTestFinished(() => store.close());
    await makeLongContext(store, { root, events: 50 });
    const monitor = await openMonitor(store, { root });
    const heard = await listen(monitor);
    expect((await lines(monitor, "contexts")).length).toBeGreaterThan(0);
    await redis.kill();
    const silent = await until(async () => {
      const last = heard.findLast((one) => one.kind === "projects");
      return last?.projects.find(({ silentSince }) => silentSince !== undefined);
    });
    expect(silent.problem).toMatch(/^its store has not answered since \d\d:\d\d:\d\d: what is shown is as of then$/);
    expect((await monitor.json<Overview>("/api/overview")).contexts).toHaveLength(1);
    expect(await lines(monitor, "contexts")).toEqual([]);
    await redis.start();
    const another = await openRedisStore(redis.url("shop"));
    const context = await makeLongContext(another, { root, events: 40 });
    await another.close();
    const back = await until(async () => {
      const now = await monitor.json<Overview>("/api/overview");
      return now.projects[0]?.problem === undefined && now.contexts.length === 2 ? now : undefined;
    }, 100);
    expect(back.contexts.map((row) => row.context)).toContain(context);
  },
);

test("a file that is removed is told, and that it is back", async () => {
  const { store, root, file } = await openWorld();
  await makeLongContext(store, { root, events: 50 });
  const monitor = await openMonitor(store, { root });
  expect((await projectOf(monitor)).problem).toBeUndefined();
  fs.renameSync(file, `${file}.away`);
  expect((await projectOf(monitor)).problem).toContain(`${file} is gone since `);
  expect(await lines(monitor, "contexts")).toEqual([]);
  fs.renameSync(`${file}.away`, file);
  expect((await projectOf(monitor)).problem).toBeUndefined();
  expect((await lines(monitor, "contexts")).length).toBeGreaterThan(0);
});

test("a context whose ledger is damaged says so, its project does, and the metrics count it", async () => {
  const { store, root, file } = await openWorld();
  const context = await makeLongContext(store, { root, events: 200 });
  await makeLongContext(store, { root, events: 50 });
  const db = new DatabaseSync(file);
  const change = "UPDATE events SET at = at + 1 WHERE key = (SELECT n FROM ledgers WHERE name = ?) * 4294967296 + ?";
  for (const seq of [60, 61, 62, 63, 64]) db.prepare(change).run(context, seq);
  db.close();
  const monitor = await openMonitor(store, { root });
  const damaged = await until(async () => {
    const { contexts } = await monitor.json<Overview>("/api/overview");
    return contexts.find((row: ContextRow) => row.damaged !== undefined);
  }, 50);
  expect([damaged.context, damaged.why]).toEqual([context, damaged.damaged]);
  expect(damaged.damaged).toMatch(/^its ledger is damaged: .*; holdfast contexts verify names all of it$/);
  expect((await projectOf(monitor)).problem).toMatch(
    /^the store is damaged: .*; 1 context damaged: holdfast contexts verify names what is wrong$/,
  );
  expect(await lines(monitor, "contexts_damaged")).toEqual([expect.stringMatching(/ 1$/)]);
});
