import { resolve } from "node:path";
import type { Contexts } from "./contexts/open.ts";
import { type SeenFile, seenFacts } from "./file-access/seen-files.ts";
import type { HarnessOptions } from "./harness-options.ts";
import type { HostTeamsOptions } from "./host-teams.ts";
import { HANDING_IN, type HouseOptions, openHouse } from "./house.ts";
import { createHubMechanism } from "./hub/mechanism.ts";
import { HoldfastError } from "./ledger/error.ts";
import { readFacts } from "./ledger/read-facts.ts";
import { LEAD, type SendOptions } from "./loop/agent.ts";
import { agentsIn } from "./loop/agents-in.ts";
import { nothing } from "./loop/carry.ts";
import { drive } from "./loop/drive.ts";
import { createHost, type Host, type Taken, type TakeOptions } from "./loop/host.ts";
import type { Hosting } from "./loop/hosting.ts";
import { mergeSeams } from "./loop/merge.ts";
import { defineMechanism, type Mechanism, type Turn } from "./loop/seams.ts";
import { type Catalogue, createAgentCatalogue } from "./mechanisms/agents/catalogue.ts";
import { createAgents } from "./mechanisms/agents/index.ts";
import { createApprovals } from "./mechanisms/approvals/index.ts";
import { createBudget } from "./mechanisms/budget/index.ts";
import { createAutomaticCheckpoints } from "./mechanisms/checkpoints/index.ts";
import { compaction } from "./mechanisms/compaction/index.ts";
import { createCron } from "./mechanisms/cron/index.ts";
import { createFiles } from "./mechanisms/files/index.ts";
import { createGoal } from "./mechanisms/goal/index.ts";
import { goalFacts } from "./mechanisms/goal/port.ts";
import { createHooks } from "./mechanisms/hooks/index.ts";
import { identity } from "./mechanisms/identity/index.ts";
import { createInstructions } from "./mechanisms/instructions/index.ts";
import { createJobs } from "./mechanisms/jobs/index.ts";
import { owedJobs } from "./mechanisms/jobs/sweep.ts";
import { limits } from "./mechanisms/limits/index.ts";
import { createMcp } from "./mechanisms/mcp/index.ts";
import { createMemory } from "./mechanisms/memory/index.ts";
import { createOutputBound } from "./mechanisms/output/index.ts";
import { createPermissions } from "./mechanisms/permissions/index.ts";
import { createPersonCommands } from "./mechanisms/person-commands/index.ts";
import { promptCache } from "./mechanisms/prompt-cache/index.ts";
import { createRecovery } from "./mechanisms/recovery/index.ts";
import { createRedaction, redactor } from "./mechanisms/redaction/index.ts";
import { createSkills } from "./mechanisms/skills/index.ts";
import { createSubagents } from "./mechanisms/subagents/index.ts";
import { createSurroundings } from "./mechanisms/surroundings/index.ts";
import { createTasks, openBoard } from "./mechanisms/tasks/index.ts";
import { createTeam } from "./mechanisms/team/index.ts";
import { createTodo } from "./mechanisms/todo/index.ts";
import { createWorktrees } from "./mechanisms/worktrees/index.ts";
import type { Content } from "./models/model.ts";
import { openModel } from "./models/open-model.ts";
import { countsOf, createEventQueue, type HarnessEvent, type RunResult, resultOf, titleOf } from "./run-result.ts";
import { VERSION } from "./version.ts";

