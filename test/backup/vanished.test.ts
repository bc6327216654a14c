// Ledgers that are gone without having been removed: said, and the last backup that has them is held.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { listManifests } from "../../src/backup/manifest.ts";
import { prune } from "../../src/backup/prune.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { type CliOptions, runCli } from "../cli/cli.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { contentsOf, fill, folder, folderVault, headsIn, openStoreOf, ROOT } from "./world.ts";

const open = () => openStoreOf("sqlite", onTestFinished);
const note = (n: number) => [{ ledger: "notes", events: [{ type: "note.made", actor: "me", data: n }] }];
const DAY = 86_400_000;

test("what a store lost is told from what was removed in it, and the last backup that has it stays until somebody lets it go", async () => {
  const vault = await folderVault(onTestFinished);
  const store = await open();
  const ids = await fill(store, { contexts: 3, events: 4 });
  await makeBackup({ store, vault, path: ROOT });
  await store.remove(ids[0]!);
  const whole = (await makeBackup({ store, vault, path: ROOT })).report;
  expect([whole.removed, whole.vanished]).toEqual([[ids[0]], undefined]);
  const contents = await contentsOf(store);

  const empty = await open(); // the same project on a server that began anew
  const lost = (await makeBackup({ store: empty, vault, path: ROOT })).report;
  expect(lost.vanished).toEqual({ ledgers: expect.arrayContaining(Object.keys(contents)), lastIn: whole.manifest });
  await empty.append(note(1));
  expect((await makeBackup({ store: empty, vault, path: ROOT })).report).toMatchObject({ removed: [], ledgers: 1 });

  const later = { vault, store: empty, keepMs: 1, now: Date.now() + 30 * DAY };
  expect(await prune(later)).toMatchObject({ held: [whole.manifest] });
  const to = await open();
  await restoreBackup({ vault, to, path: ROOT, at: whole.manifest! });
  expect(await contentsOf(to, headsIn(contents))).toEqual(contents);
  expect(await prune({ ...later, force: true })).toMatchObject({ held: [] });
  expect((await listManifests(vault)).map(({ id }) => id)).not.toContain(whole.manifest);
});

test.runIf(hasRedis())(
  "a server that began empty is said to whoever makes the next backup, with the name of the last one that is whole",
  async () => {
    const dir = fs.realpathSync(folder(onTestFinished));
    fs.mkdirSync(path.join(dir, "project"));
    const at = path.join(dir, "backups");
    const opts: CliOptions = { cwd: path.join(dir, "project"), state: path.join(dir, "home") };
    const onServer = async () => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      return { ...opts, env: { HOLDFAST_STATE: server.url("team") } };
    };
    const before = await onServer();
    await runCli(["tasks", "add", "something"], before);
    const made = JSON.parse((await runCli(["backup", "now", at, "--json"], before)).stdout);
    const after = await runCli(["backup", "now", at], await onServer());
    expect([after.code, after.stderr]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`^holdfast: 1 ledger that was backed up, .*\\(board\\): backup ${made.manifest} has`, "m"),
      ),
    ]);
  },
  60_000,
);
