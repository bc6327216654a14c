// One event as one line of the monitor: what kind of thing it is, and its title. From the event alone, so that any stretch of a ledger can be shown.
import type { contextEvents } from "../../contexts/events.ts";
import type { Fact } from "../../ledger/events.ts";
import { isRecord } from "../../ledger/guards.ts";
import type { StoredEvent } from "../../ledger/store.ts";
import type { agentEvents } from "../../mechanisms/agents/events.ts";
import { costUsd } from "../../models/catalogue.ts";
import { textOf } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";
import { noticeOf, type RememberedNotices } from "../presentation/notices.ts";
import type { ShownFact } from "../presentation/presenter.ts";
import { oneLine } from "../presentation/printable.ts";
import { endOf } from "../presentation/results.ts";
import { callTitle } from "../presentation/titles.ts";
import type { EventRow, RowKind } from "./context-api.ts";

/** Columns of a title: what is longer is read in the detail. */
const WIDTH = 220;

type KnownEvent = ShownFact | Fact<typeof contextEvents> | Fact<typeof agentEvents>;
type Shown = Omit<EventRow, "seq" | "at" | "agent" | "type">;

/** By the beginning of its type, where nothing better is known. */
const KINDS: Record<string, RowKind> = {
  ...{ input: "prompt", reply: "reply", note: "note", message: "message", inbox: "message", approval: "approval" },
  ...{ plan: "plan", data: "data", hub: "data", workflow: "data", checkpoint: "checkpoint", files: "checkpoint" },
  ...{ job: "job", command: "job", agent: "agent", team: "agent", subagent: "agent", shutdown: "agent", turn: "turn" },
  ...{ error: "trouble", model: "trouble", todo: "note", goal: "turn", task: "agent" },
};

/** Of a type of event, without its data: for filters over a whole ledger. */
export function rowKindOf(type: string): RowKind {
  const exact = EXACTLY[type];
  return exact ?? KINDS[type.slice(0, type.indexOf("."))] ?? "other";
}

const EXACTLY: Readonly<Record<string, RowKind>> = {
  "tool.started": "call",
  "tool.finished": "result",
  "reply.aside": "other",
  "input.taken": "other",
  "context.checkpointed": "checkpoint",
  "checkpoint.kept": "other",
  "context.restored": "checkpoint",
  "context.forked": "checkpoint",
  "context.compacted": "turn",
  "context.elided": "turn",
  "context.uncompacted": "turn",
  "agent.moved": "other",
  "agent.taken": "trouble",
  "inbox.delivered": "other",
  "team.idled": "other",
};

export function eventRow(event: StoredEvent): EventRow {
  const { seq, at, actor, type } = event;
  const shown = shownOf(event);
  return { seq, at, agent: oneLine(actor, 60), type: oneLine(type, 60), ...shown };
}

/** Nothing is remembered between two rows: what a later fact names only by id is shown by its id. */
const nothing = (): RememberedNotices => ({
  ...{ jobs: new Map(), schedules: new Map(), subtasks: new Map(), inTerminal: true },
});

function shownOf(event: StoredEvent): Shown {
  const kind = rowKindOf(event.type);
  try {
    return { kind, ...titled(event as KnownEvent) };
  } catch {
    return { kind, title: plainTitle(event) }; // of a newer version, or damaged: still a line
  }
}

/** What its data says, as it is recorded. */
const plainTitle = ({ type, data }: StoredEvent): string =>
  oneLine(`${type} ${isRecord(data) && Object.keys(data).length === 0 ? "" : (JSON.stringify(data) ?? "")}`, WIDTH);

const line = (text: string): string => oneLine(text, WIDTH);

const TAKEN = {
  ...{ gone: "is gone", alive: "lived past its time", unseen: "on another machine was not heard of" },
} as const;

