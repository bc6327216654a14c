// The process's side of leases: takes an agent, keeps its lease alive, and stops it at once when the lease is lost.

import { contextEvents } from "../contexts/events.ts";
import { isContextId } from "../contexts/listing.ts";
import { CONFIG, newContext } from "../contexts/new-context.ts";
import { crashPoint } from "../ledger/crash-point.ts";
import type { Decision } from "../ledger/decide.ts";
import { HoldfastError } from "../ledger/error.ts";
import { type Codec, createCodec, type EventGroup } from "../ledger/events.ts";
import { createFold, type Fold, type State } from "../ledger/fold.ts";
import { holderText, sameProcess, thisHolder, thisMachine } from "../ledger/holder.ts";
import { newId } from "../ledger/id.ts";
import { type Ledger, openLedger } from "../ledger/ledger.ts";
import { own } from "../ledger/own.ts";
import type { AcquireOptions, EventInput, HeldBy, Lease, Store } from "../ledger/store.ts";
import type { Model } from "../models/model.ts";
import { type AgentHandle, contextState, createAgent, LEAD, viewOf } from "./agent.ts";
import { loopEvents } from "./events.ts";
import { mergeSeams } from "./merge.ts";
import { withMachine } from "./moved.ts";
import type { Outstanding } from "./outstanding.ts";
import type { HasWork, Mechanism, Progress } from "./seams.ts";
import { acrossTimelines } from "./timelines.ts";
import { transcript, transcriptIn } from "./transcript.ts";

/** Whoever counts the agents of a context guards this. */
const AGENTS = "ctx:agents";

export interface Host {
  readonly codec: Codec;
  readonly fold: Fold;
  open(context: string): Promise<Ledger>;
  /** Begins a context whose first agent is `lead`, with what else is to be true of it. */
  create(opts: NewContextOptions): Promise<string>;
  /** The context as it is followed here, shared with the agents that are held; to be left again. */
  follow(context: string): Promise<{ ledger: Ledger; leave: () => void }>;
  /** One more agent in a context, with what else is to be true from its first moment; nothing when it is there already. */
  addAgent(context: string, opts: NewAgent): Promise<void>;
  /** Whether a process that is to be waited for holds the agent: one that hangs past its lease is not. */
  isHeld(context: string, agent: string): Promise<boolean>;
  /** Whether the idle agent has something to take in, as far as can be seen without holding it. */
  wants(ledger: Ledger, agent: string): Promise<HasWork>;
  /** Ledgers beside a context's own that may give its agents work. */
  readonly alsoWokenBy: readonly string[];
  /** What is not over for that agent while it is idle. */
  outstanding(ledger: Ledger, agent: string): Outstanding[];
  /** Contract: throws `held` (with HeldBy as detail) while another live host has it. */
  take(context: string, opts?: TakeOptions): Promise<Taken>;
  /** Releases every lease. */
  close(): Promise<void>;
}

const leaseOf = (context: string, agent: string): string => `agent:${context}/${agent}`;

export interface NewContextOptions {
  /** Its id, for programs that keep their own; default: a new one. Contract: `conflict` when there is one already. */
  id?: string;
  root: string;
  title: string;
  facts?: NewAgent["events"];
  /** What whoever begins it says of it, not its agent. */
  said?: (context: string) => EventInput[];
  /** Work beside conversations: `-c` does not go on with it. */
  aside?: boolean;
}

export interface NewAgent {
  name: string;
  /** The agent that it works for, which may read its conversation; none: it is the program's. */
  startedBy?: string;
  cwd?: string;
  /** Facts recorded in the same append. */
  events?: Omit<EventInput, "actor">[];
  /** Contract: refused with `limit` when the context has so many agents already, whoever added them. */
  most?: number;
}

/** `wait`: for a stopped or remote holder's lease to lapse, instead of refusing. */
export interface TakeOptions extends AcquireOptions {
  agent?: string;
  onProgress?: (progress: Progress) => void;
}

export interface Taken {
  agent: AgentHandle;
  ledger: Ledger;
  lease: Lease;
  release(): Promise<void>;
}

export interface HostOptions {
  store: Store;
  mechanisms: readonly Mechanism[];
  model: Model;
  version: string;
  /** Of the mechanisms, those of the embedding program: other programs may not have them. */
  own?: readonly Mechanism[];
  /** Where agents work whose context names no root. */
  root?: string;
  /** Whether a folder is the project's: asked of paths that stand in a store which other machines reach. */
  isOwnFolder?: ((folder: string) => boolean) | undefined;
}

