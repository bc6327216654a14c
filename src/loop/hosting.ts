// Which agents this process advances: takes whoever has work and no holder, runs it until it is idle, and lets it go.
import { setTimeout as sleep } from "node:timers/promises";
import { isHoldfastError, messageOf } from "../ledger/error.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Seq, Store } from "../ledger/store.ts";
import { type AgentHandle, LEAD, viewOf } from "./agent.ts";
import { type BellLook, createBell } from "./bell.ts";
import { drive } from "./drive.ts";
import type { FairSlots } from "./fair-slots.ts";
import type { Host, Taken } from "./host.ts";
import type { AgentView, Progress } from "./seams.ts";
import { createWaitingList, LOOK_AGAIN_MS, type Waiting } from "./waiting-list.ts";

/** How often time is looked at, and who is due. */
const TICK_MS = 1_000;
/** Who is due is not asked more often than this when ledgers change that nobody here follows. */
const ASK_AGAIN_MS = 200;
/** A look at everything, for what no ledger told: a mechanism that wants something for a reason outside of them. */
const LOOK_AT_ALL_MS = 30_000;
/** With more contexts than this it comes less often: it costs no more together. */
const LOOKED_AT_TOGETHER = 100;
/** An agent that was thought to have work and had none is not taken again at once. */
const IDLE_REST_MS = 1_000;
/** An agent that could not be advanced (not its model: its ledger, its lease) is left alone for this long. */
const REST_MS = 10_000;

/** Up to the last event, whichever that is. */
const EVERYTHING: Seq = Number.POSITIVE_INFINITY;

export interface HostingOptions {
  host: Host;
  store: Store;
  /** Whose agents to look at; asked once a second, and when a ledger changes that is not followed. */
  contexts: () => Promise<string[]> | string[];
  /** Which of a context's agents any host may advance. */
  agents: (ledger: Ledger) => string[];
  /** Ledgers that may give work to the agents of every context. */
  shared?: readonly string[];
  /** Asked once a second: whether time alone has given someone in that context work. Default: it cannot. */
  due?: (ledger: Ledger) => boolean;
  /** How many run at once: here, and wherever else the same slots are used. */
  slots: FairSlots;
  /** Contract: whether this machine may advance it now; what it needs may be on another one. Default: it may. */
  mayRunHere?: (ledger: Ledger, agent: string) => Promise<boolean>;
  /** Runs beside it until the signal. */
  beside?: (signal: AbortSignal) => Promise<void>;
  /** Contract: true keeps an idle agent: something of it goes on on this machine. Default: it is let go. */
  staysHeld?: (ledger: Ledger, agent: string) => boolean;
  onTaken?: (taken: Taken, agent: string) => void;
  onProgress?: (agent: string, progress: Progress) => void;
  onProblem?: (text: string) => void;
}

export interface Hosting {
  /**
   * Contract: resolves on abort, when every agent that ran here was interrupted and let go; after `drain` nobody is taken any more, each
   * agent is let go behind its present round, and it resolves when all are.
   */
  run(signal: AbortSignal, drain?: AbortSignal): Promise<void>;
  /** Agents that run here now. */
  readonly running: number;
  /** Contract: resolves when nobody runs and nobody has work, as of a look at everything that began after the call, or on abort. */
  settled(signal: AbortSignal): Promise<void>;
}

interface Followed {
  ledger: Ledger;
  leave: () => void;
  /** The event up to which it was looked at: a ring for less brings nothing new. */
  seen: Seq;
}

/** Its last host was asked to end. A person who interrupts does so with the lead. */
const cutShort = ({ agent, state }: AgentView): boolean => agent !== LEAD && state.lastTurn?.reason === "interrupted";

