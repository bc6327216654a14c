// Disks that are full, and processes that may open few files: what is said, and what is left behind.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyAllLedgers } from "../../src/backup/copy-store.ts";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { prune } from "../../src/backup/prune.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { HoldfastError } from "../../src/ledger/error.ts";
import type { Store } from "../../src/ledger/store.ts";
import { bin, type CliOptions, runCli, runProgram } from "../cli/cli.ts";
import { contentsOf, fill, folder, folderVault, headsIn, openStoreOf, ROOT } from "./world.ts";

const open = () => openStoreOf("sqlite", onTestFinished);

/** A store on a disk that takes so many appends, and no more until `more`. */
function onFullDisk(store: Store, appends: number): Store & { more(): void } {
  let left = appends;
  return {
    ...store,
    more: () => {
      left = Number.POSITIVE_INFINITY;
    },
    append: async (writes, opts) => {
      if (left-- <= 0) throw new HoldfastError("disk", "nothing was recorded", { cause: new Error("disk is full") });
      return store.append(writes, opts);
    },
  };
}

test.each(["restore", "copy"])("a %s on a disk that becomes full says what is there, and goes on", async (kind) => {
  const store = await open();
  await fill(store, { contexts: 3, events: 4 });
  const vault = await folderVault(onTestFinished);
  await makeBackup({ store, vault, path: ROOT });
  await store.remove((await backupRecord(store))!);
  const to = onFullDisk(await open(), kind === "restore" ? 3 : 2); // a restore records that it has begun
  const again = () =>
    kind === "restore" ? restoreBackup({ vault, to, path: ROOT }) : copyAllLedgers({ from: store, to });
  const error: HoldfastError = await again().then(
    () => expect.fail("it should have stopped"),
    (reason) => reason,
  );
  expect([error.code, error.message]).toEqual(["disk", expect.stringMatching(/disk is full; 2 of 4 ledgers are in /)]);
  expect(error.message).toMatch(/: make room, and the same command goes on$/);
  to.more();
  await again();
  const wanted = await contentsOf(store);
  expect(await contentsOf(to, headsIn(wanted))).toEqual(wanted);
});

async function backupRecord(store: Store): Promise<string | undefined> {
  for await (const { ledger } of store.list({ prefix: "backup:" })) return ledger;
  return undefined;
}

async function backedUp(): Promise<CliOptions & { at: string; tmp: string }> {
  const dir = fs.realpathSync(folder(onTestFinished));
  for (const name of ["project", "tmp"]) fs.mkdirSync(path.join(dir, name));
  const [at, tmp] = [path.join(dir, "backups"), path.join(dir, "tmp")];
  const opts = { cwd: path.join(dir, "project"), state: path.join(dir, "home"), env: { TMPDIR: tmp } };
  expect(await runCli(["tasks", "add", "something"], opts)).toMatchObject({ code: 0 });
  expect(await runCli(["backup", "now", at], opts)).toMatchObject({ code: 0 });
  return { ...opts, at, tmp };
}

function canMount(): boolean {
  try {
    execFileSync("unshare", ["--mount", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return process.env.CI === "true";
  }
}

test.runIf(canMount())(
  "a drill without room for it does not say that the backup is not whole",
  async () => {
    const { at, tmp, ...opts } = await backedUp();
    const small = `mount -t tmpfs -o size=64k none ${tmp} && exec "$@"`;
    const drill = [process.execPath, bin, "backup", "drill", at];
    const { code, stderr, stdout } = await runProgram("unshare", ["--mount", "sh", "-c", small, "sh", ...drill], opts);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^holdfast: the backup was not judged: .* TMPDIR to another folder\n$/);
    expect(stderr).toContain(tmp);
  },
  60_000,
);

test("a drill that may open few files says so in words", async () => {
  const { at, tmp: _, ...opts } = await backedUp();
  const said: string[] = [];
  for (let limit = 23; limit <= 32; limit++) {
    const few = ["-c", `ulimit -n ${limit}; exec "$@"`, "sh", process.execPath, bin, "backup", "drill", at];
    const { code, stderr } = await runProgram("sh", few, opts);
    if (code !== 0) said.push(stderr);
  }
  expect(said).toContainEqual("holdfast: too many files are open (EMFILE): raise the limit with ulimit -n\n");
  expect(said.filter((text) => text.includes("Unknown error"))).toEqual([]);
}, 60_000);

test("what killed commands left in the temporary folder and in a place goes when it is a day old", async () => {
  const { at, tmp, ...opts } = await backedUp();
  const gone = Number(execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }));
  const old = new Date(Date.now() - 2 * 86_400_000);
  const leave = (name: string, when = old) => {
    fs.mkdirSync(path.join(tmp, name));
    fs.writeFileSync(path.join(tmp, name, "ledger.db"), "");
    fs.utimesSync(path.join(tmp, name), when, when);
    return name;
  };
  leave(`holdfast-drill-${gone}-aaaaaa`);
  leave(`holdfast-restore-${gone}-bbbbbb`);
  const stays = [
    leave(`holdfast-drill-${gone}-cccccc`, new Date()),
    leave(`holdfast-drill-${process.pid}-dddddd`),
    leave("somebody-else"),
  ];
  expect(await runCli(["backup", "drill", at], opts)).toMatchObject({ code: 0 });
  expect(fs.readdirSync(tmp).sort()).toEqual(stays.sort());

  const parts = ["0123456789ab", "ba9876543210"].map((end) => path.join(at, `projects/one.${end}.part`));
  for (const part of parts) fs.writeFileSync(part, "half");
  fs.utimesSync(parts[0]!, old, old);
  expect(await runCli(["backup", "prune", at], opts)).toMatchObject({ code: 0 });
  expect(parts.map((part) => fs.existsSync(part))).toEqual([false, true]);
}, 60_000);

test("prune that only says what would go leaves what is unfinished", async () => {
  const store = await open();
  const vault = await folderVault(onTestFinished);
  await makeBackup({ store, vault, path: ROOT });
  const part = path.join(vault.dir, "one.0123456789ab.part");
  fs.writeFileSync(part, "half");
  await prune({ vault, store, keepMs: 1, now: Date.now() + 1e10, dryRun: true });
  expect(fs.existsSync(part)).toEqual(true);
});
