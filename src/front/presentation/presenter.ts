// Facts of a ledger as people see them. Keeps what later facts refer to (which command a job is, whose work a subagent does); reads and writes nothing.

import { isDeepStrictEqual } from "node:util";
import type { Fact } from "../../ledger/events.ts";
import type { StoredEvent } from "../../ledger/store.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { AgentView } from "../../loop/seams.ts";
import type { ContextState } from "../../loop/transcript.ts";
import type { approvalEvents } from "../../mechanisms/approvals/events.ts";
import type { compactionEvents } from "../../mechanisms/compaction/events.ts";
import type { CronState, cronEvents } from "../../mechanisms/cron/events.ts";
import type { goalEvents } from "../../mechanisms/goal/events.ts";
import type { JobsState, jobEvents } from "../../mechanisms/jobs/events.ts";
import type { personCommandEvents } from "../../mechanisms/person-commands/index.ts";
import type { recoveryEvents } from "../../mechanisms/recovery/events.ts";
import type { SubagentsState, subagentEvents } from "../../mechanisms/subagents/events.ts";
import type { teamEvents } from "../../mechanisms/team/events.ts";
import type { TodoState, todoEvents } from "../../mechanisms/todo/index.ts";
import { type Content, textOf } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";
import { ASKED_HERE, type CallBlock, type FactBlock } from "./blocks.ts";
import { duration } from "./format.ts";
import { noticeOf, type RememberedNotices } from "./notices.ts";
import { oneLine, printable } from "./printable.ts";
import { endOf } from "./results.ts";
import { callTitle } from "./titles.ts";

export type ShownFact = Fact<
  typeof loopEvents &
    typeof teamEvents &
    typeof recoveryEvents &
    typeof compactionEvents &
    typeof goalEvents &
    typeof jobEvents &
    typeof personCommandEvents &
    typeof cronEvents &
    typeof subagentEvents &
    typeof approvalEvents &
    typeof todoEvents
>;

export interface Presenter {
  /** Contract: called with every event of one context, in order. */
  fact(event: StoredEvent): FactBlock[];
  /** What is known already, where the context did not begin here; and what of it is shown before it goes on. */
  resume(past: Pick<AgentView, "slice">): FactBlock[];
  /** Whether that agent works for a call of another one: its own work is folded into that. */
  isSubagent(agent: string): boolean;
}

interface Subtask {
  parent: string;
  callId: string;
  calls: number;
}

