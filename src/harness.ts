// Owns the map of the house: every mechanism, in order, one line each; and createHarness, which sets the loop going with them.
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { PermissionMode } from "./claude-code/permission-modes.ts";
import type { FileKeeper } from "./contexts/file-keeper.ts";
import type { Contexts } from "./contexts/open.ts";
import { type SeenFile, seenFacts } from "./file-access/seen-files.ts";
import type { HostTeamsOptions } from "./hosting.ts";
import { createHubMechanism } from "./hub/mechanism.ts";
import { HoldfastError } from "./ledger/error.ts";
import { readFacts } from "./ledger/read-facts.ts";
import type { Store } from "./ledger/store.ts";
import { LEAD } from "./loop/agent.ts";
import { agentsIn } from "./loop/agents-in.ts";
import { drive } from "./loop/drive.ts";
import { createHost, type Host, type Taken, type TakeOptions } from "./loop/host.ts";
import type { Hosting } from "./loop/hosting.ts";
import { mergeSeams } from "./loop/merge.ts";
import { defineMechanism, type Mechanism, type Tool, type Turn } from "./loop/seams.ts";
import { type Catalogue, type CatalogueOptions, createAgentCatalogue } from "./mechanisms/agents/catalogue.ts";
import { agentTypeOf, createAgents, modesOf } from "./mechanisms/agents/index.ts";
import { type ApprovalsOptions, createApprovals, keptRules } from "./mechanisms/approvals/index.ts";
import type { Budget } from "./mechanisms/budget/events.ts";
import { createBudget } from "./mechanisms/budget/index.ts";
import { createAutomaticCheckpoints } from "./mechanisms/checkpoints/index.ts";
import { compaction } from "./mechanisms/compaction/index.ts";
import { type CronOptions, createCron } from "./mechanisms/cron/index.ts";
import { cancellingAll } from "./mechanisms/cron/schedules.ts";
import { createFiles } from "./mechanisms/files/index.ts";
import type { InProcessHook } from "./mechanisms/hooks/handlers.ts";
import { createHooks, type HookPort, type HooksOptions } from "./mechanisms/hooks/index.ts";
import { identity } from "./mechanisms/identity/index.ts";
import { commandEnvironment } from "./mechanisms/jobs/environment.ts";
import { createJobs } from "./mechanisms/jobs/index.ts";
import { jobsIn } from "./mechanisms/jobs/job-dir.ts";
import { createSandbox, type SandboxOptions } from "./mechanisms/jobs/sandbox.ts";
import { owedJobs } from "./mechanisms/jobs/sweep.ts";
import { limits } from "./mechanisms/limits/index.ts";
import { createOutputBound } from "./mechanisms/output/index.ts";
import { createPermissions, type PermissionOptions } from "./mechanisms/permissions/index.ts";
import { createRecovery } from "./mechanisms/recovery/index.ts";
import { createRedaction, redactor } from "./mechanisms/redaction/index.ts";
import { createSubagents, type SubagentsOptions } from "./mechanisms/subagents/index.ts";
import type { SubagentRunner } from "./mechanisms/subagents/port.ts";
import type { Board } from "./mechanisms/tasks/board.ts";
import { createTasks, openBoard, placeFor } from "./mechanisms/tasks/index.ts";
import { entering } from "./mechanisms/tasks/task-tree.ts";
import { createTeam, type TeamOptions } from "./mechanisms/team/index.ts";
import { createTodo } from "./mechanisms/todo/index.ts";
import { createWorktrees, isolateIn, openWorktrees, type WorktreesPlace } from "./mechanisms/worktrees/index.ts";
import type { Content, Model } from "./models/model.ts";
import { openModel } from "./models/open-model.ts";
import { countsOf, createEventQueue, type HarnessEvent, type RunResult, resultOf, titleOf } from "./run-result.ts";
import { fitsRule } from "./shell-policy/rule-matches.ts";
import { VERSION } from "./version.ts";

