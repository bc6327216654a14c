// Subagents that run beside their caller: launched again after a restart, their end recorded once and told once.

import { messageOf } from "../../ledger/error.ts";
import { withoutMarks } from "../../loop/marks.ts";
import type { AgentView, Note, Turn } from "../../loop/seams.ts";
import type { Subagent } from "./events.ts";
import { subagentsState } from "./limits.ts";
import type { SubagentEnd, SubagentRunner, SubagentTask } from "./port.ts";
import type { NestedSlots } from "./slots.ts";
import { asides, failureText } from "./task-tool.ts";

export interface Background {
  /** Contract: nothing when it runs here already. */
  launch(turn: Turn, agent: string): void;
  /** Those of that agent that an earlier process began. */
  relaunch(turn: Turn): void;
  /** Whether one of that agent's is unfinished and runs nowhere: it is to be launched again. */
  rests(agent: Pick<AgentView, "context" | "agent" | "slice">): Promise<boolean>;
  /** What that agent is still to be told; each note carries the fact that it was. */
  reports(agent: Pick<AgentView, "agent" | "slice">): Note[];
  /** Interrupts all; they go on in the next process. */
  close(): Promise<void>;
}

type OfAgent = Pick<AgentView, "agent" | "slice">;

export function createBackground(opts: {
  runner: () => Promise<SubagentRunner>;
  slots: NestedSlots;
  maxAgents: number;
}): Background {
  const { slots } = opts;
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>();
  let closed = false;

  const keyOf = ({ context }: { context: string }, agent: string) => `${context}/${agent}`;

  function launch(turn: Turn, agent: string): void {
    const key = keyOf(turn, agent);
    if (closed || running.has(key)) return;
    const stop = new AbortController();
    const done = work(turn, agent, stop.signal)
      .catch((error) => turn.emit({ type: "status", text: `${agent} rests: ${messageOf(error)}` }))
      .finally(() => running.delete(key));
    running.set(key, { stop, done });
  }

  async function work(turn: Turn, agent: string, signal: AbortSignal): Promise<void> {
    const begun = subagentsState(turn).agents[agent];
    if (!begun?.task) return;
    const { type, task } = begun;
    const runner = await opts.runner();
    const whole: SubagentTask = {
      ...{ context: turn.context, agent, startedBy: turn.agent, type, ...task, signal },
      ...{ cwd: turn.cwd, facts: [], most: opts.maxAgents }, // it is there already
      onStatus: (text) => turn.emit({ type: "status", text: `${agent}: ${text}` }),
    };
    const end = await slots.run(keyOf(turn, agent), undefined, () => runner.run(whole));
    if (end.interrupted) return; // it goes on with the next process, or in another one
    const data = { agent, ok: end.ok, denials: end.denials.length, report: reportOf(agent, end) };
    await runner.record(turn.context, agent, { id: `ended-${turn.context}-${agent}`, type: "subagent.ended", data });
  }

  return {
    launch,
    relaunch(turn) {
      for (const [agent, one] of own(turn)) if (!one.ended) launch(turn, agent);
    },
    async rests(turn) {
      for (const [agent, one] of own(turn)) {
        if (one.ended || running.has(keyOf(turn, agent))) continue;
        if (!(await (await opts.runner()).isHeld(turn.context, agent))) return true;
      }
      return false;
    },
    reports: reportsTo,
    async close() {
      closed = true;
      for (const { stop } of running.values()) stop.abort();
      await Promise.all([...running.values()].map(({ done }) => done));
    },
  };
}

const own = ({ agent, slice }: OfAgent): [agent: string, begun: Subagent][] =>
  Object.entries(subagentsState({ slice }).agents).filter(([, one]) => one.parent === agent && one.task);

const reportsTo = (turn: OfAgent): Note[] =>
  own(turn).flatMap(([agent, { description, report }]) =>
    report === undefined
      ? []
      : [
          {
            origin: "subtask",
            text: `Background subtask ${agent} (${description}) has ended.\n\n${withoutMarks(report)}`,
            events: [{ type: "subagent.reported", data: { agent } }],
          },
        ],
  );

const reportOf = (agent: string, end: SubagentEnd): string =>
  [end.ok ? end.text.trim() || "(it ended without a word)" : failureText(agent, end), ...asides(end)].join("\n\n");
