// Going on as a context was started: what is remembered, what of it is taken up, what is said about the rest. Memory never widens.

import { createHash } from "node:crypto";
import os from "node:os";
import path from "node:path";
import { isNarrower, isPermissionMode, type PermissionMode } from "../claude-code/permission-modes.ts";
import type { ContextInfo } from "../contexts/listing.ts";
import { type GivenIn, type Remembered, readStart, type Start, startedEvent } from "../contexts/start.ts";
import { resumeLine, shellWord } from "../front/presentation/command-line.ts";
import { HoldfastError, isHoldfastError, messageOf } from "../ledger/error.ts";
import { thisHolder } from "../ledger/holder.ts";
import { sameJson } from "../ledger/same-json.ts";
import type { EventInput } from "../ledger/store.ts";
import type { LoadedSettings } from "../settings/load.ts";
import { isEscalating } from "../settings/repository.ts";
import type { PlaceFlags, WorkFlags } from "./flags.ts";
import type { McpFlags } from "./mcp-servers.ts";
import type { OpenState } from "./open.ts";
import { givenServers, type KeptConfig, unchangedFiles } from "./remembered-servers.ts";
import { stateRoot, trustNow } from "./settings.ts";
import type { StartSeal } from "./start-seal.ts";

/** The type of a lead is chosen with a prompt only. */
type Given = WorkFlags &
  PlaceFlags &
  McpFlags & { agent?: string; stay?: boolean; pluginDir?: string[]; keptPluginDirs?: string[] };

export interface Started<F extends Given = Given> {
  /** What was given now, and what is taken up of what was given before. */
  flags: F;
  /** One line each, for people. */
  says(mode: PermissionMode): string[];
  /** What is to be recorded now; undefined when that is known already. */
  record(opened: { modelSpec?: string; settings: LoadedSettings }): ((context: string) => EventInput) | undefined;
  /** Something is taken up that lets more happen unasked, or in more places. */
  widens: boolean;
}

type Whose = Pick<ContextInfo, "id"> & Partial<Pick<ContextInfo, "root">>;

/** For whom a process works that no person has told to go on with this very context. */
export interface WorkerRule {
  /** Its own. */
  mode: PermissionMode;
  /** What widens is taken up as well, where it would be for a person. */
  accepts: boolean;
}

/** Without a context it is a new one: then everything is as given. */
export async function startOf<F extends Given>(
  flags: F,
  state: OpenState,
  context?: Whose,
  worker?: WorkerRule,
): Promise<Started<F>> {
  const remembered = context && (await readStart(state.store, context.id));
  const given = givenStart(flags, state.project.root);
  const seal = await sealOf(flags, state);
  const taken = remembered && (await takenUp(remembered, { flags, state, context: context.id, worker, seal }));
  const { root } = state.project;
  const merged: Start = { ...(taken && withModels(taken.start, (spec) => modelIn(root, spec))), ...given };
  if (taken?.start.deny) merged.deny = [...new Set([...taken.start.deny, ...(given.deny ?? [])])];
  if (taken && worker) Object.assign(merged, narrowest(taken.start, { given, worker, began: remembered.start }));
  return {
    flags: {
      ...withStart(flags, merged),
      ...(taken && !given.mcpConfig && { keptMcpConfig: taken.servers }),
      ...(taken?.start.pluginDirs && !given.pluginDirs && { keptPluginDirs: taken.start.pluginDirs }),
    },
    says: (mode) => (context && taken ? saysOf({ context, taken, given, flags, mode }) : []),
    widens: taken !== undefined && Object.keys(escalationIn(taken.start)).length > 0,
    record({ modelSpec, settings }) {
      if (worker || (context && Object.keys(given).length === 0)) return undefined;
      const whole = { ...merged, ...(modelSpec && { model: absoluteModel(modelSpec) }) };
      // Settings are given for one run; but what they refused or asked about is not allowed by leaving them out.
      for (const kind of ["deny", "ask"] as const) {
        const rules = [...new Set([...(merged[kind] ?? []), ...settings.givenRules[kind]])];
        if (rules.length > 0) whole[kind] = rules;
      }
      const start = withModels(whole, (spec) => modelFrom(root, spec));
      const isKnown = taken && Object.keys(taken.left).length === 0 && sameJson(start, remembered.start);
      if (isKnown || Object.keys(start).length === 0) return undefined;
      return (id) => {
        const given = { ...placeOf(state), ledger: id, trust: trustHash(settings) };
        return startedEvent(start, given, seal?.of({ start, given }));
      };
    },
  };
}

