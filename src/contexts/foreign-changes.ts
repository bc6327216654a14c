// Whose a change of a file is: ours is what changed while a call of this context could change files; everything else is somebody else's.
import { isRecord } from "../ledger/guards.ts";
import { sameProcess, thisHolder } from "../ledger/holder.ts";
import type { Seq, Store } from "../ledger/store.ts";
import type { ContextLedger } from "./context-ledger.ts";
import type { FileKeeper, FileMark } from "./file-keeper.ts";
import type { CheckpointFact, FoldState, RestoreFact } from "./fold.ts";
import { holderOf } from "./listing.ts";

/** The system's clock for files goes in steps, and is behind by up to one. */
const SLACK_MS = 50;
/** What was cut off by a kill may have gone on for so long; nobody else is that quick. */
const CUT_OFF_MS = 1_000;

/** From when to when something of this context may have changed any file. */
interface Window {
  from: number;
  to: number;
}

export interface ChangeQuestion {
  /** The checkpoint that is to be restored. */
  target: FileMark;
  /** The restore that this one takes back: what it brought is its own. */
  undoes?: Seq;
}

export interface Foreign {
  path: string;
  /** An empty folder: it stays, and nobody has to be asked. */
  folder?: true;
}

/**
 * Paths that a restore would overwrite or remove and that somebody else changed. What a restore brought is whose it was in the checkpoint
 * that it came from, so that no way round (restore, undo, again) makes a person's work ours. A checkpoint that was asked for by name
 * holds what was there: that is known.
 */
export async function foreignChanges(
  ledger: ContextLedger,
  keeper: FileKeeper,
  ask: ChangeQuestion,
): Promise<Foreign[]> {
  if (!keeper.wouldLose) return [];
  let open: (Foreign & { at: number; until?: number })[] = await keeper.wouldLose(ask.target);
  if (open.length === 0) return [];
  const { state } = ledger;
  const ours = await windows(ledger);
  // Each time round it goes back to an earlier restore.
  for (let before = Number.POSITIVE_INFINITY; open.length > 0; ) {
    const rest = open.filter(({ at, until }) => !isOurs(ours, at) && !isNamed(state.checkpoints, at, until));
    const restore = lastRestore(state, rest, before);
    if (!restore) return rest.sort((a, b) => (a.path < b.path ? -1 : 1));
    before = restore.seq;
    const source = state.checkpoints.find((one) => one.seq === restore.to)?.files;
    const written = rest.filter(({ at }) => isWithin(restore, at));
    const brought = new Map((await origins(keeper, source, written)).map(({ path, at }) => [path, at]));
    open = rest.flatMap((one) => {
      const at = brought.get(one.path);
      if (at === undefined || at === "unknown") return [one];
      if (at === "older" || restore.seq === ask.undoes) return [];
      return [{ path: one.path, at, until: source && timeOf(source) }];
    });
  }
  return [];
}

const isOurs = (ours: readonly Window[], at: number): boolean =>
  ours.some(({ from, to }) => from <= at && Math.floor(at) <= to); // events are told to the millisecond

/** Whether a checkpoint that somebody asked for holds what was there from `at` until `until`. */
const isNamed = (all: readonly CheckpointFact[], at: number, until = Number.POSITIVE_INFINITY): boolean =>
  all.some((one) => {
    const made = one.auto || !one.files || one.files.partial ? undefined : (timeOf(one.files) ?? one.at);
    return made !== undefined && at < made && made <= until;
  });

const timeOf = ({ at }: FileMark): number | undefined => (typeof at === "number" ? at : undefined);

/** The last one that may have written one of them. */
const lastRestore = ({ restores }: FoldState, paths: readonly { at: number }[], before: Seq): RestoreFact | undefined =>
  restores.findLast((one) => one.files && one.seq < before && paths.some(({ at }) => isWithin(one, at)));

/** One that was cut off has no end: what is as it would have left it counts as its own. */
const isWithin = ({ at: from, filesDoneAt: to = Number.POSITIVE_INFINITY }: RestoreFact, at: number): boolean =>
  from - SLACK_MS <= at && Math.floor(at) <= to;

async function origins(keeper: FileKeeper, source: FileMark | undefined, paths: readonly { path: string }[]) {
  if (!source || !keeper.changedAt) return [];
  try {
    return await keeper.changedAt(
      source,
      paths.map(({ path }) => path),
    );
  } catch {
    return []; // what it came from is gone: nobody can say whose it is
  }
}

/** What opens and closes a window, by type: the loop's calls, work without the loop. */
const OPENS: Record<string, (data: Data) => string | undefined> = {
  "tool.started": ({ callId, effect }) => (effect === "read" || effect === "internal" ? undefined : `call ${callId}`),
  "work.started": ({ agent }) => `work ${agent}`,
};
const CLOSES: Record<string, (data: Data) => string> = {
  "tool.finished": ({ callId }) => `call ${callId}`,
  "work.ended": ({ agent }) => `work ${agent}`,
};

type Data = Record<string, unknown>;

/** A job that runs on behind a call is not one: people go on working beside it. */
async function windows({ store, id, state }: ContextLedger): Promise<Window[]> {
  const open = new Map<string, Window>();
  const found: Window[] = [];
  const types = [...Object.keys(OPENS), ...Object.keys(CLOSES)];
  for await (const { type, actor, at, data: stored } of store.read(id, { types })) {
    const read = isRecord(stored) && "$spill" in stored ? stored.value : stored;
    const data: Data = isRecord(read) ? read : {};
    const opens = OPENS[type]?.(data);
    if (opens !== undefined) {
      const window = { from: at - SLACK_MS, to: at + CUT_OFF_MS };
      open.set(`${actor} ${opens}`, window);
      found.push(window);
    }
    const closes = CLOSES[type] && `${actor} ${CLOSES[type](data)}`;
    const closed = closes === undefined ? undefined : open.get(closes);
    if (closes === undefined || !closed) continue;
    open.delete(closes);
    // Another process took it up: what happened in between is nobody's.
    if (typeof data.resumedAt === "number") found.push({ from: data.resumedAt - SLACK_MS, to: at });
    else closed.to = at;
  }
  if (open.size > 0 && (await isHeldHere(store, id, state)))
    for (const window of open.values()) window.to = Number.POSITIVE_INFINITY;
  return found;
}

/** Whoever has not ended what it began, and lives, is still at it. */
async function isHeldHere(store: Store, id: string, state: FoldState): Promise<boolean> {
  const held = await holderOf(store, id, [...state.agents.keys()]);
  return held !== undefined && sameProcess(held.holder, thisHolder(false));
}
