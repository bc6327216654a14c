// What every command opens first: the project's store, the model, the context that a flag names.
import { type ContextInfo, listContexts } from "../contexts/listing.ts";
import { settleMovedRoots } from "../contexts/project/moved-roots.ts";
import { sayJoined, sayTaken, sayTakenChoice } from "../contexts/project/sentences.ts";
import { findProject, openProject, type Project } from "../contexts/project.ts";
import { sweepExpired } from "../contexts/sweep.ts";
import { resumeLine, shellWord, startLine } from "../front/presentation/command-line.ts";
import { oneLine, printable } from "../front/presentation/printable.ts";
import { HoldfastError, isHoldfastError } from "../ledger/error.ts";
import { openStore } from "../ledger/open-store.ts";
import { projectIn } from "../ledger/server-address.ts";
import type { Store } from "../ledger/store.ts";
import type { Model } from "../models/model.ts";
import { modelSpec } from "../models/model-spec.ts";
import { defaultModelSpec, openModel } from "../models/open-model.ts";
import type { PlaceFlags } from "./flags.ts";
import { beginsId, type IdKind, isId, isInId, isTooShort } from "./ids.ts";

export interface OpenState {
  project: Project;
  store: Store;
  jobsDir: string;
  /** What the settings say about contexts that say nothing themselves, for a command that has read them. */
  expiry: { ttlMs?: number };
}

/** The project of the directory; what changed since the last time is said, and what only a person can tell is asked where one is. */
export async function projectOf(flags: PlaceFlags & { outputFormat?: string }): Promise<Project> {
  const where = { cwd: flags.cwd, state: flags.state };
  const found = findProject(where);
  if ("kind" in found) {
    if (!asksHere(flags)) return openProject(where);
    return (await import("./ask-project.ts")).askAboutProject(where, found);
  }
  if (found.news) process.stderr.write(`holdfast: ${printable(found.news)}\n`);
  return found;
}

const asksHere = ({ outputFormat = "text" }: { outputFormat?: string }): boolean =>
  process.stdin.isTTY && process.stderr.isTTY && outputFormat === "text";

/** `quiet`, `dryRun`: of those commands that have them. */
type Opening = PlaceFlags & { outputFormat?: string; quiet?: boolean; dryRun?: boolean };

/**
 * `interactive`: a person sits at this process; what it holds is only taken over by an explicit resume. `restoring`: goes on with a restore.
 * `patient`: it stays, and waits for a server that is not there yet.
 */
