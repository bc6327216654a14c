// kill -9 in the middle of a backup, a restore, a copy: what was whole before stays whole, and the same command goes on.
import { spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { copyAllLedgers } from "../../src/backup/copy-store.ts";
import { runDrill } from "../../src/backup/drill.ts";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { listManifests } from "../../src/backup/manifest.ts";
import { openPlace } from "../../src/backup/place.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { openVault } from "../../src/backup/vault.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Store } from "../../src/ledger/store.ts";
import { startBucket } from "./bucket.ts";
import { contentsOf, fill, folder, headsIn, noise, ROOT } from "./world.ts";

const script = path.join(import.meta.dirname, "children", "worker.ts");
const TIMES = 20;

interface Ended {
  killed: boolean;
  printed: string;
}

/** Killed at a named point, or so long after it began. */
function child(
  args: string[],
  { env = {}, at, afterMs }: { env?: Record<string, string>; at?: string; afterMs?: number },
) {
  const all = {
    PATH: process.env.PATH,
    TMPDIR: process.env.TMPDIR ?? "",
    ...env,
    ...(at && { HOLDFAST_CRASH_AT: at }),
  };
  const started = spawn(process.execPath, [script, ...args], { env: all, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  let timer: NodeJS.Timeout | undefined;
  started.stdout.on("data", (text) => {
    printed += text;
    if (afterMs !== undefined) timer ??= setTimeout(() => started.kill("SIGKILL"), afterMs);
  });
  started.stderr.on("data", (text) => (printed += text));
  return new Promise<Ended>((resolve) =>
    started.on("close", (_, signal) => {
      clearTimeout(timer);
      resolve({ killed: signal === "SIGKILL", printed });
    }),
  );
}

/** A few ledgers that take several segments and batches. */
async function grow(store: Store, round: number): Promise<void> {
  for (let n = 0; n < 3; n++) {
    const events = Array.from({ length: 40 }, (_, i) => ({
      ...{ type: "note.made", actor: "me" },
      data: { text: noise(round * 1000 + n * 100 + i, 200) },
    }));
    const long = Buffer.from(noise(round * 7 + n, 5_000));
    const { createHash } = await import("node:crypto");
    const hash = createHash("sha256").update(long).digest("hex");
    await store.append(
      [{ ledger: `notes-${n}`, events: [...events, { type: "note.kept", actor: "me", data: { hash } }] }],
      {
        blobs: [long],
      },
    );
  }
}

describe("a backup that is killed", () => {
  it.each(["folder", "bucket"])(
    "in a %s, twenty times, at every step and at random, leaves every manifest whole, and the next one goes on",
    async (kind) => {
      const file = path.join(folder(onTestFinished), "ledger.db");
      const bucket = kind === "bucket" ? await startBucket(onTestFinished) : undefined;
      const env = bucket?.env ?? {};
      const where = bucket?.url ?? folder(onTestFinished);
      const store = await openSqliteStore(file);
      onTestFinished(() => store.close());
      await fill(store, { contexts: 2, events: 8 });
      const open = async () => openVault(await openPlace(where, { env, write: true }), "project-1", undefined);
      const points = [
        "backup.blob:1",
        "backup.blob:2",
        "backup.segment:1",
        "backup.segment:2",
        "backup.before-manifest",
        "backup.manifest",
      ];
      let killed = 0;
      for (let round = 0; round < TIMES; round++) {
        await grow(store, round);
        const at = points[round];
        const how = at === undefined ? { afterMs: Math.random() * 60 } : { at };
        const ended = await child(["backup", file, where], { env, ...how });
        expect(ended.killed || ended.printed.includes("done")).toEqual(true);
        killed += ended.killed ? 1 : 0;
        const vault = await open();
        // Whatever manifest is there can be restored whole.
        if (round % 2 === 1 && (await listManifests(vault)).length > 0)
          expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, differences: [] });
      }
      expect(killed).toBeGreaterThan(5);
      const vault = await open();
      await makeBackup({ store, vault, path: ROOT });
      const to = await openSqliteStore(path.join(folder(onTestFinished), "ledger.db"));
      onTestFinished(() => to.close());
      await restoreBackup({ vault, to, path: ROOT });
      const wanted = await contentsOf(store);
      expect(await contentsOf(to, headsIn(wanted))).toEqual(wanted);
    },
    120_000,
  );
});

describe("a restore and a copy that are killed", () => {
  it("go on where they were, and end with the same content", async () => {
    const file = path.join(folder(onTestFinished), "ledger.db");
    const store = await openSqliteStore(file);
    onTestFinished(() => store.close());
    await fill(store, { contexts: 3, events: 8 });
    for (let n = 0; n < 16; n++) await grow(store, n); // more than one batch each
    const where = folder(onTestFinished);
    const vault = openVault(await openPlace(where, { write: true }), "project-1", undefined);
    await makeBackup({ store, vault, path: "/" });
    const wanted = await contentsOf(store);
    for (const what of ["restore", "copy"] as const) {
      const target = path.join(folder(onTestFinished), "ledger.db");
      const args = what === "restore" ? ["restore", target, where] : ["copy", file, target];
      for (const at of ["copy.batch:1", "copy.batch:2", "copy.batch:3", "copy.batch:2"])
        expect(await child(args, { at })).toMatchObject({ killed: true });
      const to = await openSqliteStore(target, { restoring: what === "restore" });
      onTestFinished(() => to.close());
      if (what === "restore") await restoreBackup({ vault, to, path: "/" });
      else expect((await copyAllLedgers({ from: store, to })).already).toBeGreaterThan(0);
      expect([what, await contentsOf(to, headsIn(wanted))]).toEqual([what, wanted]);
    }
  }, 60_000);
});
