// Places that somebody else may write to: forged names and manifests, objects that are none of ours, small ones that unpack to much.
import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { copyAllLedgers } from "../../src/backup/copy-store.ts";
import { runDrill } from "../../src/backup/drill.ts";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { listManifests } from "../../src/backup/manifest.ts";
import { openPlace } from "../../src/backup/place.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { readKey } from "../../src/backup/sealing.ts";
import { openVault, type Vault } from "../../src/backup/vault.ts";
import type { Store } from "../../src/ledger/store.ts";
import { startBucket } from "./bucket.ts";
import { fill, folderVault, objectsIn, openStoreOf, ROOT } from "./world.ts";

const open = () => openStoreOf("sqlite", onTestFinished);
const KEY = Buffer.from("a key that is long enough");
const NOTE = { type: "note.made", actor: "me", data: 1 };

async function backedUp(key?: Buffer): Promise<{ store: Store; vault: Vault & { dir: string }; ids: string[] }> {
  const store = await open();
  const vault = await folderVault(onTestFinished, key);
  const ids = await fill(store, { contexts: 2, events: 5 });
  await makeBackup({ store, vault, path: ROOT });
  return { store, vault, ids };
}

async function ledgersOf(store: Store): Promise<string[]> {
  const names: string[] = [];
  for await (const { ledger } of store.list()) names.push(ledger);
  return names;
}

/** Under the name that its own checksum gives it: without a key anybody can. */
async function forge(vault: Vault, change: (stored: Record<string, unknown>) => unknown): Promise<string> {
  const newest = (await listManifests(vault)).at(-1)!;
  const found = await vault.get(newest.name);
  if (found.kind !== "whole") throw new Error(found.kind);
  const changed = change(JSON.parse(String(found.bytes)));
  const bytes = Buffer.from(typeof changed === "string" ? changed : JSON.stringify(changed));
  const name = newest.name.replace(/\.[0-9a-f]{16}\./, `.${hash("sha256", bytes, "hex").slice(0, 16)}.`);
  await vault.remove(newest.name);
  await vault.put(name, bytes);
  return name;
}

const STRANGE = [
  "..",
  "ctx_x/../../../victim",
  "ctx_X",
  "a/b",
  ".hidden",
  "__proto__",
  "ctx_a\u001b[31m",
  "a b",
  "ctx_",
];

describe("names of ledgers that Holdfast does not give", () => {
  it.each(STRANGE)("%j in a backup is refused by a restore, and left out and said by a partial one", async (name) => {
    const { store, vault } = await backedUp();
    await forge(vault, (stored) => ({
      ...stored,
      ledgers: (stored.ledgers as unknown[][]).map(([ledger, ...rest]) => [
        ledger === "board" ? name : ledger,
        ...rest,
      ]),
    }));
    const to = await open();
    await expect(restoreBackup({ vault, to, path: ROOT })).rejects.toMatchObject({
      code: "damaged",
      message: expect.stringContaining(`${name} from event 1: this is no name that Holdfast gives`),
    });
    expect(await ledgersOf(to)).toEqual([]);
    expect((await runDrill({ vault, store, path: ROOT })).ok).toEqual(false);
    const { losses } = await restoreBackup({ vault, to, path: ROOT, partial: true });
    expect(losses.map(({ ledger }) => ledger)).toEqual([name]);
    expect(await ledgersOf(to)).not.toContain(name);
  });

  it("in a store are not copied, and not backed up", async () => {
    const { store, vault, ids } = await backedUp();
    await store.append([{ ledger: "ctx_x/../../../victim", events: [NOTE] }]);
    const to = await open();
    await expect(copyAllLedgers({ from: store, to })).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("ctx_x/../../../victim: this is no name that Holdfast gives"),
    });
    expect(await ledgersOf(to)).toEqual([]);
    const { report } = await makeBackup({ store, vault, path: ROOT, anew: true });
    expect([report.strange, report.ledgers]).toEqual([["ctx_x/../../../victim"], 3]);
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, same: 3, absent: [] });
    expect((await restoreBackup({ vault, to, path: ROOT })).contexts).toEqual(ids.length);
  });
});

