// A backup and its way back: what was recorded is there again, small changes move little, and nothing starts twice.
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { runDrill } from "../../src/backup/drill.ts";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { listManifests } from "../../src/backup/manifest.ts";
import { backedUpTo, lastBackups } from "../../src/backup/own-ledgers.ts";
import { openPlace } from "../../src/backup/place.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { openVault } from "../../src/backup/vault.ts";
import { openContexts } from "../../src/contexts/open.ts";
import { readStart } from "../../src/contexts/start.ts";
import {
  contentsOf,
  fill,
  folderVault,
  headsIn,
  noise,
  objectsIn,
  openStoreOf,
  ROOT,
  STORES,
  stopServers,
} from "./world.ts";

afterAll(stopServers);

const path = ROOT;

describe.each(Object.keys(STORES))("a backup of a %s store", (kind) => {
  const open = () => openStoreOf(kind, onTestFinished);

  it("is restored with the same content and the same state", async () => {
    const store = await open();
    const [id] = await fill(store);
    const vault = await folderVault(onTestFinished);
    const { report } = await makeBackup({ store, vault, path });
    const wanted = await contentsOf(store);
    const to = await open();
    const restored = await restoreBackup({ vault, to, path });
    expect(await contentsOf(to, headsIn(wanted))).toEqual(wanted);
    expect(restored).toMatchObject({ contexts: 3, losses: [], passedOver: [], beyond: [], manifest: report.manifest });
    const context = await (await openContexts({ store: to })).get(id!);
    expect(await context.read("long")).toHaveLength(20_000);
    expect(report).toMatchObject({ ledgers: 4, oneMoment: true, damage: [], replaced: [], removed: [] });
  });

  it("writes nothing when nothing has changed, also in another process", async () => {
    const store = await open();
    await fill(store);
    const vault = await folderVault(onTestFinished);
    const { written } = await makeBackup({ store, vault, path });
    const before = await objectsIn(vault.place);
    const again = [await makeBackup({ store, vault, path }), await makeBackup({ store, vault, path, last: written! })];
    expect(again.map(({ report }) => report.manifest)).toEqual([undefined, undefined]);
    expect(await objectsIn(vault.place)).toEqual(before);
  });

  it("moves about one per cent of the bytes for one per cent of change", async () => {
    const store = await open();
    const events = (n: number) =>
      Array.from({ length: 30 }, (_, i) => ({
        type: "note.made",
        actor: "me",
        data: { text: noise(n * 100 + i, 300) },
      }));
    for (let n = 0; n < 200; n++) await store.append([{ ledger: `notes-${n}`, events: events(n) }]);
    const vault = await folderVault(onTestFinished);
    await makeBackup({ store, vault, path });
    const whole = vault.moved.bytes;
    for (const n of [7, 1000]) await store.append([{ ledger: `notes-${n}`, events: events(n + 5000) }]);
    await makeBackup({ store, vault, path });
    const share = (vault.moved.bytes - whole) / whole;
    expect(share).toBeLessThan(0.015);
    expect(share).toBeGreaterThan(0.001);
  });

  it("goes on with what was removed, what came and what went on, and each older backup is still there", async () => {
    const store = await open();
    const ids = await fill(store, { contexts: 12, events: 5 });
    const vault = await folderVault(onTestFinished);
    const { report: first } = await makeBackup({ store, vault, path });
    const wantedThen = await contentsOf(store);
    await store.remove(ids[0]!);
    await (await (await openContexts({ store })).get(ids[1]!)).share("more", 1);
    await fill(store, { contexts: 1 });
    const { report: second } = await makeBackup({ store, vault, path });
    const wantedNow = await contentsOf(store);
    expect([second.removed, second.newEvents > 0]).toEqual([[ids[0]], true]);
    const [a, b] = await listManifests(vault);
    expect([a!.full, b!.full]).toEqual([undefined, a!.id]); // the second only says what changed
    const [now, then] = [await open(), await open()];
    await restoreBackup({ vault, to: now, path });
    await restoreBackup({ vault, to: then, path, at: first.manifest! });
    expect(await contentsOf(now, headsIn(wantedNow))).toEqual(wantedNow);
    expect(await contentsOf(then, headsIn(wantedThen))).toEqual(wantedThen);
  });

  it("of a store that was put back and went on otherwise keeps both pasts", async () => {
    const store = await open();
    const vault = await folderVault(onTestFinished);
    const event = (n: number) => ({ type: "note.made", actor: "me", data: { n } });
    await store.append([{ ledger: "notes", events: [1, 2, 3].map(event) }]);
    const { report: first } = await makeBackup({ store, vault, path });
    const wantedThen = await contentsOf(store);
    await store.remove("notes");
    await store.append([{ ledger: "notes", events: [1, 2, 4, 5].map(event) }]);
    const { report: second } = await makeBackup({ store, vault, path });
    expect(second.replaced).toEqual(["notes"]);
    const wanted = await contentsOf(store);
    const [now, then] = [await open(), await open()];
    await restoreBackup({ vault, to: now, path });
    await restoreBackup({ vault, to: then, path, at: first.manifest! });
    expect([await contentsOf(now), await contentsOf(then)]).toEqual([wanted, wantedThen]);
  });

  it("passes the drill, which leaves nothing behind and changes nothing", async () => {
    const store = await open();
    const ids = await fill(store);
    const vault = await folderVault(onTestFinished);
    await makeBackup({ store, vault, path });
    const before = [await contentsOf(store), await objectsIn(vault.place)];
    const report = await runDrill({ vault, store, path });
    expect(report).toMatchObject({ ok: true, same: 4, removedSince: [], differences: [] });
    expect([await contentsOf(store), await objectsIn(vault.place)]).toEqual(before);
    await store.remove(ids[0]!);
    expect(await runDrill({ vault, store, path })).toMatchObject({ ok: true, same: 3, removedSince: [ids[0]] });
    await store.remove("board");
    await store.append([{ ledger: "board", events: [{ type: "task.created", actor: "user", data: { n: 2 } }] }]);
    const differing = await runDrill({ vault, store, path });
    expect([differing.ok, differing.differences.map(({ ledger }) => ledger)]).toEqual([false, ["board"]]);
  });

  it("says how far each context is backed up, and how much is missing", async () => {
    const store = await open();
    const [id] = await fill(store);
    const vault = await folderVault(onTestFinished);
    await makeBackup({ store, vault, path });
    const head = await store.head(id!);
    await (await (await openContexts({ store })).get(id!)).share("more", 1);
    const backups = await lastBackups(store);
    const said = backedUpTo(backups, { id: id!, events: await store.head(id!) });
    expect(said).toMatchObject({ place: vault.place.shown, seq: head, lag: 1 });
    expect(backedUpTo(backups, { id: "ctx_other", events: 1 })).toEqual(undefined);
  });
});

