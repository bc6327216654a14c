// A child that takes a lease whenever it can, appends under it while it holds, and tries its old ones once more:
// node lease-writer.ts <place> <ledger> <name> <lease in ms>
import { setTimeout as sleep } from "node:timers/promises";
import { type HoldfastError, isHoldfastError } from "../../../../src/ledger/error.ts";
import type { Base, Fence, Lease } from "../../../../src/ledger/store.ts";
import { openPlace, say, untilToldToEnd } from "./place.ts";

const [place = "", ledger = "", name = "", leaseMs = "2000"] = process.argv.slice(2);
const LEASE = "agent";
const over = untilToldToEnd();
const store = await openPlace(place, { leaseMs: Number(leaseMs) });
/** Leases that were lost, of which it is not known yet whether the store still takes an append under them. */
const lost: Fence[] = [];
let made = 0;
say({ ready: name });

/** The code of what was refused; anything else is a bug. */
async function refusal(work: () => Promise<void>): Promise<HoldfastError["code"] | undefined> {
  try {
    await work();
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    return error.code;
  }
  return undefined;
}

async function append(fence: Fence, base: Base | undefined): Promise<Base | undefined> {
  const { term, token } = fence;
  const id = `${name}-${made++}`;
  const events = [{ id, type: "test.held", actor: name, data: { term, token } }];
  const [stored] = await store.append([{ ledger, events, ...(base && { base }) }], { lease: fence });
  if (!stored) return undefined;
  say({ ledger, id, seq: stored.seq, term, token, at: Date.now() });
  return stored.sum === undefined ? undefined : { seq: stored.seq, sum: stored.sum };
}

async function tryOldOnes(): Promise<void> {
  for (const fence of [...lost]) {
    const error = await refusal(async () => void (await append(fence, undefined)));
    if (error === "unreachable") continue;
    lost.splice(lost.indexOf(fence), 1);
    say({ old: fence.term, answer: error ?? "accepted" });
  }
}

/** As a host does: folds, then appends on what it folded. */
async function work(lease: Lease): Promise<void> {
  const { term, token } = lease;
  const fence = { name: LEASE, term, token };
  let holds = true;
  const stop = lease.keep(() => {
    holds = false;
    say({ stopped: term, at: Date.now() });
  });
  let error = await refusal(async () => {
    let base: Base | undefined;
    for await (const { seq, sum } of store.read(ledger)) base = sum === undefined ? undefined : { seq, sum };
    while (holds && !over.aborted) {
      base = await append(fence, base);
      await sleep(20);
    }
  });
  stop();
  if (!error && holds) error = await refusal(() => lease.release());
  else lost.push(fence);
  if (error) say({ error, term, at: Date.now() });
}

while (!over.aborted) {
  await tryOldOnes();
  const error = await refusal(async () => {
    const lease = await store.leases.acquire(LEASE);
    if ("held" in lease) await sleep(50);
    else await work(lease);
  });
  if (error) say({ error });
}
await tryOldOnes();
await store.close();
