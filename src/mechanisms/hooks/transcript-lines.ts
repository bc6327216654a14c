// The shape of a transcript as scripts for Claude Code read it: one event of the ledger, one line. Pure.

import { createHash } from "node:crypto";
import { callIdOf } from "../../claude-code/call-shape.ts";
import type { contextEvents } from "../../contexts/events.ts";
import { isRecord, knownFact } from "../../ledger/guards.ts";
import { sameJson } from "../../ledger/same-json.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import type { loopEvents } from "../../loop/events.ts";
import { noteText } from "../../loop/marks.ts";
import { movedText, relocate } from "../../loop/moved.ts";
import type { CallPart, Content, Finish, ReplyPart, Usage } from "../../models/model.ts";
import { callPayload } from "./payload.ts";

type Events = typeof loopEvents & Pick<typeof contextEvents, "agent.created" | "context.moved" | "context.imported">;

/** What a transcript is made of. */
export const LINE_EVENTS = [
  "agent.created",
  "agent.moved",
  "context.moved",
  "context.imported",
  "input.received",
  "input.taken",
  "input.blocked",
  "note.added",
  "reply.received",
  "tool.finished",
] satisfies (keyof Events)[];

/** After these the transcript is another one, not a longer one. */
export const REWINDING = ["context.restored", "context.forked", "context.imported"];

export interface Whose {
  context: string;
  agent: string;
  version: string;
  /** Takes known secrets out of a text. */
  hide?: (text: string) => string;
}

/** Where a transcript stands: what the next line rests on. */
export interface TranscriptState {
  cwd: string;
  /** The line before. */
  parent: string | null;
  /** Inputs that were received and are not in the transcript yet. */
  waiting: Map<string, { seq: Seq; content: Content[] }>;
  /** Calls of the last reply without a result. */
  open: CallPart[];
}

export const newStanding = (): TranscriptState => ({ cwd: "", parent: null, waiting: new Map(), open: [] });

/** What of a line is ours: by it a later process finds where to go on. */
export interface LineMark {
  seq: Seq;
  /** The first event that must be read again to go on with this line, where that is an earlier one. */
  needs?: Seq;
  /** What hooks added to the prompt for the model. */
  notes?: string[];
}

/** Contract: changes `at`; undefined when the event says nothing, or is another agent's. */
export function transcriptLine(event: StoredEvent, at: TranscriptState, whose: Whose): string | undefined {
  const fact = knownFact<Events>(event);
  const { type, data } = fact;
  if (type === "context.moved") {
    at.cwd = relocate(at.cwd, data);
    return at.parent === null ? undefined : noteLine(event, noteText("holdfast", movedText(data)), at, whose);
  }
  if (type === "context.imported") {
    at.cwd = data.root ?? "";
    return undefined;
  }
  const agent = type === "input.received" ? data.agent : type === "agent.created" ? data.name : event.actor;
  if (agent !== whose.agent) return undefined;
  switch (type) {
    case "agent.created":
    case "agent.moved":
      at.cwd = data.cwd;
      return undefined;
    case "input.received":
      at.waiting.set(data.inputId, { seq: event.seq, content: data.content });
      return undefined;
    case "input.blocked":
      at.waiting.delete(data.inputId);
      return undefined;
    case "input.taken": {
      const received = at.waiting.get(data.inputId)?.content ?? [];
      const { content, notes } = promptOf(received, data.content ?? received);
      const written = line(event, { type: "user", message: { role: "user", content } }, at, whose, notes);
      at.waiting.delete(data.inputId);
      return written;
    }
    case "note.added":
      return noteLine(event, noteText(data.origin, data.text, data.kind), at, whose);
    case "reply.received":
      return replyLine(event, data, at, whose);
    case "tool.finished": {
      at.open = at.open.filter(({ id }) => id !== data.callId);
      return resultLine(event, data, at, whose);
    }
    default:
      return undefined;
  }
}

/** Contract: a line for each open call. Nothing is open where `event` went, and nothing waits there. */
export function closeOpen(event: StoredEvent, text: string, at: TranscriptState, whose: Whose): string[] {
  const { open } = at;
  at.open = [];
  at.waiting.clear();
  return open.map(({ id }, i) => {
    const result = { callId: id, content: [{ type: "text" as const, text }], isError: true };
    return resultLine({ ...event, id: `${event.id}/${i}` }, result, at, whose);
  });
}

