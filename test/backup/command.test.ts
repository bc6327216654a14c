// Backups and moves as a user types them; a worker that keeps one up to date; a twin that fires nothing.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openProject } from "../../src/contexts/project.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import { type CliOptions, runCli, startCli, stateEnv } from "../cli/cli.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { startBucket } from "./bucket.ts";
import { folder } from "./world.ts";

const place = (env: Record<string, string> = {}): CliOptions => {
  const dir = fs.realpathSync(folder(onTestFinished));
  fs.mkdirSync(path.join(dir, "project"));
  fs.writeFileSync(path.join(dir, "project", "README.md"), "# here\n");
  return { cwd: path.join(dir, "project"), state: path.join(dir, "home"), env };
};

/** What some command prints, with the exit code that is expected. */
async function said(opts: CliOptions, args: string[], code = 0): Promise<string> {
  const done = await runCli(args, opts);
  expect([args.join(" "), done.code, done.stderr]).toEqual([args.join(" "), code, done.stderr]);
  return code === 0 ? done.stdout : done.stderr;
}

const json = async (opts: CliOptions, args: string[]) => JSON.parse(await said(opts, [...args, "--json"]));

async function typesIn(opts: CliOptions, context: string): Promise<string[]> {
  const store = await openStore(openProject({ cwd: opts.cwd, env: stateEnv(opts) }).ledgers);
  const types: string[] = [];
  for await (const { type } of store.read(context)) types.push(type);
  await store.close();
  return types;
}

test("a backup in a bucket is listed, drilled, restored elsewhere, and its schedule fires in the original only", async () => {
  const bucket = await startBucket(onTestFinished);
  const original = place(bucket.env);
  await said(original, ["-p", "list Markdown files", "--model", "rehearsal"]);
  const { context } = await json(original, ["cron", "add", "in 2 seconds", "say hello"]);
  const made = await json(original, ["backup", "now", bucket.url]);
  expect(made).toMatchObject({ place: bucket.url, ledgers: 2, damage: [] });
  expect(await said(original, ["backup", "now", bucket.url])).toMatch(/^Nothing has changed since the last backup/);
  expect((await json(original, ["backup", "ls", bucket.url])).map(({ id }: { id: string }) => id)).toEqual([
    made.manifest,
  ]);
  expect(await said(original, ["backup", "drill", bucket.url])).toMatch(/can be restored: 2 ledgers the same as here/);
  expect(await json(original, ["contexts", "ls"])).toMatchObject([
    { backedUp: { place: bucket.url, lag: 0 } },
    { backedUp: { place: bucket.url, lag: 0 } },
  ]);

  const twin = place(bucket.env);
  const foreign = await said(twin, ["backup", "restore", bucket.url], 2);
  const [, project = ""] = /no backup of this folder's project: .*\(it has ([\w-]+)\)/.exec(foreign) ?? [];
  const text = await said(twin, ["backup", "restore", bucket.url, "--project", project.slice(0, 12)]);
  expect(text).toMatch(/^Restored backup \w+ .*: 2 contexts, /);
  expect(text).toMatch(/Nothing of it starts by itself/);
  // Its two seconds may have passed by now.
  const theSchedule = new RegExp(`(?:holdfast cron add \\S+ 'say hello' -r|passed at \\S+, in) ${context}`);
  expect(text).toMatch(theSchedule);
  expect(await said(twin, ["backup", "schedules"])).toMatch(theSchedule);
  expect(await json(twin, ["contexts", "ls"])).toHaveLength(2);
  expect(await said(twin, ["backup", "restore", bucket.url, "--project", project], 4)).toMatch(/is not empty/);

  const workers = [original, twin].map((one) => startCli(["worker", "--model", "rehearsal"], one));
  while (!(await typesIn(original, context)).includes("turn.ended")) await sleep(100);
  for (const { child } of workers) child.kill("SIGTERM");
  await Promise.all(workers.map(({ exited }) => exited));
  expect((await typesIn(original, context)).filter((type) => type === "cron.fired")).toHaveLength(1);
  expect(await typesIn(twin, context)).not.toContain("cron.fired");
}, 60_000);