/** What a worker was given does not undo what a context was begun with: the narrower mode counts, and the fewer rounds. */
function narrowest(taken: Start, of: { given: Start; worker: WorkerRule; began: Start }): Start {
  const { given, worker, began } = of;
  const rounds = [taken.maxRounds, given.maxRounds].filter((one) => one !== undefined);
  return {
    permissionMode: narrowestMode(taken.permissionMode, began.permissionMode, worker.mode) ?? given.permissionMode,
    ...(rounds.length > 0 && { maxRounds: Math.min(...rounds) }),
  };
}

/** Undefined: the worker's own. */
function narrowestMode(taken: string | undefined, began: string | undefined, own: PermissionMode) {
  if (isPermissionMode(began) && isNarrower(began, own)) return began;
  return isPermissionMode(taken) && isEscalating(taken) ? taken : undefined;
}

/** A model that cannot be opened and that nobody gave now: it is said where it comes from. */
export function begunWith(error: unknown, context: ContextInfo | undefined, flags: Pick<Given, "model">): never {
  const detail = isHoldfastError(error, "invalid") && typeof error.detail === "object" ? error.detail : null;
  const model = detail && "model" in detail ? detail.model : undefined;
  if (!context || model === undefined || flags.model !== undefined) throw error;
  throw new HoldfastError("invalid", `${context.id} was begun with ${model}: ${messageOf(error)}`, { cause: error });
}

/** What the flags say of the start. */
function givenStart(flags: Given, root: string): Start {
  const { model, fallbackModels, agent, maxRounds, contextWindow, permissionMode, allow, deny } = flags;
  const directories = flags.addDirs.map((dir) => (dir.startsWith("~") ? dir : path.resolve(root, dir)));
  const all = {
    model: model && absoluteModel(model),
    fallbackModels: fallbackModels.map(absoluteModel),
    agent,
    maxRounds,
    contextWindow,
    appendSystemPrompt: flags.appendSystemPrompt,
    systemPrompt: flags.systemPrompt,
    settings: flags.settings === undefined ? undefined : true,
    permissionMode,
    allow,
    deny,
    directories,
    pluginDirs: (flags.pluginDir ?? []).map((dir) => path.resolve(dir)),
    mcpConfig: givenServers(flags.mcpConfig),
    strictMcpConfig: flags.strictMcpConfig || undefined,
  };
  const isGiven = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => isGiven(value)));
}

/** A script is named from where the command was typed. */
const absoluteModel = (spec: string): string =>
  spec.startsWith(SCRIPT) ? `${SCRIPT}${path.resolve(spec.slice(SCRIPT.length))}` : spec;

const SCRIPT = "rehearsal:";

/** A script of the project's own is remembered by its place in it: the project may be moved before it is gone on with. */
function modelFrom(root: string, spec: string): string {
  if (!spec.startsWith(SCRIPT)) return spec;
  const place = path.relative(root, spec.slice(SCRIPT.length));
  return place.startsWith("..") || path.isAbsolute(place) ? spec : `${SCRIPT}${place}`;
}

const modelIn = (root: string, spec: string): string =>
  spec.startsWith(SCRIPT) ? `${SCRIPT}${path.resolve(root, spec.slice(SCRIPT.length))}` : spec;

const withModels = (start: Start, change: (spec: string) => string): Start => ({
  ...start,
  ...(start.model !== undefined && { model: change(start.model) }),
  ...(start.fallbackModels && { fallbackModels: start.fallbackModels.map(change) }),
});

/** The type of an agent is chosen once, and stands in the ledger. */
const withStart = <F extends Given>(
  flags: F,
  { agent: _, settings: __, mcpConfig: ___, pluginDirs: ____, directories, permissionMode, ...start }: Start,
): F => ({
  ...flags,
  ...start,
  ...(directories && { addDirs: directories }),
  ...(isPermissionMode(permissionMode) && { permissionMode }),
});

interface TakenStart {
  start: Start;
  /** What is not taken up. */
  left: Start;
  why?: string;
}

