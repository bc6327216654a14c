// A child that takes a lease and keeps it: node holder.ts <file> <lease> [--renew] [--interactive]
import { openSqliteStore } from "../../../src/ledger/sqlite/index.ts";

const [file, name] = [process.argv[2]!, process.argv[3]!];
const store = await openSqliteStore(file, { interactive: process.argv.includes("--interactive") });
const lease = await store.leases.acquire(name);
if (!("renew" in lease)) throw new Error("held");
console.log(JSON.stringify({ term: lease.term, holder: lease.holder }));
setInterval(async () => {
  if (process.argv.includes("--renew")) console.log((await lease.renew()) ? "renewed" : "lost");
}, 50);
