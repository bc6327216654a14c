// Going on as a context was started: what is remembered, what of it is taken up, what is said about the rest. Memory never widens.

import { createHash } from "node:crypto";
import os from "node:os";
import path from "node:path";
import { isPermissionMode, type PermissionMode } from "../claude-code/permission-modes.ts";
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
import { trustNow } from "./settings.ts";

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
}

/** Without a context it is a new one: then everything is as given. */
export async function startOf<F extends Given>(flags: F, state: OpenState, context?: ContextInfo): Promise<Started<F>> {
  const remembered = context && (await readStart(state.store, context.id));
  const given = givenStart(flags, state.project.root);
  const taken = remembered && (await takenUp(remembered, { flags, state, context: context.id }));
  const { root } = state.project;
  const merged: Start = { ...(taken && withModels(taken.start, (spec) => modelIn(root, spec))), ...given };
  if (taken?.start.deny) merged.deny = [...new Set([...taken.start.deny, ...(given.deny ?? [])])];
  return {
    flags: {
      ...withStart(flags, merged),
      ...(taken && !given.mcpConfig && { keptMcpConfig: taken.servers }),
      ...(taken?.start.pluginDirs && !given.pluginDirs && { keptPluginDirs: taken.start.pluginDirs }),
    },
    says: (mode) => (context && taken ? saysOf({ context, taken, given, flags, mode }) : []),
    record({ modelSpec, settings }) {
      if (context && Object.keys(given).length === 0) return undefined;
      const whole = { ...merged, ...(modelSpec && { model: absoluteModel(modelSpec) }) };
      // Settings are given for one run; but what they refused or asked about is not allowed by leaving them out.
      for (const kind of ["deny", "ask"] as const) {
        const rules = [...new Set([...(merged[kind] ?? []), ...settings.givenRules[kind]])];
        if (rules.length > 0) whole[kind] = rules;
      }
      const start = withModels(whole, (spec) => modelFrom(root, spec));
      const isKnown = taken && Object.keys(taken.left).length === 0 && sameJson(start, remembered.start);
      if (isKnown || Object.keys(start).length === 0) return undefined;
      return (id) => startedEvent(start, { ...placeOf(state), ledger: id, trust: trustHash(settings) });
    },
  };
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

async function takenUp(
  remembered: Remembered,
  { flags, state, context }: { flags: Given; state: OpenState; context: string },
): Promise<Taken> {
  const { settings, approvals: _, ...start } = remembered.start; // who answers is a matter of each run; older versions recorded it
  const kept = { ...remembered, start };
  const taken = withServers(await takenUpOf(kept, { flags, state, context }));
  if (!settings || flags.settings !== undefined) return taken;
  const why = [...(taken.why === undefined ? [] : [taken.why]), "of settings only deny and ask rules are kept"].join(
    "; ",
  );
  return { ...taken, left: { ...taken.left, settings }, why };
}

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
  { start, given, imported }: Remembered,
  { flags, state, context }: { flags: Given; state: OpenState; context: string },
): Promise<TakenStart> {
  const escalation = escalationIn(start);
  const now = { ...placeOf(state), ledger: context };
  const strange = imported ? "it came in with an import" : foreignTo(given, now);
  if (strange) {
    const { model, fallbackModels, deny, ask, permissionMode, strictMcpConfig, contextWindow } = start;
    const narrow: Start = {
      ...(model && !plays(model) && { model }),
      ...(fallbackModels && !fallbackModels.some(plays) && { fallbackModels }),
      ...(contextWindow !== undefined && { contextWindow }),
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
  const rest = Object.fromEntries(Object.entries(start).filter(([key]) => !Object.hasOwn(escalation, key)));
  return { start: knownMode(rest), left: escalation, why: "what this repository may run or allow was another then" };
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
  context: ContextInfo;
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
