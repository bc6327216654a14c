// `holdfast monitor` as a command: where it listens, what it prints and opens, how it ends, and on which states it works.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ContextRow, Overview } from "../../src/front/monitor/api.ts";
import type { RowsWindow } from "../../src/front/monitor/context-api.ts";
import { scripted, startMonitor, until } from "../front/monitor/running-monitor.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { scratch } from "../turn.ts";
import { bin, type CliOptions, runCli, startCli, stateEnv } from "./cli.ts";

/** A project in which something was done. */
async function worked(): Promise<CliOptions> {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const { code } = await runCli(["-p", "list Markdown files"], opts);
  expect(code).toBe(0);
  return opts;
}

/** Without the line about the usual port: on this machine others may run a monitor. */
const ofOthers = (stderr: string): string => stderr.replace(/^holdfast: port 7433 is taken.*\n/, "");

test("says what it is, where it listens, and that nothing depends on it", async () => {
  const opts = await worked();
  const help = await runCli(["monitor", "--help"], opts);
  expect(help.stdout).toMatch(/--port N[\s\S]*--open/);
  const running = startCli(["monitor"], opts);
  let said = "";
  running.child.stdout!.on("data", (piece) => {
    said += piece;
  });
  await until(() => (said.split("\n").length > 2 ? true : undefined));
  expect(said).toMatch(
    /^1 project: http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{64}\nNothing that runs depends on this page\. Ctrl-C ends it\.\n$/,
  );
  running.child.kill("SIGINT");
  const { code, stderr } = await running.exited;
  expect([code, ofOthers(stderr)]).toEqual([0, ""]);
});

test("two at once have a port each and the same token; a port that was asked for and is taken is refused", async () => {
  const opts = await worked();
  const first = await startMonitor(opts);
  const second = await startMonitor(opts);
  expect([second.port === first.port, second.token === first.token]).toEqual([false, true]);
  const both = await Promise.all([first, second].map((one) => one.json<Overview>("/api/overview")));
  expect(both.map(({ contexts }) => contexts.length)).toEqual([1, 1]);
  const refused = await runCli(["monitor", "--port", String(first.port)], opts);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    `holdfast: port ${first.port} is taken: give another --port, or none\n`,
  ]);
  const { stderr } = await second.end();
  expect(stderr).toBe(
    `holdfast: port 7433 is taken, most often by a monitor that runs already: this one listens on ${second.port}\n`,
  );
  const file = path.join(opts.state, "holdfast/monitor.token");
  expect([fs.readFileSync(file, "utf8").trim(), fs.statSync(file).mode & 0o777]).toEqual([first.token, 0o600]);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends it at once, also with pages open", async (signal) => {
  const opts = await worked();
  const monitor = await startMonitor(opts);
  const pages = await Promise.all(["/api/live", "/api/live"].map((at) => monitor.get(at)));
  const ends = pages.map((page) => page.text().catch(() => "cut off"));
  const ended = await monitor.end(signal);
  expect([ended.code, ended.signal, ofOthers(ended.stderr)]).toEqual([0, null, ""]);
  await Promise.all(ends);
});