/** A host looks at the context whose ledger has changed, at all of them when a shared one has, and at nothing else. */
export function createHosting(opts: HostingOptions): Hosting {
  const { host, store, slots, shared = [] } = opts;
  const bell = createBell();
  const followed = new Map<string, Followed>();
  const running = new Map<string, { taken: Taken; done: Promise<void> }>();
  const resting = new Map<string, number>();
  const waiting = createWaitingList(slots, () => bell.stir());
  const told = new Set<string>();
  const settling = new Set<() => void>();
  let askedAt = 0;
  let askAt = 0;
  let lookAtAllAt = 0;
  let draining = new AbortController().signal;

  function ring(ledger: string, seq: Seq): void {
    if (followed.has(ledger)) bell.ring({ contexts: new Map([[ledger, seq]]) });
    else if (shared.includes(ledger)) bell.ring({ shared: true });
    else askSoon();
  }

  /** Whoever is not followed may have a team or a schedule now. */
  function askSoon(): void {
    askAt = Math.min(askAt, Math.max(Date.now(), askedAt + ASK_AGAIN_MS));
    bell.stir();
  }

  /** Contract: those that are followed from now on. */
  async function follow(): Promise<string[]> {
    const wanted = new Set(await opts.contexts());
    askedAt = Date.now();
    askAt = Number.POSITIVE_INFINITY;
    for (const context of followed.keys()) if (!wanted.has(context)) unfollow(context);
    const fresh: string[] = [];
    for (const context of wanted) {
      if (followed.has(context)) continue;
      try {
        followed.set(context, { ...(await host.follow(context)), seen: -1 });
        fresh.push(context);
      } catch (error) {
        tellOnce(`${context} cannot be followed: ${messageOf(error)}`);
      }
    }
    return fresh;
  }

  function unfollow(context: string): void {
    followed.get(context)?.leave();
    followed.delete(context);
    waiting.forget(context);
  }

  /** For what is tried again at every look. */
  function tellOnce(problem: string): void {
    if (!told.has(problem)) opts.onProblem?.(problem);
    told.add(problem);
  }

  /** Contract: false when the store could not be read: then all of it is to be looked at again. */
  async function lookAround(look: BellLook, signal: AbortSignal): Promise<boolean> {
    try {
      const began = Date.now();
      for (const context of waiting.takeOffers()) await useOffer(context, signal);
      const every = look.all || look.shared;
      const fresh = every || askAt <= began ? await follow() : [];
      for (const context of every ? [...followed.keys()] : new Set([...look.contexts.keys(), ...fresh]))
        await lookAt(
          context,
          { upTo: look.all ? EVERYTHING : (look.contexts.get(context) ?? 0), always: every },
          signal,
        );
      for (const one of waiting.due(began)) await lookAgain(one, signal);
      if (look.all) lookAtAllAt = Date.now() + LOOK_AT_ALL_MS * Math.max(1, followed.size / LOOKED_AT_TOGETHER);
      return true;
    } catch (error) {
      tellOnce(`who has work cannot be seen: ${messageOf(error)}`);
      return false;
    }
  }

  /** Takes every agent of that context that wants it. `upTo`: the event that has rung; `always`: something else has. */
  async function lookAt(context: string, look: { upTo: Seq; always: boolean }, signal: AbortSignal): Promise<void> {
    const { upTo, always } = look;
    const one = followed.get(context);
    if (!one || (upTo <= one.seen && !always)) return;
    const { ledger } = one;
    waiting.remove({ context });
    try {
      if (ledger.state.seq < upTo) await ledger.catchUp();
    } catch {
      waiting.add({ context }, Date.now() + LOOK_AGAIN_MS);
    }
    if (ledger.readOnly) return;
    one.seen = ledger.state.seq;
    for (const agent of opts.agents(ledger)) await consider(context, agent, signal);
  }

  /** Without a change: only whether the one that holds it still does. */
  async function lookAgain({ context, agent }: Waiting, signal: AbortSignal): Promise<void> {
    const { ledger } = followed.get(context) ?? {};
    if (agent === undefined) return lookAt(context, { upTo: EVERYTHING, always: true }, signal);
    if (!ledger || ledger.readOnly || signal.aborted || !opts.agents(ledger).includes(agent)) return;
    const held = slots.hasRoom && (await host.isHeld(context, agent));
    if (held) waiting.add({ context, agent });
    else await consider(context, agent, signal);
  }

  /** Contract: the place that was taken for that context is used by one of its agents, or left. */
  async function useOffer(context: string, signal: AbortSignal): Promise<void> {
    let isUsed = false;
    for (const whom of waiting.forRoom(context)) {
      if (isUsed) waiting.addForRoom(whom);
      else isUsed = !signal.aborted && (await consider(context, whom.agent, signal, "placed"));
    }
    if (!isUsed) slots.leave();
  }

  /** Takes the agent if it has work and nobody holds it; otherwise it is looked at again when that may have changed. Contract: whether it was taken. */
  async function consider(context: string, agent: string, signal: AbortSignal, place?: "placed"): Promise<boolean> {
    const key = `${context}/${agent}`;
    const { ledger } = followed.get(context) ?? {};
    waiting.remove({ context, agent });
    if (!ledger || signal.aborted || running.has(key)) return false;
    const restsUntil = resting.get(key) ?? 0;
    if (restsUntil > Date.now()) {
      waiting.add({ context, agent }, restsUntil);
      return false;
    }
    try {
      const wanted = cutShort(viewOf(ledger, agent)) || (await host.wants(ledger, agent));
      if (wanted === "later") waiting.add({ context, agent }, Date.now() + TICK_MS);
      if (wanted !== true) return false;
      if (!place && !slots.hasRoom) {
        waiting.addForRoom({ context, agent });
        return false;
      }
      waiting.add({ context, agent });
      if (opts.mayRunHere && !(await opts.mayRunHere(ledger, agent))) return false;
      if (await host.isHeld(context, agent)) return false;
      if (!place && !slots.enter()) {
        waiting.addForRoom({ context, agent });
        return false;
      }
      const isTaken = await take(context, agent, signal);
      if (!isTaken && !place) slots.leave();
      return isTaken;
    } catch (error) {
      rest(key, error); // the others are looked at
      waiting.add({ context, agent });
      return false;
    }
  }

  /** Contract: never throws; whether it runs now. Then its place is left when it ends. */
  async function take(context: string, agent: string, signal: AbortSignal): Promise<boolean> {
    const key = `${context}/${agent}`;
    try {
      const taken = await host.take(context, {
        agent,
        onProgress: (progress) => opts.onProgress?.(agent, progress),
      });
      opts.onTaken?.(taken, agent);
      const done = advance(taken, signal)
        .then((worked) => void (worked || resting.set(key, Date.now() + IDLE_REST_MS)))
        .catch((error) => rest(key, error))
        .finally(() => {
          running.delete(key);
          slots.leave();
          ring(context, EVERYTHING);
        });
      waiting.remove({ context, agent });
      running.set(key, { taken, done });
      return true;
    } catch (error) {
      if (isHoldfastError(error, "not_found"))
        unfollow(context); // it was removed
      else if (!isHoldfastError(error, "held")) rest(key, error); // otherwise somebody was faster
      return false;
    }
  }

  function rest(key: string, error: unknown): void {
    if (isHoldfastError(error, "fenced")) return; // another host has it now
    resting.set(key, Date.now() + REST_MS);
    opts.onProblem?.(`${key} rests for ${REST_MS / 1000} s: ${messageOf(error)}`);
  }

  /** Contract: whether anything came of it. */
  async function advance({ agent, ledger, release }: Taken, signal: AbortSignal): Promise<boolean> {
    const before = ledger.state.seq;
    const stop = () => agent.interrupt("host");
    const leave = () => agent.leave();
    signal.addEventListener("abort", stop, { once: true });
    draining.addEventListener("abort", leave, { once: true });
    const ends = AbortSignal.any([signal, draining]);
    try {
      if (cutShort(agent.turn)) await agent.reopen();
      const reason = await drive(agent, {
        takes: "everything",
        signal: ends,
        wait: () => stayHeld(agent, ledger, ends),
      });
      // No person has interrupted it: the next host goes on.
      if (signal.aborted && reason === "interrupted" && agent.turn.agent === LEAD) await agent.reopen("wake");
      return ledger.state.seq > before;
    } finally {
      signal.removeEventListener("abort", stop);
      draining.removeEventListener("abort", leave);
      await release();
    }
  }

  /** An idle agent that is kept takes no place. Contract: false when it is to be let go. */
  async function stayHeld(agent: AgentHandle, ledger: Ledger, ends: AbortSignal): Promise<boolean> {
    if (!opts.staysHeld?.(ledger, agent.turn.agent) || ends.aborted) return false;
    slots.leave();
    await agent.untilWoken(ends);
    if (!slots.enter()) await new Promise<void>((offer) => slots.queue(ledger.name, offer));
    return !ends.aborted;
  }

  function tick(): void {
    for (const [context, { ledger }] of followed) if (opts.due?.(ledger)) ring(context, EVERYTHING);
    askSoon();
  }

  async function watch(signal: AbortSignal): Promise<void> {
    for await (const { ledger, seq } of store.watchAll(signal)) ring(ledger, seq);
  }

  /** When something is to be looked at without a ring. */
  const nextLook = (): number => Math.min(askAt, lookAtAllAt, waiting.nextAt());

  /** Contract: true when everything is to be looked at once more before those who wait can be told that nobody has work. */
  function settle(look: BellLook): boolean {
    if (settling.size === 0 || waiting.size > 0 || running.size > 0) return false;
    if (look.all) for (const tell of settling) tell();
    return !look.all;
  }

  return {
    get running() {
      return running.size;
    },
    async run(signal, drain = new AbortController().signal) {
      draining = drain;
      const ends = AbortSignal.any([signal, drain]);
      const staying = setInterval(() => undefined, 1 << 30); // a watch alone keeps no process
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const watching = watch(until).catch(() => undefined);
      const beside = opts.beside?.(until).catch(() => undefined);
      const ticking = setInterval(tick, TICK_MS);
      bell.ring({ all: true });
      try {
        while (!ends.aborted) {
          const look = bell.take();
          look.all ||= lookAtAllAt <= Date.now();
          if (!(await lookAround(look, signal))) {
            await sleep(LOOK_AGAIN_MS, undefined, { signal: ends }).catch(() => undefined);
            bell.ring({ all: true });
          } else if (!bell.hasRung) {
            if (settle(look)) bell.ring({ all: true });
            await bell.wait(nextLook(), ends);
          }
        }
        waiting.close();
        await Promise.allSettled([...running.values()].map(({ done }) => done));
      } finally {
        clearInterval(staying);
        clearInterval(ticking);
        waiting.close();
        over.abort();
        for (const { leave } of followed.values()) leave();
        followed.clear();
        await watching;
        await beside;
      }
    },
    async settled(signal) {
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const tell = () => {
          settling.delete(tell);
          signal.removeEventListener("abort", tell);
          resolve();
        };
        settling.add(tell);
        signal.addEventListener("abort", tell, { once: true });
        bell.ring({ all: true });
      });
    },
  };
}
