// Which projects the user trusts, and which content of their executable configuration: one file in the state directory.
import fs from "node:fs";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { isAbsent, realSettingsPath } from "./files.ts";

export interface TrustEntry {
  /** ISO time of the last grant. */
  trustedAt: string;
  /** What may be executed: each piece by its kind, such as `hooks .holdfast/settings.json`, with the SHA-256 of its content. */
  executables: Record<string, string>;
}

/** Contract: a project is its real path and nothing around it; every question reads the file anew; a write is whole or not there. */
export interface Trust {
  file: string;
  entry(root: string): TrustEntry | undefined;
  isTrusted(root: string): boolean;
  approves(root: string, kind: string, hash: string): boolean;
  /** Trusts the path, and these pieces as they are; earlier pieces of other kinds stay approved. */
  grant(root: string, hashes: Readonly<Record<string, string>>): Promise<void>;
  /** Says whether it was trusted. */
  revoke(root: string): Promise<boolean>;
}

type Projects = Map<string, TrustEntry>;

const VERSION = 1;

export function openTrust(file: string): Trust {
  const entry = (root: string) => readProjects(file).get(realSettingsPath(root));
  return {
    file,
    entry,
    isTrusted: (root) => entry(root) !== undefined,
    approves: (root, kind, hash) => approvedBy(entry(root), kind, hash),
    async grant(root, hashes) {
      const real = realSettingsPath(root);
      if (!fs.statSync(real, { throwIfNoEntry: false })?.isDirectory())
        throw new HoldfastError("invalid", `${root} is not a directory: only one that exists can be trusted`);
      await change(file, (projects) => {
        const executables = { ...projects.get(real)?.executables, ...hashes };
        projects.set(real, { trustedAt: new Date().toISOString(), executables });
      });
    },
    async revoke(root) {
      if (!entry(root)) return false;
      let was = false;
      await change(file, (projects) => {
        was = projects.delete(realSettingsPath(root));
      });
      return was;
    },
  };
}

export const approvedBy = (entry: TrustEntry | undefined, kind: string, hash: string): boolean =>
  entry !== undefined && Object.hasOwn(entry.executables, kind) && entry.executables[kind] === hash;

function readProjects(file: string): Projects {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    if (isAbsent(error)) return new Map();
    throw new HoldfastError("invalid", `${file} cannot be read (${messageOf(error)}): give it back to its owner`, {
      cause: error,
    });
  }
  try {
    const { version, projects }: { version: number; projects: Record<string, TrustEntry> } = JSON.parse(text);
    if (version > VERSION)
      throw new HoldfastError(
        "upgrade",
        `${file} was written by a newer Holdfast: install that, or move the file away`,
      );
    if (version !== VERSION) throw new Error("no version");
    return new Map(Object.entries(projects).map(([root, entry]) => [root, whole(entry)]));
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw new HoldfastError(
      "invalid",
      `${file} is damaged: move it away; nothing is trusted then, and each project is asked about again`,
      { cause: error },
    );
  }
}

function whole(entry: TrustEntry): TrustEntry {
  const pieces = Object.entries(entry.executables);
  if (typeof entry.trustedAt !== "string" || pieces.some(([, hash]) => typeof hash !== "string"))
    throw new Error("not an entry");
  return { trustedAt: entry.trustedAt, executables: Object.fromEntries(pieces) };
}

async function change(file: string, edit: (projects: Projects) => void): Promise<void> {
  const { changeFile } = await import("../ledger/change-file.ts"); // most runs only ask
  await changeFile(file, () => {
    const projects = readProjects(file);
    edit(projects);
    return `${JSON.stringify({ version: VERSION, projects: Object.fromEntries(projects) }, null, 2)}\n`;
  });
}
