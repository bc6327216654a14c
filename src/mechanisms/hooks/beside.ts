// Hooks that run in the background: they can refuse nothing, what they say comes with the next round, and some wake the agent.
import type { EventInput } from "../../ledger/store.ts";
import type { Turn } from "../../loop/seams.ts";
import type { Bounded } from "./fired.ts";
import type { Handler } from "./handlers.ts";

/** How a hook ended, and the fact of it. */
export interface Ran {
  answer: Bounded;
  fact: Omit<EventInput, "actor">;
}

export interface Beside {
  /** It runs already; `abort` ends it. */
  add(handler: Handler, ran: Promise<Ran | undefined>, turn: Turn, abort: () => void): void;
  /** What they said since the last time. */
  late(turn: Turn): string[];
  /** Contract: resolves when one that may wake the idle agent has said something, or with the signal. */
  untilSaid(turn: Turn, signal: AbortSignal): Promise<void>;
  /** Ends what still runs for that agent. */
  end(turn: Turn): Promise<void>;
}

const REWAKES = 2;
const END_GRACE_MS = 1000;

/** Each with what ends it. */
type Running = Map<Promise<void>, () => void>;

export function createBeside(): Beside {
  const wakers = new Map<string, Set<() => void>>();
  const running = new Map<string, Running>();
  const said = new Map<string, string[]>();
  const agentKey = (turn: Turn) => `${turn.context}/${turn.agent}`;

  function keepForLater(text: string, turn: Turn): void {
    said.set(agentKey(turn), [...(said.get(agentKey(turn)) ?? []), text]);
  }

  return {
    add(handler, ran, turn, abort) {
      const ours: Running = running.get(agentKey(turn)) ?? new Map();
      running.set(agentKey(turn), ours);
      const work = ran
        .then(async (done) => {
          if (!done) return;
          const { answer, fact } = done;
          if (answer.context) keepForLater(answer.context, turn);
          await turn.append([fact], { durability: "deferred" });
          if (!handler.rewakes || answer.exitCode !== REWAKES) return;
          keepForLater(answer.reason ?? "", turn);
          for (const wake of wakers.get(agentKey(turn)) ?? []) wake();
        })
        .catch(() => undefined) // the agent was let go meanwhile
        .finally(() => ours.delete(work));
      ours.set(work, abort);
    },
    late(turn) {
      const texts = said.get(agentKey(turn)) ?? [];
      said.delete(agentKey(turn));
      return texts;
    },
    async untilSaid(turn, signal) {
      const ours = wakers.get(agentKey(turn)) ?? new Set();
      wakers.set(agentKey(turn), ours);
      if (signal.aborted || (said.get(agentKey(turn)) ?? []).length > 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      ours.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      ours.delete(resolve);
    },
    async end(turn) {
      const ours = running.get(agentKey(turn));
      if (ours && ours.size > 0) await endAll(ours);
      for (const map of [running, said]) map.delete(agentKey(turn));
    },
  };
}

/** They get a moment to end by themselves. */
async function endAll(ours: Running): Promise<void> {
  const all = Promise.all(ours.keys());
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, END_GRACE_MS);
  });
  await Promise.race([all, grace]);
  clearTimeout(timer);
  for (const abort of ours.values()) abort();
  await all;
}
