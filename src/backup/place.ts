// Where backups lie: objects by name, in a bucket or a folder. Correct with whole-object writes alone: no write is conditional.
import { homedir } from "node:os";
import { resolve } from "node:path";
import { HoldfastError } from "../ledger/error.ts";

export interface PlacedObject {
  name: string;
  bytes: number;
  /** When it was written, by the clock of the place. */
  at: number;
}

export interface BackupPlace {
  /** As people know it; never with a key. */
  readonly shown: string;
  /** Its objects are on this machine. */
  readonly isLocal: boolean;
  /** Contract: whole and durable when it resolves, or as before. The same name is only ever given the same content. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined: it is not there. Contract: throws `damaged` where it is larger than `most`, before much of it is read. */
  get(name: string, most?: number): Promise<Buffer | undefined>;
  /** In the order of names. */
  list(prefix: string): AsyncIterable<PlacedObject>;
  /** Contract: fine when it is not there. */
  remove(name: string): Promise<void>;
  /** Removes what writes that were killed left, older than that; where the place keeps such. */
  removeUnfinished?(before: number): number;
}

export interface PlaceOptions {
  env?: NodeJS.ProcessEnv;
  /** Something is written to it: a folder is made. */
  write?: boolean;
  /** How long one request may take, and how often it is tried; for tests. */
  requestMs?: number;
  tries?: number;
}

/** For whoever names no bound: no object of ours is larger. */
export const MOST_BYTES = 256 << 20;

export const largerThan = (most: number): HoldfastError =>
  new HoldfastError("damaged", `it has more than the ${most} bytes that can have been written`);

/** A folder as a place; undefined: it is no folder. */
export function folderOfPlace(given: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (/^(?!file:)[a-z][a-z0-9+.-]*:\/\//i.test(given)) return undefined;
  const path = given.replace(/^file:\/\//, "");
  return path === "" ? undefined : pathOfUser(path, env);
}

/** As people write paths: `~` is their home. */
export const pathOfUser = (path: string, env: NodeJS.ProcessEnv = process.env): string =>
  resolve(path.replace(/^~(?=\/|$)/, env.HOME || homedir()));

export async function openPlace(given: string, opts: PlaceOptions = {}): Promise<BackupPlace> {
  if (given.startsWith("s3://")) return (await import("./s3-place.ts")).openS3Place(given, opts);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(given)?.[1];
  if (scheme !== undefined && scheme !== "file")
    throw new HoldfastError("invalid", `${scheme}:// is no place for backups: give s3://BUCKET/PREFIX or a folder`);
  const folder = folderOfPlace(given, opts.env);
  if (folder === undefined) throw new HoldfastError("invalid", "a place for backups is s3://BUCKET/PREFIX or a folder");
  return (await import("./folder-place.ts")).openFolderPlace(folder, opts);
}
