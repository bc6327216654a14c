// Owns which agents this process advances: takes whoever has work and no holder, runs it until it is idle, and lets it go.
import { setTimeout as sleep } from "node:timers/promises";
import { isHoldfastError, messageOf } from "../ledger/error.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Store } from "../ledger/store.ts";
import { LEAD, viewOf } from "./agent.ts";
import type { TurnEndReason } from "./events.ts";
import type { Host, Taken } from "./host.ts";
import type { AgentView, Progress } from "./seams.ts";

/** A process that dies tells nobody: those that another one holds are looked at again after this long. */
const LOOK_AGAIN_MS = 250;
/** How often time is looked at. */
const TICK_MS = 1_000;
/** An agent that was thought to have work and had none is not taken again at once. */
const IDLE_REST_MS = 1_000;
/** An agent that could not be advanced (not its model: its ledger, its lease) is left alone for this long. */
const REST_MS = 10_000;

export interface HostingOptions {
  host: Host;
  store: Store;
  /** Whose agents to look at; asked anew whenever something has changed. */
  contexts: () => Promise<string[]> | string[];
  /** Which of a context's agents any host may advance. */
  agents: (ledger: Ledger) => string[];
  /** Asked now and then: whether time alone has given someone work. Default: it cannot. */
  due?: (followed: Ledger[]) => Promise<boolean> | boolean;
  /** How many run at once here. */
  concurrency: number;
  onTaken?: (taken: Taken, agent: string) => void;
  onProgress?: (agent: string, progress: Progress) => void;
  onProblem?: (text: string) => void;
}

export interface Hosting {
  /** Contract: resolves on abort, when every agent that ran here was interrupted and let go. */
  run(signal: AbortSignal): Promise<void>;
  /** Agents that run here now. */
  readonly running: number;
  /** Contract: resolves when nobody runs and nobody has work, as of a look at everything that began after the call, or on abort. */
  settled(signal: AbortSignal): Promise<void>;
}

interface Followed {
  ledger: Ledger;
  leave: () => void;
}

/** Its last host was asked to end. A person who interrupts does so with the lead. */
const cutShort = ({ agent, state }: AgentView): boolean => agent !== LEAD && state.lastTurn?.reason === "interrupted";

export function createHosting(opts: HostingOptions): Hosting {
  const { host, store, concurrency } = opts;
  const followed = new Map<string, Followed>();
  const running = new Map<string, { taken: Taken; done: Promise<void> }>();
  const resting = new Map<string, number>();
  const told = new Set<string>();
  const waiting = new Set<() => void>();
  let again: () => void = () => undefined;
  let dirty = true;

  const look = () => {
    dirty = true;
    again();
  };

  async function follow(): Promise<void> {
    const wanted = new Set(await opts.contexts());
    for (const [context, { leave }] of followed) {
      if (wanted.has(context)) continue;
      leave();
      followed.delete(context);
    }
    for (const context of wanted) {
      if (followed.has(context)) continue;
      try {
        followed.set(context, await host.follow(context));
      } catch (error) {
        tellOnce(`${context} cannot be followed: ${messageOf(error)}`);
      }
    }
  }

  /** For what is tried again at every look. */
  function tellOnce(problem: string): void {
    if (!told.has(problem)) opts.onProblem?.(problem);
    told.add(problem);
  }

  /** Contract: as `takeAll`; a store that cannot be read now is looked at again. */
  async function lookAround(signal: AbortSignal): Promise<boolean> {
    try {
      await follow();
      return await takeAll(signal);
    } catch (error) {
      tellOnce(`who has work cannot be seen: ${messageOf(error)}`);
      return true;
    }
  }

  /** Takes every agent that wants it. Contract: true when some must be looked at again without a change: held elsewhere, or no room. */
  async function takeAll(signal: AbortSignal): Promise<boolean> {
    let left = false;
    for (const [context, { ledger }] of followed) {
      await ledger.catchUp().catch(() => undefined);
      if (ledger.readOnly) continue;
      for (const agent of opts.agents(ledger)) {
        const key = `${context}/${agent}`;
        if (signal.aborted || running.has(key)) continue;
        if ((resting.get(key) ?? 0) > Date.now()) {
          left = true;
          continue;
        }
        try {
          if (!cutShort(viewOf(ledger, agent)) && !(await host.wants(ledger, agent))) continue;
          left = true;
          if (running.size >= concurrency || (await host.isHeld(context, agent))) continue;
          await take(context, agent, signal);
        } catch (error) {
          left = true;
          rest(key, error); // the others are looked at
        }
      }
    }
    return left;
  }

  async function take(context: string, agent: string, signal: AbortSignal): Promise<void> {
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
          look();
        });
      running.set(key, { taken, done });
    } catch (error) {
      if (!isHoldfastError(error, "held")) rest(key, error); // otherwise somebody was faster
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
    let reason: TurnEndReason | undefined;
    const stop = () => agent.interrupt();
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (cutShort(agent.turn)) await agent.reopen();
      do {
        do reason = signal.aborted ? reason : await agent.oneTurn();
        while (!signal.aborted && reason !== undefined);
        if (!signal.aborted) await agent.idle();
      } while (!signal.aborted && agent.hasWork());
      // No person has interrupted it: the next host goes on.
      if (signal.aborted && reason === "interrupted" && agent.turn.agent === LEAD) await agent.reopen("wake");
      return ledger.state.seq > before;
    } finally {
      signal.removeEventListener("abort", stop);
      await release();
    }
  }

  async function tick(): Promise<void> {
    if (await opts.due?.([...followed.values()].map(({ ledger }) => ledger))) look();
  }

  async function watch(signal: AbortSignal): Promise<void> {
    for await (const _ of store.watchAll(signal)) look();
  }

  return {
    get running() {
      return running.size;
    },
    async run(signal) {
      const staying = setInterval(() => undefined, 1 << 30); // a watch alone keeps no process
      const watching = watch(signal).catch(() => undefined);
      const ticking = opts.due && setInterval(() => tick().catch(() => undefined), TICK_MS);
      try {
        while (!signal.aborted) {
          dirty = false;
          const left = await lookAround(signal);
          if (dirty) continue;
          if (!left && running.size === 0) for (const tell of waiting) tell();
          await changed(left ? LOOK_AGAIN_MS : undefined, signal);
        }
        await Promise.allSettled([...running.values()].map(({ done }) => done));
      } finally {
        clearInterval(staying);
        clearInterval(ticking);
        for (const { leave } of followed.values()) leave();
        followed.clear();
        await watching;
      }
    },
    async settled(signal) {
      if (signal.aborted) return;
      look();
      await new Promise<void>((resolve) => {
        const tell = () => {
          waiting.delete(tell);
          signal.removeEventListener("abort", tell);
          resolve();
        };
        waiting.add(tell);
        signal.addEventListener("abort", tell, { once: true });
      });
    },
  };

  /** Until something has changed, or that long. */
  async function changed(ms: number | undefined, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const told = new Promise<void>((resolve) => {
      again = resolve;
      until.addEventListener("abort", () => resolve(), { once: true });
    });
    if (dirty || signal.aborted) return;
    const timer = ms === undefined ? undefined : sleep(ms, undefined, { signal: until }).catch(() => undefined);
    await (timer ? Promise.race([told, timer]) : told);
    over.abort();
  }
}