interface Taken extends TakenStart {
  /** MCP servers of files that say what they said then. */
  servers: KeptConfig[];
}

interface TakingUp {
  flags: Given;
  state: OpenState;
  context: string;
  worker?: WorkerRule | undefined;
  seal: StartSeal | undefined;
}

async function takenUp(remembered: Remembered, of: TakingUp): Promise<Taken> {
  const { flags, worker } = of;
  const { settings, approvals: _, ...start } = remembered.start; // who answers is a matter of each run; older versions recorded it
  const kept = { ...remembered, start, recorded: remembered.start };
  const known = await takenUpOf(kept, of);
  const taken = withServers(worker && !worker.accepts ? notWidening(known) : known);
  if (!settings || flags.settings !== undefined) return taken;
  const why = [...(taken.why === undefined ? [] : [taken.why]), "of settings only deny and ask rules are kept"].join(
    "; ",
  );
  return { ...taken, left: { ...taken.left, settings }, why };
}

/** Nobody is there who sees what it is given. */
function notWidening(taken: TakenStart): TakenStart {
  const wide = escalationIn(taken.start);
  if (Object.keys(wide).length === 0) return taken;
  const why = taken.why ?? "a worker takes it up only with --accept-escalated";
  return { start: without(taken.start, wide), left: { ...taken.left, ...wide }, why };
}

const without = (start: Start, some: Start): Start =>
  Object.fromEntries(Object.entries(start).filter(([key]) => !Object.hasOwn(some, key)));

/** Servers of files that changed, and of JSON, are not taken up. */
function withServers(taken: TakenStart): Taken {
  const { mcpConfig, ...start } = taken.start;
  if (!mcpConfig) return { ...taken, servers: [] };
  const { kept, changed } = unchangedFiles(mcpConfig);
  const files = mcpConfig.files.filter((one) => !changed.includes(one));
  const left = changed.length > 0 || mcpConfig.json;
  return {
    start: { ...start, ...(files.length > 0 && { mcpConfig: { files, json: false } }) },
    servers: kept,
    left: { ...taken.left, ...(left && { mcpConfig: { files: changed, json: mcpConfig.json } }) },
    ...((taken.why ?? left) && { why: taken.why ?? SERVERS_LEFT }),
  };
}

const SERVERS_LEFT =
  "a file of servers counts only while it says what it said then, and JSON, which may hold keys, is not kept";

async function takenUpOf(
  { start, recorded, given, imported, seal }: Remembered & { recorded: Start },
  of: TakingUp,
): Promise<TakenStart> {
  const { flags, state, context } = of;
  const escalation = escalationIn(start);
  const now = { ...placeOf(state), ledger: context };
  const isForged = of.seal?.fits({ start: recorded, given }, seal) === false;
  const strange = imported ? "it came in with an import" : (foreignTo(given, now) ?? (isForged ? UNSEALED : undefined));
  if (strange) {
    const { model, fallbackModels, deny, ask, permissionMode, strictMcpConfig, contextWindow, maxRounds } = start;
    const narrow: Start = {
      ...(model && !plays(model) && { model }),
      ...(fallbackModels && !fallbackModels.some(plays) && { fallbackModels }),
      ...(contextWindow !== undefined && { contextWindow }),
      ...(maxRounds !== undefined && { maxRounds }),
      ...(deny && { deny }),
      ...(ask && { ask }),
      ...(strictMcpConfig && { strictMcpConfig }),
      ...(permissionMode && !escalation.permissionMode && { permissionMode }),
    };
    return { start: knownMode(narrow), left: escalation, why: strange };
  }
  if (Object.keys(escalation).length === 0) return { start: knownMode(start), left: {} };
  if ((await trustNow(flags, state.project).then(trustHash)) === given.trust)
    return { start: knownMode(start), left: {} };
  return {
    start: knownMode(without(start, escalation)),
    left: escalation,
    why: "what this repository may run or allow was another then",
  };
}

/** A script of tool calls in place of a model does not come from elsewhere. */
const plays = (model: string): boolean => model.startsWith("rehearsal");

function knownMode(start: Start): Start {
  const { permissionMode, ...rest } = start;
  return isPermissionMode(permissionMode) ? start : rest;
}

