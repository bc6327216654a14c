// Owns changing one file: checked against what the agent saw, atomic, and recognisable after a crash.
import { hash } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError } from "../ledger/error.ts";
import type { ToolOutput, ToolRun } from "../loop/seams.ts";
import { realPath, resolvePath } from "./paths.ts";
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
  display?: string;
}

export interface Existing {
  bytes: Buffer;
  stat: Stats;
}

/** Contract: pure; throws `refused` with a reason for the model. */
export type MakeChange<I> = (existing: Existing | undefined, input: I, shownPath: string) => Change;

type Run<I> = ToolRun & { input: I };

/** Contract: throws when the change may not be made; nothing has happened then. */
export function planChange<I extends { path: string }>(run: Run<I>, make: MakeChange<I>) {
  const path = realPath(resolvePath(run.cwd, run.input.path));
  const existing = readExisting(path, run.input.path);
  const before = existing ? hashOf(existing.bytes) : null;
  if (existing && before !== null && !hasSeen(run.turn, path, before)) {
    throw refused(
      everSaw(run.turn, path)
        ? `${run.input.path} has changed since you read it; read it again first`
        : `${run.input.path} exists and you have not read it; read it first`,
    );
  }
  const change = make(existing, run.input, run.input.path);
  const intent: ChangeIntent = { path, before, after: hashOf(change.bytes), said: change.said };
  return { change, existing, intent };
}

export function executeChange<I extends { path: string }>(run: Run<I>, make: MakeChange<I>): ToolOutput {
  const { change, existing, intent } = planChange(run, make);
  const recorded = run.intent as ChangeIntent | undefined;
  if (recorded && (recorded.path !== intent.path || recorded.before !== intent.before)) {
    throw refused(`${run.input.path} was changed by someone else at this moment; read it again first`);
  }
  replaceFile({ path: intent.path, bytes: change.bytes, temp: tempName(run, intent), stat: existing?.stat });
  return {
    content: change.said,
    ...(change.display === undefined ? {} : { display: change.display }),
    events: markSeen(run.turn, intent.path, intent.after),
  };
}

/** After a crash: done, not begun, or someone else was here. */
export function reconcileChange(run: ToolRun): ToolOutput | undefined {
  const intent = run.intent as ChangeIntent;
  rmSync(tempName(run, intent), { force: true });
  const existing = readExisting(intent.path, intent.path);
  const now = existing ? hashOf(existing.bytes) : null;
  if (now === intent.after) {
    return { content: intent.said, events: markSeen(run.turn, intent.path, intent.after) };
  }
  if (now === intent.before) return undefined;
  return {
    content: `interrupted: ${intent.path} was changed by someone else meanwhile; read it before you change it`,
    isError: true,
  };
}

function readExisting(path: string, shown: string): Existing | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (stat.isDirectory()) throw refused(`${shown} is a directory`);
  if (!stat.isFile()) throw refused(`${shown} is not a regular file`);
  return { bytes: readFileSync(path), stat };
}

/** The same for the same call, so that a later attempt finds what a dead one left. */
function tempName(run: ToolRun, intent: ChangeIntent): string {
  const { context, agent } = run.turn;
  const id = hash("sha256", `${context}\0${agent}\0${run.call.id}\0${intent.path}`, "hex").slice(0, 16);
  return join(dirname(intent.path), `.holdfast-${id}.tmp`);
}

function replaceFile(file: { path: string; bytes: Buffer; temp: string; stat: Stats | undefined }): void {
  const dir = dirname(file.path);
  mkdirSync(dir, { recursive: true });
  rmSync(file.temp, { force: true });
  try {
    writeDurably(file.temp, file.bytes, file.stat);
    renameSync(file.temp, file.path);
  } catch (error) {
    rmSync(file.temp, { force: true });
    throw error;
  }
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } catch (cause) {
    throw new HoldfastError(
      "disk",
      `${file.path} was written, but the disk did not confirm it (${(cause as NodeJS.ErrnoException).code}): look at it`,
      {
        cause,
      },
    );
  } finally {
    closeSync(fd);
  }
}

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

export const refused = (reason: string): HoldfastError => new HoldfastError("refused", reason);
