// What the mechanisms of one harness share: made once from its options. A mechanism says in its own options what it takes of it.
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { once } from "./file-access/secret-names.ts";
import type { HarnessOptions } from "./harness-options.ts";
import { thisMachine } from "./ledger/holder.ts";
import type { Catalogue } from "./mechanisms/agents/catalogue.ts";
import { agentTypeOf, modesOf, serversFor, skillsFor } from "./mechanisms/agents/index.ts";
import { askingPerson, keptRules } from "./mechanisms/approvals/index.ts";
import { cancellingAll } from "./mechanisms/cron/schedules.ts";
import type { HooksOptions } from "./mechanisms/hooks/index.ts";
import { commandEnvironment } from "./mechanisms/jobs/environment.ts";
import { jobsIn } from "./mechanisms/jobs/job-dir.ts";
import { createSandbox } from "./mechanisms/jobs/sandbox.ts";
import type { ReadServers } from "./mechanisms/mcp/port.ts";
import type { Memories } from "./mechanisms/memory/memories.ts";
import type { Backoff } from "./mechanisms/recovery/backoff.ts";
import { redactor } from "./mechanisms/redaction/index.ts";
import type { SubagentRunner } from "./mechanisms/subagents/port.ts";
import { placeFor } from "./mechanisms/tasks/index.ts";
import { entering } from "./mechanisms/tasks/task-tree.ts";
import type { SharedTrees, TaskTrees } from "./mechanisms/worktrees/away.ts";
import { isolateIn, openWorktrees } from "./mechanisms/worktrees/index.ts";
import type { Worktrees } from "./mechanisms/worktrees/port.ts";
import { fitsRule } from "./shell-policy/rule-matches.ts";
import { VERSION } from "./version.ts";

/** What only a harness that runs agents has. */
interface Running {
  /** Of model calls that are made again. */
  backoff?: Partial<Backoff>;
  /** As the agent is told it; default: this machine's. */
  platform?: string;
  catalogue?: Catalogue;
  runner?: () => Promise<SubagentRunner>;
  memories?: () => Promise<Memories>;
  agentsIn?: (tree: string) => Promise<string[]>;
  owedJobs?: (context: string) => Promise<ReadonlySet<string>>;
  /** The store, where other machines reach it, and whether one of them lives. */
  shared?: SharedTrees;
  recorded?: NonNullable<HooksOptions["transcripts"]>["recorded"];
}

export type HouseOptions = Omit<HarnessOptions, "model" | "store"> & Running;

/** They read what the ledger has for the agent, nothing of the machine; connect_mcp starts only what the user has configured or trusted. */
const SHARED_READS = [
  "load_skill",
  "connect_mcp",
  "find_mcp_tools",
  "list_tasks",
  "get_task",
  "recall",
  "context_list",
  "context_read",
  "recall",
];

/** By them agents hand in their part, and see what left their view: a definition's list of tools does not take them away. */
export const HANDING_IN = [
  "recall",
  "compact",
  "context_list",
  "context_read",
  "export_to_context",
  "send_message",
  "check_inbox",
  "submit_plan",
  "answer_shutdown",
  "recall",
];

/** Tools that need no yes: those that only read what agents share, and the embedding program's own. */
const trustedTools = ({ permissions, tools = [] }: HouseOptions): string[] => [
  ...SHARED_READS,
  ...(permissions?.trustedTools ?? []),
  ...tools.map((tool) => tool.name),
];

/** The MCP servers that a type of agent brings itself. */
async function serversOfType(type: string, { mcp, catalogue }: HouseOptions): Promise<ReadServers> {
  const definition = mcp?.strict ? undefined : await catalogue?.definition(type).catch(() => undefined);
  if (!definition) return { servers: [], warnings: [] }; // its file is gone: its names may still be configured
  const { agentServers } = await import("./mechanisms/mcp/agent-servers.ts");
  return agentServers(definition, { env: process.env, isApproved: mcp?.isApproved });
}

/** What is only for a store that other machines reach is loaded there alone. */
function treesIn(
  worktrees: Worktrees,
  root: string,
  shared: SharedTrees | undefined,
): Pick<TaskTrees, "placeOf"> & Partial<TaskTrees> {
  if (!shared) return { placeOf: worktrees.placeOf };
  const trees = once(async () =>
    (await import("./mechanisms/worktrees/away.ts")).treesFor(worktrees, { root, shared }),
  );
  return {
    placeOf: async (name) => (await trees()).placeOf(name),
    isElsewhere: async (task) => (await trees()).isElsewhere(task),
    remake: async (name, by) => (await trees()).remake(name, by),
  };
}

export function openHouse(opts: HouseOptions) {
  const { sandbox, permissions, board, root, agentsIn } = opts;
  const mode = opts.permissionMode ?? permissions?.policy?.mode ?? "default";
  const stateDir = dirname(opts.jobsDir);
  const env = { ...commandEnvironment(process.env), ...opts.env };
  const worktrees = opts.worktrees && openWorktrees({ ...opts.worktrees, root });
  const trees = worktrees && treesIn(worktrees, root, opts.shared);
  const treesDir = opts.worktrees ? [opts.worktrees.dir] : [];
  /** What the sandboxes of commands and of MCP servers have in common. */
  const walls = sandbox && {
    ...sandbox,
    readable: [...(sandbox.readable ?? []), ...treesDir],
    searched: env.PATH,
  };
  const hiding = once(() => redactor(process.env)); // only who writes transcripts for hooks, or brings what a server has, asks
  const hide = (text: string): string => hiding()?.(text) ?? text;
  return {
    root,
    version: VERSION,
    board,
    agentsIn,
    stateDir,
    env,
    permissionMode: () => mode,
    agentType: agentTypeOf,
    matchesRule: (rule: string, name: string, input: unknown, at: string) => fitsRule(rule, at, { name, input }),
    transcripts: opts.recorded && { recorded: opts.recorded, version: VERSION, hide },
    hide,
    home: permissions?.home ?? homedir(),
    policy: { ...permissions?.policy, mode },
    sandboxed: sandbox !== undefined,
    openNetwork: sandbox?.network === true,
    readable: [opts.jobsDir, join(stateDir, "hooks"), ...treesDir],
    modesOf,
    keptRules,
    trustedTools: trustedTools(opts),
    worktrees,
    /** Where one works on a task: its worktree. */
    placeOf: trees?.placeOf,
    place: placeFor(trees?.placeOf, trees?.remake),
    isElsewhere: trees?.isElsewhere,
    machine: opts.shared && thisMachine(),
    enter: entering,
    isolate: worktrees && isolateIn(worktrees),
    jobsIn: (dir: string) => jobsIn(opts.jobsDir, dir),
    mostAgents: opts.subagents?.maxAgents,
    define: opts.catalogue?.define,
    /** What the type of an agent gives it. */
    skillsFor,
    serversFor,
    serversOfType: (type: string) => serversOfType(type, opts),
    leaving: cancellingAll,
    /** Whoever is there is asked what an MCP server wants to know. */
    askPerson: askingPerson(opts.approvals ?? {}),
    encloseServer:
      walls &&
      (async (server: string) => {
        const { serverEnclosure } = await import("./mechanisms/jobs/server-enclosure.ts");
        return serverEnclosure(walls, server);
      }),
    sandbox: walls && createSandbox(walls.bwrap, walls),
  };
}