test("a worker keeps a backup up to date where the settings name a place; a repository cannot name one", async () => {
  const opts = place();
  const at = path.join(path.dirname(opts.cwd), "backups");
  const config = path.join(opts.state, ".config", "holdfast");
  fs.mkdirSync(config, { recursive: true });
  fs.writeFileSync(
    path.join(config, "settings.json"),
    JSON.stringify({ backup: { place: at, every: "1s", keep: "30d" } }),
  );
  const worker = startCli(["worker", "--model", "rehearsal"], opts);
  await said(opts, ["-p", "list Markdown files", "--model", "rehearsal"]);
  const [{ id, events }] = await json(opts, ["contexts", "ls"]);
  const lag = async () => (await json(opts, ["contexts", "ls"]))[0].backedUp?.lag;
  while ((await lag()) !== 0) await sleep(100);
  worker.child.kill("SIGTERM");
  expect(await worker.exited).toMatchObject({ code: 0 });
  expect(await said(opts, ["backup", "drill"])).toMatch(/can be restored/);
  expect(await said(opts, ["contexts", "show", id])).toMatch(/^backed up: all of it, /m);
  expect(events).toBeGreaterThan(5);

  const other = place();
  fs.mkdirSync(path.join(other.cwd, ".holdfast"));
  fs.writeFileSync(path.join(other.cwd, ".holdfast", "settings.json"), JSON.stringify({ backup: { place: at } }));
  await said(other, ["trust", "add"]);
  expect(await said(other, ["backup", "now"], 2)).toMatch(
    /`backup` is not used: a repository cannot set it[\s\S]*no place for backups is named/,
  );
}, 60_000);

test("backup run follows what is recorded, and ends with Ctrl-C", async () => {
  const opts = place();
  const at = path.join(path.dirname(opts.cwd), "backups");
  const running = startCli(["backup", "run", at, "--every", "1s", "--json"], opts);
  let printed = "";
  running.child.stdout!.on("data", (text) => (printed += text));
  const backups = () => printed.split("\n").slice(0, -1);
  const isThere = () => running.child.exitCode === null;
  while (backups().length === 0 && isThere()) await sleep(20);
  await said(opts, ["tasks", "add", "one more"]);
  while (backups().length < 2 && isThere()) await sleep(20);
  running.child.kill("SIGINT");
  const { code } = await running.exited;
  expect([code, ...backups().map((line) => JSON.parse(line).place)]).toEqual([0, at, at]);
  expect(await said(opts, ["backup", "drill", at])).toMatch(/can be restored/);
}, 60_000);

test("an encrypted backup needs its key, prune keeps the newest, schedule installs nothing", async () => {
  const opts = place();
  const dir = path.dirname(opts.cwd);
  const at = path.join(dir, "backups");
  await said(opts, ["tasks", "add", "something"]);
  expect(await said(opts, ["backup", "now", at, "--key-file", path.join(dir, "key")], 2)).toMatch(
    /the backup key cannot be read/,
  );
  fs.writeFileSync(path.join(dir, "key"), "too short\n");
  expect(await said(opts, ["backup", "now", at, "--key-file", path.join(dir, "key")], 2)).toMatch(
    /has 9 bytes: give at least 16/,
  );
  fs.writeFileSync(path.join(dir, "key"), "long enough to be a key\n");
  await said(opts, ["backup", "now", at, "--key-file", path.join(dir, "key")]);
  expect(await said(opts, ["backup", "drill", at], 4)).toMatch(/is encrypted: give its key/);
  const withKey = { ...opts, env: { HOLDFAST_BACKUP_KEY: "long enough to be a key" } };
  expect(await said(withKey, ["backup", "drill", at])).toMatch(/can be restored/);
  expect(await json(withKey, ["backup", "prune", at, "--keep", "1s"])).toMatchObject({ removed: [], kept: 1 });
  expect(await said(opts, ["backup", "prune", at, "--keep", "soon"], 2)).toMatch(/--keep soon: give a time such as/);
  expect(await said(opts, ["backup", "schedule", at, "--every", "15m"])).toMatch(
    /^ {2}\*\/15 \* \* \* \* \/.* backup now /m,
  );
}, 60_000);

