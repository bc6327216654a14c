// Whatever anybody wrote anywhere, the monitor's answers hold text and nothing else: no escapes, no text that turns around, no half characters.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Overview } from "../../../src/front/monitor/api.ts";
import type { DataRow } from "../../../src/front/monitor/context-api.ts";
import { createStreamReader } from "../../../src/front/monitor/page/event-stream.ts";
import { HOSTILE, makeHostileStore, NAME, SHOWN } from "./hostile-store.ts";
import { openMonitor, openWorld, type TestMonitor } from "./monitor.ts";

const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]/;

/** Where something is left that is not plain text. */
function* unsafeIn(value: unknown, at: string): Generator<string> {
  if (typeof value === "string") {
    if (UNSAFE.test(value) || !value.isWellFormed()) yield `${at}: ${JSON.stringify(value).slice(0, 200)}`;
  } else if (Array.isArray(value)) for (const [i, one] of value.entries()) yield* unsafeIn(one, `${at}[${i}]`);
  else if (typeof value === "object" && value !== null)
    for (const [key, one] of Object.entries(value)) {
      yield* unsafeIn(key, `${at} name`);
      yield* unsafeIn(one, `${at}.${key.slice(0, 20)}`);
    }
}

async function open() {
  const { store, root: outside } = await openWorld();
  // As a folder may be called: anything but a slash and NUL.
  const root = join(outside, `<img src=x onerror=alert(1)> \u001b[31m\u202e${SHOWN}\n'"`);
  mkdirSync(root);
  const contexts = await makeHostileStore(store, root);
  const monitor = await openMonitor(store, { root });
  return { store, root, contexts, monitor };
}

/** All addresses that answer with JSON, for these contexts. */
async function addresses(monitor: TestMonitor, contexts: readonly string[]): Promise<string[]> {
  const found = monitor.routes.flatMap(({ method, path }) => {
    if (method !== "GET" || !path.startsWith("/api/") || path.endsWith("/live") || path.endsWith("/body")) return [];
    const agents = ["lead", encodeURIComponent(NAME.toWellFormed())];
    return contexts.flatMap((context) =>
      agents.map((agent) => {
        const names: Record<string, string> = {
          project: "p",
          context,
          agent,
          key: encodeURIComponent(HOSTILE.toWellFormed()),
          n: "1",
        };
        return path.replaceAll(/:(\w+)/g, (_, name: string) => names[name] ?? "9");
      }),
    );
  });
  const [all = ""] = contexts;
  const at = `/api/p/p/c/${all}`;
  const { total } = await monitor.json<{ total: number }>(`${at}/rows`);
  const rows = Array.from({ length: Math.ceil(total / 300) }, (_, i) => `${at}/rows?count=300&from=${i * 300}`);
  const details = Array.from({ length: total }, (_, i) => `${at}/event/${i + 1}`);
  return [...new Set([...found, ...rows, ...details, `${at}/rows?text=${SHOWN}`, `${at}/files?from=1`])];
}

test("every field of every answer is text and nothing else", async () => {
  const { monitor, contexts } = await open();
  const asked = await addresses(monitor, contexts);
  const unsafe: string[] = [];
  const statuses: Record<number, number> = {};
  let shown = 0;
  for (const path of asked) {
    const answer = await monitor.get(path);
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const text = await answer.text();
    if (!answer.headers.get("content-type")?.startsWith("application/json")) continue; // a file, exactly as it is
    if (answer.status >= 500) unsafe.push(`${path}: ${text}`);
    shown += text.split(SHOWN).length - 1;
    unsafe.push(...[...unsafeIn(JSON.parse(text), path.replace(contexts[0]!, "…"))].slice(0, 3));
  }
  console.log(`${asked.length} answers (${JSON.stringify(statuses)}), ${shown} hostile texts in them`);
  expect(unsafe.slice(0, 20)).toEqual([]);
  expect(shown).toBeGreaterThan(500);
});

test("what is told live is text and nothing else", async () => {
  const { monitor, contexts, store } = await open();
  for (const path of ["/api/live", `/api/p/p/c/${contexts[0]}/live?since=0`]) {
    const ends = new AbortController();
    const answer = await monitor.get(path, {}, ends.signal);
    const reader = createStreamReader();
    const heard: string[] = [];
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      heard.push(...reader.take(piece).map(({ data }) => data));
      const text = `${HOSTILE}${heard.length}`;
      const events = [{ type: "note.added", actor: NAME, data: { origin: HOSTILE, text } }];
      if (heard.length < 3) await store.append([{ ledger: contexts[0]!, events, summary: { title: text } }]);
      else break;
    }
    ends.abort();
    expect(heard.join("")).toContain(SHOWN);
    for (const data of heard) expect([...unsafeIn(JSON.parse(data), path)].slice(0, 5)).toEqual([]);
  }
});

test("what is shown is what was written, without what acts: nothing is lost of what can be read", async () => {
  const { monitor, contexts } = await open();
  const { needs, contexts: rows } = await monitor.json<Overview>("/api/overview");
  expect(rows.every(({ title }) => title.startsWith(`${SHOWN} <img src=x`))).toBe(true);
  const asks = needs.find(({ kind }) => kind === "approval");
  // A person who allows something sees also what cannot be seen.
  expect(asks?.kind === "approval" && asks.lines.join("\n")).toMatch(/\\u001b\[31m.*\\u202egnp\.exe/s);
  const data = await monitor.json<DataRow[]>(`/api/p/p/c/${contexts[0]}/data`);
  expect(data[0]?.key).toContain(`${SHOWN} <img src=x`);
});
