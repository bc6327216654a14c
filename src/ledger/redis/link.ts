// The link to the server that is the master now: connects when needed, asks again when an answer was lost, waits for replicas.
import { HoldfastError, isHoldfastError } from "../error.ts";
import { LostAnswer, patienceOf, untilKnown } from "../networked/until-known.ts";
import type { RedisAddress } from "./address.ts";
import { type Argument, connectRedis, type RedisConnection, ServerError } from "./connection.ts";
import { createSteps, type StepName } from "./scripts.ts";
import { createMasterFinder } from "./sentinel.ts";

/** An answer is waited for so long where nothing else bounds it. */
const PATIENCE_MS = 30_000;
/** And so long when nobody was there for the last question: many come after each other until a process ends. */
const GONE_MS = 2_000;
/** And so long where nobody listens and nobody ever did, for who does not stay: a mistyped address is said soon. */
const UNHEARD_MS = 700;
/** The longest that replicas are waited for before what was asked is asked again. */
const REPLICAS_MS = 1_000;

/** So many different things that cannot be read are told of. */
const MOST_TOLD = 20;

interface AskOptions {
  /** How long it may take in all. */
  leftMs?: (() => number) | undefined;
  /** The answer is relied on: where replicas are configured they must have it too. */
  confirmed?: boolean;
  bytes?: boolean;
}

export interface RedisLink {
  readonly address: RedisAddress;
  /** What every key begins with: the project is the hash tag. */
  readonly prefix: string;
  /** How many replicas confirm. */
  replicas: number;
  /** One atomic step. */
  step(name: StepName, args: readonly Argument[], opts?: AskOptions): Promise<unknown>;
  /** One plain command. */
  command(args: readonly Argument[], opts?: AskOptions): Promise<unknown>;
  /** Since when, by the wall clock, nothing that was asked was answered; undefined: nothing waits. */
  silentSince(): number | undefined;
  /** Says once that something is there which cannot be read. */
  passedOver(what: string): void;
  /** A connection of its own, to the same server. */
  another(withinMs: number): Promise<RedisConnection>;
  close(): void;
}

interface LinkOptions {
  /** A connection on which an answer takes longer is given up. */
  hangMs: number;
  /** A server that is not there at first is waited for as one that is gone for a while. */
  patient: boolean;
  onProblem?: ((text: string) => void) | undefined;
}

