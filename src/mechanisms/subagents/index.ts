// Subagents: the same loop for a child agent, in this process; limits on depth and number; those in the background and their reports.
import type { Carrying } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type Tool, type Turn } from "../../loop/seams.ts";
import { fittingLines } from "../../text/fitting.ts";
import { visible } from "../../text/visible.ts";
import type { AgentCatalogue } from "../agents/port.ts";
import { createBackground } from "./background.ts";
import { createDelegate, GENERAL } from "./delegate.ts";
import { type Subagent, subagentEvents, subagentsSlice } from "./events.ts";
import { offersSubtasks, type SubagentLimits, subagentsState } from "./limits.ts";
import type { Isolate, SubagentRunner } from "./port.ts";
import { createNestedSlots } from "./slots.ts";
import { createTaskTool, typesText } from "./task-tool.ts";

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

type OfAgent = Pick<Turn, "agent" | "slice">;

/** Background subtasks of that agent that have not ended, by name. */
const unfinished = (turn: OfAgent): [agent: string, begun: Subagent][] =>
  Object.entries(subagentsState(turn).agents).filter(
    ([, one]) => one.parent === turn.agent && one.task !== undefined && !one.ended,
  );

const unfinishedSubtasks = (turn: OfAgent): number => unfinished(turn).length;

/** Of the window. */
const SHARE = 0.02;

function carrySubtasks(turn: OfAgent, { room }: Pick<Carrying, "room">): string {
  const lines = unfinished(turn).map(
    ([agent, { type, description, callId }]) => `- ${agent} (${type}), begun by ${callId}: ${visible(description)}`,
  );
  if (lines.length === 0) return "";
  const rest = (count: number) => `- and ${count} more`;
  return [
    "Your subtasks in the background; each report comes to you by itself:",
    ...fittingLines(lines, room(SHARE), rest),
  ].join("\n");
}

export function createSubagents(opts: SubagentsOptions = {}): Mechanism {
  const { runner, catalogue, isolate, timeoutMs } = opts;
  const facts = { name: "subagents", events: subagentEvents, fold: subagentsSlice, carry: carrySubtasks };
  if (!runner || !catalogue) return defineMechanism({ ...facts, seams: { intake: () => [] } });
  const limits: SubagentLimits = { maxDepth: opts.maxDepth ?? 3, maxAgents: opts.maxAgents ?? 64 };
  const slots = createNestedSlots(opts.concurrency ?? 8);
  const background = createBackground({ runner, slots, maxAgents: limits.maxAgents });

  /** The same tool as long as the types are the same: its place in every request stays the same bytes. */
  let tool: Tool | undefined;
  let types = "";
  const readTypes = async (turn: Turn): Promise<void> => {
    const text = typesText(await catalogue.list());
    for (const problem of catalogue.problems()) turn.emit({ type: "status", text: problem });
    if (tool && text === types) return;
    types = text;
    tool = createTaskTool(delegate, types);
  };
  const delegate = createDelegate({ runner, catalogue, isolate, slots, background, limits, timeoutMs, readTypes });

  return defineMechanism({
    ...facts,
    settings: () => ({ ...limits }),
    outside: { at: ["start"], tools: ["task"] },
    tools: (turn) => {
      tool ??= createTaskTool(delegate, typesText([{ name: GENERAL, description: "", source: "built-in" }]));
      return offersSubtasks(turn, limits) ? [tool] : [];
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
