// Owns whose a change of a file is: what changed while an agent of this context could change files is ours, everything else is somebody else's.
import { HoldfastError } from "../ledger/error.ts";
import type { Seq, Store } from "../ledger/store.ts";
import type { ContextLedger } from "./context-ledger.ts";
import type { FileKeeper, FileMark } from "./file-keeper.ts";
import type { FoldState } from "./fold.ts";

/** The system's clock for files goes in steps, and is behind by up to one. */
const SLACK_MS = 50;

/** From when to when something of this context may have changed any file. */
interface Window {
  from: number;
  to: number;
}

/** Paths that a restore of `target` would overwrite or remove and that somebody else changed since the last state that this context knows. */
export async function foreignChanges(ledger: ContextLedger, keeper: FileKeeper, target: FileMark): Promise<string[]> {
  const known = lastKnown(ledger.state);
  // A mark that is partial does not know what was there.
  if (!keeper.wouldLose || !known || known.files.partial) return [];
  const lost = await keeper.wouldLose(target, known.files);
  if (lost.length === 0) return [];
  const ours = await windows(ledger.store, ledger.id, known.seq);
  return lost
    .filter(({ at }) => !ours.some(({ from, to }) => from <= at && Math.floor(at) <= to)) // events are told to the millisecond
    .map(({ path }) => path)
    .sort();
}

export function refuseForeign(checkpoint: string, paths: string[]): never {
  const shown = paths.slice(0, 5).join(", ");
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : "";
  throw new HoldfastError(
    "conflict",
    `somebody else changed ${shown}${more} since: restore ${checkpoint} with force to overwrite, with keepChanged to leave ${paths.length === 1 ? "it" : "them"}`,
    { detail: { paths } },
  );
}

/** The last files that this context kept or brought back, and since when they are known. */
function lastKnown(state: FoldState): { files: FileMark; seq: Seq } | undefined {
  const kept = state.checkpoints.findLast((one) => one.files);
  const back = state.restores.findLast((one) => one.files && one.filesDone);
  const there = back && state.checkpoints.find((one) => one.seq === back.to)?.files;
  if (back && there && back.seq > (kept?.seq ?? 0)) return { files: there, seq: back.seq };
  return kept && { files: kept.files!, seq: kept.seq };
}

/** What opens and closes a window, by type: the loop's calls and jobs, work without the loop, restores of files. */
const OPENS: Record<string, (data: Data) => string | undefined> = {
  "tool.started": ({ callId, effect }) => (effect === "read" || effect === "internal" ? undefined : `call ${callId}`),
  "job.started": ({ jobId }) => `job ${jobId}`,
  "work.started": ({ agent }) => `work ${agent}`,
  "context.restored": ({ files }) => (files ? "restore" : undefined),
};
const CLOSES: Record<string, (data: Data) => string> = {
  "tool.finished": ({ callId }) => `call ${callId}`,
  "job.ended": ({ jobId }) => `job ${jobId}`,
  "work.ended": ({ agent }) => `work ${agent}`,
  "files.restored": () => "restore",
};
/** Few, and a job outlives checkpoints: these are read from the first event. */
const LONG = ["job.started", "job.ended", "work.started", "work.ended"];

// biome-ignore lint/suspicious/noExplicitAny: each case reads what its writer put there
type Data = any;

async function windows(store: Store, id: string, since: Seq): Promise<Window[]> {
  const open = new Map<string, Window>();
  const found: Window[] = [];
  const take = (type: string, actor: string, at: number, stored: Data) => {
    const data = stored !== null && typeof stored === "object" && "$spill" in stored ? stored.value : stored;
    const opens = OPENS[type]?.(data);
    if (opens !== undefined) {
      // Whoever never closes it may still be at work.
      const window = { from: at - SLACK_MS, to: Number.POSITIVE_INFINITY };
      open.set(`${actor} ${opens}`, window);
      found.push(window);
    }
    const closes = CLOSES[type]?.(data);
    const closed = closes === undefined ? undefined : open.get(`${actor} ${closes}`);
    if (closed) closed.to = at;
  };
  for await (const { type, actor, at, data } of store.read(id, { types: LONG })) take(type, actor, at, data);
  const rest = [...Object.keys(OPENS), ...Object.keys(CLOSES)].filter((type) => !LONG.includes(type));
  for await (const event of store.read(id, { after: since, types: rest }))
    take(event.type, event.actor, event.at, event.data);
  return found;
}
