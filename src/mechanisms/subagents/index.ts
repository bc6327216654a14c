// Subagents: the same loop for a child agent, in this process; limits on depth and number; those in the background and their reports.
import { HoldfastError, isHoldfastError } from "../../ledger/error.ts";
import { defineMechanism, type Mechanism, type Tool, type ToolRun, type Turn } from "../../loop/seams.ts";
import type { ContextState } from "../../loop/transcript.ts";
import type { AgentCatalogue, AgentFacts } from "../agents/port.ts";
import { createBackground } from "./background.ts";
import { type Subagent, type SubagentsState, subagentEvents, subagentsSlice } from "./events.ts";
import type { Isolate, SubagentEnd, SubagentRunner, SubagentTask } from "./port.ts";
import { createNestedSlots } from "./slots.ts";
import { createTaskTool, type Order, type SubagentOutcome, typesText } from "./task-tool.ts";

export interface SubagentsOptions {
  /** Without it the mechanism only reads its events. */
  runner?: () => Promise<SubagentRunner>;
  catalogue?: AgentCatalogue;
  /** Gives an agent a tree of its own; without it a definition that wants one is refused. */
  isolate?: Isolate;
  /** Subagents of subagents of … (default 3). */
  maxDepth?: number;
  /** Agents of a context in all (default 64). */
  maxAgents?: number;
  /** At once in this process (default 8); the others wait. */
  concurrency?: number;
  /** Longer than this none may take; default: no limit of its own. */
  timeoutMs?: number;
}

const GENERAL = "general-purpose";
/** After so many of a turn ran into a refusal, it starts no more: the next would be refused too. */
const MOST_REFUSED = 3;

const stateOf = (turn: Pick<Turn, "slice">): SubagentsState => turn.slice<SubagentsState>("subagents");
const depthOf = (turn: Turn): number => stateOf(turn).agents[turn.agent]?.depth ?? 0;

/** Background subtasks of that agent that have not ended. */
const unfinishedSubtasks = (turn: Pick<Turn, "agent" | "slice">): number =>
  Object.values(stateOf(turn).agents).filter((one) => one.parent === turn.agent && one.task && !one.ended).length;

