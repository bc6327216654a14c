// Backups as a user types them, kept apart: from the commands of an agent, from other projects in the same place, and from what a place may say to a terminal.
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { type CliOptions, runCli } from "../cli/cli.ts";
import { works } from "../jobs/sandboxed.ts";
import { folder } from "./world.ts";

interface Desk extends CliOptions {
  dir: string;
  backups: string;
}

function desk(env: Record<string, string> = {}): Desk {
  const dir = fs.realpathSync(folder(onTestFinished));
  fs.mkdirSync(path.join(dir, "project"));
  return {
    dir,
    cwd: path.join(dir, "project"),
    state: path.join(dir, "home"),
    env,
    backups: path.join(dir, "backups"),
  };
}

/** Exit code, and what was said. */
async function said(opts: CliOptions, ...args: string[]): Promise<[number | null, string]> {
  const { code, stdout, stderr } = await runCli(args, opts);
  return [code, stdout + stderr];
}

const projectIn = ({ backups }: Desk) => fs.readdirSync(path.join(backups, "projects"))[0]!;

test.skipIf(!works)(
  "commands see neither the key nor the folder that the settings name",
  async () => {
    const opts = desk();
    const key = path.join(opts.dir, "backup.key");
    fs.writeFileSync(key, "long enough to be a key\n");
    const config = path.join(opts.state, ".config", "holdfast");
    fs.mkdirSync(config, { recursive: true });
    const settings = { backup: { place: "~/../backups", keyFile: "~/../backup.key" } };
    fs.writeFileSync(path.join(config, "settings.json"), JSON.stringify(settings));
    await said(opts, "tasks", "add", "something");
    expect(await said(opts, "backup", "now")).toEqual([0, expect.stringContaining("Backup ")]);
    const objects = fs.readdirSync(opts.backups, { recursive: true });
    const script = `cat ${key} > seen; ls ${opts.backups} >> seen; rm -rf ${opts.backups}/*; echo done >> seen\n`;
    fs.writeFileSync(path.join(opts.cwd, "look.sh"), script);
    const run = [
      "-p",
      "Run `sh look.sh`",
      "--model",
      "rehearsal",
      "--permission-mode",
      "bypassPermissions",
      "--add-dir",
      opts.dir,
    ];
    expect((await said(opts, ...run))[0]).toEqual(0);
    expect(fs.readFileSync(path.join(opts.cwd, "seen"), "utf8")).toEqual("done\n");
    expect(fs.readdirSync(opts.backups, { recursive: true })).toEqual(objects);
    const writing = ["permissions", "check", "--json-lines"];
    const stdin = `${JSON.stringify({ tool: "write_file", path: key, mode: "acceptEdits" })}\n`;
    expect(await said({ ...opts, stdin }, ...writing)).toEqual([0, expect.stringContaining('"deny"')]);
  },
  60_000,
);

