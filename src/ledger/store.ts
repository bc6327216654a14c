// The port of every store: append under guards, read, watch, blobs, leases. Stores know nothing of agents or tasks.

export type Seq = number;

/** One fact, as it is handed to a store. `id` makes an append idempotent; without one the store gives it a fresh id. */
export interface EventInput {
  id?: string;
  type: string;
  /** Schema version of `data`. */
  v?: number;
  actor: string;
  /** Entities whose version this event advances. */
  touches?: string[];
  data: unknown;
  /** When it happened, in wall-clock milliseconds. Only for copies of recorded events (a fork, an import); otherwise the store's now. */
  at?: number;
}

export interface StoredEvent extends Required<EventInput> {
  seq: Seq;
  /**
   * Checksum of the ledger from its first event up to this one, in hexadecimal: the `base` of a later append. A store always gives it;
   * only what is folded before it is durable has none yet.
   */
  sum?: string;
}

/** An event that a writer has folded, and the checksum of everything up to it. */
export interface Base {
  seq: Seq;
  sum: string;
}

export interface Write {
  ledger: string;
  events: EventInput[];
  /** Every entity the decision read, with the version it saw (0: never touched). */
  expect?: Record<string, Seq>;
  /** What the writer has folded. Contract: refused with `rolled_back` when the ledger's history has no such event there (any more). */
  base?: Base;
  /**
   * A small JSON value for listings. Of two objects the new one's keys replace those of the same name and the others stay, so that
   * two writers may each own some; anything else replaces the previous one.
   */
  summary?: unknown;
  /** Only for a copy of a ledger, with its last events: the times that listings have of it. */
  listed?: { createdAt: number; updatedAt: number };
}

/** What a write under a lease carries. The token tells two holders apart that got the same term, one of them from a past that was put back. */
export interface Fence {
  name: string;
  term: number;
  token: string;
}

export interface AppendOptions {
  /** Fencing: refused with `fenced` unless this lease is held under this term and this token. */
  lease?: Fence;
  /** Content-addressed bytes that the events refer to, stored in the same transaction. */
  blobs?: Uint8Array[];
  /** Wakes become durable with the events. */
  wake?: WakeInput[];
  /**
   * For a decision that is made anew when it meets a conflict: when it was first made (`monotonicMs`). A store may let writers go in
   * that order, and keep the place of one that lost. Contract: whoever passes it tries again at once after a conflict.
   */
  since?: number;
}

export interface LedgerSummary {
  ledger: string;
  head: Seq;
  createdAt: number;
  /** Contract: of two writes with a summary the later has the greater one, also when the clock was set back in between. */
  updatedAt: number;
  summary: unknown;
}

/** Who is due, and when. Contract: one row for each context, agent and `by`. */
export interface Wake {
  /** The ledger of its context. */
  context: string;
  /** Null: any agent of the context; hosts look at all of them. */
  agent: string | null;
  /** The mechanism that set it: each has rows of its own, so that none clears another's. */
  by: string;
  dueAt: number;
}

/** `dueAt: null` clears it. */
export type WakeInput = Omit<Wake, "dueAt"> & { dueAt: number | null };

export interface ListOptions {
  prefix?: string;
  /** Only those behind this name: the last one that was seen. */
  after?: string;
  limit?: number;
}

/** Who holds a lease: enough to tell whether that process still lives. */
export interface Holder {
  machine: string;
  boot: string;
  pid: number;
  /** Start time of the process as the system counts it: a reused pid is another holder. */
  startedAt: string;
  /** A person's terminal is only taken over by an explicit resume. */
  interactive: boolean;
}