export interface HarnessOptions {
  model: Model;
  store: Store;
  /** The tree the agent works in. */
  root: string;
  /** Where running commands keep their output until it is recorded. */
  jobsDir: string;
  /** Short for `permissions.policy.mode`. */
  permissionMode?: PermissionMode;
  /** Rules, mode and what surrounds them; default: nothing allowed but what the default policy allows. */
  permissions?: Partial<PermissionOptions>;
  /** Commands that run at events, in Claude's format; the embedding program answers for them. */
  hooks?: HooksOptions["hooks"];
  /** The same as functions. */
  inProcessHooks?: InProcessHook[];
  /** More variables for commands and hooks. */
  env?: Record<string, string>;
  /** Who answers when a call needs approval; default: nobody, and it is refused. */
  approvals?: ApprovalsOptions;
  /** Shuts every command in; without it the operating system holds nothing back. */
  sandbox?: SandboxOptions & { bwrap: string };
  maxRounds?: number;
  /** What all agents of a context may spend together; recorded in it. */
  budget?: Budget;
  /** Types of agents besides the built-in ones: folders of definitions, or your own. */
  agents?: CatalogueOptions;
  /** Limits of subagents, and where one that wants a tree of its own works. */
  subagents?: Omit<SubagentsOptions, "runner" | "catalogue">;
  /** Opens the model that a definition names; default: by its provider, with keys of the environment. */
  openModel?: (spec: string) => Promise<Model>;
  /** Opened only when the first model stays overloaded. */
  fallbackModels?: (() => Promise<Model>)[];
  /** Added to the system prompt. */
  appendSystemPrompt?: string;
  /** In place of who the agent is told to be. */
  systemPrompt?: string;
  /** Keeps the files of a context's tree at each prompt; default: a checkpoint is a position in the ledger only. */
  files?: (root: string) => Promise<FileKeeper>;
  /** Shared data and checkpoints; default: those of the store. */
  contexts?: () => Promise<Contexts>;
  /** The project's task board; default: that of the store. */
  board?: () => Promise<Board>;
  /** `offer`: the lead may build a team; default: only one that has a team may go on with it. */
  team?: Pick<TeamOptions, "offer" | "mostTeammates">;
  /** Where worktrees are made, and what they share with the project's tree; `offer`: agents may make them. */
  worktrees?: Omit<WorktreesPlace, "root"> & { offer?: boolean };
  /** Clock and zone of schedules; default: the machine's. */
  cron?: CronOptions;
  /** Your own tools, after those of the house. You answer for them: they run unasked, whatever their effect; rules and gates still hold. */
  tools?: Tool[];
  /** Your own mechanisms, after those of the house. Their tools are judged like ours: all but `internal` ones ask, unless `permissions.trustedTools` or a rule allows them. */
  mechanisms?: Mechanism[];
}

/** They read what agents share in the ledger, nothing of the machine. */
const SHARED_READS = ["list_tasks", "get_task", "context_list", "context_read"];

/** By them agents hand in their part: a definition's list of tools does not take them away. */
const HANDING_IN = [
  "context_list",
  "context_read",
  "export_to_context",
  "send_message",
  "check_inbox",
  "submit_plan",
  "answer_shutdown",
];

/** What only a harness that runs agents has. */
interface Running {
  catalogue?: Catalogue;
  runner?: () => Promise<SubagentRunner>;
  agentsIn?: (tree: string) => Promise<string[]>;
  owedJobs?: (context: string) => Promise<ReadonlySet<string>>;
  recorded?: NonNullable<HooksOptions["transcripts"]>["recorded"];
}