/** Every mechanism, in the order in which seams ask them: the first is the outermost of an around. What each takes of the house stands in its own options. */
export function mechanismsOf(opts: HouseOptions): Mechanism[] {
  const house = openHouse(opts);
  return [
    identity({ append: opts.appendSystemPrompt, instead: opts.systemPrompt, platform: opts.platform }), // system: who the agent is, where it works
    createInstructions(opts.instructions), // system, intake: AGENTS.md, CLAUDE.md and their like; those of folders when an agent comes there
    createAgents({ openModel: opts.openModel, always: HANDING_IN }), // system, model: the type of an agent: instructions, tools, model, rounds
    limits({ maxRounds: opts.maxRounds }), // model, intake: round limit, guard against repeating one call
    createRecovery({ fallbacks: opts.fallbackModels, backoff: opts.backoff }), // model, stop: retry, fallback, escalation, overflow, continuation
    createBudget({ budget: opts.budget }), // model: what all agents of the context may spend together
    compaction(), // context: shrinks what the model sees when it no longer fits
    promptCache(), // counts the requests that broke what providers cache, by cause
    createAutomaticCheckpoints({ keeper: opts.files }), // input, before effects: a checkpoint at each prompt, its files kept beside the model call
    createHooks({ ...house, hooks: opts.hooks, inProcess: opts.inProcessHooks }), // input, gate, ask, tool, stop: the user's commands at events
    createGoal(), // input, intake, stop: /goal of a person; a turn goes on until an evaluator says met or impossible
    createSkills(opts.skills && { ...house, ...opts.skills }), // input, intake, system, tools: load_skill, /name of a person, what a type of agent is given
    createPermissions({ ...opts.permissions, ...house }), // gate: rules, modes, the policy for commands and paths
    createApprovals(opts.approvals), // ask: durable requests, answered by a person
    createOutputBound(), // tool: one bound on all output, the whole kept as a blob
    createRedaction(process.env), // tool: known secrets do not come back in results
    createTodo(), // tool, intake: todo_write and its reminder
    createTasks(house), // tools, intake, gate: create_task list_tasks get_task claim_task complete_task update_task
    createWorktrees({ ...house, offer: opts.worktrees?.offer }), // tools: create_worktree keep_worktree remove_worktree, for tasks that are done apart
    createTeam({ ...opts.team, ...house }), // tools, system, intake, gate, wake: teammates, their bus, plans and shutdowns
    createFiles(), // tools: read_file write_file edit_file multi_edit glob grep
    createJobs({ ...house, dir: opts.jobsDir, owed: opts.owedJobs, hide: redactor(process.env) }), // tools, model, intake, tool, wake: bash as supervised jobs, job_output job_kill list_jobs
    createCron(opts.cron), // tools, intake, wake: schedule_cron list_crons cancel_cron
    createSubagents({ isolate: house.isolate, ...opts.subagents, runner: opts.runner, catalogue: opts.catalogue }), // tools, intake, wake: task, for children that run the same loop
    createHubMechanism(opts.contexts), // tools: context_list context_read context_write export_to_context, for agents with a part of a larger work
    createMcp({ ...house, ...opts.mcp }), // tools, input, intake, system, gate: connect_mcp, the tools of MCP servers, their resources and prompts
    createPersonCommands(), // input: what a person ran beside the conversation, with their next words
    createMemory(opts.memory && opts.memories && { ...opts.memory, open: opts.memories }), // input, tools: remember forget
    createSurroundings({ tell: opts.surroundings }), // input: the day and the branch, where they changed
    defineMechanism({ name: "own-tools", tools: opts.tools ?? [], carry: nothing, outside: { tools: ["*"] } }), // the embedding program's tools
    ...(opts.mechanisms ?? []), // the embedding program's mechanisms
  ];
}

export interface RunOptions extends Omit<TakeOptions, "onProgress"> {
  /** An existing context to go on with; a new one otherwise. */
  context?: string;
  title?: string;
  /** What the lead of a new context is; default: an agent without a type. */
  agentType?: string;
  /** Files whose content stands in the input: the lead has read them. */
  seen?: readonly SeenFile[];
  /** What the turn goes on for: it is judged before it ends. Only with an input. */
  goal?: string | undefined;
  /** The input was piped in, not typed: a command in it is none. */
  isPiped?: boolean | undefined;
  /** Without an input: a turn that somebody stopped is left as it is, and only one that was cut off goes on. Default: both do. */
  leavesStopped?: boolean;
  onEvent?: (event: HarnessEvent) => void;
  /** Called once the context is held, before anything happens in it. */
  onOpen?: (context: string, turn: Turn) => void;
}

