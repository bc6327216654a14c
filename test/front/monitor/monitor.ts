// A monitor for tests: the real server on a real port, over real stores.
import fs from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { monitorPageOfSources } from "../../../scripts/monitor-page.ts";
import { projectFiles } from "../../../src/contexts/project-files.ts";
import { countContexts } from "../../../src/front/metrics/count-contexts.ts";
import { countsSlice } from "../../../src/front/metrics/counts.ts";
import { figuresOf } from "../../../src/front/metrics/figures.ts";
import { createMetrics } from "../../../src/front/metrics/metrics.ts";
import { type Listening, listenOnLoopback } from "../../../src/front/monitor/listen.ts";
import type { MonitoredProject } from "../../../src/front/monitor/monitored-project.ts";
import { createOverview } from "../../../src/front/monitor/overview.ts";
import { pageFiles } from "../../../src/front/monitor/page-files.ts";
import { contextReaders } from "../../../src/front/monitor/readers.ts";
import { createMonitorApp } from "../../../src/front/monitor/server.ts";
import { openSqliteStore } from "../../../src/ledger/sqlite/index.ts";
import type { Store } from "../../../src/ledger/store.ts";
import { recordedFixture } from "../../../src/replay/index.ts";
import { tempDir } from "../../house.ts";

export const TOKEN = "5f".repeat(32);

export interface TestMonitor {
  url: string;
  port: number;
  /** What it answers: `GET /api/p/:project`. */
  routes: readonly { method: string; path: string }[];
  /** With the token. */
  get(path: string, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  json<T>(path: string): Promise<T>;
  act(context: string, action: unknown): Promise<Response>;
  close(): Promise<void>;
}

/** Of one project, `p`. */
export async function openMonitor(
  store: Store,
  { root, port = 0, files = path.join(root, "..", "files") }: { root: string; port?: number; files?: string },
): Promise<TestMonitor> {
  const { readers, promptCache } = contextReaders();
  const project: MonitoredProject = {
    ...{ store, readers, place: { cwd: root } },
    row: { id: "p", name: "p", folder: root, store: store.url, here: true },
    files: (of) => projectFiles({ root: of || root, dir: files }),
  };
  const ends = new AbortController();
  const counts = countContexts({
    ...{ store, codec: readers.codec, slice: countsSlice(promptCache), signal: ends.signal },
  });
  const overview = createOverview({ signal: ends.signal, figures: () => figuresOf(counts) });
  overview.add(project);
  const metrics = createMetrics({
    projects: () => [{ ...project, counts }],
    overview: () => overview.look().then(overview.now),
  });
  const page = pageFiles(await monitorPageOfSources());
  let routes: TestMonitor["routes"] = [];
  const listening: Listening = await listenOnLoopback(
    (own) => {
      const get = (id: string) => (id === "p" ? project : undefined);
      const recordingOf = async (of: Store, context: string) => (await recordedFixture(of, context)).text;
      const app = createMonitorApp({
        ...{ project: get, overview, promptCache, page, token: TOKEN, port: own, metrics, recordingOf },
      });
      routes = app.routes;
      return app;
    },
    { port, isGiven: port !== 0 },
  );
  const url = `http://127.0.0.1:${listening.port}`;
  const auth = { authorization: `Bearer ${TOKEN}` };
  const get = (at: string, headers: Record<string, string> = {}, signal?: AbortSignal) => {
    const ask = () => fetch(url + at, { headers: { ...auth, ...headers }, ...(signal && { signal }) });
    // A connection may be left from a server that was here before.
    return ask().catch(ask);
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    ends.abort();
    closing ??= listening.close();
    return closing;
  };
  onTestFinished(close);
  return {
    ...{ url, port: listening.port, routes, get, close },
    async json<T>(at: string) {
      const answer = await get(at);
      if (!answer.ok) throw new Error(`${at}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as T;
    },
    act: (context, action) =>
      fetch(`${url}/api/p/p/c/${context}/act`, {
        ...{ method: "POST", body: JSON.stringify(action) },
        headers: { ...auth, "content-type": "application/json", "x-holdfast-write": "1" },
      }),
  };
}

/** A store of its own with the folder of a project. */
export async function openWorld(): Promise<{ store: Store; root: string; file: string }> {
  const dir = tempDir("monitor");
  const root = path.join(dir, "project");
  fs.mkdirSync(root);
  const file = path.join(dir, "ledger.db");
  const store = await openSqliteStore(file);
  onTestFinished(async () => {
    await store.close();
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return { store, root, file };
}