export async function openState(
  flags: Opening,
  { interactive = false, restoring = false, patient = false } = {},
): Promise<OpenState> {
  const found = await projectOf(flags);
  const expiry: OpenState["expiry"] = {};
  const beforeClose = (closing: Store) => sweep(closing, expiry, flags);
  const onProblem = (text: string) => void process.stderr.write(`holdfast: ${printable(text)}\n`);
  // A terminal's screen is nobody else's to write on.
  const opts = { beforeClose, interactive, restoring, patient, ...(!interactive && { onProblem }) };
  const store = await openStore(found.ledgers, opts);
  try {
    const project = namesProject(found) ? await joined(store, found, flags) : found;
    if (store.readOnly?.restoring) await sayUnfinished(store, flags);
    await settleMovedRoots(store, project);
    return { project, store, jobsDir: `${project.stateDir}/jobs`, expiry };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** By a name that anybody may give; without one the name is the project's own id. */
const namesProject = ({ ledgers }: Project): boolean => "server" in ledgers && projectIn(ledgers.server) !== undefined;

/** The project as which this folder works on that store: which one it joins is said once, and one that is another folder's is asked about. */
async function joined(store: Store, project: Project, flags: Opening): Promise<Project> {
  const { joinStore } = await import("../contexts/project/joined.ts");
  const joining = await joinStore(store, project);
  if (joining.kind === "known" || joining.kind === "begun") return project;
  if (joining.kind === "joined") {
    process.stderr.write(`holdfast: ${printable(sayJoined(store.url, joining))}\n`);
    return project;
  }
  const { other } = joining;
  const where = { cwd: flags.cwd, state: flags.state };
  const { askAboutStore } = await import("./ask-project.ts");
  const adopted = asksHere(flags) ? await askAboutStore(where, { url: store.url, other }) : undefined;
  if (adopted) return adopted;
  throw new HoldfastError("invalid", `${sayTaken(store.url, other)}: ${sayTakenChoice(other)}`);
}

async function sayUnfinished(store: Store, flags: Opening): Promise<void> {
  const { unfinishedText } = await import("./unfinished-restore.ts");
  process.stderr.write(`holdfast: ${printable(await unfinishedText(store, flags))}\n`);
}

/** Removes a few expired contexts at the end of a command. */
async function sweep(store: Store, { ttlMs }: OpenState["expiry"], { quiet, dryRun }: Opening): Promise<void> {
  if (dryRun) return;
  const gone = await sweepExpired(store, ttlMs === undefined ? {} : { defaultTtlMs: ttlMs });
  if (gone.length === 0 || quiet) return;
  const what = gone.length === 1 ? "A context was removed: its" : `${gone.length} contexts were removed: their`;
  process.stderr.write(`${what} time to live had passed\n`);
}

/** Opens the project's store for one command, and closes it. */
export async function withState<T>(
  flags: Opening,
  work: (state: OpenState) => Promise<T>,
  opts: { restoring?: boolean; patient?: boolean } = {},
): Promise<T> {
  const state = await openState(flags, opts);
  try {
    return await work(state);
  } finally {
    await state.store.close();
  }
}

/** `windows`: by `provider/name`, how much a model reads at once. */
export async function openChosenModel(
  spec: string | undefined,
  env: NodeJS.ProcessEnv,
  windows: Readonly<Record<string, { contextWindow?: number }>> = {},
): Promise<Model> {
  const model = await openedModel(spec, env);
  const contextTokens = Object.entries(windows).find(([name]) => means(name, model.id))?.[1].contextWindow;
  return contextTokens === undefined ? model : withWindow(model, contextTokens);
}

/** By its whole name, or a short one such as `sonnet`. */
function means(name: string, id: string): boolean {
  try {
    return name === id || modelSpec(name) === id;
  } catch {
    return false;
  }
}

export const withWindow = (model: Model, contextTokens: number): Model => ({
  ...model,
  limits: { ...model.limits, contextTokens, isAssumed: false },
});

async function openedModel(spec: string | undefined, env: NodeJS.ProcessEnv): Promise<Model> {
  const chosen = spec ?? defaultModelSpec(env);
  if (chosen === "rehearsal" || chosen.startsWith("rehearsal:")) {
    const { createRehearsal } = await import("../models/rehearsal/index.ts");
    if (chosen !== "rehearsal") {
      const script = chosen.slice("rehearsal:".length);
      const { readScript } = await import("../models/rehearsal/script.ts");
      await readScript(script); // a mistake in it shows before anything is recorded
      return createRehearsal({ script });
    }
    if (spec === undefined) {
      process.stderr.write(
        "No API key found: this is the offline rehearsal model, not an AI. For a real one set ANTHROPIC_API_KEY or OPENAI_API_KEY, or give --model.\n",
      );
    }
    return createRehearsal();
  }
  return openModel(chosen, { env });
}

/** The context that -c or -r means, or undefined for a new one. Contract: an id loads that id or fails; never another one. */
export async function chosenContext(
  { store, project }: Pick<OpenState, "store" | "project">,
  flags: PlaceFlags & { continue: boolean; resume?: string | undefined },
): Promise<ContextInfo | undefined> {
  if (flags.resume) return findContext(store, flags.resume, flags).catch((error) => sayNewest(error, flags));
  if (flags.resume === undefined && !flags.continue) return undefined;
  const all = (await listContexts(store)).filter(({ aside }) => !aside);
  const here = all.filter((c) => isIn(project, c));
  const newest = (flags.continue ? undefined : here.find(isOpen)) ?? here[0];
  if (newest) return newest;
  const start = `start one with \`${startLine(flags)}\``;
  const [other] = flags.continue ? all : [all.find(isOpen) ?? all[0]];
  if (!other) throw new HoldfastError("not_found", `there is no context to go on with here: ${start}`);
  throw new HoldfastError(
    "not_found",
    `no context was started in this folder; the newest of the project is ${other.id} (in ${shellWord(other.root)}): ${resumeLine(other, flags)}; or ${start}`,
  );
}

const isOpen = ({ status }: ContextInfo): boolean => ["interrupted", "paused", "running", "waiting"].includes(status);

/** Started in the folder of the command, by whatever path leads to it now. */
export const isIn = (project: Project, { root }: ContextInfo): boolean => [...pathsOf(project), ""].includes(root);

/** Adds how to go on with the newest context, for who gave a prompt where an id belongs. */
function sayNewest(error: unknown, { door }: PlaceFlags): never {
  if (!isHoldfastError(error, "not_found") || error.detail !== undefined) throw error; // one that is elsewhere was meant
  throw new HoldfastError(
    "not_found",
    `${error.message}; \`holdfast ${door === "terminal" ? "-c" : '-p -c "…"'}\` goes on with the newest`,
  );
}

/** The directory, by every path that leads to it now. */
const pathsOf = ({ root, top, alsoAt }: Project): string[] => [
  root,
  ...alsoAt.map((one) => one + root.slice(top.length)),
];

/** The state as it is seen from the tree that the context was started in: its settings, its trust and its sandbox hold, wherever the command was typed. */
export function stateAt(state: OpenState, flags: PlaceFlags, context: ContextInfo | undefined): OpenState {
  const { project } = state;
  if (!context?.root || context.root === project.root) return state;
  try {
    const there = openProject({ cwd: context.root, state: flags.state });
    return there.id === project.id ? { ...state, project: { ...project, root: there.root } } : state;
  } catch {
    return state; // that directory is gone: what is done here is refused by whoever needs it
  }
}

/** By its id, an unambiguous part of one, or its title. Contract: never another one than was named. */
export async function findContext(store: Store, given: string, flags: PlaceFlags): Promise<ContextInfo> {
  const all = await listContexts(store);
  for (const fits of [isId(CONTEXT, given), beginsId(CONTEXT, given), hasTitle(given), isInId(CONTEXT, given)]) {
    const found = all.filter(fits);
    if (found.length > 1) throw notOne(given, found);
    if (found[0]) return found[0];
  }
  const name = shownName(given);
  if (isTooShort(given, CONTEXT.prefix) && !/\s/.test(given))
    throw new HoldfastError(
      "not_found",
      `${name} is too short for a part of an id, and no context is called so: four characters or more, such as those after ctx_ in \`holdfast contexts ls\``,
    );
  const { contextElsewhere, placeHint } = await import("./elsewhere.ts");
  const folder = await contextElsewhere(given, flags);
  const what = `there is no context ${name} in this project`;
  throw new HoldfastError(
    "not_found",
    folder === undefined
      ? `${what} (an id, at least four characters of one, or a title): see \`holdfast contexts ls\``
      : `${what}; ${placeHint(folder)}`,
    ...(folder === undefined ? [] : [{ detail: { folder } }]),
  );
}

const CONTEXT: IdKind<ContextInfo> = { prefix: "ctx_", idOf: ({ id }) => id };

/** As a listing shows it: spaces, and the cut at its end, do not count. */
function hasTitle(given: string): (one: ContextInfo) => boolean {
  const plain = (text: string) => text.replace(/\s+/g, " ").trim().toLowerCase();
  const wanted = plain(given);
  if (wanted === "") return () => false;
  return ({ title }) => (wanted.endsWith("…") ? plain(title).startsWith(wanted.slice(0, -1)) : plain(title) === wanted);
}

const shownName = (given: string): string => `"${oneLine(given, 60)}"`;

function notOne(given: string, found: readonly ContextInfo[]): HoldfastError {
  const some = found.slice(0, 3).map(({ id }) => id);
  const more = found.length > some.length ? ", …" : "";
  const isTitle = found.every(hasTitle(given));
  return new HoldfastError(
    "invalid",
    `${found.length} contexts are ${isTitle ? "called" : "meant by"} ${shownName(given)} (${some.join(", ")}${more}): give ${isTitle ? "the id of one" : "more of the id"}`,
  );
}
