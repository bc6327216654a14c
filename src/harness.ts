// Owns the map of the house: every mechanism, in order, one line each; and createHarness, which sets the loop going with them.
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Contexts, FileKeeper } from "./contexts/index.ts";
import type { Hosting, HostTeamsOptions } from "./hosting.ts";
import { createHubMechanism } from "./hub/mechanism.ts";
import { HoldfastError } from "./ledger/error.ts";
import type { Store, StoredEvent } from "./ledger/store.ts";
import { contextState } from "./loop/agent.ts";
import type { TurnEndReason } from "./loop/events.ts";
import { createHost, type Host, LEAD, type Taken, type TakeOptions } from "./loop/host.ts";
import { mergeSeams } from "./loop/merge.ts";
import { defineMechanism, type Mechanism, type Progress, type Tool, type Turn } from "./loop/seams.ts";
import { type ApprovalsOptions, createApprovals } from "./mechanisms/approvals/index.ts";
import { createCheckpoints } from "./mechanisms/checkpoints/index.ts";
import { compaction } from "./mechanisms/compaction/index.ts";
import { type CronOptions, createCron } from "./mechanisms/cron/index.ts";
import { createFiles } from "./mechanisms/files/index.ts";
import { createHooks, type HooksOptions, type InProcessHook } from "./mechanisms/hooks/index.ts";
import { identity } from "./mechanisms/identity/index.ts";
import { commandEnvironment, createJobs, createSandbox, type SandboxOptions } from "./mechanisms/jobs/index.ts";
import { limits } from "./mechanisms/limits/index.ts";
import { createOutputBound } from "./mechanisms/output/index.ts";
import {
  createPermissions,
  fitsRule,
  type PermissionMode,
  type PermissionOptions,
} from "./mechanisms/permissions/index.ts";
import { createRecovery } from "./mechanisms/recovery/index.ts";
import { createRedaction } from "./mechanisms/redaction/index.ts";
import { type Board, createTasks, openBoard } from "./mechanisms/tasks/index.ts";
import { createTeam, type TeamOptions } from "./mechanisms/team/index.ts";
import { createTodo } from "./mechanisms/todo/index.ts";
import { costUsd } from "./models/catalogue.ts";
import type { Content, Model, Usage } from "./models/model.ts";
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
  /** Opened only when the first model stays overloaded. */
  fallbackModels?: (() => Promise<Model>)[];
  /** Added to the system prompt. */
  appendSystemPrompt?: string;
  /** Keeps the project's files at each prompt; default: a checkpoint is a position in the ledger only. */
  files?: () => Promise<FileKeeper>;
  /** Shared data and checkpoints; default: those of the store. */
  contexts?: () => Promise<Contexts>;
  /** The project's task board; default: that of the store. */
  board?: () => Promise<Board>;
  /** `offer`: the lead may build a team; default: only one that has a team may go on with it. */
  team?: Pick<TeamOptions, "offer" | "mostTeammates">;
  /** Clock and zone of schedules; default: the machine's. */
  cron?: CronOptions;
  /** Your own tools and mechanisms, after those of the house. */
  tools?: Tool[];
  mechanisms?: Mechanism[];
}

/** They read what agents share in the ledger, nothing of the machine. */
const SHARED_READS = ["list_tasks", "get_task", "context_list", "context_read"];

/** Every mechanism, in the order in which seams ask them: the first is the outermost of an around. */
export function mechanismsOf(opts: Omit<HarnessOptions, "model" | "store">): Mechanism[] {
  const mode = opts.permissionMode ?? opts.permissions?.policy?.mode ?? "default";
  const matchesRule = (rule: string, name: string, input: unknown) => fitsRule(rule, opts.root, { name, input });
  const environment = { ...commandEnvironment(process.env), ...opts.env };
  return [
    identity({ append: opts.appendSystemPrompt }), // system: who the agent is, where it works
    limits({ maxRounds: opts.maxRounds }), // model, intake: round limit, guard against repeating one call
    createRecovery({ fallbacks: opts.fallbackModels }), // model, stop: retry, fallback, escalation, overflow, continuation
    compaction(), // context: shrinks what the model sees when it no longer fits
    createCheckpoints({ keeper: opts.files }), // input, tool: a checkpoint at each prompt, its files kept beside the model call
    createHooks({
      hooks: opts.hooks,
      inProcess: opts.inProcessHooks,
      root: opts.root,
      stateDir: dirname(opts.jobsDir),
      env: environment,
      permissionMode: () => mode,
      matchesRule,
    }), // input, gate, ask, tool, stop: the user's commands at events
    createPermissions({
      home: homedir(),
      ...opts.permissions,
      policy: { ...opts.permissions?.policy, mode },
      sandboxed: opts.sandbox !== undefined,
      readable: [opts.jobsDir, join(dirname(opts.jobsDir), "hooks")],
      trustedTools: [...SHARED_READS, ...(opts.tools ?? []).map((tool) => tool.name)],
    }), // gate: rules, modes, the policy for commands and paths
    createApprovals(opts.approvals), // ask: durable requests, answered by a person
    createOutputBound(), // tool: one bound on all output, the whole kept as a blob
    createRedaction(process.env), // tool: known secrets do not come back in results
    createTodo(), // tool, intake: todo_write and its reminder
    createTasks({ board: opts.board }), // tools: create_task list_tasks get_task claim_task complete_task update_task
    createTeam({ ...opts.team, board: opts.board }), // tools, system, intake, gate, wake: teammates, their bus, plans and shutdowns
    createFiles(), // tools: read_file write_file edit_file multi_edit glob grep
    createJobs({
      dir: opts.jobsDir,
      env: environment,
      sandbox: opts.sandbox && createSandbox(opts.sandbox.bwrap, opts.sandbox),
    }), // tools, intake, wake: bash as supervised jobs, job_output job_kill list_jobs
    createCron(opts.cron), // tools, intake, wake: schedule_cron list_crons cancel_cron
    createHubMechanism(opts.contexts), // tools: context_list context_read context_write export_to_context, for agents with a part of a larger work
    defineMechanism({ name: "own-tools", tools: opts.tools ?? [] }), // the embedding program's tools
    ...(opts.mechanisms ?? []), // the embedding program's mechanisms
  ];
}

