// Checkpoints: positions in the ledger, going back to them (itself an event, and undoable), comparing them.
import { HoldfastError } from "../ledger/error.ts";
import { holderText, sameProcess, thisHolder } from "../ledger/holder.ts";
import type { EventInput, Fence, Seq } from "../ledger/store.ts";
import type { ContextLedger } from "./context-ledger.ts";
import { addValues, type DataDiff, type Diff, type DiffOptions, diffData, diffFiles } from "./diff.ts";
import type { FileKeeper, FileReport } from "./file-keeper.ts";
import type { CheckpointFact, FoldState, Parts, RestoreFact, SharedEntry } from "./fold.ts";
import { foreignChanges } from "./foreign-changes.ts";
import { holderOf } from "./listing.ts";
import { checkRestore } from "./settings.ts";
import type { Json } from "./values.ts";

/** So many paths that were left alone stand in the event; the report names all. */
const NOTED = 50;
const NAME_CHARS = 200;

export interface CheckpointOptions {
  note?: string;
  /** Made by Holdfast itself. */
  auto?: boolean;
  /** Whether the project's files are kept too (default: when there is a keeper). `later`: the position is taken at once, `files` resolves when they are kept. */
  files?: boolean | "later";
  author?: string;
}

export type Checkpoint = CheckpointFact;

export interface RestoreOptions extends Partial<Parts> {
  /** Goes on although another process runs an agent here, and over files that someone else changed: `overwrote` names them, `undo` holds them. */
  force?: boolean;
  /** Leaves files that someone else changed as they are. Without it and without `force`, the restore is refused and names them. */
  keepChanged?: boolean;
  author?: string;
}

export type UndoOptions = Pick<RestoreOptions, "force" | "keepChanged" | "author">;

export interface RestoreReport extends Parts {
  checkpoint: string;
  /** The position gone back to. */
  seq: Seq;
  /** The checkpoint made just before: restoring it undoes this. */
  undo: Checkpoint;
  changes: DataDiff;
  fileReport?: FileReport;
  /** Files that someone else had changed and that `force` went over. What was in them is in `undo`. */
  overwrote?: string[];
}

export interface Checkpoints {
  /** One event, whatever the size. The same name again: the newest one counts, the others keep their position. */
  checkpoint(name?: string, opts?: CheckpointOptions): Promise<Checkpoint & { filesKept?: Promise<Checkpoint> }>;
  /** Oldest first. */
  checkpoints(): Promise<Checkpoint[]>;
  /** By name or position. All parts that the checkpoint has, or those named. */
  restore(checkpoint: string | Seq, opts?: RestoreOptions): Promise<RestoreReport>;
  /** Takes back the last restore that was not taken back; as careful as a restore. `restore(report.undo.seq)` takes the undo back. */
  undo(opts?: UndoOptions): Promise<RestoreReport>;
  /** From a to b; without b, to now. */
  diff(a: string | Seq, b?: string | Seq, opts?: DiffOptions): Promise<Diff>;
}

export interface CheckpointsOptions {
  ledger: ContextLedger;
  author: string;
  keeper?: FileKeeper;
  lease?: Fence;
  /** The value that a key had. */
  read: (key: string, entry: SharedEntry) => Promise<Json>;
}