describe("a forged manifest", () => {
  it.each<[string, (stored: Record<string, unknown>) => unknown]>([
    ["without fields", () => ({ holdfast: "backup", format: 1 })],
    ["that is cut", (stored) => JSON.stringify(stored).slice(0, 40)],
    ["with rows that are none", (stored) => ({ ...stored, ledgers: [["board"]] })],
    ["with chunks that are paths", (stored) => ({ ...stored, packs: [["pack-1", ["../../x"]]] })],
    ["of another time than it is called after", (stored) => ({ ...stored, at: 1 })],
  ])("%s is named, and nothing is restored", async (_, change) => {
    const { vault } = await backedUp();
    const name = await forge(vault, change);
    const to = await open();
    await expect(restoreBackup({ vault, to, path: ROOT })).rejects.toMatchObject({
      code: "damaged",
      message: expect.stringContaining(`${name} is damaged: it is no manifest`),
    });
    expect(await ledgersOf(to)).toEqual([]);
  });
});

describe("a backup that was taken back", () => {
  it.each([undefined, KEY])("is noticed by the drill, which says which one is missing (key: %s)", async (key) => {
    const { store, vault } = await backedUp(key);
    const older = await objectsIn(vault.place);
    const [later] = await fill(store, { contexts: 1, events: 5 });
    const { report } = await makeBackup({ store, vault, path: ROOT });
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, absent: [] });
    for (const name of await objectsIn(vault.place)) if (!older.includes(name)) await vault.place.remove(name);
    const drill = await runDrill({ vault, store, path: ROOT });
    expect([drill.ok, drill.missing, drill.absent]).toEqual([false, report.manifest, [later]]);
    await makeBackup({ store, vault, path: ROOT });
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, absent: [] });
  });

  it("is noticed by what is missing in it, where the store has recorded nothing", async () => {
    const { store, vault, ids } = await backedUp();
    await forge(vault, (stored) => ({
      ...stored,
      ledgers: (stored.ledgers as unknown[][]).filter(([ledger]) => ledger !== ids[0]),
    }));
    const to = await open();
    await copyAllLedgers({ from: store, to });
    for (const name of await ledgersOf(to)) if (name.startsWith("backup:")) await to.remove(name);
    expect(await runDrill({ vault, store: to, path: ROOT })).toMatchObject({ ok: false, same: 2, absent: [ids[0]] });
  });

  it("is not confused with one that is older than a ledger, nor with another one that was asked for", async () => {
    const { store, vault } = await backedUp();
    const [first] = await listManifests(vault);
    await fill(store, { contexts: 1, events: 5 });
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true, absent: [] });
    await makeBackup({ store, vault, path: ROOT });
    expect(await runDrill({ vault, store, path: ROOT, at: first!.id })).toMatchObject({ ok: true, absent: [] });
  });
});

describe("objects that are none of ours", () => {
  it("are passed over and named in an encrypted place", async () => {
    const { store, vault } = await backedUp(KEY);
    const stray = path.join(vault.dir, "project-1", "manifests", "zz");
    fs.writeFileSync(stray, "x");
    fs.writeFileSync(`${stray}.sealed`, "x");
    await fill(store, { contexts: 1, events: 5 });
    const again = openVault(vault.place, "project-1", KEY);
    await makeBackup({ store, vault: again, path: ROOT });
    expect([...again.strays].sort()).toEqual(["manifests/zz"]);
    const restoring = openVault(vault.place, "project-1", KEY);
    await restoreBackup({ vault: restoring, to: await open(), path: ROOT });
    expect([...restoring.strays]).toEqual(["manifests/zz"]);
  });

  it("do not make a place that was never encrypted one, and the key is not said to be too much", async () => {
    const { store, vault } = await backedUp();
    const sealed = openVault(vault.place, "project-1", KEY);
    const said = await makeBackup({ store, vault: sealed, path: ROOT }).catch((error: Error) => error.message);
    expect(said).toMatch(/is not encrypted, and a key is given: choose another place for an encrypted one$/);
    await expect(restoreBackup({ vault: sealed, to: await open(), path: ROOT })).rejects.toThrow(said as string);
  });
});