describe("a restored backup", () => {
  it("is only written to an empty store", async () => {
    const store = await openStoreOf("sqlite", onTestFinished);
    await fill(store);
    const vault = await folderVault(onTestFinished);
    await makeBackup({ store, vault, path });
    const before = await contentsOf(store);
    await expect(restoreBackup({ vault, to: store, path })).rejects.toMatchObject({ code: "refused" });
    expect(await contentsOf(store)).toEqual(before);
  });

  it("has new leases, no wake, no escalation, and knows where its tree is now", async () => {
    const store = await openStoreOf("sqlite", onTestFinished);
    const [id] = await fill(store);
    const given = { ledger: id!, project: "p", store: "s", user: "u", machine: "m", trust: "t" };
    const { startedEvent } = await import("../../src/contexts/start.ts");
    const event = startedEvent({ permissionMode: "bypassPermissions" }, given);
    const wake = [{ context: id!, agent: "lead", by: "cron", dueAt: 1 }];
    await store.append([{ ledger: id!, events: [event], summary: { open: true, busy: ["lead"] } }], { wake });
    const lease = await store.leases.acquire(`agent:${id}/lead`);
    const vault = await folderVault(onTestFinished);
    await makeBackup({ store, vault, path });
    const to = await openStoreOf("sqlite", onTestFinished);
    const { scheduled } = await restoreBackup({ vault, to, path: "/elsewhere" });
    expect(scheduled).toEqual([{ context: id, agent: "lead", dueAt: 1 }]);
    expect(await to.due(Number.MAX_SAFE_INTEGER)).toEqual([]);
    expect(await to.leases.inspect(`agent:${id}/lead`)).toEqual(undefined);
    expect((await readStart(to, id!))?.imported).toEqual(true);
    const [info] = (await (await openContexts({ store: to })).list()).filter((one) => one.id === id);
    expect([info!.root, info!.status]).toEqual(["/elsewhere", "idle"]);
    expect("held" in lease).toEqual(false);
  });

  it("keeps the order and the times of its contexts", async () => {
    const store = await openStoreOf("sqlite", onTestFinished);
    const ids = await fill(store, { contexts: 4 });
    await (await (await openContexts({ store })).get(ids[1]!)).share("newest", 1);
    const vault = await folderVault(onTestFinished);
    await makeBackup({ store, vault, path });
    const to = await openStoreOf("sqlite", onTestFinished);
    await restoreBackup({ vault, to, path });
    const times = async (of: typeof store) =>
      (await (await openContexts({ store: of })).list()).map(({ id, createdAt, updatedAt }) => [
        id,
        createdAt,
        updatedAt,
      ]);
    expect(await times(to)).toEqual(await times(store));
  });
});

