// What happens is told as it happens: rows once each over restarts of the server, and the list of everything as it is.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Overview, OverviewMessage } from "../../../src/front/monitor/api.ts";
import type { ContextLiveMessage } from "../../../src/front/monitor/context-api.ts";
import { withMessage } from "../../../src/front/monitor/page/overview.ts";
import { makeLongContext } from "./long-context.ts";
import { messages } from "./messages.ts";
import { openMonitor, openWorld } from "./monitor.ts";

test("over 20 restarts of the server every row comes, and none twice", async () => {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 100 });
  const seen: number[] = [];
  const writer = new AbortController();
  let written = 100;
  const writing = (async () => {
    while (!writer.signal.aborted) {
      const data = { origin: "test", text: `note ${++written}` };
      await store.append([{ ledger: context, events: [{ type: "note.added", actor: "lead", data }] }]);
      await sleep(3);
    }
  })();
  let since = "100";
  let port = 0;
  for (let restart = 0; restart <= 20; restart++) {
    const monitor = await openMonitor(store, { root, port });
    ({ port } = monitor);
    const ends = new AbortController();
    const stop = setTimeout(() => monitor.close(), 20 + ((restart * 37) % 60));
    try {
      for await (const { id, data } of messages<ContextLiveMessage>(monitor, `/api/p/p/c/${context}/live`, {
        since,
        signal: ends.signal,
      })) {
        seen.push(...data.rows.map(({ seq }) => seq));
        since = id;
      }
    } catch {
      // cut off, as a browser sees it
    }
    clearTimeout(stop);
    ends.abort();
    await monitor.close();
  }
  writer.abort();
  await writing;
  const monitor = await openMonitor(store, { root });
  const ends = new AbortController();
  if (seen.at(-1) !== written)
    for await (const { data } of messages<ContextLiveMessage>(monitor, `/api/p/p/c/${context}/live`, {
      since,
      signal: ends.signal,
    })) {
      seen.push(...data.rows.map(({ seq }) => seq));
      if (seen.at(-1) === written) break;
    }
  expect(seen).toEqual(Array.from({ length: written - 100 }, (_, i) => 101 + i));
});

test("the overview tells what changed since the last message, and everything where it cannot", async () => {
  const { store, root } = await openWorld();
  const first = await makeLongContext(store, { root, events: 50 });
  const monitor = await openMonitor(store, { root });
  const ends = new AbortController();
  onTestFinished(() => ends.abort());
  const stream = messages<OverviewMessage>(monitor, "/api/live", { signal: ends.signal });
  const hello = (await stream.next()).value!;
  expect(hello.data).toMatchObject({
    kind: "hello",
    overview: { total: 1, contexts: [{ context: first, events: 50 }] },
  });
  const second = await makeLongContext(store, { root, events: 20 });
  const changed = (await stream.next()).value!;
  expect(changed.data).toMatchObject({ kind: "contexts", rows: [{ context: second, events: 20 }], gone: [] });
  const again = messages<OverviewMessage>(monitor, "/api/live", { since: hello.id, signal: ends.signal });
  expect((await again.next()).value).toEqual(changed);
  const unknown = messages<OverviewMessage>(monitor, "/api/live", { since: "another.7", signal: ends.signal });
  expect((await unknown.next()).value?.data).toMatchObject({ kind: "hello", overview: { total: 2 } });
});

test("over 20 restarts of the server the page's list is what a fresh one would be, after each", async () => {
  const { store, root } = await openWorld();
  const first = await makeLongContext(store, { root, events: 20 });
  let known: ReturnType<typeof withMessage>;
  let since: string | undefined;
  let port = 0;
  for (let restart = 0; restart <= 20; restart++) {
    const monitor = await openMonitor(store, { root, port });
    ({ port } = monitor);
    const ends = new AbortController();
    const stream = messages<OverviewMessage>(monitor, "/api/live", { ...(since && { since }), signal: ends.signal });
    // Before the stream is asked for, while it is told, and just before the server goes.
    const note = { type: "note.added", actor: "lead", data: { origin: "test", text: `note ${restart}` } };
    await store.append([{ ledger: first, events: [note] }]);
    const fresh = await makeLongContext(store, { root, events: 5 + restart });
    const isThere = () => known?.contexts.get(`p/${fresh}`)?.events === 5 + restart;
    while (!isThere()) {
      const { value } = await stream.next();
      if (!value) throw new Error("the stream has ended");
      known = withMessage(known, value.data, Date.now());
      since = value.id;
    }
    const overview = await monitor.json<Overview>("/api/overview");
    const key = (one: { context: string }) => one.context;
    const listed = [...known!.contexts.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
    expect(listed).toEqual(overview.contexts.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
    expect([known?.total, known?.needs, known?.projects]).toEqual([overview.total, overview.needs, overview.projects]);
    if (restart % 2 === 0) await store.append([{ ledger: first, events: [note] }]);
    ends.abort();
    await stream.return(undefined).catch(() => undefined); // cut off, as a browser sees it
    await monitor.close();
  }
});

test("how far a context is backed up is told when a backup has been made, though nothing rings", async () => {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 50 });
  /** As a backup records it: without an event after the first. */
  const backUp = async (seq: number, at: number) => {
    const summary = { place: "/backups", at, manifest: "m", project: "p", [`seq ${context}`]: seq };
    const events = at === 1_000 ? [{ type: "backup.begun", actor: "backup", data: { place: "/backups" } }] : [];
    await store.append([{ ledger: "backup:0123456789abcdef", events, summary }]);
  };
  await backUp(40, 1_000);
  const monitor = await openMonitor(store, { root });
  const ends = new AbortController();
  onTestFinished(() => ends.abort());
  const stream = messages<OverviewMessage>(monitor, "/api/live", { signal: ends.signal });
  const first = (await stream.next()).value?.data;
  const place = "/backups";
  expect(first?.kind === "hello" && first.overview.contexts[0]?.backup).toEqual({ at: 1_000, lag: 10, place });
  await backUp(50, 2_000);
  for await (const { data } of stream) {
    const backups = data.kind === "contexts" ? data.rows.map(({ backup }) => backup) : [];
    if (!backups.some((one) => one?.at === 2_000)) continue; // its figures come in between
    expect(backups).toEqual([{ at: 2_000, lag: 0, place }]);
    break;
  }
});

test("two searches for the same words at once find everything once", async () => {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events: 3_000 });
  const monitor = await openMonitor(store, { root });
  const found = await Promise.all(
    Array.from({ length: 6 }, () => monitor.json<{ total: number }>(`/api/p/p/c/${context}/rows?text=step+7&count=1`)),
  );
  const again = await monitor.json<{ total: number }>(`/api/p/p/c/${context}/rows?text=step+7&count=1`);
  expect(found).toEqual(found.map(() => again));
});