/** `inTerminal`: whoever reads it can do there what is said. */
export function createPresenter({ inTerminal = false } = {}): Presenter {
  const calls = new Map<string, CallBlock>();
  const subtasks = new Map<string, Subtask>();
  const todos = new Map<string, string[]>();
  const inputs = new Map<string, string>();
  const remembered: RememberedNotices = { jobs: new Map(), schedules: new Map(), subtasks: new Map(), inTerminal };

  const keyOf = (agent: string, callId: string): string => `${agent} ${callId}`;

  function remember(agent: string, callId: string, tool: string, input: unknown): CallBlock {
    const call = { agent: safeName(agent), callId, tool: safeName(tool), title: callTitle(tool, input) };
    calls.set(keyOf(agent, callId), call);
    return call;
  }

  const known = (agent: string, callId: string, tool: string): CallBlock =>
    calls.get(keyOf(agent, callId)) ?? { agent: safeName(agent), callId, tool: safeName(tool), title: "" };

  /** One more call of a subagent, or of one of its own, counts for the call that everybody sees. */
  function countFor(agent: string): FactBlock[] {
    const work = subtasks.get(agent);
    if (!work) return [];
    work.calls++;
    if (subtasks.has(work.parent)) return countFor(work.parent);
    return [{ kind: "subtask", call: known(work.parent, work.callId, "task"), calls: work.calls }];
  }

  function foldSubtask(agent: string, { type, data }: ShownFact): FactBlock[] {
    if (type === "tool.started") return countFor(agent);
    // What needs a person, or is refused, is seen whoever asks.
    if (type === "tool.finished" && data.denied !== undefined)
      return [endOf(known(agent, data.callId, data.name), data)];
    return [];
  }

  function show(fact: ShownFact): FactBlock[] {
    const { actor, type, data } = fact;
    const agent = safeName(actor);
    switch (type) {
      case "input.received":
        inputs.set(data.inputId, textOf(data.content));
        return [
          {
            kind: "prompt",
            agent: safeName(data.agent),
            from: safeName(data.origin),
            text: printable(textOf(data.content)),
            ...(data.waits && { waits: true }),
          },
        ];
      case "input.taken":
        return addedTo(inputs.get(data.inputId) ?? "", data.content ?? []).map((text) => ({
          kind: "note",
          agent,
          origin: "what was added to the prompt",
          text,
        }));
      case "reply.received": {
        const goesOn = data.parts.some((part) => part.type === "call");
        const cutOff = data.finish === "length" && !goesOn;
        const { model, usage } = data;
        const text = subtasks.has(actor) ? "" : printable(textOf(data.parts));
        return [{ kind: "reply", agent, text, goesOn, cutOff, model, usage }];
      }
      case "tool.started": {
        const call = remember(actor, data.callId, data.name, data.input);
        return [{ kind: "begun", call, at: fact.at, before: false }];
      }
      case "tool.finished":
        return [finished(known(actor, data.callId, data.name), data)];
      case "todo.written": {
        const items = data.todos.map((todo) => printable(todo.content));
        const isNew = !isDeepStrictEqual(items.toSorted(), todos.get(actor)?.toSorted() ?? []);
        todos.set(actor, items);
        const shown = data.todos.map((todo) => ({ ...todo, content: oneLine(printable(todo.content), 200) }));
        return [{ kind: "todos", agent, todos: shown, isNew }];
      }
      case "message.sent":
        return [{ kind: "message", from: agent, to: safeName(data.to), text: printable(data.content) }];
      case "approval.asked": {
        const title = `${safeName(data.tool)} ${callTitle(data.tool, data.input)}`.trimEnd();
        return [{ kind: "asked", agent, requestId: data.requestId, title }];
      }
      case "approval.answered": {
        const why = data.reason === undefined ? "" : `: ${oneLine(data.reason, 200)}`;
        const text = `${data.decision === "allow" ? "allowed" : "refused"} from ${oneLine(data.from, 60)}${why}`;
        return [{ kind: "answered", agent, requestId: data.requestId, text, here: data.from === ASKED_HERE }];
      }
      case "note.added":
        return [{ kind: "note", agent, origin: oneLine(data.origin, 40), text: printable(data.text) }];
      case "turn.ended":
        return [
          {
            kind: "turnEnded",
            agent,
            reason: data.reason,
            text: printable(data.text),
            ...(data.error !== undefined && { error: oneLine(data.error, 500) }),
          },
        ];
      default:
        return noticeOf(fact, remembered);
    }
  }

  function finished(call: CallBlock, data: Parameters<typeof endOf>[1]): FactBlock {
    const block = endOf(call, data);
    if (data.name !== "task" || block.kind !== "ended") return block;
    const made = [...subtasks.values()].find((one) => one.parent === call.agent && one.callId === call.callId)?.calls;
    if (made === undefined) return block;
    const { output: _, ...folded } = block;
    const failure = data.isError ? `: ${oneLine(textOf(data.content), 200)}` : "";
    return { ...folded, says: `${counted(made, "call")} in ${duration(data.durationMs)}${failure}` };
  }

  return {
    isSubagent: (agent) => subtasks.has(agent),
    fact(event) {
      const fact = event as ShownFact;
      const { actor: agent, type, data } = fact;
      if (type === "subagent.started") {
        subtasks.set(agent, { parent: data.parent, callId: data.callId, calls: 0 });
        remembered.subtasks.set(agent, {
          about: oneLine(data.description, 100),
          at: event.at,
          calls: () => subtasks.get(agent)!.calls,
        });
      }
      if (type === "reply.received")
        for (const part of data.parts) if (part.type === "call") remember(agent, part.id, part.name, part.input);
      const isOwnWork = type !== "reply.received" && type !== "approval.asked" && type !== "approval.answered";
      if (subtasks.has(agent) && isOwnWork && type !== "subagent.ended" && type !== "subagent.started")
        return foldSubtask(agent, fact);
      return show(fact);
    },
    resume({ slice }) {
      const blocks: FactBlock[] = [];
      const { agents } = slice<ContextState>("transcript");
      const children = slice<SubagentsState | undefined>("subagents")?.agents ?? {};
      for (const [agent, { parent, callId, description }] of Object.entries(children)) {
        subtasks.set(agent, { parent, callId, calls: agents[agent]?.calls ?? 0 });
        const at = agents[agent]?.turn?.startedAt ?? Number.NaN;
        remembered.subtasks.set(agent, {
          about: oneLine(description, 100),
          at,
          calls: () => subtasks.get(agent)!.calls,
        });
      }
      for (const jobs of Object.values(slice<JobsState | undefined>("jobs") ?? {}))
        for (const { jobId, command } of Object.values(jobs)) remembered.jobs.set(jobId, command);
      for (const { schedules } of Object.values(slice<CronState | undefined>("cron") ?? {}))
        for (const one of Object.values(schedules)) remembered.schedules.set(one.scheduleId, one);
      for (const [agent, list] of Object.entries(slice<TodoState | undefined>("todo")?.lists ?? {}))
        todos.set(
          agent,
          list.todos.map((todo) => printable(todo.content)),
        );
      for (const { name: agent, items, pending } of Object.values(agents)) {
        for (const { call, started } of pending) {
          const shown = remember(agent, call.id, call.name, started?.input ?? call.input);
          if (!started || started.effect === "read" || started.effect === "internal" || subtasks.has(agent)) continue;
          blocks.push({ kind: "begun", call: shown, at: started.at, before: true });
        }
        const last = items.findLast((item) => item.kind === "reply");
        const said = last?.kind === "reply" && pending.length > 0 ? printable(textOf(last.parts)).trim() : "";
        if (said !== "" && !subtasks.has(agent))
          blocks.unshift({ kind: "reply", agent, text: said, goesOn: true, cutOff: false, model: "", usage: NOTHING });
      }
      return blocks;
    },
  };
}

/** A name comes from a model, or from somebody's file: it stands on one line, and moves no cursor. */
const safeName = (name: string): string => oneLine(name, 60);

/** What a mechanism put beside the words of whoever said them. */
const addedTo = (said: string, content: readonly Content[]): string[] =>
  content
    .map((part) => textOf([part]))
    .filter((added) => added !== "" && !said.includes(added))
    .map((added) => printable(added.replace(/^<note from="[^"]*">\n([\s\S]*)\n<\/note>$/, "$1")));

const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