export function createSubagents(opts: SubagentsOptions = {}): Mechanism {
  const { runner, catalogue, maxDepth = 3, maxAgents = 64 } = opts;
  const facts = { name: "subagents", events: subagentEvents, fold: subagentsSlice };
  if (!runner || !catalogue) return defineMechanism({ ...facts, seams: { intake: () => [] } });
  const slots = createNestedSlots(opts.concurrency ?? 8);
  const background = createBackground({ runner, slots, maxAgents });

  /** The same tool as long as the types are the same: its place in every request stays the same bytes. */
  let tool: Tool | undefined;
  let types = "";
  async function readTypes(turn: Turn): Promise<void> {
    const text = typesText(await catalogue!.list());
    for (const problem of catalogue!.problems()) turn.emit({ type: "status", text: problem });
    if (tool && text === types) return;
    types = text;
    tool = createTaskTool(delegate, types);
  }

  function offered(turn: Turn): boolean {
    const asked = turn.state.pending.filter(({ call }) => call.name === "task");
    const { agents } = stateOf(turn);
    // What was begun is answered, also where no more can be begun.
    if (asked.some(({ call, started }) => started || agents[`${turn.agent}.${call.id}`])) return true;
    if (isBarred(turn)) return false; // a call alone offers nothing
    // Others may have made the last that there may be since it was asked for: that is said, by the tool.
    return asked.length > 0 || reasonAgainst(turn) === undefined;
  }

  /** By what this agent is, and has done. */
  const isBarred = (turn: Turn): boolean => depthOf(turn) >= maxDepth || hasTriedEnough(turn);
  const hasTriedEnough = (turn: Turn): boolean => (stateOf(turn).refused[turn.agent] ?? 0) >= MOST_REFUSED;

  function reasonAgainst(turn: Turn): string | undefined {
    const agents = Object.keys(turn.slice<ContextState>("transcript").agents).length;
    if (depthOf(turn) >= maxDepth) return `subtasks may not be nested deeper than ${maxDepth}: do the work yourself`;
    if (agents >= maxAgents)
      return `this context has ${agents} agents, its limit: do the work yourself, or end with what there is`;
    if (hasTriedEnough(turn))
      return `${MOST_REFUSED} subtasks of this turn were refused permission: say what is needed instead of trying again`;
    return undefined;
  }

  async function delegate(order: Order, run: ToolRun): Promise<SubagentOutcome> {
    const { turn } = run;
    const agent = `${turn.agent}.${run.call.id}`;
    const before = stateOf(turn).agents[order.agent ?? ""];
    if (before?.parent === turn.agent) return goOn(order, before, run);
    const begun = stateOf(turn).agents[agent];
    const against = begun ? undefined : reasonAgainst(turn);
    if (against !== undefined) return { refused: against };
    await readTypes(turn);
    const isolated = begun ? undefined : await placeFor(order, agent, run);
    const type = begun?.type ?? isolated!.type;
    const inBackground = begun ? begun.task !== undefined : depthOf(turn) === 0 && isolated!.background;
    const started = {
      type: "subagent.started",
      data: {
        parent: turn.agent,
        callId: run.call.id,
        type,
        description: order.description,
        depth: depthOf(turn) + 1,
        ...(inBackground ? { task: { prompt: order.prompt, ...(order.reads && { reads: order.reads }) } } : {}),
      },
    };
    const task: SubagentTask = {
      ...{ context: turn.context, agent, type, prompt: order.prompt, most: maxAgents },
      ...(order.reads ? { reads: order.reads } : {}),
      cwd: isolated?.cwd ?? turn.cwd,
      facts: [started, ...(isolated?.facts ?? [])],
      signal: run.signal,
      onStatus: (text) => turn.emit({ type: "status", text: `${agent}: ${text}` }),
    };
    const port = await runner!();
    try {
      if (!begun) await port.create(task);
    } catch (error) {
      if (isHoldfastError(error, "limit")) return { refused: reasonAgainst(turn) ?? error.message };
      throw error;
    }
    if (inBackground) {
      background.launch(turn, agent);
      return { started: agent };
    }
    const end = await slots.run(`${turn.context}/${agent}`, `${turn.context}/${turn.agent}`, () => inTime(port, task));
    const wished = order.background === true && depthOf(turn) > 0;
    return { agent, end, ...(wished ? { note: "(It was waited for: a subtask leaves no work behind.)" } : {}) };
  }

  /** An agent of the caller's that has ended, or was interrupted, gets one more prompt: it knows what it did. */
  async function goOn(
    order: Order,
    { type, task, ended }: Subagent,
    { turn, call, signal }: ToolRun,
  ): Promise<SubagentOutcome> {
    const agent = order.agent!;
    if (task && !ended) return { refused: `${agent} is still at work: you are told when it has ended` };
    const more: SubagentTask = {
      ...{ context: turn.context, agent, type, prompt: order.prompt, followUp: `${turn.agent}.${call.id}` },
      ...{ cwd: turn.cwd, facts: [], most: maxAgents, signal }, // it is there already
      onStatus: (text) => turn.emit({ type: "status", text: `${agent}: ${text}` }),
    };
    const port = await runner!();
    const place = `${turn.context}/${agent}`;
    return { agent, end: await slots.run(place, `${turn.context}/${turn.agent}`, () => inTime(port, more)) };
  }

  /** Its time begins with its place, not while it waits for one. */
  async function inTime(port: SubagentRunner, task: SubagentTask): Promise<SubagentEnd> {
    if (opts.timeoutMs === undefined) return port.run(task);
    const late = AbortSignal.timeout(opts.timeoutMs);
    const end = await port.run({ ...task, signal: AbortSignal.any([task.signal, late]) });
    if (end.ok || !late.aborted) return end;
    return { ...end, error: `it took longer than its limit of ${opts.timeoutMs} ms` };
  }

  /** Where a new one works, and as what. */
  async function placeFor(order: Order, agent: string, { turn }: ToolRun) {
    const about = await catalogue!.about(order.agent ?? GENERAL);
    const background = order.background ?? about.background ?? false;
    const moved = (root: string, cwd: string): AgentFacts => [{ type: "agent.moved", data: { cwd, root } }];
    if (about.isolation !== "worktree") {
      const facts = turn.state.root === undefined ? [] : moved(turn.state.root, turn.cwd);
      return { type: about.name, background, cwd: turn.cwd, facts };
    }
    if (!opts.isolate) {
      throw new HoldfastError(
        "refused",
        `${about.name} wants a worktree of its own (${about.source}), and none can be made here: use another agent`,
      );
    }
    const { root, events = [] } = await opts.isolate({ context: turn.context, agent, root: turn.root, turn });
    return { type: about.name, background, cwd: root, facts: [...moved(root, root), ...events] };
  }

  return defineMechanism({
    ...facts,
    tools: (turn) => {
      tool ??= createTaskTool(delegate, typesText([{ name: GENERAL, description: "", source: "built-in" }]));
      return offered(turn) ? [tool] : [];
    },
    async start(turn) {
      await readTypes(turn);
      background.relaunch(turn);
      return [];
    },
    seams: {
      intake(turn) {
        background.relaunch(turn);
        return background.reports(turn);
      },
    },
    outstanding(agent) {
      const count = unfinishedSubtasks(agent);
      return count === 0 ? [] : [{ what: "background subtask", count, keepsProcess: true }];
    },
    wants: async (agent) => background.reports(agent).length > 0 || background.rests(agent),
    async wake(turn, signal) {
      background.relaunch(turn);
      if (unfinishedSubtasks(turn) > 0) return turn.until(() => background.reports(turn).length > 0, signal);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
    close: () => background.close(),
  });
}