/** A run that goes on. Iterate it for everything that happens; await `result` for the end. */
export interface Run extends AsyncIterable<HarnessEvent> {
  readonly context: string;
  readonly taken: Taken;
  readonly result: Promise<RunResult>;
  /** Resolves when the input is durable; at once where there is none. */
  readonly accepted: Promise<void>;
  send(input: string | Content[], how?: SendOptions): Promise<void>;
  interrupt(): void;
}

export interface Harness {
  readonly host: Host;
  /** Without an input it takes up the interrupted turn and ends when that stops. */
  run(input?: string | Content[], opts?: RunOptions): Promise<Run>;
  /** Runs teammates, and agents whose schedule is due, until the signal of its `run`. */
  hosting(opts?: HostTeamsOptions): Promise<Hosting>;
  /** The tools a model is offered in that turn. */
  toolNames(turn: Turn): string[];
  /** The types of agents there are. */
  readonly agents: Catalogue;
  close(): Promise<void>;
}

export function createHarness(given: HarnessOptions): Harness {
  checkHarness(given);
  // never relative to where the process happens to be later, or to where a command works
  const opts = { ...given, root: resolve(given.root), jobsDir: resolve(given.jobsDir) };
  const contexts = atFirstUse(async (): Promise<Contexts> => {
    const { openContexts } = await import("./contexts/index.ts");
    return openContexts({ store: opts.store });
  });
  const catalogue = createAgentCatalogue(opts.agents);
  const open = (spec: string) => openModel(spec, { env: process.env });
  const runner = atFirstUse(async () => {
    const { createSubagentRunner } = await import("./hub/subagents.ts");
    return createSubagentRunner({ host, contexts: await (opts.contexts ?? contexts)(), agents: catalogue });
  });
  const { store, model, root, isOwnFolder, mechanisms: own } = opts;
  const machines =
    store.reach === "network"
      ? atFirstUse(async () => {
          const { createMachines } = await import("./loop/machine.ts");
          return createMachines(store, { here: { root, isOwn: isOwnFolder } });
        })
      : undefined;
  const mechanisms = mechanismsOf({
    ...(machines && { shared: { store, lives: async (machine: string) => (await machines()).lives(machine) } }),
    contexts,
    board: untilItFails(() => openBoard(opts.store)),
    memories: untilItFails(async () => (await import("./mechanisms/memory/memories.ts")).openMemories(opts.store)),
    openModel: open,
    ...opts,
    catalogue,
    runner,
    agentsIn: (tree) => agentsIn(opts.store, (context) => host.open(context), tree),
    owedJobs: async (context) => owedJobs(await host.open(context)),
    recorded: (context, range) => readFacts(opts.store, host.codec, context, range),
  });
  const host = createHost({ store, mechanisms, model, version: VERSION, root, isOwnFolder, ...(own && { own }) });
  let closed = false;
  const refuseClosed = () => {
    if (closed) throw new HoldfastError("closed", "this harness is closed: create another one");
  };
  return {
    host,
    agents: catalogue,
    async run(input, runOpts = {}) {
      refuseClosed();
      return startRun({ host, catalogue, root, isClosed: () => closed }, input, runOpts);
    },
    async hosting(hosting) {
      refuseClosed();
      const { hostTeams } = await import("./host-teams.ts");
      return hostTeams({ host, store, machines: await machines?.() }, hosting);
    },
    toolNames: (turn) =>
      mergeSeams(mechanisms)
        .tools(turn)
        .map((t) => t.name),
    async close() {
      closed = true;
      await host.close();
    },
  };
}

function atFirstUse<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open();
    return opened;
  };
}

/** Opened at its first use, and again after that failed. */
function untilItFails<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open();
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
}

