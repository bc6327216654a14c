// The skills and commands there are: files in the order of their places. Read when asked, again when changed.
import fs from "node:fs";
import path from "node:path";
import { definitionFiles } from "../../definitions/definition-files.ts";
import { messageOf } from "../../ledger/error.ts";
import type { ReadSkill, SkillFile } from "./read-skill.ts";
import type { Skill } from "./skill.ts";

/** A folder of skills or of commands. */
export interface SkillPlace {
  dir: string;
  /** How people know it: inside the project, relative to it. */
  shown: string;
  kind: "skill" | "command";
  /** Comes with the project: nothing is read that leads out of this folder. */
  repository?: { root: string };
  pluginRoot?: string;
  prefix?: string;
  /** Of a plugin: whether this is a file of it as it was trusted. */
  isTrusted?: (bytes: Uint8Array) => boolean;
}

export interface SkillCatalogue {
  /** By name, each once; those of an earlier place first. */
  list(): Promise<Skill[]>;
  /** What is wrong with files; each is said once. */
  problems(): string[];
}

const MAX_BYTES = 256 * 1024;
const MOST_FILES = 1000;

export function createSkillCatalogue(places: readonly SkillPlace[]): SkillCatalogue {
  const cache = new Map<string, { stamp: string; read: ReadSkill }>();
  const said = new Set<string>();
  let fresh: string[] = [];

  function tell(problems: readonly string[]): void {
    for (const problem of problems) {
      if (said.has(problem)) continue;
      said.add(problem);
      fresh.push(problem);
    }
  }

  async function read(at: SkillFile, place: SkillPlace): Promise<Skill | undefined> {
    try {
      const stat = fs.statSync(at.file);
      const stamp = `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size} ${stat.ino}`;
      let cached = cache.get(at.file);
      if (cached?.stamp !== stamp) {
        if (!stat.isFile()) throw new Error("it is not a file");
        if (stat.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1024} kB`);
        const bytes = await bytesOf(at, place);
        if (place.isTrusted && !place.isTrusted(bytes)) throw new Error("it has changed since the plugin was trusted");
        const { readSkill } = await import("./read-skill.ts");
        cached = { stamp, read: await readSkill(bytes.toString("utf8"), at) };
        cache.set(at.file, cached);
      }
      tell(cached.read.problems);
      return cached.read.skill;
    } catch (error) {
      tell([`${at.source}: cannot be read (${messageOf(error)}); it is left out`]);
      return undefined;
    }
  }

  return {
    async list() {
      const found = new Map<string, Skill>();
      for (const place of places) {
        const files = filesOf(place);
        if (files.length > MOST_FILES)
          tell([`${place.shown}: ${files.length} files, and only the first ${MOST_FILES} are read`]);
        for (const file of files.slice(0, MOST_FILES)) {
          const skill = await read(file, place);
          if (!skill) continue;
          const first = found.get(skill.name.toLowerCase());
          if (first) tell([`${skill.source}: ${first.source} is named ${first.name} too, and is the one that is used`]);
          else found.set(skill.name.toLowerCase(), skill);
        }
      }
      return [...found.values()];
    },
    problems() {
      const now = fresh;
      fresh = [];
      return now;
    },
  };
}

/** A link out of the project, or to its secrets, would bring a file into the conversation that nobody was asked about. */
async function bytesOf({ file, source }: SkillFile, { repository }: SkillPlace): Promise<Buffer> {
  if (!repository) return fs.readFileSync(file);
  const { readBrought } = await import("../../file-access/brought-file.ts");
  return readBrought(file, { root: repository.root, shown: source });
}

function filesOf({ dir, shown, kind, repository, pluginRoot, prefix }: SkillPlace): SkillFile[] {
  const names = kind === "command" ? definitionFiles(dir).files : skillFiles(dir);
  return names.map((name) => {
    const parts = name.split("/");
    return {
      file: `${dir}/${name}`,
      source: `${shown}/${name}`,
      kind,
      name: kind === "command" ? parts.join(":").replace(/\.md$/, "") : parts.at(-2)!,
      repository: repository !== undefined,
      ...(pluginRoot !== undefined && { pluginRoot }),
      ...(prefix !== undefined && { prefix }),
    };
  });
}

/** Folders of folders, as collections are kept, and no deeper. */
const DEEPEST = 3;

/** Every folder that holds SKILL.md; what is below one belongs to it. */
function skillFiles(dir: string, below = "", depth = 0): string[] {
  return foldersIn(path.join(dir, below)).flatMap((folder) => {
    const at = below === "" ? folder : `${below}/${folder}`;
    const file = [`${at}/SKILL.md`, `${at}/skill.md`].find((one) => fs.existsSync(`${dir}/${one}`));
    if (file !== undefined) return [file];
    return depth < DEEPEST ? skillFiles(dir, at, depth + 1) : [];
  });
}

function foldersIn(dir: string): string[] {
  try {
    const entries = fs.readdirSync(dir, { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
    return folders
      .map(({ name }) => name)
      .filter((name) => !name.startsWith(".") && name !== "node_modules")
      .sort();
  } catch {
    return [];
  }
}
