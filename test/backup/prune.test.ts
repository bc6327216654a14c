// Retention: what no kept backup needs goes; whatever a kept one needs stays, also when somebody is killed in between.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeBackup } from "../../src/backup/make-backup.ts";
import { listManifests } from "../../src/backup/manifest.ts";
import { prune } from "../../src/backup/prune.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { openContexts } from "../../src/contexts/open.ts";
import { contentsOf, fill, folderVault, headsIn, objectsIn, openStoreOf, ROOT } from "./world.ts";

const open = () => openStoreOf("sqlite", onTestFinished);

/** Five backups: in each a context comes, the one before goes, and a third goes on. */
async function history(key?: Buffer) {
  const store = await open();
  const vault = await folderVault(onTestFinished, key);
  const ids = await fill(store, { contexts: 8, events: 4 });
  const states: { id: string; contents: Record<string, unknown> }[] = [];
  let passing = ids[0]!;
  for (let round = 0; round < 5; round++) {
    const { report } = await makeBackup({ store, vault, path: ROOT, anew: round === 2 });
    states.push({ id: report.manifest!, contents: await contentsOf(store) });
    await store.remove(passing);
    await store.collect();
    const contexts = await openContexts({ store });
    const made = await contexts.create({ task: `passing ${round}` });
    await made.share("value", `${round} `.repeat(5_000));
    passing = made.id;
    await (await contexts.get(ids[1]!)).share(`round ${round}`, round);
  }
  return { store, vault, states };
}

describe("pruning", () => {
  it.each([undefined, Buffer.from("a key that is long enough")])(
    "keeps every kept backup restorable, and removes what none needs (%#)",
    async (key) => {
      const { store, vault, states } = await history(key);
      const before = await objectsIn(vault.place);
      const [, , third] = await listManifests(vault);
      const report = await prune({ vault, store, keepMs: 0, now: third!.at, graceMs: -1e9 });
      const kept = await listManifests(vault);
      expect(report.removed.length).toBeGreaterThan(0);
      expect(report.objects).toBeGreaterThan(report.removed.length);
      expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(states.slice(2).map(({ id }) => id)));
      expect((await objectsIn(vault.place)).length).toEqual(before.length - report.objects);
      for (const { id, contents } of states.filter((one) => kept.some((manifest) => manifest.id === one.id))) {
        const to = await open();
        await restoreBackup({ vault, to, path: ROOT, at: id });
        expect(await contentsOf(to, headsIn(contents))).toEqual(contents);
      }
    },
  );

  it("never removes the newest, and says what would go before it goes", async () => {
    const { store, vault, states } = await history();
    const before = await objectsIn(vault.place);
    const far = Date.now() + 1e10;
    const would = await prune({ vault, store, keepMs: 1, now: far, dryRun: true });
    expect(await objectsIn(vault.place)).toEqual(before);
    const done = await prune({ vault, store, keepMs: 1, now: far });
    expect(done).toEqual(would);
    const left = await listManifests(vault);
    expect(left.at(-1)!.id).toEqual(states.at(-1)!.id);
    const again = await prune({ vault, store, keepMs: 1, now: far });
    expect([again.removed, again.objects]).toEqual([[], 0]);
    const to = await open();
    await restoreBackup({ vault, to, path: ROOT });
    expect(await contentsOf(to, headsIn(states.at(-1)!.contents))).toEqual(states.at(-1)!.contents);
  });

  it("leaves alone what is young, and all values when it cannot tell which are needed", async () => {
    const { store, vault } = await history();
    const manifests = await listManifests(vault);
    const young = await prune({ vault, store, keepMs: 0, now: manifests.at(-1)!.at });
    expect(young.objects).toEqual(young.removed.length); // manifests only
    const lists = (await objectsIn(vault.place)).filter((name) => name.endsWith(".blobs.zst"));
    fs.writeFileSync(path.join(vault.dir, lists[0]!), "nonsense");
    const blobs = async () => (await objectsIn(vault.place)).filter((name) => name.includes("/blobs/"));
    const before = await blobs();
    const doubtful = await prune({ vault, store, keepMs: 1, now: Date.now() + 1e10 });
    expect(doubtful.doubt === undefined ? [] : await blobs()).toEqual(doubtful.doubt === undefined ? [] : before);
  });

  it("removes nothing while a backup is made, or when a kept one cannot be read", async () => {
    const { store, vault } = await history();
    const manifests = await listManifests(vault);
    fs.writeFileSync(path.join(vault.dir, "project-1", manifests.at(-1)!.name), "nonsense");
    const before = await objectsIn(vault.place);
    await expect(prune({ vault, store, keepMs: 1, now: Date.now() + 1e10 })).rejects.toMatchObject({ code: "damaged" });
    expect(await objectsIn(vault.place)).toEqual(before);
  });
});