describe("an object", () => {
  const zeros = (bytes: number) => zstdCompressSync(Buffer.alloc(bytes));

  it.each([
    ["ledgers/board/0000000001-0000000001.0123456789abcdef.0.jsonl.zst", (16 << 20) + 1],
    [`blobs/ab/${"ab".repeat(32)}.zst`, (16 << 20) + 1],
    [`chunks/${"ab".repeat(32)}.zst`, (8 << 20) + 1],
  ])("that unpacks to more than can be meant is not unpacked: %s", async (name, bytes) => {
    const vault = await folderVault(onTestFinished);
    await vault.place.put(`project-1/${name}`, zeros(bytes));
    expect(await vault.get(name)).toEqual({ kind: "damaged", why: "it unpacks to more than was ever packed" });
    await vault.place.put(`project-1/${name}`, zeros(bytes - 1));
    expect(await vault.get(name)).toMatchObject({ kind: "whole" });
  });

  it.each(["folder", "bucket"])("that is larger than can be meant is not read to its end (%s)", async (kind) => {
    const bucket = kind === "bucket" ? await startBucket(onTestFinished) : undefined;
    const { url, env } = bucket ?? { url: (await folderVault(onTestFinished)).dir, env: {} };
    const place = await openPlace(url, { env });
    const name = `chunks/${"ab".repeat(32)}.zst`;
    await place.put(`project-1/${name}`, Buffer.alloc(9 << 20));
    const most = (8 << 20) + (64 << 10);
    expect(await openVault(place, "project-1", undefined).get(name)).toEqual({
      kind: "damaged",
      why: `it has more than the ${most} bytes that can have been written`,
    });
    expect((await place.get(`project-1/${name}`))?.length).toEqual(9 << 20);
  });

  it("that is a pipe, or a link to what never ends, is damaged", async () => {
    const vault = await folderVault(onTestFinished);
    const name = `blobs/ab/${"ab".repeat(32)}.zst`;
    const file = path.join(vault.dir, "project-1", name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.symlinkSync("/dev/zero", file);
    expect(await vault.get(name)).toEqual({ kind: "damaged", why: "it is no file" });
  });

  it.each([undefined, KEY])("of ours that packs all too well is read again (key: %s)", async (key) => {
    const vault = await folderVault(onTestFinished, key);
    const bytes = Buffer.alloc((16 << 20) + 1, "x");
    const name = `blobs/ab/${"ab".repeat(32)}.zst`;
    await vault.put(name, bytes);
    const found = await vault.get(name);
    expect(found.kind === "whole" && found.bytes.equals(bytes)).toEqual(true);
  });

  it("that no restore would take is not written", async () => {
    const vault = await folderVault(onTestFinished);
    await expect(vault.put("chunks/x", Buffer.alloc((8 << 20) + 1))).rejects.toMatchObject({ code: "limit" });
    expect(await objectsIn(vault.place)).toEqual([]);
  });

  it("with more lines than its name has events is not parsed", async () => {
    const { vault } = await backedUp();
    const name = (await objectsIn(vault.place)).find((one) => one.includes("/board/"))!;
    await vault.place.put(name, zstdCompressSync(Buffer.from("0\n".repeat(8 << 20))));
    await expect(restoreBackup({ vault, to: await open(), path: ROOT })).rejects.toThrow(
      "it has other events than its name says",
    );
  });
});

it("an empty key is refused, and none at all is none", () => {
  const file = path.join(fs.mkdtempSync(path.join(ROOT, "holdfast-key-")), "key");
  onTestFinished(() => fs.rmSync(path.dirname(file), { recursive: true }));
  fs.writeFileSync(file, "");
  expect(() => readKey(undefined, { HOLDFAST_BACKUP_KEY: "" })).toThrow("HOLDFAST_BACKUP_KEY is empty: give a key");
  expect(() => readKey(file, {})).toThrow("has 0 bytes");
  expect(readKey(undefined, {})).toEqual(undefined);
});