export interface Lease extends Readonly<Fence> {
  readonly holder: Holder;
  /** The holder this lease was taken from, when it had not released it: a crash, a reboot, another machine. */
  readonly takenFrom?: Holder;
  /** That holder was alive, past its time: it was ended for this, or is fenced off where it cannot be. */
  readonly tookOver?: true;
  /** Contract: false when the lease was lost; the holder must stop at once. */
  renew(): Promise<boolean>;
  /**
   * Contract: renews in time, by itself, until the returned function is called; `lost` is called once the lease is another's. Where other
   * machines reach the store it is also called when no renewal was heard of in time: another may have taken it by then. There `renewed` is
   * told so long its holder may act without another renewal: at once, and after each.
   */
  keep(lost: () => void, renewed?: (leftMs: number) => void): () => void;
  /** Contract: true when it was found to be another's, or may be by now: nothing may be begun under it. Asks nobody. */
  isOver(): boolean;
  /** Why it could not be renewed the last time, where it could not: the store refuses, or does not answer. */
  problem?(): unknown;
  release(): Promise<void>;
}

export interface HeldBy {
  holder: Holder;
  term: number;
  expiresInMs: number;
  alive: boolean;
  /** Stopped by a signal (SIGSTOP, Ctrl-Z). */
  stopped: boolean;
}

export interface AcquireOptions {
  wait?: AbortSignal;
  /** Told once, of whom is waited for, when that takes longer than a moment. */
  onWait?: ((held: HeldBy) => void) | undefined;
  takeOverInteractive?: boolean;
}

export interface Leases {
  /**
   * Contract: resolves to a lease, or to who holds it. A holder that is gone is replaced at once; one that lives past its
   * expiry is killed first, where other machines reach the store only fenced off; `wait` waits for a stopped or remote holder's expiry instead of answering `held`.
   */
  acquire(name: string, opts?: AcquireOptions): Promise<Lease | { held: HeldBy }>;
  /** Who holds it now, if anyone who may still write. */
  inspect(name: string): Promise<HeldBy | undefined>;
}

export interface Damage {
  /** Undefined when the file itself is damaged, beyond any one ledger. */
  ledger?: string;
  /** The first seq that cannot be trusted. */
  seq?: Seq;
  what: string;
  /** File that holds what could be saved from behind the damage. */
  salvage?: string;
}

export interface VerifyReport {
  ledgers: number;
  events: number;
  blobs: number;
  damage: Damage[];
}

export interface CollectOptions {
  /**
   * Ledgers to remove, each only while its head is still the one that the decision saw and, with `leases`, while nobody who may still
   * write holds a lease whose name begins so; such leases go with it.
   */
  remove?: { ledger: string; head: Seq; leases?: string }[];
  /** False: blobs stay, for the next one. Then only the ledgers that go are looked at. */
  blobs?: boolean;
  /** Says what would go, and changes nothing. */
  dryRun?: boolean;
}

export interface Collected {
  /** What was removed: `bytes` is the size of its events. */
  ledgers: { ledger: string; events: number; bytes: number }[];
  /** What stays because somebody holds a lease of it. */
  held: { ledger: string; by: HeldBy }[];
  /** Blobs that no event of a remaining ledger names, and what they took. */
  blobs: number;
  bytes: number;
}

/** Folded states of one ledger, each under its own key `NAME@VERSION`: a shortcut that is only ever used when it verifies. */
export interface Snapshots {
  /** Contract: a damaged or missing one is left out. */
  load(keys: readonly string[]): Promise<Map<string, { seq: Seq; state: unknown }>>;
  /**
   * One transaction. Older versions of the same name go, but for the last one. `sum`: of the event at `seq`, where it is known; where another
   * one stands there the states are of a past that is gone, and nothing is kept.
   */
  save(seq: Seq, states: ReadonlyMap<string, unknown>, sum?: string): Promise<void>;
}

/** Why something may only be read. Contract: `message` is for people; whoever decides looks at `code`. */
export interface ReadOnly {
  /** A newer Holdfast wrote it, it is damaged, a mechanism that wrote it is missing here, or it was opened so. */
  code: "upgrade" | "damaged" | "mechanism" | "refused";
  message: string;
  /** A restore into it has not ended. */
  restoring?: true;
}

