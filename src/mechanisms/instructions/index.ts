// The user's and the project's instructions: in the system prompt, and those of folders when the agent comes into them.
import { basename, dirname, join } from "node:path";
import { isInside, realPath } from "../../file-access/paths.ts";
import { SEEN_SLICE, type SeenFiles } from "../../file-access/seen-files.ts";
import { own } from "../../ledger/own.ts";
import { saidMark } from "../../loop/carry.ts";
import { inside, noteText, withoutMarks } from "../../loop/marks.ts";
import { defineMechanism, type Mechanism, type Note, type Turn } from "../../loop/seams.ts";
import { contextRoot } from "../../loop/transcript.ts";
import { fireHook } from "../hooks/port.ts";
import { instructionsEvents, instructionsSlice, type ShownInstructions } from "./events.ts";
import {
  folderPlaces,
  foldersTo,
  mainTreeOf,
  OWN_IN_FOLDER,
  projectPlaces,
  topOf,
  type UserPlaces,
  userPlaces,
} from "./files.ts";
import { type Gathered, gather, type Instructions, isFor } from "./gather.ts";

export interface InstructionsOptions extends UserPlaces {
  /** Whether the project's own files count: it is trusted. */
  trusted: boolean;
}

const HEAD = `Instructions of the user and of the project, from their files: follow them like the user's words. What stands later is nearer; what the user says in the conversation goes before all of it. Rules of folders come in notes from "instructions".`;

/** What every agent in that tree reads at its start. `main`: the tree that its context began in. */
export async function instructionsAt(
  root: string,
  main: string,
  opts: InstructionsOptions,
): Promise<Gathered & { rules: Instructions[] }> {
  const { home, trusted } = opts;
  const mainTree = mainTreeOf(root) ?? main;
  const users = await gather(userPlaces(opts), { home });
  const project = trusted
    ? await gather(projectPlaces(root, mainTree), {
        home,
        within: [realPath(topOf(root)), realPath(mainTree)],
        known: users.loaded,
      })
    : { loaded: [], leftOut: [] };
  const all = [...users.loaded, ...project.loaded];
  return {
    loaded: all.filter(({ paths }) => paths === undefined),
    rules: all.filter(({ paths }) => paths !== undefined),
    leftOut: [...users.leftOut, ...project.leftOut],
  };
}

/** Tells hooks of each text of a file, once for each agent of this process. */
function createTelling(opts: InstructionsOptions | undefined) {
  /** By agent: of which file which text they were told of. */
  const told = new WeakMap<Turn, Map<string, string>>();
  return async (loaded: readonly Instructions[], reason: (one: Instructions) => string, turn: Turn): Promise<void> => {
    if (!opts) return;
    const known = told.get(turn) ?? new Map<string, string>();
    told.set(turn, known);
    for (const one of loaded.filter(({ file, hash }) => known.get(file) !== hash)) {
      known.set(one.file, one.hash);
      await fireHook(turn, "InstructionsLoaded", payloadOf(one, reason(one), opts));
    }
  };
}

export function createInstructions(opts: InstructionsOptions | undefined): Mechanism {
  /** By agent: as its running turn began. What changes on disk is seen by the next one. */
  const atStart = new WeakMap<Turn, { turnId: string | undefined; read: Awaited<ReturnType<typeof instructionsAt>> }>();
  /** By agent: how far what it touched was looked at. */
  const looked = new WeakMap<Turn, string>();
  const tell = createTelling(opts);

  async function startOf(turn: Turn, places: InstructionsOptions) {
    const turnId = turn.state.turn?.turnId;
    const known = atStart.get(turn);
    if (known && known.turnId === turnId) return known.read;
    const read = await instructionsAt(turn.root, contextRoot(turn), places);
    atStart.set(turn, { turnId, read });
    await tell(read.loaded, ({ importedBy }) => (importedBy === undefined ? "session_start" : "include"), turn);
    return read;
  }

  /** Instructions of the folders in which the agent works or has touched a file, and rules for such files: those that it was not shown. */
  async function nearer(turn: Turn, places: InstructionsOptions): Promise<Instructions[]> {
    const touched = Object.keys(own(turn.slice<SeenFiles>(SEEN_SLICE) ?? {}, turn.agent) ?? {});
    const mark = `${turn.state.turn?.turnId} ${turn.cwd} ${touched.length}`;
    if (looked.get(turn) === mark) return [];
    looked.set(turn, mark);
    const { loaded, rules } = await startOf(turn, places);
    const root = realPath(turn.root);
    const inTree = touched.filter((path) => isInside(root, path));
    const folders = new Set(
      [realPath(turn.cwd), ...inTree.map((path) => dirname(path))].flatMap((at) => foldersTo(root, at)),
    );
    const near = [...folders].sort().flatMap((folder) => folderPlaces(root, folder));
    const found = await gather(near, { home: places.home, within: [root], known: loaded });
    const forPaths = rules.filter((rule) => inTree.some((path) => isFor(rule, path, root)));
    const shown = own(turn.slice<ShownInstructions>("instructions"), turn.agent) ?? {};
    return [...forPaths, ...found.loaded].filter(({ shown: file, hash }) => own(shown, file)?.hash !== hash);
  }

  return defineMechanism({
    name: ORIGIN,
    // Rules of a project that is trusted no more are not said anew.
    carry: async (turn, how) => (opts?.trusted ? (await import("./carry.ts")).carryRules(turn, how) : ""),
    outside: { at: ["system", "intake"], notes: ["instructions"] },
    events: instructionsEvents,
    fold: instructionsSlice,
    seams: {
      async system(turn) {
        if (!opts) return "";
        const { loaded } = await startOf(turn, opts);
        return loaded.length === 0 ? "" : [HEAD, ...loaded.map(asElement)].join("\n\n");
      },
      async intake(turn): Promise<Note[]> {
        if (!opts?.trusted || !turn.state.turn) return []; // nobody is woken for it
        const near = await nearer(turn, opts);
        await tell(near, ({ paths }) => (paths === undefined ? "nested_traversal" : "path_glob_match"), turn);
        return near.map(noteOf);
      },
    },
  });
}

const ORIGIN = "instructions";

function noteOf({ shown, hash, paths, why, text: rules }: Instructions): Note {
  const where = paths ? `for ${paths.join(", ")}` : why;
  const text = `Rules of the project, ${where}, from ${shown}: follow them there.\n\n${withoutMarks(rules)}`;
  const mark = saidMark(noteText(ORIGIN, text));
  return { origin: ORIGIN, text, events: [{ type: "instructions.shown", data: { file: shown, hash, mark } }] };
}

/** As hooks are told it. */
const payloadOf = ({ file, paths, importedBy }: Instructions, reason: string, { home, configHome }: UserPlaces) => ({
  file_path: file,
  memory_type: memoryType(file, [join(home, ".claude"), join(home, ".holdfast"), join(configHome, "holdfast")]),
  load_reason: reason,
  ...(paths && { globs: paths }),
  ...(importedBy !== undefined && { parent_file_path: importedBy }),
});

const memoryType = (file: string, ofUser: readonly string[]): "User" | "Local" | "Project" =>
  ofUser.some((dir) => isInside(realPath(dir), file)) ? "User" : basename(file) === OWN_IN_FOLDER ? "Local" : "Project";

const asElement = ({ shown, text }: Instructions): string =>
  `<instructions file="${shown.replaceAll('"', "'")}">\n${inside("instructions", withoutMarks(text))}\n</instructions>`;
