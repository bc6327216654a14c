// The objects of one project in a place: compressed, sealed where there is a key, and what reading one can find.
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { HoldfastError } from "../ledger/error.ts";
import type { BackupPlace, PlacedObject } from "./place.ts";
import { createSealing, type Sealing, wrongKey } from "./sealing.ts";

/** What became of an object since it was written. */
type Found = { kind: "whole"; bytes: Buffer } | { kind: "missing" } | { kind: "damaged"; why: string };

export interface Vault {
  readonly place: BackupPlace;
  /** The same project with the same key, its objects found elsewhere. */
  over(place: BackupPlace): Vault;
  readonly project: string;
  readonly encrypted: boolean;
  /** What was written and read since it was opened, as it goes over the wire. */
  readonly moved: { puts: number; bytes: number; readBytes: number };
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Contract: throws only when the place cannot be asked, or the key is not the one. */
  get(name: string): Promise<Found>;
  /** Names without the project's. */
  list(prefix: string): AsyncIterable<PlacedObject>;
  has(name: string): Promise<boolean>;
  remove(name: string): Promise<void>;
  /** How a ledger's folder is called. */
  folderOf(ledger: string): string;
  /** 16 characters that stand for a checksum in a name. */
  tag(sum: string): string;
  /** A whole hash as a name. */
  hashName(hash: string): string;
}

const MOST = 1 << 30;
const PLAIN = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}|~[0-9a-f]{40})$/;
const SEALED = ".sealed";
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
const FRAME = { params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 6 } };

export const plainName = (name: string): string =>
  PLAIN.test(name) ? name : `~${hash("sha256", name, "hex").slice(0, 40)}`;

export function openVault(place: BackupPlace, project: string, key: Buffer | undefined): Vault {
  return vaultOn(place, project, key && createSealing(key, plainName(project)));
}

function vaultOn(place: BackupPlace, project: string, sealing: Sealing | undefined): Vault {
  const ending = sealing ? SEALED : "";
  const top = `${plainName(project)}/`;
  const moved = { puts: 0, bytes: 0, readBytes: 0 };
  /** Something was opened with this key: what it does not open is damaged. */
  let isKey = sealing === undefined;
  const opensOthers = async (than: string): Promise<boolean> => {
    let tried = 0;
    for await (const { name } of vault.list("")) {
      if (name === than || ++tried > 5) continue;
      const object = await place.get(top + name + ending);
      if (object && sealing?.unseal(name, object).kind === "whole") return true;
    }
    return false;
  };
  const vault: Vault = {
    place,
    over: (other) => vaultOn(other, project, sealing),
    project,
    encrypted: sealing !== undefined,
    moved,
    async put(name, bytes) {
      const packed = await compress(bytes, FRAME);
      const object = sealing ? sealing.seal(name, packed) : packed;
      await place.put(top + name + ending, object);
      moved.puts++;
      moved.bytes += object.length;
    },
    async get(name) {
      const object = await place.get(top + name + ending);
      if (!object) return { kind: "missing" };
      moved.readBytes += object.length;
      const opened = sealing ? sealing.unseal(name, object) : ({ kind: "whole", bytes: object } as const);
      if (opened.kind === "foreign") {
        if (!isKey && !(await opensOthers(name))) throw wrongKey();
        return { kind: "damaged", why: "its beginning is damaged" };
      }
      if (opened.kind !== "whole") return opened;
      isKey = true;
      try {
        return { kind: "whole", bytes: await decompress(opened.bytes, { maxOutputLength: MOST }) };
      } catch {
        return { kind: "damaged", why: "it cannot be unpacked" };
      }
    },
    async *list(prefix) {
      for await (const one of place.list(top + prefix)) {
        if (one.name.endsWith(SEALED) !== (sealing !== undefined)) throw sealing ? isOpen(place) : needsKey(place);
        yield { ...one, name: one.name.slice(top.length, one.name.length - ending.length) };
      }
    },
    async has(name) {
      for await (const one of vault.list(name)) if (one.name === name) return true;
      return false;
    },
    remove: (name) => place.remove(top + name + ending),
    folderOf: (ledger) => (sealing ? sealing.hide(`ledger ${ledger}`).slice(0, 40) : plainName(ledger)),
    tag: (sum) => (sealing ? sealing.hide(`tag ${sum}`) : sum).slice(0, 16),
    hashName: (name) => (sealing ? sealing.hide(`hash ${name}`) : name),
  };
  return vault;
}

const needsKey = ({ shown }: BackupPlace): HoldfastError =>
  new HoldfastError(
    "refused",
    `the backup in ${shown} is encrypted: give its key with --key-file or in HOLDFAST_BACKUP_KEY`,
  );

const isOpen = ({ shown }: BackupPlace): HoldfastError =>
  new HoldfastError(
    "refused",
    `the backup in ${shown} is not encrypted: leave the key out, or choose another place for an encrypted one`,
  );

const PROJECTS = "projects/";

/** So that the projects of a place are found without looking at everything. */
export async function markProject({ place, project }: Vault): Promise<void> {
  const mark = PROJECTS + plainName(project);
  if ((await place.get(mark)) === undefined) await place.put(mark, Buffer.from(`${project}\n`));
}

/** The projects that a place holds backups of, by the names of their folders. */
export async function projectsIn(place: BackupPlace): Promise<string[]> {
  const marked: string[] = [];
  for await (const { name } of place.list(PROJECTS)) marked.push(name.slice(PROJECTS.length));
  if (marked.length > 0) return marked;
  const found = new Set<string>();
  for await (const { name } of place.list("")) {
    const [project, kind] = name.split("/");
    if (project && kind === "manifests") found.add(project);
  }
  return [...found];
}
