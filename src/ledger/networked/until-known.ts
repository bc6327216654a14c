// Asking a server until its answer is known: what is asked carries its own ids, so that asking again does nothing twice.
import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "../error.ts";
import { monotonicMs } from "../holder.ts";

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** No answer, or one that says to ask again. What was asked may have been done. */
export class LostAnswer extends Error {
  /** Nobody listens at that address: more often a wrong address than a server that comes back. */
  readonly nobodyListens: boolean;
  /** It answered, and too few replicas confirmed that. */
  readonly lacksReplicas: boolean;
  constructor(
    why: string,
    {
      nobodyListens = false,
      lacksReplicas = false,
      ...opts
    }: { cause?: unknown; nobodyListens?: boolean; lacksReplicas?: boolean } = {},
  ) {
    super(why, opts);
    this.name = "LostAnswer";
    this.nobodyListens = nobodyListens;
    this.lacksReplicas = lacksReplicas;
  }
}

/** Time was up. */
class LateAnswer extends LostAnswer {}

export interface Patience {
  /** How long it may still take; not above zero: no more. */
  leftMs(): number;
  /** And how long where nobody listens; left out: as long. */
  leftUnheardMs?: (() => number) | undefined;
  /** The store, for people. */
  url: string;
  /** What is asked changes something. */
  writes?: boolean;
}

/** So long from now. */
export function patienceOf(ms: number): Patience["leftMs"] {
  const until = monotonicMs() + ms;
  return () => until - monotonicMs();
}

/** Contract: asks at least once; throws `unreachable` when time is up, and whatever else `ask` throws at once. */
export async function untilKnown<T>(
  ask: (withinMs: number) => Promise<T>,
  { leftMs, leftUnheardMs = leftMs, ...asked }: Patience,
): Promise<T> {
  let lost: LostAnswer | undefined;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await within(Math.max(leftMs(), FIRST_PAUSE_MS), ask);
    } catch (error) {
      if (!(error instanceof LostAnswer)) throw error;
      const left = error.nobodyListens ? Math.min(leftMs(), leftUnheardMs()) : leftMs();
      if (!(error instanceof LateAnswer)) lost = error; // the last that says more
      if (left <= pauseMs) throw unreachable(asked, lost ?? error);
      await sleep(pauseMs * (0.5 + Math.random() / 2)); // not all of them at the same moment
    }
  }
}

async function within<T>(ms: number, ask: (withinMs: number) => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LateAnswer("it did not answer in time")), ms);
  });
  try {
    return await Promise.race([ask(ms), late]);
  } finally {
    clearTimeout(timer);
  }
}

function unreachable({ url, writes }: Pick<Patience, "url" | "writes">, cause: LostAnswer): HoldfastError {
  const then = writes
    ? "what was being written may be recorded or not; see to the server, then go on"
    : "see to the server, then try again";
  if (cause.lacksReplicas)
    return new HoldfastError(
      "unreachable",
      `the store ${url} lacks replicas (${cause.message}), and nothing counts that they have not confirmed: see to the replicas, or give a smaller replicas=N in the address; what was being written may be recorded or not`,
      { cause },
    );
  return new HoldfastError("unreachable", `the store ${url} cannot be reached (${cause.message}): ${then}`, { cause });
}
