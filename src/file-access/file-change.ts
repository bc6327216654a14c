// Changing one file: checked against what the agent saw, atomic, and recognisable after a crash.
import { hash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { HoldfastError } from "../ledger/error.ts";
import { errorCode, isRecord } from "../ledger/guards.ts";
import type { EffectOutcome, ToolOutput, ToolRun } from "../loop/seams.ts";
import { realPath, resolvePath } from "./paths.ts";
import { changing, demand, type Permit, permitOf } from "./permit.ts";
import { type HeldFolder, holdFolder } from "./pinned-folder.ts";
import { refused } from "./refused.ts";
import { explained, hold, isSame, notRegular, readHeld, release } from "./safe-open.ts";
import { everSaw, hashOf, hasSeen, markSeen } from "./seen-files.ts";

/** Durable before the file changes: after a crash the hashes tell whether it did. */
export interface ChangeIntent {
  path: string;
  /** Null: there was no file. */
  before: string | null;
  after: string;
  /** What the result says, for when only the result was lost. */
  said: string;
}

export interface Change {
  bytes: Buffer;
  said: string;
  /** As text, for the diff that a person sees. */
  texts: { before: string; after: string };
}

export interface Existing {
  bytes: Buffer;
  stat: Stats;
}

/** Contract: pure; throws `refused` with a reason for the model. */
export type MakeChange<I> = (existing: Existing | undefined, input: I, shownPath: string) => Change;

type Run<I> = ToolRun & { input: I };
type LineDiff = typeof import("./line-diff.ts").lineDiff;

interface Plan {
  change: Change;
  diff: string;
  existing: Existing | undefined;
  intent: ChangeIntent;
}

/** What was recorded before the change began. */
const intentOf = ({ intent }: Pick<ToolRun, "intent">): ChangeIntent | undefined =>
  isChangeIntent(intent) ? intent : undefined;

const isChangeIntent = (intent: unknown): intent is ChangeIntent =>
  isRecord(intent) && [intent.path, intent.after, intent.said].every((text) => typeof text === "string");

/** What was planned for an intent of this process. After a crash the intent is another object, and all is planned again. */
const plans = new WeakMap<ChangeIntent, Plan & { input: unknown }>();

/** Contract: throws when the change may not be made; nothing has happened then. */
export async function intendChange<I extends { path: string }>(
  run: Run<I>,
  make: MakeChange<I>,
): Promise<ChangeIntent> {
  const { lineDiff } = await import("./line-diff.ts");
  const plan = planChange(run, make, lineDiff);
  plans.set(plan.intent, { ...plan, input: run.input });
  return plan.intent;
}

export async function executeChange<I extends { path: string }>(run: Run<I>, make: MakeChange<I>): Promise<ToolOutput> {
  const recorded = intentOf(run);
  const { lineDiff } = await import("./line-diff.ts");
  // From here to the rename nothing waits: what is checked is what is replaced.
  const { change, diff, existing, intent } = plannedBefore(run) ?? planChange(run, make, lineDiff);
  if (recorded && (recorded.path !== intent.path || recorded.before !== intent.before)) {
    throw refused(`${run.input.path} was changed by someone else at this moment; read it again first`);
  }
  replaceFile({
    path: intent.path,
    shown: run.input.path,
    bytes: change.bytes,
    temp: tempName(run, intent),
    stat: existing?.stat,
  });
  return { content: change.said, display: diff, events: markWritten(run, intent) };
}

const markWritten = ({ turn, call }: ToolRun, { path, after }: ChangeIntent) =>
  markSeen(turn, path, after, { callId: call.id, how: "wrote" });

/** The plan of this very call, when the file is read once more and found byte for byte as it was planned on. */
function plannedBefore(run: Run<{ path: string }>): Plan | undefined {
  const intent = intentOf(run);
  const kept = intent && plans.get(intent);
  if (!kept) return undefined;
  plans.delete(kept.intent);
  const permit = permitOf(run);
  const path = targetOf(run, permit);
  if (kept.input !== run.input || kept.intent.path !== path) return undefined;
  const existing = readExisting(permit, path, run.input.path);
  const isAsPlanned =
    existing && kept.existing ? existing.bytes.equals(kept.existing.bytes) : !existing && !kept.existing;
  return isAsPlanned ? { ...kept, existing } : undefined;
}

function planChange<I extends { path: string }>(run: Run<I>, make: MakeChange<I>, lineDiff: LineDiff): Plan {
  const shown = run.input.path;
  const permit = permitOf(run);
  const path = targetOf(run, permit);
  const existing = readExisting(permit, path, shown);
  const before = existing ? hashOf(existing.bytes) : null;
  if (existing && before !== null && !hasSeen(run.turn, path, before)) {
    throw refused(
      everSaw(run.turn, path)
        ? `${shown} has changed since you read it; read it again first`
        : `${shown} exists and you have not read it; read it first`,
    );
  }
  const change = make(existing, run.input, shown);
  const diff = lineDiff(shown, change.texts.before, change.texts.after);
  const intent: ChangeIntent = { path, before, after: hashOf(change.bytes), said: change.said };
  return { change, diff, existing, intent };
}

/** After a crash: done, not begun, or someone else was here. */
export function reconcileChange(run: ToolRun): EffectOutcome {
  const intent = intentOf(run);
  if (!intent || !existsSync(run.root)) return { kind: "unknown" }; // another world than the one it was meant for
  const permit = permitOf(run);
  demand(permit, intent.path, { shown: intent.path, writes: true });
  const folder = holdFolder(dirname(intent.path), { shown: intent.path });
  if (folder) {
    rmSync(folder.at(tempName(run, intent)), { force: true });
    release(folder);
  }
  const existing = readExisting(permit, intent.path, intent.path);
  const now = existing ? hashOf(existing.bytes) : null;
  if (now === intent.after) {
    const output = { content: intent.said, events: markWritten(run, intent) };
    return { kind: "finished", output };
  }
  if (now === intent.before) return { kind: "undone" };
  const why = `interrupted: ${intent.path} was changed by someone else meanwhile; read it before you change it`;
  return { kind: "unknown", why };
}

/** The real path of what is to be written. Contract: throws `refused` when this call may not write there. */
function targetOf(run: Run<{ path: string }>, permit: Permit): string {
  const shown = run.input.path;
  const asked = resolvePath(run.cwd, shown);
  let path: string;
  try {
    path = realPath(asked);
  } catch (error) {
    throw explained(error, shown);
  }
  demand(permit, path, { shown, writes: true });
  return path;
}

function readExisting(permit: Permit, path: string, shown: string): Existing | undefined {
  const held = hold(permit, path, { shown, writes: true, exact: true });
  if (!held) return undefined;
  try {
    if (held.stat.isDirectory()) throw refused(`${shown} is a directory`);
    if (!held.stat.isFile()) throw notRegular(shown);
    return { bytes: readHeld(held, shown), stat: held.stat };
  } finally {
    release(held);
  }
}

/** The same for the same call, so that a later attempt finds what a dead one left. */
function tempName(run: ToolRun, intent: ChangeIntent): string {
  const { context, agent } = run.turn;
  const id = hash("sha256", `${context}\0${agent}\0${run.call.id}\0${intent.path}`, "hex").slice(0, 16);
  return `.holdfast-${id}.tmp`;
}

interface Replacement {
  path: string;
  shown: string;
  bytes: Buffer;
  temp: string;
  /** Of what was judged and read; undefined when nothing was there. */
  stat: Stats | undefined;
}

function replaceFile(file: Replacement): void {
  const folder = holdFolder(dirname(file.path), { shown: file.shown, create: true });
  try {
    replaceIn(folder, file);
    try {
      fsyncSync(folder.fd);
    } catch (cause) {
      throw new HoldfastError(
        "disk",
        `${file.path} was written, but the disk did not confirm it (${errorCode(cause)}): look at it`,
        { cause },
      );
    }
  } finally {
    release(folder);
  }
}

/** A rename inside one held folder: it follows no link, and leaves other names of the old file alone. */
function replaceIn(folder: HeldFolder, file: Replacement): void {
  const name = folder.at(basename(file.path));
  const temp = folder.at(file.temp);
  rmSync(temp, { force: true });
  try {
    writeDurably(temp, file.bytes, file.stat);
    folder.confirm();
    const now = lstatSync(name, { throwIfNoEntry: false });
    if (file.stat ? !now || !isUnchanged(now, file.stat) : now) throw changing(file.shown);
    renameSync(temp, name);
  } catch (error) {
    rmSync(temp, { force: true });
    throw explained(error, file.shown);
  }
}

const isUnchanged = (now: Stats, then: Stats): boolean =>
  isSame(now, then) && now.size === then.size && now.mtimeMs === then.mtimeMs && now.isFile();

function writeDurably(path: string, bytes: Buffer, like: Stats | undefined): void {
  const fd = openSync(path, "wx");
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    if (like) {
      try {
        fchownSync(fd, like.uid, like.gid);
      } catch {
        // only root may give a file away; the content matters more
      }
      fchmodSync(fd, like.mode & 0o7777);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