export type HarnessEvent = { type: "event"; event: StoredEvent } | { type: "progress"; progress: Progress };

export interface RunResult {
  context: string;
  reason: TurnEndReason;
  text: string;
  error?: string;
  rounds: number;
  usage: Usage;
  usageByModel: Record<string, Usage>;
  /** Undefined when a model's price is unknown. */
  costUsd: number | undefined;
  denials: { name: string; callId: string; input: unknown; reason: string }[];
  durationMs: number;
}

export interface RunOptions extends Omit<TakeOptions, "onProgress"> {
  /** An existing context to go on with; a new one otherwise. */
  context?: string;
  title?: string;
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
  close(): Promise<void>;
}

export function createHarness(opts: HarnessOptions): Harness {
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
  const mechanisms = mechanismsOf({ contexts, board, ...opts });
  const host = createHost({ store: opts.store, mechanisms, model: opts.model, version: VERSION });
  return {
    host,
    async run(input, runOpts = {}) {
      const events = createEventQueue();
      const tell = runOpts.onEvent ?? events.push;
      const context =
        runOpts.context ?? (await host.create({ root: opts.root, title: runOpts.title ?? titleOf(input) }));
      const taken = await host.take(context, {
        ...runOpts,
        onProgress: (progress) => tell({ type: "progress", progress }),
      });
      taken.ledger.subscribe((event) => tell({ type: "event", event }));
      if (taken.ledger.readOnly) {
        await taken.release();
        const code = taken.ledger.problems.some((p) => p.kind === "damaged") ? "damaged" : "upgrade";
        throw new HoldfastError(code, `context ${context} opens read-only: ${taken.ledger.readOnly}`);
      }
      runOpts.onOpen?.(context, taken.agent.turn);
      const result = (async (): Promise<RunResult> => {
        const startedAt = Date.now();
        const before = countsOf(taken);
        try {
          if (input !== undefined) await taken.agent.send(input);
          else await taken.agent.reopen();
          const reason = await taken.agent.run();
          return resultOf({ context, taken, reason, before, durationMs: Date.now() - startedAt });
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
      const { hostTeams } = await import("./hosting.ts");
      return hostTeams({ host, store: opts.store }, hosting);
    },
    toolNames: (turn) =>
      mergeSeams(mechanisms)
        .tools(turn)
        .map((t) => t.name),
    close: () => host.close(),
  };
}

/** Keeps what happened until it is iterated; not used when an `onEvent` takes it at once. */
function createEventQueue() {
  const waiting: HarnessEvent[] = [];
  let ended = false;
  let wake: () => void = () => undefined;
  return {
    push(event: HarnessEvent) {
      waiting.push(event);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    async *iterate(): AsyncGenerator<HarnessEvent, void, undefined> {
      while (!ended || waiting.length > 0) {
        const next = waiting.shift();
        if (next) yield next;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}

const titleOf = (input: string | Content[] | undefined): string => {
  const text =
    typeof input === "string" ? input : (input ?? []).map((c) => (c.type === "text" ? c.text : "")).join(" ");
  return text.replace(/\s+/g, " ").trim().slice(0, 80);
};

/** Where the counters of an agent stood when a run began. */
interface Counts {
  rounds: number;
  denials: number;
}

export function countsOf(taken: Taken): Counts {
  const { rounds, denials } = taken.agent.turn.state;
  return { rounds, denials: denials.length };
}

interface Ended {
  context: string;
  taken: Taken;
  reason: TurnEndReason | undefined;
  before: Counts;
  durationMs: number;
}

export function resultOf({ context, taken, reason, before, durationMs }: Ended): RunResult {
  const agent = contextState(taken.ledger).agents[LEAD]!;
  const costs = Object.entries(agent.usageByModel).map(([model, usage]) => costUsd(model, usage));
  const last = agent.lastTurn;
  return {
    context,
    reason: reason ?? "done",
    text: last?.text ?? "",
    ...(last?.error === undefined ? {} : { error: last.error }),
    rounds: agent.rounds - before.rounds,
    usage: agent.usage,
    usageByModel: agent.usageByModel,
    costUsd: costs.some((c) => c === undefined) ? undefined : costs.reduce<number>((sum, c) => sum + c!, 0),
    denials: agent.denials.slice(before.denials),
    durationMs,
  };
}
