// The seal of what a context was started with: proof that this user gave it on this machine, for stores that others write to as well.
import { createHmac, timingSafeEqual } from "node:crypto";
import path from "node:path";
import type { GivenIn, Start } from "../contexts/start.ts";
import { canonicalJson } from "../ledger/content-hash.ts";
import { isKey, makeKeyFile, readKeyFile } from "./key-file.ts";

/** In the state directory: never in a store, and hidden from commands as all of it is. */
const KEY_FILE = "start.key";
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
      const key = readKeyFile(file) ?? makeKeyFile(file);
      return key === undefined ? undefined : sealWith(key, sealed).toString("hex");
    },
    fits(sealed, seal) {
      const key = readKeyFile(file);
      if (key === undefined || seal === undefined || !isKey(seal)) return false;
      return timingSafeEqual(Buffer.from(seal, "hex"), sealWith(key, sealed));
    },
  };
}

const sealWith = (key: string, { start, given }: Sealed): Buffer =>
  createHmac("sha256", Buffer.from(key, "hex"))
    .update(`${SEALED}\n${canonicalJson([start, given])}`)
    .digest();