export function createCheckpoints(opts: CheckpointsOptions): Checkpoints {
  const { ledger, keeper } = opts;
  const appendOpts = leaseOf(opts);

  return {
    async checkpoint(name, { note, auto = false, files = keeper !== undefined, author = opts.author } = {}) {
      if (files && !keeper)
        throw new HoldfastError(
          "invalid",
          "this context has no keeper of files: open it with `files`, or leave them out",
        );
      const saved = files === true ? await keeper?.save({ since: ledger.state.createdAt }) : undefined;
      const chosen = name ?? `checkpoint ${ledger.state.checkpoints.length + 1}`;
      const event = checkpointEvent({ name: chosen, auto, note, files: saved }, author);
      const summary = { checkpoint: { name: chosen, at: Date.now() } };
      const [stored] = await ledger.decide(() => ({ events: [event], summary }), appendOpts);
      const made = findCheckpoint(ledger.state, stored!.seq);
      return files === "later" && keeper
        ? { ...made, filesKept: keepFiles(made.seq, author, { ...opts, keeper }) }
        : { ...made };
    },
    async checkpoints() {
      return (await ledger.catchUp()).checkpoints.map((one) => ({ ...one }));
    },
    async restore(checkpoint, restore = {}) {
      checkRestore(restore, "restore");
      return goBack(findCheckpoint(await ledger.catchUp(), checkpoint), restore, opts);
    },
    async undo(restore = {}) {
      checkRestore(restore, "undo");
      const state = await ledger.catchUp();
      const last = lastRestore(state);
      if (!last)
        throw new HoldfastError("not_found", "there is no restore to undo", {
          next: "list checkpoints",
          detail: { id: ledger.id },
        });
      const { conversation, data, files } = last;
      const target = findCheckpoint(state, last.before);
      return goBack(target, { conversation, data, files, ...restore, undoes: last.seq }, opts);
    },
    async diff(a, b, { maxBytes } = {}) {
      const state = await ledger.catchUp();
      const [from, to] = [findCheckpoint(state, a), b === undefined ? undefined : findCheckpoint(state, b)];
      const data = diffData(state, from.seq, to?.seq);
      if (maxBytes !== undefined)
        await addValues(data, state, { from: from.seq, to: to?.seq, maxBytes, read: opts.read });
      if (!keeper || !from.files || (to && !to.files)) return data;
      return { ...data, ...(await diffFiles(keeper, from.files, to?.files, maxBytes)) };
    },
  };
}

const leaseOf = ({ lease }: CheckpointsOptions): { lease?: Fence } => (lease ? { lease } : {});

/** Later than the position: the checkpoint is there already. */
async function keepFiles(
  seq: Seq,
  author: string,
  opts: CheckpointsOptions & { keeper: FileKeeper },
): Promise<Checkpoint> {
  const { ledger, keeper } = opts;
  const files = await keeper.save({ since: ledger.state.createdAt });
  await ledger.decide(
    () => ({ events: [{ type: "checkpoint.kept", actor: author, data: { checkpoint: seq, files } }] }),
    leaseOf(opts),
  );
  return findCheckpoint(ledger.state, seq);
}

async function goBack(
  target: Checkpoint,
  restore: RestoreOptions & { undoes?: Seq },
  opts: CheckpointsOptions,
): Promise<RestoreReport> {
  const { ledger, keeper } = opts;
  const { author = opts.author, undoes } = restore;
  const parts = partsOf(target, restore, keeper);
  if (parts.conversation || parts.files) await refuseRunning(ledger, restore.force ?? false);
  const { files: mark } = target;
  // Whole: what this goes over is in it.
  const saved = parts.files ? await keeper?.save({ since: ledger.state.createdAt, whole: true }) : undefined;
  const files = keeper && mark && saved && { keeper, mark, saved };
  const ask = files && { target: files.mark, ...(undoes && { undoes }) };
  const theirs = ask ? await foreignChanges(ledger, files.keeper, ask) : [];
  const foreign = theirs.filter(({ folder }) => !folder).map(({ path }) => path);
  if (foreign.length > 0 && !restore.force && !restore.keepChanged)
    refuseForeign(undoes ? "undo" : `restore ${target.name}`, foreign);
  const keep = restore.force ? [] : theirs.map(({ path }) => path);
  const of = target.name.replace(/^(?:before (?:undoing|restoring) )+/, ""); // there and back any number of times
  const name = `before ${undoes ? "undoing" : "restoring"} ${of}`.slice(0, NAME_CHARS);
  const state = await ledger.catchUp();
  const changes = diffData(state, undefined, target.seq);
  const first = checkpointEvent({ name, auto: true, ...(saved && { files: saved }) }, author);
  const data = { checkpoint: target.name, seq: target.seq, ...parts, ...(undoes && { undoes }) };
  const touches = ["ctx:restores", ...(parts.data ? ["ctx:data", "ctx:quota"] : [])];
  const second: EventInput = { type: "context.restored", actor: author, touches, data };
  const [before, restored] = await ledger.decide(() => ({ events: [first, second] }), leaseOf(opts));
  const undo = findCheckpoint(ledger.state, before!.seq);
  const report: RestoreReport = { checkpoint: target.name, seq: target.seq, undo, ...parts, changes };
  if (!files) return report;
  // The intent is durable first: a kill in between is found as a restore whose files are not back (problems()).
  const fileReport = await files.keeper.restore(files.mark, { keep, expect: files.saved });
  const kept = { ...fileReport, skipped: fileReport.skipped.slice(0, NOTED) };
  const done = { type: "files.restored", actor: author, data: { restore: restored!.seq, report: kept } };
  await ledger.decide(() => ({ events: [done] }), leaseOf(opts));
  const left = new Set(fileReport.skipped.map(({ path }) => path));
  const overwrote = foreign.filter((path) => !left.has(path));
  return { ...report, fileReport, ...(overwrote.length > 0 && { overwrote }) };
}

