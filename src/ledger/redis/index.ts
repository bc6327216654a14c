// The Redis store: ledgers of one project on a server that many machines reach.
import { draft } from "../draft.ts";
import { HoldfastError } from "../error.ts";
import { newId } from "../id.ts";
import { createLeases, RESTORING, UNFINISHED_RESTORE } from "../leases.ts";
import { createLeaseDeadline } from "../networked/lease-deadline.ts";
import { createTail } from "../networked/tail.ts";
import { patienceOf } from "../networked/until-known.ts";
import type { ReadOnly, Store } from "../store.ts";
import type { StoreOptions } from "../store-options.ts";
import { parseRedisUrl } from "./address.ts";
import { appendToServer } from "./append.ts";
import { createRedisBell } from "./bell.ts";
import { getStoredBlob, readyBlobs } from "./blobs.ts";
import { collectOnServer } from "./collecting.ts";
import { redisLeaseRows } from "./lease-rows.ts";
import { createLink, type RedisLink } from "./link.ts";
import { findEvent, listLedgers, readLedger, wakesDue } from "./reading.ts";
import { inspectServer } from "./server.ts";
import { createRedisSnapshots } from "./snapshots.ts";
import { verifyOnServer } from "./verifying.ts";

/** What this code stores, and what it writes into events. */
const FORM = 1;
const WRITER = 1;
const LEASE_MS = 15_000;
const OPEN_MS = 5_000;
const PATIENCE_MS = 30_000;
/** A connection on which an answer takes longer is given up: at most, and of a lease. */
const HANG_MS = 5_000;
const HANG_SHARE = 1 / 3;

const NEWER: ReadOnly = {
  code: "upgrade",
  message: "this store was written by a newer Holdfast: it can be read; upgrade to write to it",
};
const LOOKING: ReadOnly = { code: "refused", message: "this store was opened to be read: open it anew to write to it" };

/** `url`: see `docs/redis.md`. */
export async function openRedisStore(url: string, opts: StoreOptions = {}): Promise<Store> {
  const address = parseRedisUrl(url);
  const leaseMs = opts.leaseMs ?? Number(process.env.HOLDFAST_LEASE_MS ?? LEASE_MS);
  const hangMs = Math.min(HANG_MS, Math.max(leaseMs * HANG_SHARE, 250));
  const link = createLink(address, { hangMs, patient: opts.patient ?? false, onProblem: opts.onProblem });
  try {
    const leftMs = patienceOf(OPEN_MS);
    const { durability, replicas, name, unfit } = await inspectServer(link, leftMs);
    link.replicas = replicas;
    const asked = [link.prefix, String(FORM), opts.readOnly ? "0" : "1", newId("store"), UNFINISHED_RESTORE];
    const answer = await link.step("enter", asked, { leftMs, confirmed: !opts.readOnly });
    const [form = FORM, stroke = 0, identity = "", unfinished = 0] = Array.isArray(answer) ? answer : [];
    const notOurs = Number(unfinished) > 0 && !opts.restoring;
    const onlyRead = Number(form) > FORM ? NEWER : notOurs ? RESTORING : opts.readOnly ? LOOKING : undefined;
    const settings = {
      leaseMs,
      hangMs,
      stroke: Number(stroke),
      identity: String(identity),
      writer: opts.version ?? WRITER,
    };
    return createRedisStore(link, { ...settings, ...opts, leaseMs, durability, server: name, unfit, onlyRead });
  } catch (error) {
    link.close();
    throw error;
  }
}

interface Settings extends Pick<StoreOptions, "interactive" | "beforeClose">, Pick<Store, "durability"> {
  server: string;
  unfit: Store["unfit"] | undefined;
  leaseMs: number;
  hangMs: number;
  /** How often the bell had rung when it was opened. */
  stroke: number;
  writer: number;
  identity: string;
  onlyRead: ReadOnly | undefined;
}

function createRedisStore(link: RedisLink, settings: Settings): Store {
  const { onlyRead, leaseMs, durability } = settings;
  const bell = createRedisBell(link, settings);
  const tail = createTail(bell);
  const leases = createLeases(redisLeaseRows(link, settings), {
    ...{ interactive: settings.interactive ?? false, leaseMs, deadline: createLeaseDeadline },
  });
  let closed = false;

  function writable(): void {
    if (onlyRead) throw new HoldfastError(onlyRead.code, onlyRead.message);
  }

  const store: Store = {
    url: link.address.shown,
    identity: settings.identity,
    durability,
    server: settings.server,
    ...(settings.unfit !== undefined && { unfit: settings.unfit }),
    reach: "network",
    silentSince: link.silentSince,
    ...(onlyRead && { readOnly: onlyRead }),
    async append(writes, opts = {}) {
      writable();
      const drafts = draft(writes, opts);
      const blobs = await readyBlobs(opts.blobs ?? []);
      const { lease, wake } = opts;
      const patient = patienceOf(PATIENCE_MS);
      // Past its deadline a lease may be another's, whatever the answer would have been.
      const leftMs = () => Math.min(patient(), (lease && leases.leftMs(lease)) ?? PATIENCE_MS);
      const given = { ...(lease && { lease }), ...(wake && { wake }) };
      const done = await appendToServer(link, { drafts, blobs, writer: settings.writer, leftMs, ...given });
      bell.heard(done.stroke);
      return done.events;
    },
    read: (ledger, opts) => readLedger(link, ledger, opts),
    head: async (ledger) => Number((await link.command(["HGET", `${link.prefix}ledger:${ledger}`, "head"])) ?? 0),
    version: async (ledger, entity) =>
      Number((await link.command(["HGET", `${link.prefix}versions:${ledger}`, entity])) ?? 0),
    list: (filter) => listLedgers(link, filter),
    async remove(ledger) {
      writable();
      await link.step("remove", [link.prefix, ledger, "", "0"], { confirmed: true });
    },
    async collect(opts = {}) {
      if (!opts.dryRun) writable();
      return collectOnServer(link, opts, leases.heldBy);
    },
    blob: (hash) => getStoredBlob(link, hash),
    find: (ledger, id) => findEvent(link, ledger, id),
    snapshots(ledger) {
      const own = createRedisSnapshots(link, ledger);
      return {
        load: own.load,
        save: async (seq, states, sum) => {
          if (!onlyRead) await own.save(seq, states, sum);
        },
      };
    },
    watchAll: (signal) => tail.subscribe(signal),
    due: (now) => wakesDue(link, now),
    leases: {
      async acquire(name, opts) {
        writable();
        return leases.acquire(name, opts);
      },
      inspect: leases.inspect,
    },
    verify: (opts = {}) => verifyOnServer(link, opts),
    async close() {
      if (closed) return;
      closed = true;
      // Nobody waits for a server that does not answer: what is left to do then is left to whoever comes next.
      if (link.silentSince() === undefined) await settings.beforeClose?.(store);
      tail.close();
      bell.close();
      link.close();
    },
  };
  return store;
}
