// An older copy of the database put back under processes that have it open: whoever goes on with what it knows is refused.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createCodec } from "../../src/ledger/events.ts";
import { createFold } from "../../src/ledger/fold.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { Lease, Store } from "../../src/ledger/store.ts";
import { all, code, event, seqs } from "../../src/testing/store-conformance-steps.ts";

let folder: string;
let file: string;
let older: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-rollback-"));
  file = join(folder, "p.db");
  older = join(folder, "older.db");
  store = await openSqliteStore(file);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function keepCopy(): Promise<void> {
  const db = new DatabaseSync(file);
  await backup(db, older);
  db.close();
}

/** As a restore does it: through SQLite, so that everyone who has the file open sees the older state. */
async function putBack(): Promise<void> {
  copyFileSync(older, `${older}.source`);
  const source = new DatabaseSync(`${older}.source`);
  await backup(source, file);
  source.close();
}

async function take(name: string): Promise<Lease> {
  const lease = await store.leases.acquire(name);
  if ("held" in lease) throw new Error(`${name} is held`);
  return lease;
}

const fence = ({ name, term, token }: Lease) => ({ lease: { name, term, token } });
const write = (n: number) => [{ ledger: "l", events: [event(n)] }];

it("a lease that was given out again under the same term fences the one from before", async () => {
  await store.append(write(1));
  await keepCopy();
  const before = await take("agent:x");
  expect(await code(store.append(write(2), fence(before)))).toEqual("ok");
  await putBack();
  const after = await take("agent:x");
  expect([before.term, after.term, before.token === after.token]).toEqual([1, 1, false]);
  expect([await code(store.append(write(3), fence(before))), await before.renew()]).toEqual(["fenced", false]);
  await before.release();
  expect([await code(store.append(write(3), fence(after))), await after.renew()]).toEqual(["ok", true]);
  expect((await all(store, "l")).map((one) => one.data)).toEqual([{ n: 1 }, { n: 3 }]);
});

it("a writer that has folded what is gone is refused, also when others have written as much since", async () => {
  const [first] = await store.append(write(1));
  await keepCopy();
  const [second] = await store.append(write(2));
  await putBack();
  const append = (n: number, base: { seq: number; sum?: string } | undefined) =>
    code(store.append([{ ...write(n)[0]!, base: { seq: base!.seq, sum: base!.sum! } }]));
  expect(await append(3, second)).toEqual("rolled_back");
  await store.append(write(4));
  expect(await append(3, second)).toEqual("rolled_back");
  await store.append(write(5));
  expect([await append(3, second), await append(3, first)]).toEqual(["rolled_back", "ok"]);
  expect((await all(store, "l")).map((one) => (one.data as { n: number }).n)).toEqual([1, 4, 5, 3]);
});

it("what rests on another past is refused once; then every open ledger of the store is folded anew, but for holders of leases", async () => {
  const defs = { "t.happened": { v: 1, schema: () => z.strictObject({ n: z.number() }) } };
  const slice = {
    version: 1,
    initial: () => [] as number[],
    apply: (list: number[], e: { seq: number }) => [...list, e.seq],
  };
  const open = (name = "l") =>
    openLedger({ store, name, codec: createCodec([{ events: defs }]), fold: createFold({ slice }) });
  const ledger = await open();
  const beside = await open("beside");
  const held = await open("held");
  await ledger.append([event(1)]);
  await beside.append([event(1)]);
  const lease = await take("agent:x");
  await held.append([event(1)], fence(lease));
  await keepCopy();
  await ledger.append([event(2)]);
  await beside.append([event(2)]);
  await held.append([event(2)], fence(lease));
  await putBack();
  expect(await code(held.append([event(3)], fence(lease)))).toEqual("rolled_back");
  expect(await code(held.append([event(3)], fence(lease)))).toEqual("rolled_back");
  // Nobody has written to these since.
  expect([await ledger.catchUp(), await beside.catchUp()]).toEqual([1, 1]);
  expect(ledger.state.slices.slice).toEqual([1]);
  await ledger.append([event(4)]);
  expect([seqs(await all(store, "l")), ledger.state.seq]).toEqual([[1, 2], 2]);
});
