// What SQLite's errors mean: busy, a disk that refuses, damage; in the words of the house.
import { HoldfastError, messageOf } from "../error.ts";

const FULL = 13;
const IOERR = 10;
/** The file ends before a page that it should have: no fault of the disk. */
const IOERR_SHORT_READ = 522;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
/** Our SQL never breaks a constraint of a sound database: an index and its table disagree. */
const CONSTRAINT = 19;
const NOTADB = 26;
const CANTOPEN = 14;
const READONLY = 8;

/** SQLite's extended code. */
const extendedCode = (error: unknown): number | undefined =>
  typeof error === "object" && error !== null && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode
    : undefined;

export function errcode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

export function isBusy(error: unknown): boolean {
  const code = errcode(error);
  return code === BUSY || code === LOCKED;
}

/** The database file itself cannot be trusted. */
export function isCorrupt(error: unknown): boolean {
  if (error instanceof HoldfastError) return isCorrupt(error.cause);
  if (extendedCode(error) === IOERR_SHORT_READ) return true;
  const code = errcode(error);
  return code === CORRUPT || code === NOTADB || code === CONSTRAINT;
}

export function isDisk(error: unknown): boolean {
  const code = isCorrupt(error) ? undefined : errcode(error);
  return code === FULL || code === IOERR || code === CANTOPEN || code === READONLY;
}

export function translate(error: unknown): unknown {
  const code = errcode(error);
  if (code === undefined) return error;
  const why = code === CANTOPEN ? `${messageOf(error)}: or too many files are open (ulimit -n)` : messageOf(error);
  if (isDisk(error)) {
    return new HoldfastError(
      "disk",
      `the disk refused a write or read (${why}); nothing was recorded; free space or check the disk, then try again`,
      {
        cause: error,
      },
    );
  }
  if (isCorrupt(error)) {
    return new HoldfastError("damaged", `the database file is damaged (${why}); run a repair`, {
      cause: error,
      detail: { what: why },
    });
  }
  return error;
}
