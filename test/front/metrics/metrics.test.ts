// `/metrics` after real runs: what Prometheus' own tool reads, and that it counts what happened.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { exposition } from "../../../src/front/metrics/exposition.ts";
import type { OverviewMessage } from "../../../src/front/monitor/api.ts";
import { createStreamReader } from "../../../src/front/monitor/page/event-stream.ts";
import { openSqliteStore } from "../../../src/ledger/sqlite/index.ts";
import { startModelServer } from "../../../src/testing/index.ts";
import { type CliOptions, runCli, startCli } from "../../cli/cli.ts";
import { tempDir } from "../../house.ts";
import { scratch } from "../../turn.ts";
import { makeLongContext } from "../monitor/long-context.ts";
import { openMonitor, openWorld } from "../monitor/monitor.ts";
import { startMonitor } from "../monitor/running-monitor.ts";

/** By name and labels as they are written. */
function samplesIn(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

/** Contract: exactly one sample has that name and these labels, whatever others it has. */
function sampleOf(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const found = [...samplesIn(text)].filter(
    ([key]) =>
      key.split("{")[0] === `holdfast_${name}` &&
      Object.entries(labels).every(([label, value]) => key.includes(`${label}="${value}"`)),
  );
  expect(found.length).toBeLessThanOrEqual(1);
  return found[0]?.[1];
}

/** Debian's prometheus. Where it is missing this is not checked; under CI `scripts/services.mjs` has failed before. */
function promtoolSays(text: string): string {
  const run = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  if (run.error && process.env.CI !== "true") return "";
  return `${run.status} ${run.stdout}${run.stderr}`.trim();
}

const OK = /^(?:0|)$/;

async function scrape(opts: CliOptions): Promise<{ text: string; again: () => Promise<string>; bare: number }> {
  const running = startCli(["monitor", "--json"], opts);
  onTestFinished(async () => {
    running.child.kill("SIGTERM");
    await running.exited;
  });
  let line = "";
  for await (const chunk of running.child.stdout!) {
    line += chunk;
    if (line.includes("\n")) break;
  }
  const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
  expect(tokenFile).toContain("monitor.token");
  const { origin, searchParams } = new URL(url);
  const headers = { authorization: `Bearer ${searchParams.get("token")}` };
  const again = async () => {
    const answer = await fetch(`${origin}/metrics`, { headers });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    return answer.text();
  };
  return { text: await again(), again, bare: (await fetch(`${origin}/metrics`)).status };
}

test("what the page on metrics prints works as printed", async () => {
  const home = scratch(onTestFinished);
  const page = readFileSync(join(import.meta.dirname, "../../../docs/metrics.md"), "utf8");
  const [, line] = /^(curl .*)$/m.exec(page)!;
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(page)!;
  // Where a person has it who has set nothing.
  const opts = { cwd: scratch(onTestFinished), state: home, env: { XDG_STATE_HOME: "" } };
  const { port } = await startMonitor(opts);
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const run = spawnSync("bash", ["-c", line!.replace(":7433/", `:${port}/`)], {
    env,
    encoding: "utf8",
    timeout: 20_000,
  });
  expect([run.status, run.stdout.split("\n")[0]]).toEqual([0, expect.stringMatching(/^# HELP holdfast_build_info /)]);
  const config = join(home, "prometheus.yml");
  writeFileSync(config, yaml!.replace("/home/me", home));
  const [, tokenFile] = /credentials_file: (\S+)/.exec(readFileSync(config, "utf8"))!;
  expect(existsSync(tokenFile!)).toBe(true);
  const checked = spawnSync("promtool", ["check", "config", config], { encoding: "utf8" });
  if (!checked.error || process.env.CI === "true") expect([checked.status, checked.stderr]).toEqual([0, ""]);
});

test("labels and help texts are escaped, and buckets are summed", () => {
  const text = exposition([
    { name: "a_total", type: "counter", help: "back\\slash\nline", samples: [{ labels: { x: 'q"\\\n' }, value: 1.5 }] },
    { name: "empty", type: "gauge", help: "", samples: [] },
    {
      ...{ name: "h_seconds", type: "histogram", help: "h", bounds: [0.1, 1] },
      samples: [{ labels: { tool: "t" }, buckets: [2, 0, 1], sum: 7 }],
    },
  ]);
  expect(text.split("\n")).toEqual([
    "# HELP a_total back\\\\slash\\nline",
    "# TYPE a_total counter",
    'a_total{x="q\\"\\\\\\n"} 1.5',
    "# HELP h_seconds h",
    "# TYPE h_seconds histogram",
    'h_seconds_bucket{tool="t",le="0.1"} 2',
    'h_seconds_bucket{tool="t",le="1"} 2',
    'h_seconds_bucket{tool="t",le="+Inf"} 3',
    'h_seconds_sum{tool="t"} 7',
    'h_seconds_count{tool="t"} 3',
    "",
  ]);
  expect(promtoolSays(text.replace("back\\\\slash\\nline", "help"))).toMatch(OK);
});

test("runs with tools, retries and a takeover are counted as they happened", async () => {
  const cwd = scratch(onTestFinished);
  const state = scratch(onTestFinished);
  const usage = { input: 100, output: 20, cacheRead: 50, cacheWrite: 7 };
  const busy = { status: 529, headers: { "retry-after": "0" } };
  const server = await startModelServer({
    script: [
      { calls: [{ name: "glob", input: { pattern: "*" } }], usage, faults: [busy, busy] },
      { calls: [{ name: "bash", input: { command: "sleep 30" } }], usage },
      { text: "done", usage },
    ],
  });
  onTestFinished(() => server.close());
  const opts = { cwd, state, env: { ANTHROPIC_BASE_URL: server.anthropicUrl, ANTHROPIC_API_KEY: "sk-ant-test" } };
  const args = ["--model", "anthropic/claude-sonnet-4-5", "--allowedTools", "Bash(sleep:*)"];
  const first = startCli(["-p", "go", ...args], opts);
  const context = await newest(opts, ({ events }) => events > 12);
  await sleep(400); // the command runs
  first.child.kill("SIGKILL");
  await first.exited;
  const dead = await scrape(opts);
  expect(promtoolSays(dead.text)).toMatch(OK);
  expect([
    dead.bare,
    sampleOf(dead.text, "contexts", { status: "interrupted" }),
    sampleOf(dead.text, "needs_you", { kind: "failure" }),
    sampleOf(dead.text, "lease_takeovers_total", { holder: "gone" }),
  ]).toEqual([401, 1, 1, undefined]);
  const second = startCli(["-p", "-r", context, ...args], opts);
  await newest(opts, ({ status }) => status === "running");
  await sleep(1_500);
  second.child.kill("SIGINT"); // the command that was adopted is stopped with its turn
  await second.exited;
  const text = await dead.again();
  expect(promtoolSays(text)).toMatch(OK);
  const model = "anthropic/claude-sonnet-4-5";
  expect({
    taken: sampleOf(text, "lease_takeovers_total", { holder: "gone" }),
    lost: sampleOf(text, "lease_losses_total"),
    retries: sampleOf(text, "model_retries_total", { cause: "overloaded" }),
    replies: sampleOf(text, "model_calls_total", { model, kind: "reply" }),
    input: sampleOf(text, "tokens_total", { model, kind: "input" }),
    cacheRead: sampleOf(text, "tokens_total", { model, kind: "cache_read" }),
    globs: sampleOf(text, "tool_duration_seconds_count", { tool: "glob" }),
    bash: sampleOf(text, "tool_duration_seconds_count", { tool: "bash" }),
    turns: sampleOf(text, "turns_total", { reason: "interrupted" }),
    paused: sampleOf(text, "contexts", { status: "paused" }),
    unreadable: sampleOf(text, "projects_unreadable"),
  }).toEqual({
    ...{ taken: 1, lost: 0, retries: 2, replies: 2, input: 200, cacheRead: 100 },
    ...{ globs: 1, bash: 1, turns: 1, paused: 1, unreadable: 0 },
  });
  expect(sampleOf(text, "cost_usd_total", { model })).toBeGreaterThan(0);
  expect(sampleOf(text, "store_bytes")).toBeGreaterThan(1_000);
  const { events } = JSON.parse((await runCli(["contexts", "--json"], opts)).stdout)[0];
  expect(sampleOf(text, "events_total")).toBe(events);
});

interface Listed {
  id: string;
  status: string;
  events: number;
}

async function newest(opts: CliOptions, isSo: (info: Listed) => boolean): Promise<string> {
  for (;;) {
    const { stdout } = await runCli(["contexts", "--json"], opts);
    const [info] = JSON.parse(stdout || "[]") as Listed[];
    if (info && isSo(info)) return info.id;
    await sleep(50);
  }
}

test("counters do not fall when a context is removed while the monitor runs; names of others are inert", async () => {
  const { store, root } = await openWorld();
  const first = await makeLongContext(store, { root, events: 200 });
  await makeLongContext(store, { root, events: 100 });
  const name = 'evil"}\n# TYPE x counter\nx 1 \u202e';
  const data = { callId: "c9", name, content: [], isError: true, durationMs: 5 };
  const intent = { callId: "c9", name, input: {}, effect: "external", cwd: "/" };
  await store.append([
    {
      ledger: first,
      events: [
        { type: "tool.started", actor: "lead", data: intent },
        { type: "tool.finished", actor: "lead", data },
        { type: "tool.finished", actor: "lead", data: { ...data, callId: "c10", name: "words of a model" } },
      ],
    },
  ]);
  const monitor = await openMonitor(store, { root });
  const text = async () => (await monitor.get("/metrics")).text();
  const before = await text();
  expect(promtoolSays(before)).toMatch(OK);
  expect(before.split("\n").filter((line) => line.includes("evil") && line.includes("errors"))).toEqual([
    expect.stringMatching(/^holdfast_tool_errors_total\{.*tool="evil\\"\} # TYPE x counter x 1[^"]*"\} 1$/),
  ]);
  expect([before.includes("words of a model"), sampleOf(before, "tool_errors_total", { tool: "unknown" })]).toEqual([
    false,
    1,
  ]);
  await store.remove(first);
  const after = await text();
  for (const counter of ["events_total", "turns_total", "tool_refusals_total"])
    expect(sampleOf(after, counter)).toBe(sampleOf(before, counter));
  expect(sampleOf(before, "events_total")).toBe(303);
});

/** The messages after the first until all thousand contexts have figures. */
async function tellings(answer: Response): Promise<OverviewMessage[]> {
  const reader = createStreamReader();
  const known = new Set<string>();
  const told: OverviewMessage[] = [];
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream()))
    for (const { data } of reader.take(piece)) {
      const message = JSON.parse(data) as OverviewMessage;
      const rows =
        message.kind === "hello" ? message.overview.contexts : message.kind === "contexts" ? message.rows : [];
      for (const { context, tokens } of rows) if (tokens) known.add(context);
      if (message.kind !== "hello") told.push(message);
      if (known.size === 1_000) return told;
    }
  return told;
}

test("a thousand contexts: the list does not wait for its figures, a second scrape reads nothing again", async () => {
  const dir = tempDir("thousand");
  mkdirSync(join(dir, "project"));
  writeFileSync(join(dir, "project", "x"), "");
  const store = await openSqliteStore(join(dir, "ledger.db"));
  onTestFinished(() => store.close());
  for (let i = 0; i < 1_000; i++) await makeLongContext(store, { root: join(dir, "project"), events: 60 });
  const monitor = await openMonitor(store, { root: join(dir, "project") });
  const timed = async (path: string) => {
    const began = performance.now();
    const text = await (await monitor.get(path)).text();
    return { text, ms: Math.round(performance.now() - began) };
  };
  const list = await timed("/api/overview");
  const ends = new AbortController();
  const told = tellings(await monitor.get("/api/live", {}, ends.signal));
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const first = await timed("/metrics");
  const second = await timed("/metrics");
  delay.disable();
  const longest = Math.round(delay.max / 1e6);
  console.log(
    `1,000 contexts: the loop was held up for ${longest} ms at most, list ${list.ms} ms, first scrape ${first.ms} ms, second ${second.ms} ms`,
  );
  expect(JSON.parse(list.text).contexts[0].tokens).toBeUndefined();
  const figures = async () => JSON.parse((await timed("/api/overview")).text).contexts[0].tokens;
  while ((await figures()) === undefined) await sleep(50);
  expect((await figures()).output).toBeGreaterThan(0);
  expect((await told).length).toBeLessThan(40); // not one for each of them
  ends.abort();
  const stable = (text: string) => text.split("\n").filter((line) => !/scrape_duration|store_bytes/.test(line));
  expect(stable(second.text)).toEqual(stable(first.text));
  expect(sampleOf(second.text, "events_total")).toBe(60_000);
});
