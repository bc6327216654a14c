// Backups with damage in them: it is found, by ledger and seq; nothing is restored unless it is whole, or what is whole was asked for.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runDrill } from "../../src/backup/drill.ts";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { listManifests } from "../../src/backup/manifest.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import type { Vault } from "../../src/backup/vault.ts";
import { openContexts } from "../../src/contexts/open.ts";
import { contentHashOf } from "../../src/ledger/content-hash.ts";
import { HoldfastError } from "../../src/ledger/error.ts";
import type { Store } from "../../src/ledger/store.ts";
import { contentsOf, fill, folderVault, headsIn, objectsIn, openStoreOf, ROOT } from "./world.ts";

const open = () => openStoreOf("sqlite", onTestFinished);
const KEY = Buffer.from("a key that is long enough");

/** Three backups, each with something new. */
async function backedUp(key?: Buffer): Promise<{ store: Store; vault: Vault & { dir: string }; ids: string[] }> {
  const store = await open();
  const vault = await folderVault(onTestFinished, key);
  const ids = await fill(store, { contexts: 3, events: 6 });
  for (let round = 0; round < 3; round++) {
    for (const id of ids) {
      const context = await (await openContexts({ store })).get(id);
      await context.share(`round ${round}`, `${round} of ${id} `.repeat(500));
    }
    await makeBackup({ store, vault, path: ROOT });
  }
  return { store, vault, ids };
}

const HARMS: Record<string, (file: string, other: string) => void> = {
  flipped(file) {
    const bytes = fs.readFileSync(file);
    bytes[Math.floor(bytes.length * Math.random())]! ^= 1 << Math.floor(Math.random() * 8);
    fs.writeFileSync(file, bytes);
  },
  cut: (file) => fs.truncateSync(file, Math.floor(fs.statSync(file).size * Math.random())),
  deleted: (file) => fs.rmSync(file),
  swapped(file, other) {
    const [a, b] = [fs.readFileSync(file), fs.readFileSync(other)];
    fs.writeFileSync(file, b);
    fs.writeFileSync(other, a);
  },
};

/** A restore is the same, or refused; with `partial` what it has is a beginning of what was, and what is not there is said. */
async function judge(vault: Vault, store: Store): Promise<"same" | "said"> {
  const wanted = await contentsOf(store);
  const to = await open();
  const outcome = await restoreBackup({ vault, to, path: ROOT }).catch((error: unknown) => error);
  if (!(outcome instanceof Error)) {
    const { beyond } = outcome as { beyond: { ledger: string; from: number }[] };
    const got = await contentsOf(to);
    const missing = Object.keys(wanted).filter((name) => (got[name] as [number] | undefined)?.[0] === undefined);
    expect(missing).toEqual([]);
    for (const [name, head] of Object.entries(headsIn(wanted))) {
      const here = beyond.find(({ ledger }) => ledger === name)?.from ?? head + 1;
      const both = [
        await contentHashOf(to, name, { upTo: here - 1 }),
        await contentHashOf(store, name, { upTo: here - 1 }),
      ];
      expect(both[0]).toEqual(both[1]);
    }
    return beyond.length === 0 ? "same" : "said";
  }
  expect(outcome).toMatchObject({ code: "damaged" });
  const left: string[] = [];
  for await (const { ledger } of to.list()) left.push(ledger);
  expect(left).toEqual([]); // nothing was changed
  const report = await restoreBackup({ vault, to, path: ROOT, partial: true }).catch((error: unknown) => error);
  if (report instanceof HoldfastError) return "said"; // no manifest is whole
  const { heads, losses, passedOver } = report as Awaited<ReturnType<typeof restoreBackup>>;
  expect(losses.length + passedOver.length).toBeGreaterThan(0);
  for (const [ledger, { head }] of Object.entries(heads))
    expect(await contentHashOf(to, ledger, { upTo: head })).toEqual(await contentHashOf(store, ledger, { upTo: head }));
  for (const { ledger, seq, only } of losses)
    if (ledger !== undefined && only === undefined) expect(seq).toEqual((heads[ledger]?.head ?? 0) + 1);
  return "said";
}

