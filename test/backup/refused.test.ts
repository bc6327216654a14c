// Copies and restores that are refused leave nothing behind; what is said of a copy is so.
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type CliOptions, runCli } from "../cli/cli.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { folder } from "./world.ts";

const place = (): CliOptions & { dir: string } => {
  const dir = fs.realpathSync(folder(onTestFinished));
  fs.mkdirSync(path.join(dir, "project"));
  return { dir, cwd: path.join(dir, "project"), state: path.join(dir, "home") };
};

async function done(opts: CliOptions, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args, opts);
  expect([args.join(" "), code, stderr]).toEqual([args.join(" "), 0, stderr]);
  return stdout;
}

it("a copy from what is not there is refused in one line, and makes neither", async () => {
  const opts = place();
  const to = path.join(opts.dir, "to");
  const other = path.join(opts.dir, "other");
  fs.mkdirSync(other);
  for (const from of [path.join(opts.dir, "typo"), `sqlite:${path.join(opts.dir, "typo.db")}`, other]) {
    expect(await runCli(["state", "copy", from, to], opts)).toEqual({
      ...{ code: 2, signal: null, stdout: "" },
      stderr: `holdfast: ${from} holds nothing of this folder's project: give as FROM what --state was given, nothing was copied\n`,
    });
  }
  expect([fs.readdirSync(opts.dir).toSorted(), fs.readdirSync(other)]).toEqual([["other", "project"], []]);
}, 30_000);

it("a copy only reads its source, also what it would have to note there of a folder that has moved", async () => {
  const before = place();
  const from = path.join(before.dir, "from");
  await done(before, "tasks", "add", "one", "--state", from);
  const opts = { ...before, cwd: path.join(before.dir, "renamed") };
  fs.renameSync(before.cwd, opts.cwd);
  // What SQLite needs to read beside others (-wal, -shm) is not what was recorded.
  const files = () =>
    fs
      .globSync(`${from}/**/*`)
      .filter((file) => fs.statSync(file).isFile() && !/-(?:wal|shm)$/.test(file))
      .map((file) => [file, hash("sha256", fs.readFileSync(file))])
      .toSorted();
  const were = files();
  await done(opts, "state", "copy", from, path.join(opts.dir, "to"));
  expect(files()).toEqual(were);
}, 30_000);

it.runIf(hasRedis())("a copy from a server that has nothing of the project is refused", async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const opts = place();
  const copied = await runCli(["state", "copy", server.url("typo"), path.join(opts.dir, "to")], opts);
  expect(copied).toMatchObject({ code: 2, stderr: expect.stringMatching(/^holdfast: redis:.* holds nothing/) });
  expect(fs.readdirSync(opts.dir)).toEqual(["project"]);
});

it("a copy says that both are the same only where the target has nothing besides", async () => {
  const opts = place();
  const [from, to, wider] = ["from", "to", "wider"].map((name) => path.join(opts.dir, name)) as [
    string,
    string,
    string,
  ];
  await done(opts, "tasks", "add", "one", "--state", from);
  await done(opts, "-p", "list Markdown files", "--model", "rehearsal", "--state", wider);
  expect(await done(opts, "state", "copy", from, to)).toMatch(/both are the same/);
  const said = await done(opts, "state", "copy", from, wider);
  expect(said).toMatch(/it is the same in both; TO has 1 ledger besides/);
  expect(said).not.toMatch(/both are the same/);
}, 30_000);

it("a backup and a copy of one store count the same ledgers and events", async () => {
  const opts = place();
  const [from, to, at] = ["from", "to", "backups"].map((name) => path.join(opts.dir, name)) as [string, string, string];
  await done(opts, "tasks", "add", "one", "--state", from);
  await done(opts, "-p", "list Markdown files", "--model", "rehearsal", "--state", from);
  const backup = JSON.parse(await done(opts, "backup", "now", at, "--json", "--state", from));
  const copied = JSON.parse(await done(opts, "state", "copy", from, to, "--json"));
  expect([copied.ledgers, copied.events, copied.own]).toEqual([backup.ledgers, backup.newEvents, 1]);
  expect(await done(opts, "state", "copy", from, to)).toMatch(/, and 1 record of backups; both are the same/);
}, 30_000);

it("a restore that is refused makes no state directory", async () => {
  const opts = place();
  const [from, at] = [path.join(opts.dir, "from"), path.join(opts.dir, "backups")];
  await done(opts, "tasks", "add", "one", "--state", from);
  await done(opts, "backup", "now", at, "--state", from);
  const { id: project } = JSON.parse(fs.readFileSync(fs.globSync(`${from}/projects/*/project.json`)[0]!, "utf8"));
  const before = fs.readdirSync(opts.dir);
  const refused = [
    [path.join(opts.dir, "nowhere")],
    [at, "--at", "20010101T000000", "--project", project],
    [at, "--project", "typo"],
  ];
  for (const state of [path.join(opts.dir, "new"), `sqlite:${path.join(opts.dir, "new", "ledger.db")}`])
    for (const words of refused) {
      const { code, stderr } = await runCli(["backup", "restore", ...words, "--state", state], opts);
      expect([code, stderr.split("\n").length]).toEqual([2, 2]);
      expect(fs.readdirSync(opts.dir)).toEqual(before);
    }
  const restored = ["backup", "restore", at, "--project", project, "--state", path.join(opts.dir, "new")];
  expect(await done(opts, ...restored)).toMatch(/^Restored backup/);
}, 60_000);
