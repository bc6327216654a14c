// The objects of one project in a place: compressed, sealed where there is a key, none larger than can be meant, and what reading one can find.
import { hash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import { HoldfastError, isHoldfastError } from "../ledger/error.ts";
import { errorCode } from "../ledger/guards.ts";
import { CHUNK, CHUNKS } from "./chunks.ts";
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
  /** Objects that lists passed over: they are none of ours. */
  readonly strays: Set<string>;
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

/** So much an object is, and unpacks to, at the most. A few bytes of zstd can unpack to any number: beyond `PLAIN_SIZE` it must pay for it. */
const MOST_OBJECT = 256 << 20;
const MOST_UNPACKED = 1 << 30;
const PLAIN_SIZE = 16 << 20;
const MOST_GROWTH = 64;
const SKIPPABLE_FRAME = 0x184d2a50;
/** What sealing adds, and packing to what cannot be packed. */
const SLACK = 64 << 10;
const PLAIN = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}|~[0-9a-f]{40})$/;
const SEALED = ".sealed";
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** Ours need 2 MB of what went before; a frame may ask for gigabytes. */
const MOST_WINDOW = { [constants.ZSTD_d_windowLogMax]: 24 };
const FRAME = { params: { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: 6 } };

export const plainName = (name: string): string =>
  PLAIN.test(name) ? name : `~${hash("sha256", name, "hex").slice(0, 40)}`;

/** Chunks are cut to a size; of the others none is far beyond what a segment is cut at. */
const mostOf = (name: string): number => (name.startsWith(CHUNKS) ? CHUNK + SLACK : MOST_OBJECT);

function mostUnpacked(name: string, packed: number): number {
  if (name.startsWith(CHUNKS)) return CHUNK;
  return Math.min(MOST_UNPACKED, Math.max(PLAIN_SIZE, packed * MOST_GROWTH));
}

/** What packs all too well is made longer by a frame that unpacks to nothing: so nobody needs to trust a few bytes with much memory. */
function paid(name: string, { length }: Uint8Array, packed: Buffer): Buffer {
  if (length <= mostUnpacked(name, packed.length)) return packed;
  const filling = Buffer.alloc(8 + Math.ceil(length / MOST_GROWTH));
  filling.writeUInt32LE(SKIPPABLE_FRAME, 0);
  filling.writeUInt32LE(filling.length - 8, 4);
  return Buffer.concat([packed, filling]);
}

export function openVault(place: BackupPlace, project: string, key: Buffer | undefined): Vault {
  return vaultOn({ place, project, sealing: key && createSealing(key, plainName(project)), strays: new Set() });
}

interface VaultParts extends Pick<Vault, "place" | "project" | "strays"> {
  sealing: Sealing | undefined;
}

function vaultOn(parts: VaultParts): Vault {
  const { place, project, sealing, strays } = parts;
  const ending = sealing ? SEALED : "";
  const top = `${plainName(project)}/`;
  const moved = { puts: 0, bytes: 0, readBytes: 0 };
  const read = async (name: string): Promise<Found> => {
    try {
      const bytes = await place.get(top + name + ending, mostOf(name));
      return bytes ? { kind: "whole", bytes } : { kind: "missing" };
    } catch (error) {
      if (!isHoldfastError(error, "damaged")) throw error;
      return { kind: "damaged", why: error.what };
    }
  };
  /** Something was opened with this key: what it does not open is damaged. */
  let isKey = sealing === undefined;
  const opensOthers = async (than: string): Promise<boolean> => {
    let tried = 0;
    for await (const { name } of vault.list("")) {
      if (name === than || ++tried > 5) continue;
      const object = await read(name);
      if (object.kind === "whole" && sealing?.unseal(name, object.bytes).kind === "whole") return true;
    }
    return false;
  };
  const vault: Vault = {
    place,
    over: (other) => vaultOn({ ...parts, place: other }),
    project,
    encrypted: sealing !== undefined,
    moved,
    strays,
    async put(name, bytes) {
      const packed = paid(name, bytes, await compress(bytes, FRAME));
      const object = sealing ? sealing.seal(name, packed) : packed;
      if (object.length > mostOf(name) || bytes.length > mostUnpacked(name, packed.length)) throw tooLarge(name, bytes);
      await place.put(top + name + ending, object);
      moved.puts++;
      moved.bytes += object.length;
    },
    async get(name) {
      const object = await read(name);
      if (object.kind !== "whole") return object;
      moved.readBytes += object.bytes.length;
      const opened = sealing ? sealing.unseal(name, object.bytes) : object;
      if (opened.kind === "foreign") {
        if (!isKey && !(await opensOthers(name))) throw wrongKey();
        return { kind: "damaged", why: "its beginning is damaged" };
      }
      if (opened.kind !== "whole") return opened;
      isKey = true;
      try {
        const maxOutputLength = mostUnpacked(name, opened.bytes.length);
        return { kind: "whole", bytes: await decompress(opened.bytes, { maxOutputLength, params: MOST_WINDOW }) };
      } catch (error) {
        const isLarge = errorCode(error) === "ERR_BUFFER_TOO_LARGE";
        return { kind: "damaged", why: isLarge ? "it unpacks to more than was ever packed" : "it cannot be unpacked" };
      }
    },
    async *list(prefix) {
      let ours = 0;
      let others = 0;
      for await (const one of place.list(top + prefix)) {
        const isSealed = one.name.endsWith(SEALED);
        if (isSealed && !sealing) throw needsKey(place);
        if (sealing && !isSealed) {
          others++;
          strays.add(one.name.slice(top.length));
          continue;
        }
        ours++;
        yield { ...one, name: one.name.slice(top.length, one.name.length - ending.length) };
      }
      if (others > 0 && ours === 0 && !(await holdsSealed(place, top))) throw isOpen(place);
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
    `the backup in ${shown} is not encrypted, and a key is given: choose another place for an encrypted one`,
  );

/** One object that is not sealed may be anybody's; where none is, the backup was made without a key. */
async function holdsSealed(place: BackupPlace, top: string): Promise<boolean> {
  for await (const { name } of place.list(top)) if (name.endsWith(SEALED)) return true;
  return false;
}

const tooLarge = (name: string, { length }: Uint8Array): HoldfastError =>
  new HoldfastError("limit", `${name} has ${length} bytes: more than a backup takes of one thing`);

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