test("state copy moves a project's state with its checkpoints, says what to use, and refuses another past", async () => {
  const opts = place();
  const dir = path.dirname(opts.cwd);
  await said(opts, [
    "-p",
    "Create a file hello.txt with the text hi",
    "--model",
    "rehearsal",
    "--permission-mode",
    "acceptEdits",
  ]);
  const from = path.join(opts.state, "holdfast");
  const to = path.join(dir, "elsewhere");
  const first = await runCli(["state", "copy", from, to], opts);
  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Copied: 1 context, .*both are the same\n[0-9a-f]{64}\n$/),
  });
  expect(first.stderr).toMatch(/use the new one only/);
  expect(fs.globSync(path.join(to, "projects/*/files/git/objects/pack/*.idx"))).not.toEqual([]);
  const again = await json(opts, ["state", "copy", from, to]);
  expect([again.already, again.events]).toEqual([again.events, again.events]);
  const [old, moved] = [await json(opts, ["contexts", "ls"]), await json(opts, ["contexts", "ls", "--state", to])];
  expect(moved).toEqual(old);
  expect(await said(opts, ["contexts", "verify", "--state", to])).toBeDefined();
  await said(opts, ["tasks", "add", "here", "--state", to]);
  await said(opts, ["tasks", "add", "there"]);
  expect(await said(opts, ["state", "copy", from, to], 4)).toMatch(/has another past of board/);
}, 60_000);

test.runIf(hasRedis())(
  "a project moves to a server and is backed up from there; a machine with the same server backs up the same",
  async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const opts = place();
    const dir = path.dirname(opts.cwd);
    const at = path.join(dir, "backups");
    await said(opts, ["-p", "list Markdown files", "--model", "rehearsal"]);
    await said(opts, ["tasks", "add", "something"]);
    const [from, to] = [path.join(opts.state, "holdfast"), server.url("moved")];
    const moved = await json(opts, ["state", "copy", from, to]);
    expect([moved.contexts, moved.already]).toEqual([1, 0]);
    const there = { ...opts, env: { HOLDFAST_STATE: to } };
    const old = await json({ ...opts, env: { HOLDFAST_STATE: from } }, ["contexts", "ls"]);
    expect(await json(there, ["contexts", "ls"])).toEqual(old);
    await said(there, ["backup", "now", at]);
    expect(await said(there, ["backup", "drill", at])).toMatch(/can be restored: 2 ledgers the same as here/);
    const other = { ...place(), env: { HOLDFAST_STATE: to } };
    expect(await said(other, ["backup", "now", at])).toMatch(/^Nothing has changed/);
    const empty = { ...opts, env: { HOLDFAST_STATE: server.url("restored") } };
    expect(await said(empty, ["backup", "restore", at, "--project", "moved"])).toMatch(/1 context, /);
    expect(await json(empty, ["tasks", "ls"])).toHaveLength(1);
  },
  60_000,
);

test("a drill that is interrupted leaves nothing behind", async () => {
  const opts = place();
  const dir = path.dirname(opts.cwd);
  const [at, tmp] = [path.join(dir, "backups"), path.join(dir, "tmp")];
  fs.mkdirSync(tmp);
  for (let n = 0; n < 3; n++) await said(opts, ["tasks", "add", `task ${n}`]);
  await said(opts, ["backup", "now", at]);
  const running = startCli(["backup", "drill", at], { ...opts, env: { TMPDIR: tmp } });
  while (fs.readdirSync(tmp).length === 0 && running.child.exitCode === null) await sleep(1);
  running.child.kill("SIGINT");
  const { code } = await running.exited;
  expect([0, 130]).toContain(code); // it may have been done already
  expect(fs.readdirSync(tmp).filter((name) => name.startsWith("holdfast-drill-"))).toEqual([]);
}, 60_000);

test.runIf(hasRedis())("with HOLDFAST_STATE set the restore into another state finds the project by that", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const opts = place({ HOLDFAST_STATE: server.url("api") });
  const dir = path.dirname(opts.cwd);
  await said(opts, ["-p", "hello", "--model", "rehearsal"]);
  await said(opts, ["backup", "now", `${dir}/backups`]);
  const listed = await said(opts, ["project", "ls"]);
  const text = await said(opts, ["backup", "restore", `${dir}/backups`, "--state", `${dir}/restored`]);
  expect([listed.includes("on a server"), listed.includes("never used"), text]).toEqual([
    ...[true, false, expect.stringMatching(/1 context/)],
  ]);
});