function titled(event: KnownEvent): Omit<Shown, "kind"> {
  switch (event.type) {
    case "input.received":
      return { title: line(`${event.data.origin}: ${textOf(event.data.content)}`) };
    case "reply.received": {
      const { parts, usage, model } = event.data;
      const calls = parts.flatMap((part) =>
        part.type === "call" ? [`${part.name} ${callTitle(part.name, part.input)}`] : [],
      );
      const said = textOf(parts).trim();
      const usd = costUsd(model, usage);
      return {
        title: line(said !== "" ? said : calls.length > 0 ? calls.join(" · ") : "(nothing said)"),
        tokens: usage,
        ...(usd !== undefined && { usd }),
      };
    }
    case "tool.started":
      return { title: line(`${event.data.name} ${callTitle(event.data.name, event.data.input)}`) };
    case "tool.finished": {
      const { name, callId, durationMs, ran, isError } = event.data;
      const { says, output, resumed } = endOf({ agent: event.actor, callId, tool: name, title: "" }, event.data);
      const found = resumed === undefined ? "" : ` (${resumed})`;
      const text = says !== "" ? says : (output?.lines.find((one) => one.trim() !== "") ?? "");
      return {
        title: line(`${name}${found}: ${text === "" ? "done" : text}`),
        ms: ran?.ms ?? durationMs,
        ...(isError && { failed: true }),
      };
    }
    case "turn.started":
      return { title: event.data.cause === "input" ? "a turn begins" : `a turn begins (${event.data.cause})` };
    case "agent.taken": {
      const { from, by } = event.data;
      return { title: `taken over by process ${by.pid}: process ${from.pid} ${TAKEN[from.was]}` };
    }
    case "turn.ended": {
      const { reason: how, error, text } = event.data;
      const failed = how === "failed" || how === "blocked";
      return { title: line(`the turn ends (${how}): ${error ?? text}`), ...(failed && { failed }) };
    }
    case "note.added":
      return { title: line(`${event.data.origin}: ${event.data.text}`) };
    case "message.sent":
      return { title: line(`to ${event.data.to}: ${event.data.content}`) };
    case "approval.asked":
      return { title: line(`asks: ${event.data.tool} ${callTitle(event.data.tool, event.data.input)}`) };
    case "approval.answered":
      return { title: line(`${event.data.decision === "allow" ? "allowed" : "refused"} from ${event.data.from}`) };
    case "plan.submitted":
      return { title: line(`plan ${event.data.requestId}: ${event.data.plan}`) };
    case "todo.written": {
      const { todos } = event.data;
      const done = todos.filter(({ status }) => status === "completed").length;
      const now = todos.find(({ status }) => status === "in_progress");
      return { title: line(`${done} of ${counted(todos.length, "todo")} done${now ? `; now: ${now.content}` : ""}`) };
    }
    case "data.shared":
    case "data.appended":
      return { title: line(`${event.type === "data.shared" ? "" : "+ "}${event.data.key} = ${event.data.preview}`) };
    case "data.removed":
      return { title: line(`${event.data.key} removed`) };
    case "context.checkpointed":
      return { title: line(`checkpoint ${event.data.name}${event.data.note ? `: ${event.data.note}` : ""}`) };
    case "context.restored":
      return { title: line(`back to ${event.data.checkpoint} (event ${event.data.seq})`) };
    case "context.forked":
      return { title: line(`begins as a copy of ${event.data.context} up to event ${event.data.seq}`) };
    case "agent.created":
      return { title: line(`agent ${event.data.name}`) };
    case "subagent.started":
      return { title: line(`subtask of ${event.data.parent}: ${event.data.description}`) };
    default:
      return noticed(event as ShownFact & StoredEvent);
  }
}

function noticed(event: ShownFact & StoredEvent): Omit<Shown, "kind"> {
  const [block] = noticeOf(event, nothing());
  if (block?.kind !== "notice" || block.text === "") return { title: plainTitle(event) };
  return { title: line(block.text), ...(block.tone === "bad" && { failed: true }) };
}