/** Schemas and fold of the loop and its mechanisms: what any process needs to read a context. `own`: those of the embedding program. */
export function readers(
  mechanisms: readonly Mechanism[],
  own: readonly Mechanism[] = [],
): { codec: Codec; fold: Fold } {
  const groups = mechanisms.flatMap(({ name, events, required = false }): EventGroup[] => {
    if (!events) return [];
    return [own.some((one) => one.name === name) ? { events, extension: { mechanism: name, required } } : { events }];
  });
  const names = mechanisms.map((m) => m.name);
  const taken = names.find((name, i) => names.indexOf(name) !== i || name === "transcript" || name === "extensions");
  if (taken !== undefined)
    throw new HoldfastError("invalid", `a mechanism may not be named ${taken}: the name is taken`);
  const slices = mechanisms.flatMap((m) => (m.fold ? [[m.name, acrossTimelines(m.fold)]] : []));
  return {
    codec: createCodec([{ events: contextEvents }, { events: loopEvents }, ...groups]),
    // Whoever runs agents reads every event: observers are told of all, and what is not known is not passed over unseen.
    fold: createFold({ transcript, ...Object.fromEntries(slices) }, { everything: true }),
  };
}

export function createHost(opts: HostOptions): Host {
  const { store, mechanisms, model } = opts;
  const { codec, fold } = readers(mechanisms, opts.own);
  const seams = mergeSeams(mechanisms);
  const taken = new Set<Taken>();
  const open = (context: string) => openLedger({ store, name: context, codec, fold });
  const openShared = shareLedgers(open);
  return {
    codec,
    fold,
    open,
    create: (asked) => beginContext({ store, codec, version: opts.version }, asked),
    follow: (context) => upToDate(openShared(context)),
    async isHeld(context, agent) {
      const by = await store.leases.inspect(leaseOf(context, agent));
      return by !== undefined && by.expiresInMs > 0;
    },
    async wants(ledger, agent) {
      const view = viewOf(ledger, agent);
      if (view.state.turn || view.state.queue.length > 0) return true;
      return seams.wants(view);
    },
    alsoWokenBy: mechanisms.flatMap((m) => m.alsoWokenBy ?? []),
    outstanding: (ledger, agent) => seams.outstanding(viewOf(ledger, agent)),
    async addAgent(context, agent) {
      const { ledger, leave } = openShared(context);
      try {
        const events = store.reach === "network" ? agent.events?.map(withMachine) : agent.events;
        const asked = { ...agent, ...(events && { events }), root: opts.root };
        await (await ledger).decide((state) => decideAgent(state, context, asked));
      } finally {
        leave();
      }
    },
    async take(context, takeOpts = {}) {
      const name = takeOpts.agent ?? LEAD;
      if (!isContextId(context)) throw new HoldfastError("not_found", `${context} is not the id of a context`);
      const lease = await store.leases.acquire(leaseOf(context, name), takeOpts);
      if ("held" in lease) throw held(context, lease.held);
      const { ledger, leave } = await openHeld(store, openShared(context), { context, name, lease });
      const agent = createAgent({ ledger, lease, name, seams, model, ...takeOpts });
      if (agent.turn.root === "" && opts.root !== undefined && !ledger.readOnly)
        await agent.turn.append([{ type: "agent.moved", data: { cwd: opts.root, root: opts.root } }]);
      else if (store.reach === "network" && opts.root !== undefined && !ledger.readOnly) {
        const { arrival } = await import("./machine.ts");
        const arrived = arrival(ledger, name, { root: opts.root, isOwn: opts.isOwnFolder });
        if (arrived.length > 0) await agent.turn.append(arrived);
      }
      const takenOver = takeover(lease);
      if (takenOver && !ledger.readOnly) await agent.turn.append([takenOver]);
      const whom = { context, agent: name };
      let isLost = false;
      const lose = () => {
        if (isLost) return;
        isLost = true;
        for (const m of mechanisms) m.leaseLost?.(whom);
        agent.interrupt("lease", { cause: lease.problem?.() });
      };
      const stopKeeping = lease.keep(lose, (leftMs) => {
        for (const m of mechanisms) m.leaseRenewed?.(whom, leftMs);
      });
      const release = async () => {
        taken.delete(it);
        await agent.end("exit");
        stopKeeping();
        leave();
        if (lease.isOver()) lose();
        // One that is lost runs out by itself: until then nobody begins what may still come to its end here.
        if (!isLost) await lease.release();
      };
      const it: Taken = { agent, ledger, lease, release };
      taken.add(it);
      return it;
    },
    async close() {
      for (const m of mechanisms) await quietly(() => m.close?.());
      for (const it of taken) await it.release();
    },
  };
}

/** Undefined: nobody had it, or its holder let it go. */
function takeover({ takenFrom, tookOver, holder }: Lease): { type: string; data: unknown } | undefined {
  if (!takenFrom) return undefined;
  const { machine, pid } = takenFrom;
  const was = machine !== holder.machine ? "unseen" : tookOver ? "alive" : "gone";
  return {
    type: "agent.taken",
    data: { from: { machine, pid, was }, by: { machine: holder.machine, pid: holder.pid } },
  };
}

