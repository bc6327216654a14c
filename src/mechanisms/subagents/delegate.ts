// Delegating: a call begins one subagent, or goes on with one, and waits for it unless it runs beside its caller.
import { HoldfastError, isHoldfastError } from "../../ledger/error.ts";
import type { ToolRun, Turn } from "../../loop/seams.ts";
import type { AgentCatalogue, AgentFacts } from "../agents/port.ts";
import type { Background } from "./background.ts";
import type { Subagent } from "./events.ts";
import { reasonAgainst, type SubagentLimits, subagentDepth, subagentsState } from "./limits.ts";
import type { Isolate, SubagentEnd, SubagentRunner, SubagentTask } from "./port.ts";
import type { NestedSlots } from "./slots.ts";
import type { Delegate, Order, SubagentOutcome } from "./task-tool.ts";

export const GENERAL = "general-purpose";

export interface DelegateOptions {
  runner: () => Promise<SubagentRunner>;
  catalogue: AgentCatalogue;
  isolate?: Isolate;
  slots: NestedSlots;
  background: Background;
  limits: SubagentLimits;
  timeoutMs?: number;
  /** The types as they are now: the next request shows them. */
  readTypes(turn: Turn): Promise<void>;
}

export function createDelegate(opts: DelegateOptions): Delegate {
  const { limits, slots } = opts;

  async function waitedFor(task: SubagentTask, turn: Turn, port: SubagentRunner): Promise<SubagentEnd> {
    const place = `${turn.context}/${task.agent}`;
    return slots.run(place, `${turn.context}/${turn.agent}`, () => inTime(port, task, opts.timeoutMs));
  }

  async function begin(order: Order, agent: string, run: ToolRun): Promise<SubagentOutcome> {
    const { turn } = run;
    const known = subagentsState(turn).agents[agent];
    const against = known ? undefined : reasonAgainst(turn, limits);
    if (against !== undefined) return { refused: against };
    await opts.readTypes(turn);
    const begun = known ? asBegun(known, turn) : await placeFor(order, agent, turn, opts);
    const task = taskOf(order, agent, run, { ...begun, most: limits.maxAgents });
    const port = await opts.runner();
    try {
      if (!known) await port.create(task);
    } catch (error) {
      if (isHoldfastError(error, "limit")) return { refused: reasonAgainst(turn, limits) ?? error.message };
      throw error;
    }
    if (begun.background) {
      opts.background.launch(turn, agent);
      return { started: agent };
    }
    const end = await waitedFor(task, turn, port);
    const wished = order.background === true && subagentDepth(turn) > 0;
    return { agent, end, ...(wished ? { note: "(It was waited for: a subtask leaves no work behind.)" } : {}) };
  }

  /** An agent of the caller's that has ended, or was interrupted, gets one more prompt: it knows what it did. */
  async function goOn(
    { agent, prompt }: Order & { agent: string },
    { type, task, ended }: Subagent,
    { turn, call, signal }: ToolRun,
  ): Promise<SubagentOutcome> {
    if (task && !ended) return { refused: `${agent} is still at work: you are told when it has ended` };
    const more: SubagentTask = {
      ...{ context: turn.context, agent, type, prompt, followUp: `${turn.agent}.${call.id}` },
      ...{ startedBy: turn.agent, cwd: turn.cwd, facts: [], most: limits.maxAgents, signal }, // it is there already
      onStatus: (text) => turn.emit({ type: "status", text: `${agent}: ${text}` }),
    };
    return { agent, end: await waitedFor(more, turn, await opts.runner()) };
  }

  return async (order, run) => {
    const { turn } = run;
    const before = order.agent === undefined ? undefined : subagentsState(turn).agents[order.agent];
    if (order.agent !== undefined && before?.parent === turn.agent)
      return goOn({ ...order, agent: order.agent }, before, run);
    return begin(order, `${turn.agent}.${run.call.id}`, run);
  };
}

/** Where one works, as what, and whether its caller waits. */
interface Begun {
  type: string;
  background: boolean;
  cwd: string;
  facts: AgentFacts;
}

const asBegun = ({ type, task }: Subagent, { cwd }: Turn): Begun => ({
  ...{ type, cwd, facts: [] },
  background: task !== undefined,
});

async function placeFor(
  order: Order,
  agent: string,
  turn: Turn,
  { catalogue, isolate }: Pick<DelegateOptions, "catalogue" | "isolate">,
): Promise<Begun> {
  const about = await catalogue.about(order.agent ?? GENERAL);
  const background = subagentDepth(turn) === 0 && (order.background ?? about.background ?? false);
  const moved = (root: string, cwd: string): AgentFacts => [{ type: "agent.moved", data: { cwd, root } }];
  if (about.isolation !== "worktree") {
    const facts = turn.state.root === undefined ? [] : moved(turn.state.root, turn.cwd);
    return { type: about.name, background, cwd: turn.cwd, facts };
  }
  if (!isolate) {
    throw new HoldfastError(
      "refused",
      `${about.name} wants a worktree of its own (${about.source}), and none can be made here: use another agent`,
    );
  }
  const { root, events = [] } = await isolate({ context: turn.context, agent, root: turn.root, turn });
  return { type: about.name, background, cwd: root, facts: [...moved(root, root), ...events] };
}

function taskOf(
  { description, prompt, reads }: Order,
  agent: string,
  { turn, call, signal }: ToolRun,
  { type, background, cwd, facts, most }: Begun & { most: number },
): SubagentTask {
  const started = {
    type: "subagent.started",
    data: {
      parent: turn.agent,
      callId: call.id,
      type,
      description,
      depth: subagentDepth(turn) + 1,
      ...(background ? { task: { prompt, ...(reads && { reads }) } } : {}),
    },
  };
  return {
    ...{ context: turn.context, agent, startedBy: turn.agent, type, prompt, most },
    ...(reads ? { reads } : {}),
    cwd,
    facts: [started, ...facts],
    signal,
    onStatus: (text) => turn.emit({ type: "status", text: `${agent}: ${text}` }),
  };
}

/** Its time begins with its place, not while it waits for one. */
async function inTime(port: SubagentRunner, task: SubagentTask, timeoutMs: number | undefined): Promise<SubagentEnd> {
  if (timeoutMs === undefined) return port.run(task);
  const late = AbortSignal.timeout(timeoutMs);
  const end = await port.run({ ...task, signal: AbortSignal.any([task.signal, late]) });
  if (end.ok || !late.aborted) return end;
  return { ...end, error: `it took longer than its limit of ${timeoutMs} ms` };
}
