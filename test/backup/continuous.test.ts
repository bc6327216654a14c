// Backups beside work: made again and again while somebody writes, at the end of a turn, with the files of checkpoints, and on a full disk.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { runDrill } from "../../src/backup/drill.ts";
import { keepBackedUp } from "../../src/backup/keep-backed-up.ts";
import { type BackupReport, makeBackup } from "../../src/backup/make-backup.ts";
import { openPlace } from "../../src/backup/place.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { openVault } from "../../src/backup/vault.ts";
import { openFileKeeper } from "../../src/file-snapshots/index.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Store } from "../../src/ledger/store.ts";
import { contentsOf, fill, folder, folderVault, headsIn, noise, openStoreOf, ROOT } from "./world.ts";

const open = () => openStoreOf("sqlite", onTestFinished);
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((done) => setTimeout(done, 10));
};

describe("a backup under load", () => {
  it("is whole each time, while another process appends", async () => {
    const file = path.join(folder(onTestFinished), "ledger.db");
    const store = await openSqliteStore(file);
    onTestFinished(() => store.close());
    await fill(store, { contexts: 2, events: 5 });
    const appender = path.join(import.meta.dirname, "../ledger/children/appender.ts");
    const writer = spawn(process.execPath, [appender, file, "busy"], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((done) => writer.on("close", done));
    let acknowledged = 0;
    writer.stdout.on("data", (text) => (acknowledged += String(text).split("\n").length - 1));
    await until(() => acknowledged > 20);
    const vault = await folderVault(onTestFinished);
    let last: Awaited<ReturnType<typeof makeBackup>>["written"];
    for (let n = 0; n < 5; n++) {
      const before = acknowledged;
      const { written, report } = await makeBackup({ store, vault, path: ROOT, ...(last && { last }) });
      last = written;
      expect([report.damage, written!.manifest.ledgers.get("busy")!.head >= before]).toEqual([[], true]);
      expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, differences: [] });
    }
    writer.kill("SIGKILL");
    await ended;
    await makeBackup({ store, vault, path: ROOT, last: last! });
    const to = await open();
    await restoreBackup({ vault, to, path: ROOT });
    const wanted = await contentsOf(store);
    expect(await contentsOf(to, headsIn(wanted))).toEqual(wanted);
  }, 60_000);
});

describe("a continuous backup", () => {
  it("follows what is recorded: at once when a turn has ended, and with the last of it when it stops", async () => {
    const store = await open();
    const vault = await folderVault(onTestFinished);
    const reports: BackupReport[] = [];
    const going = keepBackedUp({ store, vault, path: ROOT, everyMs: 3_600_000, onBackup: (one) => reports.push(one) });
    const event = { type: "turn.ended", actor: "lead", data: {} };
    await store.append([{ ledger: "ctx_a", events: [event], summary: { open: false } }]);
    await until(() => reports.length >= 1 && reports.at(-1)!.events === 1);
    await store.append([{ ledger: "ctx_a", events: [event], summary: { open: true } }]);
    await going.stop();
    expect(reports.at(-1)).toMatchObject({ events: 2, newEvents: 1 });
  });

  it("says what is wrong, goes on by itself, and loses nothing", async () => {
    const store = await open();
    const dir = path.join(folder(onTestFinished), "backups");
    const vault = openVault(await openPlace(dir, { write: true }), "project-1", undefined);
    fs.writeFileSync(dir, "in the way");
    const problems: string[] = [];
    const reports: BackupReport[] = [];
    await fill(store, { contexts: 1, events: 4 });
    const told = {
      onBackup: (one: BackupReport) => reports.push(one),
      onProblem: (line: string) => problems.push(line),
    };
    const going = keepBackedUp({ store, vault, path: ROOT, everyMs: 20, ...told });
    await until(() => problems.length > 1);
    fs.rmSync(dir);
    await until(() => reports.length > 0);
    await going.stop();
    expect(problems[0]).toMatch(/^backup: /);
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, same: 2 });
  });
});

