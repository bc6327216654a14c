// What happens is told as it happens: rows once each over restarts of the server, one answer of several, a host that is killed and another that takes over.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type {
  ActionAnswer,
  ContextLiveMessage,
  ContextRow,
  LiveMessage,
  Need,
  Overview,
} from "../../../src/front/monitor/api.ts";
import { createStreamReader } from "../../../src/front/monitor/page/event-stream.ts";
import { type CliOptions, type RunningCli, runCli, startCli } from "../../cli/cli.ts";
import { scratch } from "../../turn.ts";
import { makeLongContext } from "./long-context.ts";
import { openMonitor, openWorld, type TestMonitor } from "./monitor.ts";

/** Messages of a stream, in order, with their ids. Contract: ends with the signal or the connection. */
async function* messages<T>(
  monitor: TestMonitor,
  path: string,
  { since, signal }: { since?: string; signal: AbortSignal },
): AsyncGenerator<{ id: string; data: T }> {
  const answer = await monitor.get(path, since === undefined ? {} : { "last-event-id": since }, signal);
  const reader = createStreamReader();
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream()))
    for (const { id = "", data } of reader.take(piece)) yield { id, data: JSON.parse(data) as T };
}

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
        if (data.kind !== "rows") continue;
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
      if (data.kind === "rows") seen.push(...data.rows.map(({ seq }) => seq));
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
  const stream = messages<LiveMessage>(monitor, "/api/live", { signal: ends.signal });
  const hello = (await stream.next()).value!;
  expect(hello.data).toMatchObject({
    kind: "hello",
    overview: { total: 1, contexts: [{ context: first, events: 50 }] },
  });
  const second = await makeLongContext(store, { root, events: 20 });
  const changed = (await stream.next()).value!;
  expect(changed.data).toMatchObject({ kind: "contexts", rows: [{ context: second, events: 20 }], gone: [] });
  const again = messages<LiveMessage>(monitor, "/api/live", { since: hello.id, signal: ends.signal });
  expect((await again.next()).value).toEqual(changed);
  const unknown = messages<LiveMessage>(monitor, "/api/live", { since: "another.7", signal: ends.signal });
  expect((await unknown.next()).value?.data).toMatchObject({ kind: "hello", overview: { total: 2 } });
});

/** The command, as it is run; its page asked as the page does. */
async function startMonitor(opts: CliOptions): Promise<TestMonitor> {
  const running = startCli(["monitor", "--json"], opts);
  onTestFinished(async () => {
    running.child.kill("SIGTERM");
    await running.exited;
  });
  const { url } = await firstLine<{ url: string }>(running);
  const { origin, searchParams, port } = new URL(url);
  const auth = { authorization: `Bearer ${searchParams.get("token")}` };
  const get = (path: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
    fetch(origin + path, { headers: { ...auth, ...headers }, ...(signal && { signal }) });
  return {
    ...{ url: origin, port: Number(port), get, close: async () => {} },
    json: async <T>(path: string) => (await (await get(path)).json()) as T,
    act: (key, action) =>
      fetch(`${origin}/api/p/${key}/act`, {
        ...{ method: "POST", body: JSON.stringify(action) },
        headers: { ...auth, "content-type": "application/json", "x-holdfast-write": "1" },
      }),
  };
}

async function firstLine<T>({ child }: RunningCli): Promise<T> {
  let text = "";
  for await (const chunk of child.stdout!) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return JSON.parse(text.split("\n")[0]!) as T;
}

const answered = (answer: Response) => answer.json() as Promise<ActionAnswer>;

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(20);
  }
}

function scripted(command: string) {
  const cwd = scratch(onTestFinished);
  const state = scratch(onTestFinished);
  const script = join(state, "script.yaml");
  writeFileSync(join(cwd, "work.sh"), "#!/bin/sh\necho ran >> times\n", { mode: 0o755 });
  writeFileSync(
    script,
    `rounds:\n  - calls:\n      - { name: bash, input: { command: ${JSON.stringify(command)} } }\n  - text: finished\n`,
  );
  return { opts: { cwd, state }, args: ["--model", `rehearsal:${script}`] };
}

test("an approval answered from the page, a command and another page at once: one counts, the others are told", async () => {
  const { opts, args } = scripted("./work.sh");
  const turn = startCli(["-p", "go", ...args, "--approvals", "wait"], opts);
  await until(async () => (JSON.parse((await runCli(["approve", "--json"], opts)).stdout) as unknown[])[0]);
  const monitor = await startMonitor(opts);
  const need = await until(async () => (await monitor.json<Overview>("/api/overview")).needs[0]);
  expect(need).toMatchObject({ kind: "approval", agent: "lead", title: "bash ./work.sh" });
  expect((need as Extract<Need, { kind: "approval" }>).lines.join("\n")).toContain("./work.sh");
  const key = `${need.project}/c/${need.context}`;
  const [page, other, command] = await Promise.all([
    monitor.act(key, { action: "approve", id: need.id, scope: "once" }).then(answered),
    monitor.act(key, { action: "approve", id: need.id, scope: "no", reason: "not now" }).then(answered),
    runCli(["approve", need.id, "deny"], opts),
  ]);
  const counted = [page.ok, other.ok, command.code === 0];
  expect(counted.filter(Boolean)).toHaveLength(1);
  for (const says of [page, other].filter(({ ok }) => !ok).map(({ says }) => says))
    expect(says).toMatch(
      /was answered already: (?:allowed|refused), from .*; the first answer counts|is not asked any more/,
    );
  if (command.code !== 0) expect(command.stderr).toMatch(/was answered already|is not asked any more/);
  await turn.exited;
  await until(async () => ((await monitor.json<Overview>("/api/overview")).needs.length === 0 ? true : undefined));
});

test("a host that is killed shows as interrupted, and as running again when another takes over", async () => {
  const { opts, args } = scripted("sleep 30");
  const rules = ["--allowedTools", "Bash(sleep:*)"];
  const monitor = await startMonitor(opts); // before there is a project: it appears when it begins
  const first = startCli(["-p", "go", ...args, ...rules], opts);
  const ends = new AbortController();
  onTestFinished(() => ends.abort());
  const rows: ContextRow[] = [];
  const watching = (async () => {
    for await (const { data } of messages<LiveMessage>(monitor, "/api/live", { signal: ends.signal }))
      rows.push(...(data.kind === "hello" ? data.overview.contexts : data.kind === "contexts" ? data.rows : []));
  })().catch(() => undefined);
  onTestFinished(() => console.log(JSON.stringify(rows.map((r) => [r.status, r.why, r.host]))));
  const last = (status: string) => until(async () => (rows.at(-1)?.status === status ? rows.at(-1) : undefined));
  const running = await last("running");
  expect(running.host).toMatchObject({ pid: first.child.pid, alive: true, here: true });
  first.child.kill("SIGKILL");
  await first.exited;
  expect(await last("interrupted")).toMatchObject({ why: expect.stringContaining("is gone") });
  const second = startCli(["-p", "-r", running.context, ...args, ...rules], opts);
  expect((await last("running")).host).toMatchObject({ pid: second.child.pid, alive: true });
  second.child.kill("SIGINT");
  await second.exited;
  await last("paused");
  ends.abort();
  await watching;
});