export function createLink(address: RedisAddress, { hangMs, patient: stays, onProblem }: LinkOptions): RedisLink {
  const steps = createSteps();
  const prefix = `hf:{${address.project}}:`;
  const { shown: url, password, username, database } = address;
  const findMaster = createMasterFinder(address);
  const told = new Set<string>();
  let connecting: Promise<RedisConnection> | undefined;
  let open: RedisConnection | undefined;
  let closed = false;
  /** The last thing that was asked found nobody: what comes next is not as patient. */
  let isGone = false;
  /** When what waits for an answer was asked, the first one first; and since when nobody answered what was given up. */
  const waiting = new Set<{ at: number }>();
  let answeredAt = 0;
  let gaveUpAt: number | undefined;
  /** A server was there once: it comes back. */
  let wasThere = stays;

  async function another(withinMs: number): Promise<RedisConnection> {
    const endpoint = await findMaster(withinMs);
    wasThere ||= address.sentinelName !== undefined; // a master that is down is replaced by them
    const made = await connectRedis(address, endpoint, { withinMs, password, username, database });
    wasThere = true;
    return made;
  }

  async function connection(): Promise<RedisConnection> {
    if (closed) throw new HoldfastError("closed", "this store is closed: open it anew");
    if (open?.isOpen) return open;
    connecting ??= another(hangMs).finally(() => {
      connecting = undefined;
    });
    const made = await connecting;
    if (closed) made.close();
    open = made;
    return made;
  }

  /** What was written on this connection is with so many replicas. */
  async function confirm(on: RedisConnection, withinMs: number): Promise<void> {
    // Whatever is asked behind it on this connection waits too, and must not take that for a hanging server.
    const waitMs = Math.max(1, Math.floor(Math.min(REPLICAS_MS, hangMs / 2, withinMs)));
    const waited = on.call(["WAIT", String(link.replicas), String(waitMs)], { hangMs: waitMs + hangMs });
    const there = Number(
      await waited.catch((error) => {
        // A server that has become a replica refuses to wait, also where what was asked before wrote nothing and was answered.
        if (!(error instanceof ServerError)) throw error;
        throw new LostAnswer(`it cannot ask replicas (${error.code})`, { cause: error });
      }),
    );
    if (there < link.replicas)
      throw new LostAnswer(`${there} of ${link.replicas} confirmed it`, { lacksReplicas: true });
  }

  async function ask(send: (on: RedisConnection) => Promise<unknown>, opts: AskOptions): Promise<unknown> {
    const patient = opts.leftMs ?? patienceOf(PATIENCE_MS);
    const hasty = isGone ? patienceOf(GONE_MS) : undefined;
    const leftMs = () => (hasty ? Math.min(hasty(), patient()) : patient());
    const unheard = patienceOf(UNHEARD_MS);
    const leftUnheardMs = () => (wasThere ? leftMs() : unheard());
    const answer = untilKnown(
      async (withinMs) => {
        let on: RedisConnection | undefined;
        try {
          on = await connection();
          const answer = send(on);
          if (!opts.confirmed || link.replicas === 0) return await answer;
          const [said] = await Promise.all([answer, confirm(on, withinMs)]);
          return said;
        } catch (error) {
          // Another server may be the master by now.
          if (error instanceof LostAnswer && address.sentinelName !== undefined) on?.close();
          if (!(error instanceof ServerError)) throw error;
          const what = `the store ${url} refuses what it was asked (${error.message}): see whether it is the server that is meant`;
          throw new HoldfastError("refused", what, { cause: error });
        }
      },
      { leftMs, leftUnheardMs, url, writes: opts.confirmed ?? false },
    );
    const asked = { at: Date.now() };
    waiting.add(asked);
    answer.then(
      () => {
        waiting.delete(asked);
        answeredAt = Date.now();
        isGone = false;
        gaveUpAt = undefined;
      },
      (error) => {
        waiting.delete(asked);
        if (!isHoldfastError(error, "unreachable")) return;
        isGone = true;
        gaveUpAt ??= Math.max(asked.at, answeredAt);
      },
    );
    return answer;
  }

  const link: RedisLink = {
    address,
    prefix,
    replicas: 0,
    step(name, args, opts = {}) {
      const { sha, text } = steps(name);
      const rest = ["1", `${prefix}store`, ...args];
      const { bytes = false } = opts;
      const how = { hangMs, bytes };
      return ask(async (on) => {
        try {
          return await on.call(["EVALSHA", sha, ...rest], how);
        } catch (error) {
          if (!(error instanceof ServerError) || error.code !== "NOSCRIPT") throw error;
        }
        const answer = await on.call(["EVAL", text, ...rest], how);
        if (opts.confirmed && link.replicas > 0) await confirm(on, hangMs);
        return answer;
      }, opts);
    },
    command: (args, opts = {}) => ask((on) => on.call(args, { hangMs, bytes: opts.bytes ?? false }), opts),
    another,
    silentSince() {
      const [first] = waiting;
      return gaveUpAt ?? (first && Math.max(first.at, answeredAt));
    },
    passedOver(what) {
      if (told.has(what) || told.size >= MOST_TOLD) return;
      told.add(what);
      onProblem?.(`${what} in ${url}, and is passed over: \`holdfast contexts verify\` names what is wrong`);
    },
    close() {
      closed = true;
      open?.close();
    },
  };
  return link;
}
