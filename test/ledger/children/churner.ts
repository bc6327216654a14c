// A child that opens, appends once and closes, over and over: node churner.ts <file> <times>
import { openSqliteStore } from "../../../src/ledger/sqlite/index.ts";

for (let i = 0; i < Number(process.argv[3]); i++) {
  const store = await openSqliteStore(process.argv[2]!);
  if (store.readOnly) throw new Error(store.readOnly.message);
  const ledger = `${process.pid}-${i % 5}`;
  await store.append([
    { ledger: "shared", events: [{ type: "test.churned", actor: "x", data: i }] },
    { ledger, events: [{ type: "test.churned", actor: "x", data: i }] },
  ]);
  if (i % 7 === 6) await store.remove(ledger);
  await store.close();
}
