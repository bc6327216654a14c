// Opening a harness from flags and settings: the same for a prompt and for a workflow.

import { HOOK_EVENTS } from "../claude-code/hook-events.ts";
import type { FileKeeper } from "../contexts/file-keeper.ts";
import { commandLine, requestLine } from "../front/presentation/command-line.ts";
import type { Screen } from "../front/text/screen.ts";
import type { LiveTraces } from "../front/traces/live.ts";
import { createHarness, type Harness } from "../harness.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { Codec } from "../ledger/events.ts";
import type { Store } from "../ledger/store.ts";
import type { Mechanism } from "../loop/seams.ts";
import type { ApprovalsOptions } from "../mechanisms/approvals/index.ts";
import type { Budget } from "../mechanisms/budget/events.ts";
import { unknownPrice } from "../mechanisms/budget/index.ts";
import type { HookConfig } from "../mechanisms/hooks/config.ts";
import { costUsd } from "../models/catalogue.ts";
import { type Model, noUsage } from "../models/model.ts";
import { modelSpec as specOf } from "../models/model-spec.ts";
import { defaultModelSpec } from "../models/open-model.ts";
import { settingsPlaces } from "../settings/files.ts";
import { mcpPiece } from "../settings/repository.ts";
import { agentPlaces } from "./agent-places.ts";
import type { PlaceFlags, WorkFlags } from "./flags.ts";
import { type McpFlags, mcpServers } from "./mcp-servers.ts";
import { type OpenState, openChosenModel, withWindow } from "./open.ts";
import { agentsOf, hooksOf, skillsOf, usedPlugins } from "./plugins.ts";
import { type OpenSettings, openSettings } from "./settings.ts";
import { approvesSkill, skillPlaces } from "./skill-places.ts";

/** What only some commands have: whether a team may be built, and how the answer is given. */
interface Doors extends McpFlags {
  pluginDir?: string[];
  keptPluginDirs?: readonly string[];
  stay?: boolean;
  outputFormat?: string;
}

interface OpenedHarness {
  harness: Harness;
  model: Model;
  settings: OpenSettings;
  /** The model as it was chosen, to go on with. */
  modelSpec?: string;
  /** Approvals are asked for at this terminal. */
  asksHere: boolean;
  /** Names of the MCP servers. */
  servers: string[];
}

/** Who is asked for approval, where somebody sits at this terminal: on a screen of lines, or by whoever draws it. */
type Asked = { screen: Screen } | { ask: NonNullable<ApprovalsOptions["onAsk"]> };

export async function openHarness(
  flags: WorkFlags & Doors,
  { project, store, jobsDir, expiry }: OpenState,
  { mechanisms, ...asked }: Asked & { mechanisms?: Mechanism[] },
): Promise<OpenedHarness> {
  const settings = await openSettings(flags, project);
  const { modelEnv: env, settings: chosen } = settings;
  if (chosen.contexts.ttlMs !== undefined) expiry.ttlMs = chosen.contexts.ttlMs;
  const spec = flags.model ?? (chosen.model && specOf(chosen.model));
  const open = (wanted: string | undefined) => openChosenModel(wanted, env, chosen.models);
  const opened = await open(spec);
  if (flags.contextWindow !== undefined && flags.contextWindow < LEAST_WINDOW)
    throw new HoldfastError(
      "invalid",
      `--context-window takes a number of tokens, ${LEAST_WINDOW} or more, such as 64000`,
    );
  const model = flags.contextWindow === undefined ? opened : withWindow(opened, flags.contextWindow);
  const fallbacks = flags.fallbackModels.length > 0 ? flags.fallbackModels : (chosen.fallbackModels ?? []);
  const approvals = approvalsOf(flags, asked);
  const { root } = project;
  const { plugins, says } = await usedPlugins(flags.pluginDir ?? [], {
    ...{ trust: settings.trust, trustFlag: flags.trust, root },
    kept: flags.keptPluginDirs ?? [],
    named: chosen.plugins,
  });
  const { hooks, says: ofHooks } = await hooksOf(plugins);
  const mcp = await mcpServers(settings, flags, plugins);
  settings.says.push(...says, ...ofHooks, ...mcp.warnings);
  const traces = await tracesOf(store, settings.says, { flags, codec: () => harness.host.codec });
  const links = store.reach === "network" ? await import("../contexts/project/links.ts") : undefined;
  const isOwnFolder = links?.ownFolders(store, project);
  const harness: Harness = createHarness({
    model,
    store,
    root: project.root,
    ...(isOwnFolder && { isOwnFolder }),
    jobsDir,
    permissions: settings.permissions,
    hooks: plugins.length === 0 ? chosen.hooks : joined(chosen.hooks, hooks),
    sandbox: settings.sandbox,
    env: chosen.env,
    files: keepersIn(`${project.stateDir}/files`, isOwnFolder),
    approvals,
    team: { offer: flags.stay },
    worktrees: { dir: `${project.stateDir}/worktrees`, link: chosen.worktree.link, offer: flags.stay },
    maxRounds: flags.maxRounds ?? chosen.maxRounds,
    budget: budgetOf(flags, chosen.budget, model),
    surroundings: true,
    instructions: { ...settingsPlaces(), trusted: settings.trusted },
    memory: { dir: `${project.stateDir}/memory` },
    skills: {
      places: [...skillPlaces(project.root, settings), ...skillsOf(plugins)],
      isApproved: approvesSkill((kind, hash) => settings.trust.approves(project.root, kind, hash)),
    },
    mcp: {
      servers: mcp.servers,
      strict: flags.strictMcpConfig ?? false,
      isApproved: (source, text) => {
        const { kind, hash } = mcpPiece(source, text);
        return settings.trust.approves(root, kind, hash);
      },
    },
    agents: { places: [...agentPlaces(project.root, settings), ...agentsOf(plugins)] },
    openModel: open,
    appendSystemPrompt: flags.appendSystemPrompt,
    systemPrompt: flags.systemPrompt,
    mechanisms: traces ? [...(mechanisms ?? []), traces.mechanism] : mechanisms,
    fallbackModels: fallbacks.map((spec) => () => open(spec)),
  });
  // The rehearsal model stands in where nothing was chosen: that is nothing to go on with.
  const byDefault = defaultModelSpec(env);
  const modelSpec = spec ?? (byDefault === "rehearsal" ? undefined : byDefault);
  return {
    harness: traces ? sentAtEnd(harness, traces) : harness,
    model,
    settings,
    ...(modelSpec && { modelSpec }),
    asksHere: approvals.onAsk !== undefined,
    servers: mcp.servers.map(({ name }) => name),
  };
}

