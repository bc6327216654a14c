// Encryption with the user's key: every object sealed under its name, names that say nothing.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scryptSync } from "node:crypto";
import fs from "node:fs";
import { HoldfastError, messageOf } from "../ledger/error.ts";

/** What an object begins with that is sealed; one that is not begins with zstd's own mark. */
const MARK = Buffer.from("HFBK1");
const KEY_MARK_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const LEAST_KEY = 16;

type Unsealed =
  | { kind: "whole"; bytes: Buffer }
  | { kind: "damaged"; why: string }
  /** With another key, or its beginning is damaged. */
  | { kind: "foreign" };

export interface Sealing {
  seal(name: string, bytes: Uint8Array): Buffer;
  unseal(name: string, bytes: Buffer): Unsealed;
  /** What stands for a name in the place: the same for the same, 64 characters. */
  hide(text: string): string;
}

/** The key of --key-file, or of $HOLDFAST_BACKUP_KEY; undefined: backups are not encrypted. */
export function readKey(file: string | undefined, env: NodeJS.ProcessEnv = process.env): Buffer | undefined {
  const given = env.HOLDFAST_BACKUP_KEY;
  if (file === undefined && given === undefined) return undefined;
  // A variable that was to be filled, and was not: nobody meant a backup that everybody can read.
  if (file === undefined && given === "")
    throw new HoldfastError(
      "invalid",
      "HOLDFAST_BACKUP_KEY is empty: give a key in it, or unset it where backups are not to be encrypted",
    );
  const key = file === undefined ? Buffer.from(given ?? "") : fromFile(file);
  const end = key.at(-1) === 10 ? (key.at(-2) === 13 ? -2 : -1) : key.length; // an editor's last line end is not meant
  const own = key.subarray(0, end);
  if (own.length < LEAST_KEY)
    throw new HoldfastError(
      "invalid",
      `the backup key has ${own.length} bytes: give at least ${LEAST_KEY}, such as those of \`openssl rand -hex 32\``,
    );
  return own;
}

function fromFile(file: string): Buffer {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    throw new HoldfastError("invalid", `the backup key cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** `project` keeps two projects with one key apart. Contract: takes a moment, so that short keys are hard to guess. */
export function createSealing(key: Buffer, project: string): Sealing {
  const root = scryptSync(key, `holdfast backup ${project}`, 32, { N: 1 << 15, r: 8, p: 1, maxmem: 64 << 20 });
  const part = (name: string) => Buffer.from(hkdfSync("sha256", root, "", `holdfast ${name}`, 32));
  const [forContent, forNames] = [part("content"), part("names")];
  const keyMark = part("mark").subarray(0, KEY_MARK_BYTES);
  const head = MARK.length + KEY_MARK_BYTES;
  return {
    seal(name, bytes) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", forContent, nonce).setAAD(Buffer.from(name));
      const sealed = [cipher.update(bytes), cipher.final()];
      return Buffer.concat([MARK, keyMark, nonce, ...sealed, cipher.getAuthTag()]);
    },
    unseal(name, bytes) {
      if (!isSealed(bytes)) return { kind: "damaged", why: "it is not encrypted, or was cut" };
      if (bytes.length < head + NONCE_BYTES + TAG_BYTES) return { kind: "damaged", why: "it breaks off" };
      if (!bytes.subarray(MARK.length, head).equals(keyMark)) return { kind: "foreign" };
      const nonce = bytes.subarray(head, head + NONCE_BYTES);
      const opened = createDecipheriv("aes-256-gcm", forContent, nonce)
        .setAAD(Buffer.from(name))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const inner = bytes.subarray(head + NONCE_BYTES, -TAG_BYTES);
        return { kind: "whole", bytes: Buffer.concat([opened.update(inner), opened.final()]) };
      } catch {
        return { kind: "damaged", why: "it is not what was written under this name" };
      }
    },
    hide: (text) => createHmac("sha256", forNames).update(text).digest("hex"),
  };
}

const isSealed = (bytes: Buffer): boolean => bytes.subarray(0, MARK.length).equals(MARK);

export const wrongKey = (): HoldfastError =>
  new HoldfastError(
    "refused",
    "this backup was made with another key: give that one with --key-file or in HOLDFAST_BACKUP_KEY",
  );
