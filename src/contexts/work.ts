// Work without the loop: whoever works on a context holds its lease, so that a killed process leaves it interrupted, not running.
import { HoldfastError } from "../ledger/error.ts";
import { holderText } from "../ledger/holder.ts";
import type { AcquireOptions, Fence, HeldBy } from "../ledger/store.ts";
import type { ContextLedger } from "./context-ledger.ts";
import { agentLease, LEAD_AGENT, type Summary } from "./listing.ts";

export interface Work {
  readonly agent: string;
  /** Aborted when the lease was lost: stop at once, another process has the work. */
  readonly signal: AbortSignal;
  /** Fences writes: pass it to `contexts.get(id, { lease })`. */
  readonly lease: Fence;
  /** The work was taken up from a process that did not end it. */
  readonly takenUp: boolean;
  /** `paused` can be taken up again. */
  end(reason: "done" | "paused" | "failed", opts?: { error?: string }): Promise<void>;
  /** This process lets it go, and it is not over: whoever looks next finds it interrupted. */
  leave(): Promise<void>;
}

export interface BeginOptions {
  agent?: string;
  wait?: AbortSignal;
  onWait?: AcquireOptions["onWait"];
  /** Hosts that find nobody at work may take it up, until it ended: the wake that tells them of it is set by this name. */
  wakesHosts?: string;
}

/** Contract: throws `held` while another live process works as that agent. */
export async function beginWork(
  ledger: ContextLedger,
  { agent = LEAD_AGENT, wait, onWait, wakesHosts: by }: BeginOptions = {},
): Promise<Work> {
  const { store, id } = ledger;
  const lease = await store.leases.acquire(agentLease(id, agent), wait ? { wait, onWait } : {});
  if ("held" in lease) throw heldError(id, agent, lease.held);
  const fence = { lease: { name: lease.name, term: lease.term, token: lease.token } };
  const wakes = (dueAt: number | null) => (by === undefined ? {} : { wake: [{ context: id, agent, by, dueAt }] });
  const lost = new AbortController();
  const stopKeeping = lease.keep(() => lost.abort());
  const takenUp = (await ledger.catchUp()).agents.get(agent)?.status === "running";
  await ledger.decide((state) => {
    const agents = [...new Set([...state.agents.keys(), agent])].filter((one) => one !== LEAD_AGENT);
    const summary: Summary = { work: true, reason: null, agents };
    return { events: [{ type: "work.started", actor: agent, data: { agent } }], summary, ...wakes(Date.now()) };
  }, fence);

  return {
    agent,
    signal: lost.signal,
    lease: fence.lease,
    takenUp,
    async end(reason, { error } = {}) {
      stopKeeping();
      await ledger.decide((state) => {
        const others = [...state.agents].some(([name, note]) => name !== agent && note.status === "running");
        const summary: Summary = { work: others, reason: others ? null : reason === "paused" ? "interrupted" : reason };
        const data = { agent, reason, ...(error !== undefined && { error }) };
        return { events: [{ type: "work.ended", actor: agent, data }], summary, ...wakes(null) };
      }, fence);
      await lease.release();
    },
    async leave() {
      stopKeeping();
      await lease.release();
    },
  };
}

function heldError(id: string, agent: string, held: HeldBy): HoldfastError {
  return new HoldfastError(
    "held",
    `${holderText(held)} works on ${id} as ${agent}: end it first, or begin as another agent`,
    { detail: held },
  );
}
