// The seal of what a context was started with: proof that this user gave it on this machine, for stores that others write to as well.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { GivenIn, Start } from "../contexts/start.ts";
import { canonicalJson } from "../ledger/content-hash.ts";
import { errorCode } from "../ledger/guards.ts";
import { makeDir } from "../ledger/make-dir.ts";

/** In the state directory: never in a store, and hidden from commands as all of it is. */
const KEY_FILE = "start.key";
const KEY = /^[0-9a-f]{64}$/;
const SEALED = "holdfast context.started 1";

interface Sealed {
  start: Start;
  given: GivenIn;
}

export interface StartSeal {
  /** Undefined where no key can be kept: then it is not sealed. */
  of(sealed: Sealed): string | undefined;
  fits(sealed: Sealed, seal: string | undefined): boolean;
}

/** `dir`: of this user's state on this machine. Nothing is made before something is to be sealed. */
export function openStartSeal(dir: string): StartSeal {
  const file = path.join(dir, KEY_FILE);
  return {
    of(sealed) {
      const key = readKey(file) ?? makeKey(file);
      return key === undefined ? undefined : sealWith(key, sealed).toString("hex");
    },
    fits(sealed, seal) {
      const key = readKey(file);
      if (key === undefined || seal === undefined || !KEY.test(seal)) return false;
      return timingSafeEqual(Buffer.from(seal, "hex"), sealWith(key, sealed));
    },
  };
}

const sealWith = (key: string, { start, given }: Sealed): Buffer =>
  createHmac("sha256", Buffer.from(key, "hex"))
    .update(`${SEALED}\n${canonicalJson([start, given])}`)
    .digest();

function readKey(file: string): string | undefined {
  try {
    const text = fs.readFileSync(file, "utf8").trim();
    return KEY.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not there. Contract: of several processes all have the same; undefined where nothing can be written. */
function makeKey(file: string): string | undefined {
  const fresh = `${file}.${process.pid}`;
  try {
    makeDir(path.dirname(file));
    fs.writeFileSync(fresh, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flush: true });
    try {
      fs.linkSync(fresh, file); // the first one counts
    } catch (error) {
      // One that is damaged, or a file system without such links.
      if (errorCode(error) !== "EEXIST" || readKey(file) === undefined) fs.renameSync(fresh, file);
    }
    fs.rmSync(fresh, { force: true });
    return readKey(file);
  } catch {
    return undefined;
  }
}