/** What a store promises of what it has acknowledged. */
export interface StoreDurability {
  /**
   * It survives a power cut; it survives the loss of the server, because others confirmed it first; the last second of it may be lost
   * with the power; a failover or a restart may lose it.
   */
  class: "power-safe" | "replica-confirmed" | "up-to-a-second" | "failover-may-lose";
  /** One sentence for people. Contract: where something may be lost it names the setting that causes it. */
  says: string;
}

/** For people. */
export interface StoreUnfit {
  why: string;
  remedy: string;
}

export interface Store {
  /** Contract: it holds no password. */
  readonly url: string;
  /** Which store it is. Contract: one that was copied, or put back from a backup, is another. */
  readonly identity: string;
  readonly durability: StoreDurability;
  /** The server that keeps it and its version, for people; left out where no server does. */
  readonly server?: string;
  /** Why that server takes no writes, as it was when the store was opened; left out where nothing is seen that hinders them. */
  readonly unfit?: StoreUnfit;
  /**
   * Whether other machines may reach it. Contract: on a network a holder of a lease that is kept stops by its own clock (`Lease.keep`), and
   * whatever waits for an answer ends with `unreachable`.
   */
  readonly reach: "machine" | "network";
  /** Since when (wall clock) its server has not answered what it was asked; undefined: nothing waits. Left out where no server is asked. */
  silentSince?(): number | undefined;
  /** Why this store may only be read, if so. */
  readonly readOnly?: ReadOnly;
  /** What was found wrong with a ledger when it was opened or read, also where a second copy is read instead. Looks at nothing. */
  damageOf?(ledger: string): Damage | undefined;
  /**
   * One transaction, refused whole. Ids are de-duplicated before guards are checked: a batch is wholly new or wholly old
   * (then the stored events come back); the same id with other data is `id_reused`.
   */
  append(writes: Write[], opts?: AppendOptions): Promise<StoredEvent[]>;
  /** In order of seq. Contract: throws `damaged` (with a Damage as detail) at the first event that cannot be trusted. */
  read(
    ledger: string,
    opts?: { after?: Seq; upTo?: Seq; actor?: string; types?: string[] },
  ): AsyncIterable<StoredEvent>;
  head(ledger: string): Promise<Seq>;
  /** Version of an entity: the seq of the last event that touched it, 0 if none. */
  version(ledger: string, entity: string): Promise<Seq>;
  /** In the order of the bytes of their names (UTF-8). Contract: what begins or ends while it is read may be there or not; all others are there once. */
  list(filter?: ListOptions): AsyncIterable<LedgerSummary>;
  /** Its wakes go with it. */
  remove(ledger: string): Promise<void>;
  /**
   * One transaction: removes ledgers with their wakes, then every blob that no event left in the store names (its hash, 64 hexadecimal digits, anywhere
   * in the event's data). What an event names is recorded with it, of blobs that are in the store or come with the append.
   * Contract: a blob passed inside an append is never taken from under its event.
   */
  collect(opts?: CollectOptions): Promise<Collected>;
  blob(hash: string): Promise<Uint8Array | undefined>;
  /** The event with that id. */
  find(ledger: string, id: string): Promise<StoredEvent | undefined>;
  snapshots(ledger: string): Snapshots;
  /** Every commit of any process, as it becomes visible. May coalesce; never misses the last one. */
  watchAll(signal: AbortSignal): AsyncIterable<{ ledger: string; seq: Seq }>;
  /** Wakes up to `now`, by time. */
  due(now: number): Promise<Wake[]>;
  readonly leases: Leases;
  /** Reads everything again, checks every checksum, and says what is damaged. Changes nothing. */
  verify(opts?: { ledger?: string; progress?: (done: number, total: number) => void }): Promise<VerifyReport>;
  close(): Promise<void>;
}