test("a place in the project's folder or in the state directory is refused, and so is a key in the project", async () => {
  const opts = desk();
  await said(opts, "tasks", "add", "something");
  fs.symlinkSync(opts.cwd, path.join(opts.dir, "link"));
  fs.writeFileSync(path.join(opts.cwd, "key"), "long enough to be a key\n");
  for (const at of ["backups", "../link/backups", "."])
    expect(await said(opts, "backup", "now", at)).toEqual([
      2,
      expect.stringMatching(/lies in the project's folder.*: a place for backups is to be outside of it\n$/),
    ]);
  expect(await said(opts, "backup", "now", "../home/holdfast/backups")).toEqual([
    2,
    expect.stringMatching(/lies in the state directory: a place for backups is to be outside of it\n$/),
  ]);
  expect(await said(opts, "backup", "now", opts.backups, "--key-file", "key")).toEqual([
    2,
    expect.stringMatching(/the key of backups is to be outside of it\n$/),
  ]);
  expect([fs.readdirSync(opts.cwd), fs.existsSync(opts.backups)]).toEqual([["key"], false]);
}, 60_000);

test("an empty key in the environment makes no backup that everybody can read", async () => {
  const opts = desk({ HOLDFAST_BACKUP_KEY: "" });
  await said(opts, "tasks", "add", "something");
  expect(await said(opts, "backup", "now", opts.backups)).toEqual([2, expect.stringContaining("is empty: give a key")]);
  expect(fs.existsSync(opts.backups)).toEqual(false);
}, 60_000);

test("only the backup of this folder's project is taken unasked; another one is named, and the exact name comes first", async () => {
  const [opts, other] = [desk(), desk()];
  await said(other, "tasks", "add", "something");
  await said(other, "backup", "now", opts.backups);
  const name = projectIn(opts);
  for (const verb of ["drill", "restore", "ls", "prune"])
    expect(await said(opts, "backup", verb, opts.backups)).toEqual([
      2,
      `holdfast: ${opts.backups} has no backup of this folder's project: give --project for another (it has ${name})\n`,
    ]);
  fs.cpSync(path.join(opts.backups, name), path.join(opts.backups, `${name}2`), { recursive: true });
  fs.copyFileSync(path.join(opts.backups, "projects", name), path.join(opts.backups, "projects", `${name}2`));
  expect((await said(opts, "backup", "ls", opts.backups, "--project", name))[0]).toEqual(0);
  expect(await said(opts, "backup", "ls", opts.backups, "--project", name.slice(0, 8))).toEqual([
    2,
    expect.stringContaining(`has several projects ${name.slice(0, 8)}…: ${name}, ${name}2`),
  ]);
  expect((await said(opts, "backup", "restore", opts.backups, "--project", name))[0]).toEqual(0);
}, 60_000);

test("in another state directory the folder's project is still the one of this folder", async () => {
  const opts = desk();
  await said(opts, "tasks", "add", "something");
  await said(opts, "backup", "now", opts.backups);
  expect((await said(opts, "backup", "restore", opts.backups, "--state", "../restored"))[0]).toEqual(0);
}, 60_000);

test("the drill says which backup is missing, and exits with 1", async () => {
  const opts = desk();
  await said(opts, "tasks", "add", "something");
  await said(opts, "backup", "now", opts.backups);
  const before = path.join(opts.dir, "before");
  fs.cpSync(opts.backups, before, { recursive: true });
  await said(opts, "-p", "list Markdown files", "--model", "rehearsal");
  const { manifest } = JSON.parse((await said(opts, "backup", "now", opts.backups, "--json"))[1]);
  fs.rmSync(opts.backups, { recursive: true });
  fs.cpSync(before, opts.backups, { recursive: true });
  const [code, text] = await said(opts, "backup", "drill", opts.backups);
  expect(code).toEqual(1);
  expect(text).toContain(`missing: backup ${manifest}, the last that was made from here`);
  expect(text).toMatch(/^Backup \w+ can be restored, but is not all that there was: 1 ledger the same as here/m);
  expect(text).toMatch(/missing: 1 ledger of here that should be in it: ctx_\w+\n/);
}, 60_000);

test("what a place says reaches a terminal without escapes, and is not said to be mended by a repair of the store", async () => {
  const opts = desk();
  await said(opts, "tasks", "add", "something");
  await said(opts, "backup", "now", opts.backups);
  const manifests = path.join(opts.backups, projectIn(opts), "manifests");
  const [name = ""] = fs.readdirSync(manifests);
  const stored = JSON.parse(String(zstdDecompressSync(fs.readFileSync(path.join(manifests, name)))));
  stored.ledgers[0][0] = "ctx_\u001b]0;owned\u0007\u001b[31mred";
  const bytes = Buffer.from(JSON.stringify(stored));
  fs.rmSync(path.join(manifests, name));
  const tag = hash("sha256", bytes, "hex").slice(0, 16);
  fs.writeFileSync(path.join(manifests, name.replace(/\.[0-9a-f]{16}\./, `.${tag}.`)), zstdCompressSync(bytes));
  fs.writeFileSync(path.join(manifests, "zz\u001b[31m"), "x");
  const { code, stderr } = await runCli(["backup", "restore", opts.backups, "--state", "../restored"], opts);
  expect(code).toEqual(1);
  expect(stderr).toMatch(
    /^holdfast: the backup is not whole: ctx_red from event 1: this is no name .*another backup\n$/,
  );
  const ls = await runCli(["backup", "ls", opts.backups], opts);
  expect([ls.code, ls.stderr]).toEqual([
    0,
    `holdfast: passed over in ${opts.backups}, none of ours: manifests/zz\\u001b[31m\n`,
  ]);
}, 60_000);