/** Every mechanism, in the order in which seams ask them: the first is the outermost of an around. */
export function mechanismsOf(opts: Omit<HarnessOptions, "model" | "store"> & Running): Mechanism[] {
  const mode = opts.permissionMode ?? opts.permissions?.policy?.mode ?? "default";
  const matchesRule = (rule: string, name: string, input: unknown, root: string) =>
    fitsRule(rule, root, { name, input });
  const environment = { ...commandEnvironment(process.env), ...opts.env };
  const { catalogue } = opts;
  const worktrees = opts.worktrees && openWorktrees({ ...opts.worktrees, root: opts.root });
  const treesDir = opts.worktrees ? [opts.worktrees.dir] : [];
  const runningIn = (dir: string) => jobsIn(opts.jobsDir, dir);
  const hide = redactor(process.env);
  const hooks: HookPort = {};
  const fire = async (...event: Parameters<NonNullable<HookPort["fire"]>>) => hooks.fire?.(...event);
  return [
    identity({ append: opts.appendSystemPrompt, instead: opts.systemPrompt }), // system: who the agent is, where it works
    createAgents({ openModel: opts.openModel, always: HANDING_IN }), // system, model: the type of an agent: instructions, tools, model, rounds
    limits({ maxRounds: opts.maxRounds }), // model, intake: round limit, guard against repeating one call
    createRecovery({ fallbacks: opts.fallbackModels, fire }), // model, stop: retry, fallback, escalation, overflow, continuation
    createBudget({ budget: opts.budget }), // model: what all agents of the context may spend together
    compaction({ fire }), // context: shrinks what the model sees when it no longer fits
    createAutomaticCheckpoints({ keeper: opts.files }), // input, before effects: a checkpoint at each prompt, its files kept beside the model call
    createHooks({
      hooks: opts.hooks,
      inProcess: opts.inProcessHooks,
      root: opts.root,
      stateDir: dirname(opts.jobsDir),
      env: environment,
      permissionMode: () => mode,
      agentType: agentTypeOf,
      matchesRule,
      port: hooks,
      transcripts: opts.recorded && { recorded: opts.recorded, version: VERSION, hide },
    }), // input, gate, ask, tool, stop: the user's commands at events
    createPermissions({
      home: homedir(),
      ...opts.permissions,
      policy: { ...opts.permissions?.policy, mode },
      sandboxed: opts.sandbox !== undefined,
      openNetwork: opts.sandbox?.network === true,
      readable: [opts.jobsDir, join(dirname(opts.jobsDir), "hooks"), ...treesDir],
      modesOf,
      keptRules,
      trustedTools: [
        ...SHARED_READS,
        ...(opts.permissions?.trustedTools ?? []),
        ...(opts.tools ?? []).map((tool) => tool.name),
      ],
    }), // gate: rules, modes, the policy for commands and paths
    createApprovals({ ...opts.approvals, fire }), // ask: durable requests, answered by a person
    createOutputBound(), // tool: one bound on all output, the whole kept as a blob
    createRedaction(process.env), // tool: known secrets do not come back in results
    createTodo(), // tool, intake: todo_write and its reminder
    createTasks({ board: opts.board, placeOf: worktrees?.placeOf, fire }), // tools, intake, gate: create_task list_tasks get_task claim_task complete_task update_task
    createWorktrees({
      worktrees,
      offer: opts.worktrees?.offer,
      board: opts.board,
      enter: entering,
      jobsIn: runningIn,
      agentsIn: opts.agentsIn,
      fire,
    }), // tools: create_worktree keep_worktree remove_worktree, for tasks that are done apart
    createTeam({
      ...opts.team,
      mostAgents: opts.subagents?.maxAgents,
      board: opts.board,
      place: placeFor(worktrees?.placeOf),
      define: catalogue?.define,
      leaving: cancellingAll,
      fire,
    }), // tools, system, intake, gate, wake: teammates, their bus, plans and shutdowns
    createFiles(), // tools: read_file write_file edit_file multi_edit glob grep
    createJobs({
      dir: opts.jobsDir,
      owed: opts.owedJobs,
      env: environment,
      sandbox:
        opts.sandbox &&
        createSandbox(opts.sandbox.bwrap, {
          ...opts.sandbox,
          readable: [...(opts.sandbox.readable ?? []), ...treesDir],
          searched: environment.PATH,
        }),
    }), // tools, model, intake, tool, wake: bash as supervised jobs, job_output job_kill list_jobs
    createCron(opts.cron), // tools, intake, wake: schedule_cron list_crons cancel_cron
    createSubagents({
      isolate: worktrees && isolateIn(worktrees, fire),
      ...opts.subagents,
      runner: opts.runner,
      catalogue,
    }), // tools, intake, wake: task, for children that run the same loop
    createHubMechanism(opts.contexts), // tools: context_list context_read context_write export_to_context, for agents with a part of a larger work
    defineMechanism({ name: "own-tools", tools: opts.tools ?? [] }), // the embedding program's tools
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
  onEvent?: (event: HarnessEvent) => void;
  /** Called once the context is held, before anything happens in it. */
  onOpen?: (context: string, turn: Turn) => void;
}

/** A run that goes on. Iterate it for everything that happens; await `result` for the end. */
export interface Run extends AsyncIterable<HarnessEvent> {
  readonly context: string;
  readonly taken: Taken;
  readonly result: Promise<RunResult>;
  send(input: string | Content[]): Promise<void>;
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
  const opts = { ...given, root: resolve(given.root) }; // never relative to where the process happens to be later
  let opened: Promise<Contexts> | undefined;
  const contexts = () => {
    opened ??= import("./contexts/index.ts").then(({ openContexts }) => openContexts({ store: opts.store }));
    return opened;
  };
  let openedBoard: Promise<Board> | undefined;
  const board = () => {
    openedBoard ??= openBoard(opts.store);
    openedBoard.catch(() => {
      openedBoard = undefined;
    });
    return openedBoard;
  };
  const catalogue = createAgentCatalogue(opts.agents);
  const open = (spec: string) => openModel(spec, { env: process.env });
  let running: Promise<SubagentRunner> | undefined;
  const runner = () => {
    running ??= (async () => {
      const { createSubagentRunner } = await import("./hub/subagents.ts");
      return createSubagentRunner({ host, contexts: await (opts.contexts ?? contexts)(), agents: catalogue });
    })();
    return running;
  };
  const mechanisms = mechanismsOf({
    contexts,
    board,
    openModel: open,
    ...opts,
    catalogue,
    runner,
    agentsIn: (tree) => agentsIn(opts.store, (context) => host.open(context), tree),
    owedJobs: async (context) => owedJobs(await host.open(context)),
    recorded: (context, range) => readFacts(opts.store, host.codec, context, range),
  });
  const { store, model, root, mechanisms: own } = opts;
  const host = createHost({ store, mechanisms, model, version: VERSION, root, ...(own && { own }) });
  let closed = false;
  const refuseClosed = () => {
    if (closed) throw new HoldfastError("closed", "this harness is closed: create another one");
  };
  return {
    host,
    agents: catalogue,
    async run(input, runOpts = {}) {
      refuseClosed();
      if (input !== undefined && typeof input !== "string" && !Array.isArray(input))
        throw new HoldfastError("invalid", `run takes a text or a list of contents, not ${typeof input}`);
      const events = createEventQueue();
      const tell = runOpts.onEvent ?? events.push;
      const { agentType } = runOpts;
      if (agentType !== undefined && runOpts.context !== undefined)
        throw new HoldfastError("invalid", "the type of a lead is chosen when its context begins: leave --agent out");
      const facts = agentType === undefined ? [] : await catalogue.define(LEAD, agentType);
      const title = runOpts.title ?? titleOf(input);
      const context = runOpts.context ?? (await host.create({ root: opts.root, title, facts }));
      const taken = await host.take(context, {
        ...runOpts,
        onProgress: (progress) => tell({ type: "progress", progress }),
      });
      taken.ledger.subscribe((event) => tell({ type: "event", event }));
      const { readOnly } = taken.ledger;
      if (readOnly) {
        await taken.release();
        throw new HoldfastError(readOnly.code, `context ${context} opens read-only: ${readOnly.message}`);
      }
      runOpts.onOpen?.(context, taken.agent.turn);
      const result = (async (): Promise<RunResult> => {
        const startedAt = Date.now();
        const before = countsOf(taken);
        try {
          if (input !== undefined) await taken.agent.send(input, "user", (id) => seenFacts(runOpts.seen ?? [], id));
          else await taken.agent.reopen();
          const reason = await drive(taken.agent, { takes: "inputs" });
          return resultOf({ context, taken, reason, before, durationMs: Date.now() - startedAt });
        } catch (error) {
          if (!closed) throw error;
          const why = `the harness was closed while ${context} ran: run it again to go on where it stopped`;
          throw new HoldfastError("closed", why, { cause: error });
        } finally {
          events.end();
        }
      })();
      result.catch(() => undefined); // whoever awaits `result` sees it
      return {
        context,
        taken,
        result,
        send: (more) => taken.agent.send(more),
        interrupt: () => taken.agent.interrupt(),
        [Symbol.asyncIterator]: events.iterate,
      };
    },
    async hosting(hosting) {
      refuseClosed();
      const { hostTeams } = await import("./hosting.ts");
      return hostTeams({ host, store: opts.store }, hosting);
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

/** Programs without types get one line, not a TypeError from within. */
function checkHarness(opts: HarnessOptions): void {
  const given = (opts ?? {}) as Partial<HarnessOptions>;
  const missing = [
    ...(typeof given.model?.reply === "function" ? [] : ["model (see openModel)"]),
    ...(typeof given.store?.append === "function" ? [] : ["store (see openSqliteStore)"]),
    ...(typeof given.root === "string" && given.root !== "" ? [] : ["root (the folder that agents work in)"]),
    ...(typeof given.jobsDir === "string" && given.jobsDir !== "" ? [] : ["jobsDir (a folder for running commands)"]),
  ];
  if (missing.length > 0) throw new HoldfastError("invalid", `createHarness needs ${missing.join(", ")}`);
}