/** Everything that lets more happen unasked, or in more places. */
function escalationIn({ permissionMode, allow, directories, pluginDirs, mcpConfig }: Start): Start {
  const loose = permissionMode !== undefined && isEscalating(permissionMode);
  return {
    ...(loose && { permissionMode }),
    ...(allow && { allow }),
    ...(directories && { directories }),
    ...(pluginDirs && { pluginDirs }),
    ...(mcpConfig && { mcpConfig }),
  };
}

const UNSEALED = "it is not sealed by this user on this machine, and others write to this store";

/** Where other machines write, an event proves nothing by what it says of itself. On a store of this machine there is no seal. */
async function sealOf(flags: PlaceFlags, { store, project }: OpenState): Promise<StartSeal | undefined> {
  if (store.reach === "machine") return undefined;
  return (await import("./start-seal.ts")).openStartSeal(stateRoot(flags, project));
}

type Place = Omit<GivenIn, "trust">;

const FOREIGN: readonly [keyof Place, string][] = [
  ["ledger", "it was given to the context that this is a copy of"],
  ["project", "it was given in another project"],
  ["store", "it was given in another store, of which this is a copy"],
  ["user", "another user gave it"],
  ["machine", "it was given on another machine"],
];

function foreignTo(given: Place, now: Place): string | undefined {
  return FOREIGN.find(([key]) => given[key] !== now[key])?.[1];
}

/** Where and as whom this process works. */
function placeOf({ project, store }: Pick<OpenState, "project" | "store">): Omit<Place, "ledger"> {
  return {
    project: project.id,
    store: store.identity,
    user: String(process.getuid?.() ?? os.userInfo().username),
    machine: thisHolder(false).machine.replace(/#.*$/s, ""),
  };
}

/** Of what the repository may execute or allow, and whether the user trusts it: another content, another hash. */
function trustHash({ trusted, executables }: Pick<LoadedSettings, "trusted" | "executables">): string {
  const pieces = executables.map(({ kind, hash, approved }) => [kind, hash, approved]).sort();
  return createHash("sha256")
    .update(JSON.stringify([trusted, pieces]))
    .digest("hex");
}

interface Saying {
  context: Whose;
  taken: Taken;
  given: Start;
  flags: PlaceFlags & Pick<Given, "stay">;
  mode: PermissionMode;
}

function saysOf({ context, taken, given, flags, mode }: Saying): string[] {
  const notGiven = (start: Start): Start =>
    Object.fromEntries(Object.entries(start).filter(([key]) => !Object.hasOwn(given, key) || key === "deny"));
  const used = flagsText(notGiven(taken.start));
  const left = flagsText(notGiven(taken.left));
  return [
    ...(used ? [`going on with ${context.id} as it was started: ${used}`] : []),
    ...(left
      ? [
          `${context.id} was started with ${left}, which is not taken up (${taken.why}): the mode is ${mode}; if you want it, give it again: ${resumeLine(context, flags)} ${left}`,
        ]
      : []),
  ];
}

/** As it would be typed. */
function flagsText(start: Start): string {
  const rules = (list: string[] | undefined) => list?.join(", ");
  const words: [string, string | undefined][] = [
    ["--model", start.model],
    ["--fallback-model", start.fallbackModels?.join(",")],
    ["--agent", start.agent],
    ["--permission-mode", start.permissionMode],
    ["--allowedTools", rules(start.allow)],
    ["--disallowedTools", rules(start.deny)],
    ...(start.directories ?? []).map((dir): [string, string] => ["--add-dir", dir]),
    ...(start.pluginDirs ?? []).map((dir): [string, string] => ["--plugin-dir", dir]),
    ...(start.mcpConfig?.files ?? []).map(({ file }): [string, string] => ["--mcp-config", file]),
    ["--mcp-config", start.mcpConfig?.json ? "…" : undefined],
    ["--max-rounds", start.maxRounds?.toString()],
    ["--context-window", start.contextWindow?.toString()],
    ["--append-system-prompt", start.appendSystemPrompt],
    ["--system-prompt", start.systemPrompt],
    ["--settings", start.settings ? "…" : start.ask && JSON.stringify({ permissions: { ask: start.ask } })],
  ];
  const given = words.flatMap(([flag, value]) => (value === undefined ? [] : [flag, shellWord(value)]));
  return [...given, ...(start.strictMcpConfig ? ["--strict-mcp-config"] : [])].join(" ");
}