test("goes on when nobody reads what it prints", async () => {
  const opts = await worked();
  const env = { PATH: process.env.PATH ?? "", ...stateEnv(opts) };
  const child = spawn(process.execPath, [bin, "monitor"], {
    ...opts,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let said = "";
  child.stderr.on("data", (piece) => {
    said += piece;
  });
  const ended = once(child, "exit");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  child.kill("SIGTERM");
  expect([await ended, ofOthers(said)]).toEqual([
    [0, null],
    "holdfast: nobody reads the output any more; the work goes on\n",
  ]);
});

/** Programs of that name in a folder of their own. */
function fakeProgram(name: string, script: string): string {
  const dir = scratch(onTestFinished);
  fs.writeFileSync(path.join(dir, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return dir;
}

test.runIf(process.platform === "linux")(
  "--open leads the browser there, and no list of processes shows the token",
  async () => {
    const opts = await worked();
    const bins = fakeProgram("xdg-open", 'echo "$@" > "$HOME/opened"');
    const monitor = await startMonitor({ ...opts, env: { PATH: `${bins}:${process.env.PATH}` } }, ["--open"]);
    const opened = await until(() => readIfThere(path.join(opts.state, "opened")));
    expect(opened).not.toContain(monitor.token);
    const file = opened.trim();
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.readFileSync(file, "utf8")).toBe(
      `<meta http-equiv="refresh" content="0; url=${monitor.url}/?token=${monitor.token}">\n`,
    );
  },
);

const readIfThere = (file: string): string | undefined =>
  fs.existsSync(file) ? fs.readFileSync(file, "utf8") || undefined : undefined;

test.runIf(process.platform === "linux")("--open where nothing opens it says so, and goes on", async () => {
  const opts = await worked();
  const monitor = await startMonitor({ ...opts, env: { PATH: scratch(onTestFinished) } }, ["--open"]);
  expect((await monitor.get("/api/overview")).status).toBe(200);
  const { stderr } = await monitor.end();
  expect(ofOthers(stderr)).toBe("holdfast: xdg-open cannot be run: open the address yourself\n");
});

test("shows every project of this user, one that is damaged with what is wrong, and one that begins meanwhile", async () => {
  const opts = await worked();
  const home = path.join(opts.state, "holdfast/projects");
  const projectDirs = () => fs.readdirSync(home).map((name) => path.join(home, name));
  const before = projectDirs();
  const other = { ...opts, cwd: scratch(onTestFinished) };
  await runCli(["-p", "list Markdown files"], other);
  const broken = projectDirs().find((one) => !before.includes(one))!;
  const parts = fs.readdirSync(broken, { withFileTypes: true }).filter((one) => one.isFile());
  for (const { name } of parts.filter((one) => one.name.startsWith("ledger.db")))
    fs.writeFileSync(path.join(broken, name), "this is no database, and never was one".repeat(200));
  const monitor = await startMonitor(opts);
  const { projects, contexts } = await monitor.json<Overview>("/api/overview");
  expect(projects.map(({ name, problem }) => [name, problem !== undefined])).toEqual([
    [path.basename(opts.cwd), false],
    [path.basename(other.cwd), true],
  ]);
  expect(contexts).toHaveLength(2); // what can be saved of the damaged one is read
  const third = { ...opts, cwd: scratch(onTestFinished) };
  await runCli(["-p", "list Markdown files"], third);
  const found = await until(async () => {
    const now = await monitor.json<Overview>("/api/overview");
    return now.contexts.find(({ folder }) => folder === third.cwd);
  }, 100);
  expect(found.status).toBe("completed");
});

test("stays up where nothing can be written: with a token for this time, and the reason why nothing can be read", async () => {
  const opts = await worked();
  if (process.getuid?.() === 0) {
    // Root may write everywhere: a mount that may not be written, in a namespace of its own.
    const env = { ...stateEnv(opts), PATH: process.env.PATH ?? "" };
    const script =
      'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$2" && exec "$3" "$4" monitor --json';
    const args = ["--mount", "sh", "-c", script, "sh", opts.state, opts.cwd, process.execPath, bin];
    const child = spawn("unshare", args, { env, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let [out, err] = ["", ""];
    child.stdout.on("data", (piece) => {
      out += piece;
    });
    child.stderr.on("data", (piece) => {
      err += piece;
    });
    await Promise.race([until(() => (out.includes("\n") ? true : undefined)), once(child, "exit")]);
    expect(ofOthers(err)).toBe("");
    const { url, tokenFile } = JSON.parse(out) as { url: string; tokenFile?: string };
    expect(tokenFile).toBeUndefined();
    const { origin, searchParams } = new URL(url);
    const answer = await fetch(`${origin}/api/overview`, {
      headers: { authorization: `Bearer ${searchParams.get("token")}` },
    });
    const { projects, contexts } = (await answer.json()) as Overview;
    expect([projects.length, projects[0]?.problem, contexts]).toEqual([1, expect.stringContaining("disk"), []]);
  }
});

test.runIf(hasRedis())("on a Redis server: the list, a context, an answer and what happens, as on a file", async () => {
  const redis = await startRedis(["--appendonly", "yes", "--appendfsync", "always"]);
  onTestFinished(() => redis.stop());
  const { opts, args } = scripted(["./work.sh 1"]);
  const onServer = { ...opts, env: { HOLDFAST_STATE: `redis://127.0.0.1:${redis.port}/0` } };
  const turn = startCli(["-p", "go", ...args, "--approvals", "wait"], onServer);
  const monitor = await startMonitor(onServer);
  const need = await until(async () => (await monitor.json<Overview>("/api/overview")).needs[0], 50);
  expect(need).toMatchObject({ kind: "approval", title: "bash ./work.sh 1" });
  const key = `${need.project}/c/${need.context}`;
  const live = await monitor.get(`/api/p/${key}/live`);
  const allowed = await monitor.act(key, { action: "approve", id: need.id, scope: "once" });
  expect(await allowed.json()).toEqual({ ok: true, says: "allowed" });
  let told = "";
  for await (const piece of live.body!.pipeThrough(new TextDecoderStream())) {
    told += piece;
    if (told.includes('"turn.ended"')) break;
  }
  expect((await turn.exited).code).toBe(0);
  expect(told).toMatch(/approval\.answered[\s\S]*tool\.finished/);
  const { row } = await monitor.json<{ row: ContextRow }>(`/api/p/${key}`);
  expect(row).toMatchObject({ status: "completed", folder: opts.cwd });
  const { total, head } = await monitor.json<RowsWindow>(`/api/p/${key}/rows?count=5`);
  expect([total, head]).toEqual([row.events, row.events]);
  const { projects } = await monitor.json<Overview>("/api/overview");
  expect(projects[0]?.store).toMatch(/^redis:\/\/127\.0\.0\.1/);
});

test("a port that is none and a folder that is not there are each one line", async () => {
  const opts = await worked();
  const port = await runCli(["monitor", "--port", "99999"], opts);
  expect([port.code, port.stderr]).toEqual([2, "holdfast: --port takes a number up to 65535, such as 7433\n"]);
  const folder = await runCli(["monitor", "/nope"], opts);
  expect([folder.code, folder.stderr]).toEqual([2, "holdfast: /nope is not a folder: give one that is, or none\n"]);
});

test.runIf(hasRedis())(
  "with $HOLDFAST_STATE the project that it names and all others of this user; with --state that one; without either, what to do",
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const file = await worked();
    const served = { ...file, cwd: scratch(onTestFinished) };
    const onServer = { ...served, env: { HOLDFAST_STATE: redis.url("shop") } };
    expect((await runCli(["-p", "list Markdown files"], onServer)).code).toBe(0);
    const shown = async (opts: CliOptions, args: string[] = []) => {
      const monitor = await startMonitor(opts, args);
      const { projects, contexts } = await monitor.json<Overview>("/api/overview");
      const rows = projects.map(({ id, folder, problem = "" }) => [
        ...[folder, contexts.filter((one) => one.project === id).length, problem],
      ]);
      return rows.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1));
    };
    const sorted = (...rows: [string, number, unknown][]) => rows.sort(([a], [b]) => (a < b ? -1 : 1));
    expect(await shown(onServer)).toEqual(sorted([file.cwd, 1, ""], [served.cwd, 1, ""]));
    expect(await shown(served, ["--state", redis.url("shop")])).toEqual([[served.cwd, 1, ""]]);
    const why =
      "its ledgers are on a server, whose address is not recorded here: start the monitor with HOLDFAST_STATE set as it was there";
    expect(await shown(file)).toEqual(sorted([file.cwd, 1, ""], [served.cwd, 0, why]));
  },
);

test.runIf(hasRedis())(
  "a server that is not there is a row that says so, beside all others; it is read once it is there",
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const file = await worked();
    const onServer = { ...file, cwd: scratch(onTestFinished), env: { HOLDFAST_STATE: redis.url("shop") } };
    expect((await runCli(["-p", "list Markdown files"], onServer)).code).toBe(0);
    await redis.kill();
    const monitor = await startMonitor(onServer);
    const before = await monitor.json<Overview>("/api/overview");
    expect(before.contexts.map(({ folder }) => folder)).toEqual([file.cwd]);
    expect(before.projects.find(({ folder }) => folder === onServer.cwd)?.problem).toMatch(/cannot be reached/);
    await redis.start();
    const found = await until(async () => {
      const { contexts } = await monitor.json<Overview>("/api/overview");
      return contexts.length === 2 ? contexts : undefined;
    }, 200);
    expect(found.map(({ folder }) => folder)).toContain(onServer.cwd);
  },
);
