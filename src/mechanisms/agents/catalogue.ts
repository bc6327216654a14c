// The types of agents there are: files in the order of their places, then the built-in ones. Read when asked, again when changed.
import fs from "node:fs";
import path from "node:path";
import { definitionFiles } from "../../definitions/definition-files.ts";
import type { readBrought } from "../../file-access/brought-file.ts";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { nearestName } from "../../text/similarity.ts";
import { type AgentDefinition, BUILT_IN, findDefinition } from "./definition.ts";
import type { AgentCatalogue, AgentFacts, AgentType } from "./port.ts";
import type { ReadDefinition } from "./read-definition.ts";

/** A folder of definitions. */
export interface AgentPlace {
  dir: string;
  /** How people know it: inside the project, relative to it. */
  shown: string;
  /** Comes with the project, or with a plugin. */
  repository: boolean;
  /** Nothing is read that leads out of this folder. */
  root?: string;
  /** Of a plugin: whether this is a file of it as it was trusted. */
  isTrusted?: (bytes: Uint8Array) => boolean;
}

export interface CatalogueOptions {
  /** From the highest precedence to the lowest. Of a repository only when it is trusted. */
  places?: readonly AgentPlace[];
  /** The embedding program's own; before all files. */
  definitions?: readonly Omit<AgentDefinition, "source">[];
}

export interface Catalogue extends AgentCatalogue {
  /** Everything about one. Throws as `about`. */
  definition(type: string): Promise<AgentDefinition>;
  /** Everything about all of them, in the order of precedence. */
  definitions(): Promise<AgentDefinition[]>;
}

const MAX_BYTES = 256 * 1024;
const MOST_FILES = 500;

interface Cached {
  stamp: string;
  read: ReadDefinition;
}

export function createAgentCatalogue({ places = [], definitions = [] }: CatalogueOptions = {}): Catalogue {
  const said = new Set<string>();
  let fresh: string[] = [];

  const readPlace = createPlaceReader(tell);

  async function all(): Promise<AgentDefinition[]> {
    const found: AgentDefinition[] = definitions.map((one) => ({ ...one, source: "the program" }));
    const missing = new Map<string, string[]>();
    for (const place of places) found.push(...(await readPlace(place, missing)));
    tell(missing.size === 0 ? [] : [missingText(missing)]);
    const names = new Set<string>();
    return [...found, ...BUILT_IN].filter(({ name }) => {
      if (names.has(name.toLowerCase())) return false;
      names.add(name.toLowerCase());
      return true;
    });
  }

  function tell(problems: readonly string[]): void {
    for (const problem of problems) {
      if (said.has(problem)) continue;
      said.add(problem);
      fresh.push(problem);
    }
  }

  async function definition(type: string): Promise<AgentDefinition> {
    const known = await all();
    const found = findDefinition(known, type);
    if (found) return found;
    const names = known.map(({ name }) => name);
    const near = nearestName(type, names);
    throw new HoldfastError(
      "not_found",
      `there is no agent type ${type}: ${near ? `did you mean ${near}? There` : "there"} are ${names.join(", ")}`,
    );
  }

  return {
    list: async () => (await all()).map(typeOf),
    about: async (type) => typeOf(await definition(type)),
    definition,
    definitions: all,
    define: async (agent, type) => factsOf(agent, await definition(type)),
    problems() {
      const now = fresh;
      fresh = [];
      return now;
    },
  };
}

/** Loaded only where a repository brings agents. */
const brought = async (...file: Parameters<typeof readBrought>): Promise<Buffer> =>
  (await import("../../file-access/brought-file.ts")).readBrought(...file);

type ReadPlace = (place: AgentPlace, missing: Map<string, string[]>) => Promise<AgentDefinition[]>;

/** Each file is read once until it changes. `missing`: by tool, who names one that is not here. */
function createPlaceReader(tell: (problems: readonly string[]) => void): ReadPlace {
  const cache = new Map<string, Cached>();

  /** Of two of one name in one place the one in the upper folder is used, then the first by its file's name. */
  const readPlace: ReadPlace = async (place, missing) => {
    const found: AgentDefinition[] = [];
    const { files, isCut } = definitionFiles(place.dir);
    if (isCut)
      tell([
        `${place.shown}: more folders, or deeper ones, than are looked through; some are left out: take some away`,
      ]);
    if (files.length > MOST_FILES)
      tell([`${place.shown}: ${files.length} definitions, and only the first ${MOST_FILES} are read: take some away`]);
    for (const file of files.slice(0, MOST_FILES)) {
      const { definition, missingTools } = (await read(place, file)) ?? {};
      if (!definition) continue;
      const first = found.find(({ name }) => name.toLowerCase() === definition.name.toLowerCase());
      if (first) {
        tell([
          `${definition.source}: ${first.source} is named ${first.name} too, and is the one that is used: rename one`,
        ]);
        continue;
      }
      found.push(definition);
      for (const tool of missingTools ?? []) missing.set(tool, [...(missing.get(tool) ?? []), definition.name]);
    }
    return found;
  };

  async function read(
    { dir, shown, repository, root, isTrusted }: AgentPlace,
    name: string,
  ): Promise<ReadDefinition | undefined> {
    const file = path.join(dir, name);
    const source = path.join(shown, name);
    try {
      const stat = fs.statSync(file);
      const stamp = `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
      let cached = cache.get(file);
      if (cached?.stamp !== stamp) {
        if (!stat.isFile()) throw new Error("it is not a file");
        if (stat.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
        const bytes = root === undefined ? fs.readFileSync(file) : await brought(file, { root, shown: source });
        if (isTrusted && !isTrusted(bytes)) throw new Error("it has changed since the plugin was trusted");
        const { readDefinition } = await import("./read-definition.ts");
        const read = readDefinition(bytes.toString("utf8"), source, { repository });
        Object.assign(read.definition ?? {}, repository && { repository }, isTrusted && { approved: true });
        cached = { stamp, read };
        cache.set(file, cached);
      }
      tell(cached.read.problems);
      return cached.read;
    } catch (error) {
      tell([`${source}: cannot be read (${messageOf(error)}); this agent is left out`]);
      return undefined;
    }
  }

  return readPlace;
}

/** One line for all of them: it is nobody's mistake. */
function missingText(missing: ReadonlyMap<string, readonly string[]>): string {
  const all = [...missing].sort(([, a], [, b]) => b.length - a.length);
  const who = (agents: readonly string[]) => (agents.length > 1 ? `${agents.length} agents` : agents[0]);
  return `tools that are not here, and that agents do without: ${all.map(([tool, by]) => `${tool} (${who(by)})`).join(", ")}`;
}

const typeOf = ({ name, description, source, isolation, background }: AgentDefinition): AgentType => ({
  name,
  description,
  source,
  ...(isolation ? { isolation } : {}),
  ...(background ? { background } : {}),
});

function factsOf(agent: string, definition: AgentDefinition): AgentFacts {
  const { name: type, instructions, tools, disallowedTools, model, permissionMode, maxRounds, skills } = definition;
  const mcpServers = definition.mcpServers?.flatMap((one) => (typeof one === "string" ? [one] : Object.keys(one)));
  const optional = { tools, disallowedTools, model, permissionMode, maxRounds, skills, mcpServers };
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  return [{ type: "agent.defined", data: { agent, type, instructions, ...given } }];
}