const LEAST_WINDOW = 1_000;

/** Nothing is loaded where nothing is set. */
async function tracesOf(
  store: Store,
  says: string[],
  { flags, codec }: { flags: PlaceFlags; codec: () => Codec },
): Promise<LiveTraces | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = process.env;
  if (!all && !own) return undefined;
  const { traceSettings } = await import("../front/traces/settings.ts");
  const { settings, says: why } = traceSettings(process.env);
  if (why !== undefined) says.push(why);
  if (!settings.endpoint) return undefined;
  const { sendLive } = await import("../front/traces/live.ts");
  const sendLine = (context: string) => commandLine(["traces", "send", context], flags);
  return sendLive({ store, codec, settings, sendLine });
}

/** When all agents are let go, and the store is still open. */
const sentAtEnd = (harness: Harness, traces: LiveTraces): Harness => ({
  ...harness,
  async close() {
    await harness.close();
    const problem = await traces.close().catch(() => undefined);
    if (problem !== undefined) process.stderr.write(`holdfast: ${problem}\n`);
  },
});

/** Those of settings first. */
function joined(first: HookConfig, more: HookConfig): HookConfig {
  const all: HookConfig = { ...first };
  for (const event of HOOK_EVENTS) if (more[event]) all[event] = [...(first[event] ?? []), ...more[event]];
  return all;
}

/** One keeper for each tree: a process may go on with contexts that were started in several. */
function keepersIn(
  dir: string,
  isOwn: ((folder: string) => boolean) | undefined,
): (root: string) => Promise<FileKeeper> {
  const keepers = new Map<string, FileKeeper>();
  return async (root) => {
    const { projectFiles } = await import("../contexts/project-files.ts");
    const keeper = keepers.get(root) ?? projectFiles({ root, dir, isOwn });
    keepers.set(root, keeper);
    return keeper;
  };
}

/** A price that nobody knows is said before anything is recorded. */
function budgetOf({ maxBudgetUsd }: Pick<WorkFlags, "maxBudgetUsd">, chosen: Budget, { id }: Model): Budget {
  const budget = { ...chosen, ...(maxBudgetUsd === undefined ? {} : { usd: maxBudgetUsd }) };
  if (budget.usd !== undefined && costUsd(id, noUsage()) === undefined)
    throw new HoldfastError("invalid", unknownPrice(id));
  return budget;
}

/** Whoever is there answers; without a terminal nobody is, unless --approvals wait says that somebody will. */
function approvalsOf(flags: Pick<WorkFlags, "approvals"> & PlaceFlags & Doors, asked: Asked): ApprovalsOptions {
  const { approvals, outputFormat = "text" } = flags;
  const terminal = process.stdin.isTTY && process.stderr.isTTY && outputFormat === "text";
  const way = approvals ?? (terminal ? "terminal" : "deny");
  if (way === "deny") return {};
  if (way === "wait") return { wait: true };
  if ("ask" in asked) return { wait: true, onAsk: asked.ask };
  return {
    wait: true,
    onAsk: async (request, signal) => {
      const { askingOn } = await import("../front/text/terminal-approval.ts");
      return askingOn(asked.screen, (id) => requestLine(id, flags))(request, signal);
    },
  };
}