/** The prompt as it was typed stays one text; what hooks added stands beside it. */
function promptOf(received: Content[], taken: Content[]): { content: unknown; notes: string[] } {
  const same = received.length > 0 && received.every((part, i) => sameJson(part, taken[i]));
  const [typed, more] = same ? [received, taken.slice(received.length)] : [taken, []];
  const [first] = typed;
  const notes = more.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const content = typed.length === 1 && first?.type === "text" ? first.text : blocksOf(typed);
  return { content, notes };
}

const noteLine = (event: StoredEvent, content: string, at: TranscriptState, whose: Whose): string =>
  line(event, { type: "user", isMeta: true, message: { role: "user", content } }, at, whose);

const STOP_REASON: Partial<Record<Finish, string>> = { calls: "tool_use", length: "max_tokens", refused: "refusal" };

interface ReplyData {
  model: string;
  parts: ReplyPart[];
  finish: Finish;
  usage: Usage;
}

function replyLine(event: StoredEvent, data: ReplyData, at: TranscriptState, whose: Whose): string | undefined {
  const content = data.parts.flatMap((part) => blockOf(part, { agent: whose.agent, cwd: at.cwd }));
  if (content.length === 0) return undefined;
  at.open = data.parts.filter((part) => part.type === "call");
  const { input, output, cacheRead, cacheWrite } = data.usage;
  const message = {
    id: `msg_${event.id}`,
    type: "message",
    role: "assistant",
    model: data.model,
    content,
    stop_reason: STOP_REASON[data.finish] ?? "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite,
    },
  };
  return line(event, { type: "assistant", message }, at, whose);
}

/** Sealed reasoning has nothing to show. */
function blockOf(part: ReplyPart, place: { agent: string; cwd: string }): object[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type === "reasoning")
    return part.text === "" ? [] : [{ type: "thinking", thinking: part.text, signature: part.signature ?? "" }];
  const { tool_name: name, tool_input: input, tool_use_id: id } = callPayload(part, part, part.input, place);
  return [{ type: "tool_use", id, name, input }];
}

type ResultData = { callId: string; content: Content[]; isError: boolean };

function resultLine(
  event: StoredEvent,
  { callId, content, isError }: ResultData,
  at: TranscriptState,
  whose: Whose,
): string {
  const tool_use_id = callIdOf(whose.agent, callId);
  const result = { type: "tool_result", tool_use_id, content: blocksOf(content), is_error: isError };
  return line(event, { type: "user", message: { role: "user", content: [result] } }, at, whose);
}

const blocksOf = (content: readonly Content[]): object[] =>
  content.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: part.type, source: { type: "base64", media_type: part.mediaType, data: part.data } },
  );

function line(event: StoredEvent, says: object, at: TranscriptState, whose: Whose, notes: string[] = []): string {
  const { context, agent, version, hide } = whose;
  const uuid = uuidOf(event.id);
  const earliest = Math.min(...[...at.waiting.values()].map(({ seq }) => seq));
  const mark: LineMark = {
    seq: event.seq,
    ...(earliest < event.seq && { needs: earliest }),
    ...(notes.length > 0 && { notes }),
  };
  const whole = {
    parentUuid: at.parent,
    isSidechain: agent !== LEAD,
    ...(agent !== LEAD && { agentId: agent }),
    userType: "external",
    cwd: at.cwd,
    sessionId: context,
    version,
    ...says,
    uuid,
    timestamp: new Date(event.at).toISOString(),
    holdfast: mark,
  };
  at.parent = uuid;
  return `${JSON.stringify(hide ? hidden(whole, hide) : whole)}\n`;
}

/** The same for the same event, whichever process writes it. */
function uuidOf(id: string): string {
  const hex = createHash("sha256").update(id).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Every text but the bytes of pictures and documents. */
function hidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((one) => hidden(one, hide));
  if (!isRecord(value)) return value;
  if (value.type === "base64") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, hidden(one, hide)]));
}
