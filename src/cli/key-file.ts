// A key of this user on this machine, in a file that only they read: made once, whoever needs it first.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { errorCode } from "../ledger/guards.ts";
import { makeDir } from "../ledger/make-dir.ts";

/** 32 bytes in hexadecimal. */
const KEY = /^[0-9a-f]{64}$/;

export const isKey = (text: string): boolean => KEY.test(text);

/** Undefined: there is none, or it is damaged. */
export function readKeyFile(file: string): string | undefined {
  try {
    const text = fs.readFileSync(file, "utf8").trim();
    return KEY.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not there. Contract: of several processes all have the same; undefined where nothing can be written. */
export function makeKeyFile(file: string): string | undefined {
  const fresh = `${file}.${process.pid}`;
  try {
    makeDir(path.dirname(file));
    fs.writeFileSync(fresh, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flush: true });
    try {
      fs.linkSync(fresh, file); // the first one counts
    } catch (error) {
      // One that is damaged, or a file system without such links.
      if (errorCode(error) !== "EEXIST" || readKeyFile(file) === undefined) fs.renameSync(fresh, file);
    }
    fs.rmSync(fresh, { force: true });
    return readKeyFile(file);
  } catch {
    return undefined;
  }
}