describe("encryption", () => {
  const key = Buffer.from("a key that is long enough");

  it("hides what is in a backup and which ledgers it has", async () => {
    const store = await openStoreOf("sqlite", onTestFinished);
    const [id] = await fill(store);
    const vault = await folderVault(onTestFinished, key);
    await makeBackup({ store, vault, path });
    const names = await objectsIn(vault.place);
    const all = (await Promise.all(names.map((name) => vault.place.get(name)))).map((one) => one!.toString("latin1"));
    const seen = [...names, ...all].join("\n");
    expect([seen.includes(id!), seen.includes("board"), seen.includes("work 0")]).toEqual([false, false, false]);
    const to = await openStoreOf("sqlite", onTestFinished);
    await restoreBackup({ vault, to, path });
    const wanted = await contentsOf(store);
    expect(await contentsOf(to, headsIn(wanted))).toEqual(wanted);
  });

  it("says when the key is another one, is missing, or is not wanted", async () => {
    const store = await openStoreOf("sqlite", onTestFinished);
    await fill(store, { contexts: 1 });
    const [sealed, open] = [await folderVault(onTestFinished, key), await folderVault(onTestFinished)];
    for (const vault of [sealed, open]) await makeBackup({ store, vault, path });
    const to = await openStoreOf("sqlite", onTestFinished);
    const tried = async (dir: string, given?: string) => {
      const vault = openVault(await openPlace(dir), "project-1", given === undefined ? undefined : Buffer.from(given));
      await expect(makeBackup({ store, vault, path })).rejects.toMatchObject({ code: "refused" });
      return restoreBackup({ vault, to, path }).catch((error: Error) => error.message);
    };
    expect(await tried(sealed.dir, "another key, as long")).toMatch(/made with another key: give that one/);
    expect(await tried(sealed.dir)).toMatch(/is encrypted: give its key with --key-file/);
    expect(await tried(open.dir, "a key that is long enough")).toMatch(
      /is not encrypted, and a key is given: choose another place/,
    );
  });
});