async function beginContext(
  { store, codec, version }: { store: Store; codec: Codec; version: string },
  { id, root, title, facts = [], said = () => [], aside }: NewContextOptions,
): Promise<string> {
  const context = id ?? newId("ctx");
  if (!isContextId(context))
    throw new HoldfastError(
      "invalid",
      `${JSON.stringify(context)} cannot be the id of a context: give ctx_ and 1 to 100 letters, digits, _ or -`,
    );
  const first = [...said(context), ...facts.map((fact) => ({ ...fact, actor: LEAD }))];
  const made = newContext({
    id: context,
    title,
    root,
    author: "user",
    version,
    facts: first,
    ...(store.reach === "network" && { machine: thisMachine() }),
    ...(aside && { summary: { aside } }),
  });
  const fresh = id === undefined ? {} : { expect: { [CONFIG]: 0 } };
  await store.append([{ ...made, ...fresh, events: made.events.map((e) => codec.encode(e)) }]);
  crashPoint("context.created");
  return context;
}

interface SharedLedger {
  ledger: Promise<Ledger>;
  /** Nobody here followed it before: it is as the store has it. */
  fresh: boolean;
  leave: () => void;
}

/** The agents of one context that are held here share its state. */
function shareLedgers(open: (context: string) => Promise<Ledger>): (context: string) => SharedLedger {
  const shared = new Map<string, { ledger: Promise<Ledger>; users: number }>();
  return (context) => {
    const entry = shared.get(context) ?? { ledger: open(context), users: 0 };
    shared.set(context, entry);
    entry.users++;
    const leave = () => {
      if (--entry.users === 0) shared.delete(context);
    };
    entry.ledger.catch(leave);
    return { ledger: entry.ledger, leave, fresh: entry.users === 1 };
  };
}

/** With what others recorded meanwhile. Contract: left again when that cannot be read. */
async function upToDate({ ledger, leave, fresh }: SharedLedger): Promise<UpToDate> {
  const opened = await ledger;
  try {
    return { ledger: opened, leave, recorded: fresh ? 0 : await opened.catchUp() };
  } catch (error) {
    leave();
    throw error;
  }
}

/** `recorded`: up to where; agents of this process may hold more that is not recorded yet. */
interface UpToDate {
  ledger: Ledger;
  leave: () => void;
  recorded: number;
}

/** The ledger of an agent whose lease was just taken. Contract: when it is not there, the lease is let go and the ledger left. */
async function openHeld(
  store: Store,
  shared: SharedLedger,
  { context, name, lease }: { context: string; name: string; lease: Lease },
): Promise<{ ledger: Ledger; leave: () => void }> {
  try {
    const { ledger, leave, recorded } = await upToDate(shared); // with what its last holder recorded
    try {
      // Who removes a context holds the leases of its agents: what is there now stays while this one is held.
      if (!shared.fresh && (await store.head(context)) < recorded)
        throw new HoldfastError("not_found", `context ${context} was removed`);
      if (!own(contextState(ledger).agents, name))
        throw new HoldfastError(
          "not_found",
          `context ${context} has no agent ${name}: see \`holdfast contexts show ${context}\``,
        );
    } catch (error) {
      leave();
      throw error;
    }
    return { ledger, leave };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/** `root`: where agents work whose context names none. */
function decideAgent(
  state: State,
  context: string,
  { name, startedBy = name, cwd, events = [], most, root: elsewhere }: NewAgent & { root: string | undefined },
): Decision {
  if (state.seq === 0) throw new HoldfastError("not_found", `there is no context ${context}`);
  const { agents, root } = transcriptIn(state);
  if (own(agents, name)) return { events: [] };
  if (most !== undefined && Object.keys(agents).length >= most)
    throw new HoldfastError("limit", `this context has ${most} agents already, its limit: no more can be added`);
  const place = cwd ?? (root || elsewhere || root);
  const created = { type: "agent.created", touches: [AGENTS], data: { name, cwd: place } };
  // Never the directory that this process happens to be in.
  const rooted = root === "" && elsewhere !== undefined && !events.some((e) => e.type === "agent.moved");
  const moved = rooted ? [{ type: "agent.moved", data: { cwd: place, root: elsewhere } }] : [];
  const itsFacts = [...moved, ...events].map((e) => ({ ...e, actor: name }));
  return { events: [{ ...created, actor: startedBy }, ...itsFacts], reads: [AGENTS] };
}

/** Whatever a mechanism makes of it, the others go on. */
async function quietly(work: () => Promise<void> | undefined): Promise<void> {
  try {
    await work();
  } catch {
    // As its contract says.
  }
}

function held(context: string, by: HeldBy): HoldfastError {
  if (sameProcess(by.holder, thisHolder(false)))
    return new HoldfastError(
      "held",
      `context ${context} is held by this very process (process ${by.holder.pid}): let it go first (\`await run.taken.release()\`), or work in another context`,
      { detail: by },
    );
  return new HoldfastError(
    "held",
    `${holderText(by)} works in context ${context}: wait until it is done, end it, or work in another context`,
    { detail: by },
  );
}
