// A process whose clock is another than the server's: appends, sets a wake, takes a lease, says what it got, and keeps it until it is ended.
import { openRedisStore } from "../../../src/ledger/redis/index.ts";
import { event } from "../../../src/testing/store-conformance-steps.ts";

const store = await openRedisStore(process.argv[2]!, { leaseMs: 60_000 });
const now = Date.now();
const wake = [{ context: "l", agent: null, by: "t", dueAt: now + 60_000 }];
const [first] = await store.append([{ ledger: "l", events: [event(1)], summary: {} }], { wake });
const lease = await store.leases.acquire("agent:x");
if ("held" in lease) throw new Error("held");
const { name, term, token } = lease;
await store.append([{ ledger: "l", events: [event(2)] }], { lease: { name, term, token } });
console.log(JSON.stringify({ now, at: first!.at, term, due: (await store.due(now + 60_000)).length }));
setInterval(() => undefined, 1_000);