describe("a damaged backup", () => {
  it.each(["open", "encrypted"])(
    "(%s) is the same or says what is missing, for twenty damaged objects",
    async (kind) => {
      const { store, vault } = await backedUp(kind === "open" ? undefined : KEY);
      const whole = fs.mkdtempSync(`${vault.dir}-whole-`);
      onTestFinished(() => fs.rmSync(whole, { recursive: true, force: true }));
      fs.cpSync(vault.dir, whole, { recursive: true });
      const names = (await objectsIn(vault.place)).filter((name) => !name.startsWith("projects/"));
      let said = 0;
      for (let n = 0; n < 20; n++) {
        fs.rmSync(vault.dir, { recursive: true });
        fs.cpSync(whole, vault.dir, { recursive: true });
        const [one, other] = [names[(n * 7) % names.length]!, names[(n * 11 + 3) % names.length]!];
        const harm = Object.values(HARMS)[n % 4]!;
        harm(path.join(vault.dir, one), path.join(vault.dir, one === other ? names[0]! : other));
        said += (await judge(vault, store)) === "said" ? 1 : 0;
      }
      expect(said).toBeGreaterThan(5);
    },
    120_000,
  );

  it("says exactly which ledger and from which event, and the drill says the same", async () => {
    const { store, vault, ids } = await backedUp();
    const [id] = ids;
    const segments = (await objectsIn(vault.place)).filter(
      (name) => name.includes(`/${id}/`) && name.endsWith("jsonl.zst"),
    );
    const [, second] = segments;
    const from = Number(/(\d+)-\d+\./.exec(second!)![1]);
    fs.rmSync(path.join(vault.dir, second!));
    const to = await open();
    await expect(restoreBackup({ vault, to, path: ROOT })).rejects.toMatchObject({
      code: "damaged",
      message: expect.stringContaining(`${id} from event ${from}: events ${from} to`),
    });
    const report = await runDrill({ vault, store, path: ROOT });
    expect([report.ok, report.restored.losses.map(({ ledger, seq }) => [ledger, seq])]).toEqual([false, [[id, from]]]);
    const partial = await restoreBackup({ vault, to, path: ROOT, partial: true });
    expect([partial.heads[id!]!.head, partial.contexts]).toEqual([from - 1, 3]);
  });

  it("that lost a value restores the events, and says which event names it", async () => {
    const { vault, ids } = await backedUp();
    const blobs = (await objectsIn(vault.place)).filter((name) => name.includes("/blobs/"));
    for (const name of blobs) fs.rmSync(path.join(vault.dir, name));
    const to = await open();
    const { losses, heads } = await restoreBackup({ vault, to, path: ROOT, partial: true });
    expect(losses.length).toBeGreaterThanOrEqual(blobs.length);
    expect(losses.every(({ ledger, only, seq }) => ids.includes(ledger!) && only === "blob" && seq! > 0)).toEqual(true);
    expect(Object.keys(heads).sort()).toEqual([...ids, "board"].sort());
  });

  it("whose newest manifest is gone says which events lie beyond the one before", async () => {
    const { store, vault, ids } = await backedUp();
    const manifests = await listManifests(vault);
    fs.rmSync(path.join(vault.dir, "project-1", manifests.at(-1)!.name));
    const to = await open();
    const { manifest, beyond } = await restoreBackup({ vault, to, path: ROOT });
    expect(manifest).toEqual(manifests.at(-2)!.id);
    const heads = await Promise.all(ids.map((id) => store.head(id)));
    expect(beyond.map(({ ledger, to: last }) => [ledger, last]).sort()).toEqual(
      ids.map((id, i) => [id, heads[i]]).sort(),
    );
  });

  it("is mended by one that writes everything again", async () => {
    const { store, vault } = await backedUp();
    for (const name of await objectsIn(vault.place))
      if (name.endsWith(".jsonl.zst")) HARMS.flipped!(path.join(vault.dir, name), "");
    expect((await runDrill({ vault, store, path: ROOT })).ok).toEqual(false);
    await makeBackup({ store, vault, path: ROOT, anew: true });
    expect(await runDrill({ vault, store, path: ROOT })).toMatchObject({ ok: true });
  });
});