describe("the files of checkpoints", () => {
  it("come back with a backup, and their packs are not sent twice", async () => {
    const [root, state, other] = [folder(onTestFinished), folder(onTestFinished), folder(onTestFinished)];
    fs.writeFileSync(path.join(root, "a.txt"), noise(1, 5_000));
    const keeper = openFileKeeper({ root, dir: path.join(state, "files") });
    const mark = await keeper.save();
    await keeper.settled();
    const store = await open();
    await fill(store, { contexts: 1, events: 4 });
    const vault = await folderVault(onTestFinished);
    const filesDir = path.join(state, "files");
    await makeBackup({ store, vault, path: root, filesDir });
    const before = vault.moved.bytes;
    fs.writeFileSync(path.join(root, "b.txt"), "small");
    await keeper.save();
    await keeper.settled();
    await makeBackup({ store, vault, path: root, filesDir });
    expect(vault.moved.bytes - before).toBeLessThan(4_000);
    const to = await open();
    const restored = await restoreBackup({ vault, to, path: root, filesDir: path.join(other, "files") });
    expect([restored.packs, restored.losses]).toEqual([2, []]);
    const again = openFileKeeper({ root, dir: path.join(other, "files") });
    fs.writeFileSync(path.join(root, "a.txt"), "changed");
    await again.restore(mark);
    expect(fs.readFileSync(path.join(root, "a.txt"), "utf8")).toEqual(noise(1, 5_000));
  });
});

describe("the files of checkpoints of several machines", () => {
  it("are all in the backup that the last of them made", async () => {
    const [first, second, other] = [folder(onTestFinished), folder(onTestFinished), folder(onTestFinished)];
    const store: Store = { ...(await open()), reach: "network" };
    await fill(store, { contexts: 1, events: 4 });
    const vault = await folderVault(onTestFinished);
    for (const machine of [first, second]) {
      const root = path.join(machine, "project");
      fs.mkdirSync(root);
      fs.writeFileSync(path.join(root, "a.txt"), machine);
      const keeper = openFileKeeper({ root, dir: path.join(machine, "files") });
      await keeper.save();
      await keeper.settled();
      await makeBackup({ store, vault, path: root, filesDir: path.join(machine, "files") });
    }
    const to = await open();
    const restored = await restoreBackup({ vault, to, path: first, filesDir: path.join(other, "files") });
    expect([restored.packs, restored.losses]).toEqual([2, []]);
  });
});

describe("a full disk", () => {
  const dir = fs.mkdtempSync(path.join(ROOT, "holdfast-full-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", dir]).status === 0;
  afterAll(() => {
    if (mounted) execFileSync("umount", [dir]);
    fs.rmSync(dir, { recursive: true, force: true });
  });
  it.skipIf(!mounted && !process.env.CI)("under a backup is said, and the next one goes on", async () => {
    const store = await open();
    await fill(store, { contexts: 1, events: 4 });
    const vault = openVault(await openPlace(path.join(dir, "b"), { write: true }), "project-1", undefined);
    await makeBackup({ store, vault, path: ROOT });
    fs.writeFileSync(path.join(dir, "filler"), Buffer.alloc(180_000));
    await fill(store, { contexts: 2, events: 20, bytes: 4_000 });
    await expect(makeBackup({ store, vault, path: ROOT })).rejects.toMatchObject({
      code: "disk",
      message: expect.stringContaining("the disk is full: make room there"),
    });
    fs.rmSync(path.join(dir, "filler"));
    await makeBackup({ store, vault, path: ROOT });
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, same: 4 });
  });
});

describe("two processes that back up to one place", () => {
  it("go on from each other's backups, and write nothing twice", async () => {
    const file = path.join(folder(onTestFinished), "ledger.db");
    const [a, b] = [await openSqliteStore(file), await openSqliteStore(file)];
    onTestFinished(async () => void (await Promise.all([a.close(), b.close()])));
    await fill(a, { contexts: 2, events: 6 });
    const vault = await folderVault(onTestFinished);
    const of = { vault, path: ROOT };
    const first = await makeBackup({ store: a, ...of });
    const event = { type: "note.made", actor: "me", data: {} };
    await a.append([{ ledger: "notes", events: [event, event] }]);
    expect((await makeBackup({ store: b, ...of })).report.newEvents).toEqual(2);
    await a.append([{ ledger: "notes", events: [event] }]);
    const third = await makeBackup({ store: a, ...of, last: first.written! });
    expect(third.report.newEvents).toEqual(1);
    expect(await runDrill({ vault, store: a, path: ROOT })).toMatchObject({ ok: true, same: 4 });
  });
});