/** What a run needs of its harness. */
interface RunsIn {
  host: Host;
  catalogue: Catalogue;
  root: string;
  isClosed: () => boolean;
}

async function startRun(harness: RunsIn, input: string | Content[] | undefined, opts: RunOptions): Promise<Run> {
  const { host } = harness;
  if (input !== undefined && typeof input !== "string" && !Array.isArray(input))
    throw new HoldfastError("invalid", `run takes a text or a list of contents, not ${typeof input}`);
  const { agentType } = opts;
  if (agentType !== undefined && opts.context !== undefined)
    throw new HoldfastError("invalid", "the type of a lead is chosen when its context begins: leave --agent out");
  const events = createEventQueue();
  const tell = opts.onEvent ?? events.push;
  const facts = agentType === undefined ? [] : await harness.catalogue.define(LEAD, agentType);
  const title = opts.title ?? titleOf(input);
  const context = opts.context ?? (await host.create({ root: harness.root, title, facts }));
  const taken = await host.take(context, {
    ...opts,
    onProgress: (progress) => tell({ type: "progress", progress }),
  });
  taken.ledger.subscribe((event) => tell({ type: "event", event }));
  const { readOnly } = taken.ledger;
  if (readOnly) {
    await taken.release();
    throw new HoldfastError(readOnly.code, `context ${context} opens read-only: ${readOnly.message}`, {
      detail: { ledger: context, what: readOnly.message },
    });
  }
  opts.onOpen?.(context, taken.agent.turn);
  const accepted = input === undefined ? Promise.resolve() : sendFirst(taken, input, opts);
  const result = runToEnd({ context, taken, isClosed: harness.isClosed, accepted }, input, opts).finally(events.end);
  for (const one of [accepted, result]) one.catch(() => undefined); // whoever awaits them sees it
  return {
    context,
    taken,
    result,
    accepted,
    send: (more, how) => taken.agent.send(more, how),
    interrupt: () => taken.agent.interrupt(),
    [Symbol.asyncIterator]: events.iterate,
  };
}

const sendFirst = (taken: Taken, input: string | Content[], { seen = [], goal, isPiped }: RunOptions): Promise<void> =>
  taken.agent.send(input, { isPiped, facts: (id) => [...seenFacts(seen, id), ...goalFacts(goal, id)] });

/** Until what was said is answered, or the turn that stopped early has ended. */
async function runToEnd(
  { context, taken, isClosed, accepted }: Pick<Run, "context" | "taken" | "accepted"> & { isClosed: () => boolean },
  input: string | Content[] | undefined,
  { leavesStopped = false }: RunOptions,
): Promise<RunResult> {
  const startedAt = Date.now();
  const before = countsOf(taken);
  try {
    await accepted;
    if (input === undefined && !leavesStopped) await taken.agent.reopen();
    const reason = await drive(taken.agent, { takes: "inputs" });
    return resultOf({ context, taken, reason, before, durationMs: Date.now() - startedAt });
  } catch (error) {
    if (!isClosed()) throw error;
    const why = `the harness was closed while ${context} ran: run it again to go on where it stopped`;
    throw new HoldfastError("closed", why, { cause: error });
  }
}

/** Programs without types get one line, not a TypeError from within. */
function checkHarness(opts: HarnessOptions): void {
  const given: Partial<HarnessOptions> = opts ?? {};
  const missing = [
    ...(typeof given.model?.reply === "function" ? [] : ["model (see openModel)"]),
    ...(typeof given.store?.append === "function" ? [] : ["store (see openSqliteStore)"]),
    ...(typeof given.root === "string" && given.root !== "" ? [] : ["root (the folder that agents work in)"]),
    ...(typeof given.jobsDir === "string" && given.jobsDir !== "" ? [] : ["jobsDir (a folder for running commands)"]),
  ];
  if (missing.length > 0) throw new HoldfastError("invalid", `createHarness needs ${missing.join(", ")}`);
}
