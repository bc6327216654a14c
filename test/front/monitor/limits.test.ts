// What asking the monitor can cost it: bodies, names and numbers of any kind, many streams, readers that do not read, contexts of any length.
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { ContextLiveMessage } from "../../../src/front/monitor/context-api.ts";
import { createOverview } from "../../../src/front/monitor/overview.ts";
import { createStreamReader } from "../../../src/front/monitor/page/event-stream.ts";
import { contextReaders } from "../../../src/front/monitor/readers.ts";
import { newId } from "../../../src/ledger/id.ts";
import { makeLongContext } from "./long-context.ts";
import { openMonitor, openWorld, type TestMonitor, TOKEN } from "./monitor.ts";
import { bearer, send, writing } from "./raw-http.ts";

const LONG = process.env.HOLDFAST_LONG === "1";

async function open(events = 300) {
  const { store, root } = await openWorld();
  const context = await makeLongContext(store, { root, events });
  const monitor = await openMonitor(store, { root });
  return { store, root, context, monitor, at: `/api/p/p/c/${context}` };
}

test("a body is read up to its bound, however it is sent", async () => {
  const { monitor, at } = await open();
  const path = `${at}/act`;
  const long = JSON.stringify({ action: "send", to: "lead", text: "x".repeat(400_000) });
  const refused = await send(monitor, { method: "POST", path, body: long, headers: writing });
  expect([refused.status, JSON.parse(refused.text)]).toEqual([
    413,
    { error: "more than 256 kB are not read", code: "too_large" },
  ]);
  const chunked = { ...writing, "transfer-encoding": "chunked" };
  expect((await send(monitor, { method: "POST", path, body: long, headers: chunked })).status).toBe(413);
  const { head } = await monitor.json<{ head: number }>(`${at}/rows?count=1`);
  expect(head).toBe(300);
});

/** Names that are none of anything here. */
const ODD = [
  ...["..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "..\\..\\x".replaceAll("\\", "%5c"), ".", "%2f", "%00", "a%00b"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "%ff", "%", "%zz", "%ed%a0%80", "*", "a%0d%0ax:y"],
  ...["%1b%5b31m", "%e2%80%ae", "'%20or%201=1", "ctx_", "-1", "0", "1e9", "NaN", "x".repeat(10_000)],
];

test("odd names in addresses are not there, whatever they look like", async () => {
  const { monitor, context } = await open();
  const paths = monitor.routes.filter(({ method, path }) => method === "GET" && path.includes(":"));
  const good: Record<string, string> = { project: "p", context, seq: "7", key: "finding%205", agent: "lead", n: "1" };
  for (const { path } of paths)
    for (const [, param = ""] of path.matchAll(/:(\w+)/g))
      for (const odd of ODD) {
        const asked = path.replaceAll(/:(\w+)/g, (_, name: string) => (name === param ? odd : (good[name] ?? "1")));
        const { status, text, headers } = await send(monitor, { path: asked, headers: bearer });
        const said = [asked.slice(0, 120), status];
        expect([...said, [400, 404].includes(status) || isOther(status, text)]).toEqual([...said, true]);
        expect(headers["x-frame-options"]).toBe("DENY");
      }
});

test("other ledgers of the store are no contexts, whatever they are called", async () => {
  const { monitor, store } = await open();
  for (const ledger of ["board", "backup:0123456789abcdef", 'ctx_a"b', "ctx_a\r\nset-cookie: x=y", "ctx_<b>"]) {
    await store.append([{ ledger, events: [{ type: "note.added", actor: "lead", data: { origin: "x", text: "x" } }] }]);
    for (const { method, path } of monitor.routes.filter((one) => one.path.includes(":context"))) {
      const asked = path
        .replace(":project", "p")
        .replace(":context", encodeURIComponent(ledger))
        .replaceAll(/:\w+/g, "1");
      const { status, headers } = await send(monitor, {
        method,
        path: asked,
        headers: writing,
        ...(method === "POST" && { body: "{}" }),
      });
      expect([method, asked, status, headers["set-cookie"]]).toEqual([method, asked, 404, undefined]);
    }
  }
});

/** `.` and `..` are taken out of addresses before they are looked at: what is left is another address. */
const isOther = (status: number, text: string): boolean => status === 200 && !text.includes("bug");

test("odd numbers and words behind the question mark are answered or refused, never an error of ours", async () => {
  const { monitor, at } = await open();
  const values = ["", "-1", "1e99", "NaN", "Infinity", "0x10", "1.5", "99999999999999999999", "a", "%00", "[]", "🙂"];
  const queries: Record<string, string[]> = {
    rows: ["from", "count", "upTo", "kinds", "agent", "text", "around"],
    timeline: ["from", "to", "width"],
    files: ["from", "to"],
    requests: ["agent", "upTo"],
    "data/finding%205": ["seq"],
  };
  for (const [route, names] of Object.entries(queries))
    for (const name of names)
      for (const value of values) {
        const path = `${at}/${route}?${name}=${encodeURIComponent(decodeURIComponent(value))}`;
        const { status, text } = await send(monitor, { path, headers: bearer });
        expect([path, status < 500, typeof JSON.parse(text)]).toEqual([path, true, "object"]);
      }
});

test("so many pages follow at once and no more; the next is told so, and gets its turn when one is closed", async () => {
  const { monitor, at } = await open();
  for (let i = 0; i < 100; i++) await send(monitor, { method: "HEAD", path: "/api/live", headers: bearer });
  const ends = Array.from({ length: 64 }, () => new AbortController());
  onTestFinished(() => {
    for (const one of ends) one.abort();
  });
  const paths = ["/api/live", `${at}/live`];
  const open64 = await Promise.all(ends.map((one, i) => monitor.get(paths[i % 2]!, {}, one.signal)));
  expect(open64.map(({ status }) => status)).toEqual(ends.map(() => 200));
  const refused = await monitor.get("/api/live");
  expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
    ...[429, "5"],
    { error: "64 pages follow already: close one", code: "too_many" },
  ]);
  expect((await monitor.get("/api/overview")).status).toBe(200);
  ends[0]!.abort();
  const again = new AbortController();
  onTestFinished(() => again.abort());
  for (;;) {
    const { status } = await monitor.get("/api/live", {}, again.signal);
    if (status === 200) break;
    await sleep(5);
  }
});