export function checkpointEvent(
  data: Pick<CheckpointFact, "name" | "auto"> & Partial<Pick<CheckpointFact, "note" | "files">>,
  author: string,
): EventInput {
  if (data.name === "" || data.name.length > NAME_CHARS)
    throw new HoldfastError("invalid", `the name of a checkpoint has 1 to ${NAME_CHARS} characters`);
  return { type: "context.checkpointed", actor: author, touches: [`checkpoint:${data.name}`], data };
}

export function findCheckpoint(state: FoldState, wanted: string | Seq): Checkpoint {
  const found = state.checkpoints.findLast((one) => (typeof wanted === "number" ? one.seq : one.name) === wanted);
  if (found) return found;
  const names = state.checkpoints.slice(-5).map((one) => one.name);
  throw new HoldfastError(
    "not_found",
    `there is no checkpoint ${wanted}: ${names.length > 0 ? `the last ones are ${names.join(", ")}` : "none was made yet"}`,
  );
}

function partsOf(target: Checkpoint, wanted: Partial<Parts>, keeper: FileKeeper | undefined): Parts {
  const chosen = wanted.conversation ?? wanted.data ?? wanted.files;
  const rest = chosen === undefined || ![wanted.conversation, wanted.data, wanted.files].includes(true);
  const canFiles = keeper !== undefined && target.files !== undefined;
  if (wanted.files && !canFiles)
    throw new HoldfastError(
      "invalid",
      keeper
        ? `checkpoint ${target.name} holds no files: restore conversation or data only`
        : "this context has no keeper of files: open it with `files`",
    );
  const parts = {
    conversation: wanted.conversation ?? rest,
    data: wanted.data ?? rest,
    files: wanted.files ?? (rest && canFiles),
  };
  if (parts.conversation || parts.data || parts.files) return parts;
  throw new HoldfastError("invalid", "nothing to restore: name conversation, data or files");
}

/** The last one that is no undo and was not undone. */
function lastRestore(state: FoldState): RestoreFact | undefined {
  const undone = new Set(state.restores.map((one) => one.undoes));
  return state.restores.findLast((one) => one.undoes === undefined && !undone.has(one.seq));
}

function refuseForeign(what: string, paths: string[]): never {
  const shown = paths.slice(0, 5).join(", ");
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : "";
  throw new HoldfastError(
    "conflict",
    `somebody else changed ${shown}${more} since: ${what} with force to overwrite, with keepChanged to leave ${paths.length === 1 ? "it" : "them"}`,
    { detail: { paths } },
  );
}

/** An agent that goes on meanwhile would answer a conversation that no longer is, on files that change under it. */
async function refuseRunning(ledger: ContextLedger, force: boolean): Promise<void> {
  if (force) return;
  const held = await holderOf(ledger.store, ledger.id, [...ledger.state.agents.keys()]);
  if (!held || sameProcess(held.holder, thisHolder(false))) return;
  throw new HoldfastError(
    "held",
    `${holderText(held)} runs an agent of ${ledger.id}: end it first, restore only data, or force`,
    { detail: held },
  );
}