/** A connection that sends its question and reads nothing until it is told to. */
async function openSleeper({ port }: TestMonitor, path: string) {
  const socket = net.connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`);
  socket.pause();
  return socket;
}

test("nothing is kept for a reader that does not read: it gets what it can still be told, up to the last", async () => {
  const { monitor, at, store, context } = await open(100);
  const sleeper = await openSleeper(monitor, `${at}/live?since=100`);
  await sleep(50);
  const text = "字".repeat(120);
  const rounds = LONG ? 1_500 : 200;
  for (let i = 0; i < rounds; i++) {
    const events = Array.from({ length: 50 }, () => ({
      ...{ type: "note.added", actor: "lead", data: { origin: "test", text } },
    }));
    await store.append([{ ledger: context, events }]);
    await sleep(0); // the watcher's turn
  }
  const head = 100 + rounds * 50;
  const reader = createStreamReader();
  const seqs: number[] = [];
  let bytes = 0;
  sleeper.setEncoding("utf8").resume();
  for await (const piece of sleeper as AsyncIterable<string>) {
    bytes += piece.length;
    // Chunked: lengths stand on lines of their own between the pieces.
    for (const { data } of reader.take(piece.replaceAll(/\r\n[0-9a-f]+\r\n/g, ""))) {
      const message = readable(data);
      if (message) seqs.push(...message.rows.map(({ seq }) => seq));
    }
    if (seqs.at(-1) === head) break;
  }
  console.log(`of ${rounds * 50} rows a reader that slept got ${seqs.length}, ${(bytes / 1e6).toFixed(1)} MB`);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
});

const readable = (data: string): ContextLiveMessage | undefined => {
  try {
    return JSON.parse(data) as ContextLiveMessage;
  } catch {
    return undefined;
  }
};

test("whoever fell behind what is kept is told everything once more", async () => {
  const { store, root } = await openWorld();
  await makeLongContext(store, { root, events: 20 });
  const ends = new AbortController();
  onTestFinished(() => ends.abort());
  const overview = createOverview({ signal: ends.signal });
  const { readers } = contextReaders();
  const row = { id: "p", name: "p", folder: root, store: store.url, here: true };
  const files = () => {
    throw new Error("not asked for");
  };
  overview.add({ store, readers, place: { cwd: root }, row, files });
  const following = overview.follow(undefined, ends.signal);
  expect((await following.next()).value?.message.kind).toBe("hello");
  for (let i = 0; i < 2_500; i++) overview.rang("p", "board");
  expect((await following.next()).value?.message.kind).toBe("hello");
  overview.rang("p", "board");
  expect((await following.next()).value?.message).toEqual({ kind: "project", project: "p" });
});

test("a long context is never sent whole: every answer is bounded", { timeout: 120_000 }, async () => {
  const { monitor, context, store } = await open(LONG ? 50_000 : 15_000);
  const last = await store.head(context);
  const good: Record<string, string> = { project: "p", context, key: "finding%205", agent: "lead", n: "900" };
  const sizes: [string, number][] = [];
  const ask = async (path: string) => {
    const answer = await monitor.get(path);
    const { byteLength } = await answer.arrayBuffer();
    expect([path, answer.status < 500]).toEqual([path, true]);
    if (answer.headers.has("content-disposition")) return; // a file that a person asked for
    sizes.push([path.replace(context, "…"), byteLength]);
  };
  for (const { method, path } of monitor.routes)
    if (method === "GET" && path.includes(":context") && !path.endsWith("/live"))
      await ask(path.replaceAll(/:(\w+)/g, (_, name: string) => good[name] ?? "9000"));
  for (const query of ["count=100000", "count=100000&from=-300", "kinds=result&count=9999", "text=line&count=9999"])
    await ask(`/api/p/p/c/${context}/rows?${query}`);
  await ask(`/api/p/p/c/${context}/files?from=7`);
  await ask(`/api/p/p/c/${context}/timeline?width=100000`);
  const stream = new AbortController();
  const live = await monitor.get(`/api/p/p/c/${context}/live?since=1`, {}, stream.signal);
  let caughtUp = 0;
  for await (const piece of live.body!) {
    caughtUp += piece.byteLength;
    if (new TextDecoder().decode(piece).includes(`"head":${last}`)) break;
  }
  stream.abort();
  sizes.push(["/live since 1", caughtUp]);
  sizes.sort((a, b) => b[1] - a[1]);
  console.log(
    sizes
      .slice(0, 6)
      .map(([path, bytes]) => `${path}: ${bytes} bytes`)
      .join("\n"),
  );
  for (const [path, bytes] of sizes) expect([path, bytes < 1_000_000]).toEqual([path, true]);
});

test("what waits in hundreds of contexts at once is bounded, and what is not shown whole cannot be allowed", async () => {
  const { store, root } = await openWorld();
  const input = { command: `echo ${"very long ".repeat(2_000)}` };
  for (let i = 0; i < 60; i++) {
    const context = newId("ctx");
    const asked = {
      requestId: `ask-${i}`,
      callId: "c1",
      tool: "bash",
      input,
      reason: "not allowed",
      firm: false,
      cwd: root,
      root,
    };
    const events = [
      { type: "context.created", actor: "user", data: { root, title: "asks", version: "0.1.0" } },
      { type: "agent.created", actor: "lead", touches: ["agent:lead"], data: { name: "lead", cwd: root } },
      { type: "approval.asked", actor: "lead", data: asked },
    ];
    await store.append([{ ledger: context, events, summary: { title: "asks", root, open: true } }]);
  }
  const monitor = await openMonitor(store, { root });
  const answer = await monitor.get("/api/overview");
  const text = await answer.text();
  const { needs } = JSON.parse(text) as { needs: { kind: string; lines?: string[]; choices?: { scope: string }[] }[] };
  const asks = needs.filter(({ kind }) => kind === "approval");
  expect([asks.length, text.length < 1_000_000]).toEqual([60, true]);
  for (const { lines = [], choices = [] } of asks) {
    const isWhole = lines.some((line) => line.includes(input.command));
    expect(choices.some(({ scope }) => scope !== "no")).toBe(isWhole);
  }
});

test("600 connections that ask nothing keep nobody out, and are ended", async () => {
  const { monitor } = await open();
  let ended = 0;
  const idle = Array.from({ length: 600 }, () => {
    const socket = net.connect(monitor.port, "127.0.0.1");
    return socket.on("error", () => undefined).on("close", () => ended++);
  });
  onTestFinished(() => {
    for (const socket of idle) socket.destroy();
  });
  await sleep(500); // all of them have connected
  const { status } = await send(monitor, { path: "/api/overview", headers: bearer });
  expect(status).toBe(200);
  while (ended < 600) await sleep(50);
});
