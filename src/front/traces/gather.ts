// The spans of one context, gathered event by event: a turn is `invoke_agent`, a model call `chat`, a tool's call `execute_tool`. The same events always give the same spans.
import type { contextEvents } from "../../contexts/events.ts";
import { LEAD_AGENT } from "../../contexts/listing.ts";
import type { Fact } from "../../ledger/events.ts";
import { isRecord } from "../../ledger/guards.ts";
import type { Seq, StoredEvent } from "../../ledger/store.ts";
import type { loopEvents, TurnEndReason } from "../../loop/events.ts";
import type { recoveryEvents } from "../../mechanisms/recovery/events.ts";
import type { subagentEvents } from "../../mechanisms/subagents/events.ts";
import { isKnownTool, outgoingName, UNKNOWN_TOOL } from "../presentation/outgoing-names.ts";
import { oneLine } from "../presentation/printable.ts";
import { askedOf, chatAttributes, failureOf, toolAttributes, turnAttributes } from "./attributes.ts";
import type { SpanContent } from "./content.ts";
import { begunTurn, copiedTurn, type OpenCall, type OpenTurn, type ToolResult } from "./open-turn.ts";
import { placeIn, type RecordedSpan, type SpanEvent, type SpanPlace, spanIdOf } from "./span.ts";

/** What a reader of spans must read. */
export const SPAN_TYPES = [
  ...["turn.started", "turn.ended", "input.received", "input.taken", "note.added", "request.changed"],
  ...["reply.received", "reply.aside", "tool.started", "tool.finished", "model.retried", "model.switched"],
  ...["subagent.started", "agent.taken", "context.forked", "context.imported"],
] as const;

type Known = Fact<typeof loopEvents & typeof contextEvents & typeof recoveryEvents & typeof subagentEvents>;

export interface SpanCollector {
  observe(event: StoredEvent): void;
  /**
   * The spans that are over and were not taken yet. `ended`: where their turn has ended; undefined: it is not over. Contract: what is not
   * wanted is kept while its turn is not over.
   */
  take(isWanted?: (span: RecordedSpan, ended: Seq | undefined) => boolean): RecordedSpan[];
  /** How many are over and were not taken. */
  readonly size: number;
}

/** `content`: how texts are written down; left out where nobody asked for them. */
export function collectSpans(context: string, content?: SpanContent): SpanCollector {
  let turns = new Map<string, OpenTurn>();
  let done: RecordedSpan[] = [];
  let ends = new Map<string, Seq>();
  /** What a person is answered in one turn of the lead is one trace, whoever works on it and where. */
  let root: SpanPlace | undefined;
  /** Calls that begin agents, by the agent's name; all other calls are known by their turn. */
  const begunBy = new Map<string, SpanPlace>();
  const types = new Map<string, string>();
  const inputs = new Map<string, unknown>();
  /** Names that a tool has: calls of it began. */
  const tools = new Set<string>();

  function placeOf(event: StoredEvent): { place: SpanPlace; parent?: string } {
    const spanId = spanIdOf(context, event.id);
    const begun = begunBy.get(event.actor);
    if (event.actor === LEAD_AGENT || (!root && !begun)) {
      const place = placeIn(context, event.id);
      if (event.actor === LEAD_AGENT) root = place;
      return { place };
    }
    // A subagent stands below the call that it answers; a teammate below what its lead works on at that time.
    const isSubagent = types.has(event.actor);
    const above = begun && (isSubagent || begun.traceId === root?.traceId) ? begun : (root ?? begun!);
    return { place: { traceId: above.traceId, spanId }, parent: above.spanId };
  }

  function begin(event: StoredEvent, data: { turnId: string; cause: string }): void {
    const left = turns.get(event.actor);
    if (left) endTurn(left, { at: left.lastAt, seq: event.seq, reason: "left", text: "" });
    const { place, parent } = placeOf(event);
    const { actor, at } = event;
    const names = { agent: actor, id: agentName(actor), name: agentName(types.get(actor) ?? actor) };
    turns.set(actor, begunTurn({ ...data, ...names, ...{ at, begunBy: event.id, place }, ...(parent && { parent }) }));
  }

  /** Models choose the names of teammates. */
  const agentName = (name: string): string => content?.ofName(name) ?? outgoingName("agent", context, name);

  function toolName(data: ToolResult, hasBegun: boolean): string {
    if (content) return content.ofName(data.name);
    return isKnownTool(data, hasBegun || tools.has(data.name)) ? oneLine(data.name, 80) : UNKNOWN_TOOL;
  }

  /** What stands before it are copies: they are spans where they happened. `goesOn`: a turn of its lead's goes on in this one. */
  function copied(event: StoredEvent, goesOn: { of: string } | undefined): void {
    const left = turns.get(LEAD_AGENT);
    turns = new Map();
    done = [];
    ends = new Map();
    root = undefined;
    begunBy.clear();
    types.clear();
    if (!left || !goesOn) return;
    root = placeIn(context, event.id);
    const link = placeIn(goesOn.of, left.begunBy);
    turns.set(LEAD_AGENT, copiedTurn(left, { at: event.at, begunBy: event.id, place: root, link }));
  }

  function span(turn: OpenTurn, more: Omit<RecordedSpan, "traceId" | "agent" | "turn">): void {
    const { traceId } = turn.place;
    const to = Math.max(more.from, more.to);
    done.push({ traceId, agent: turn.agent, turn: turn.turnId, ...more, to });
  }

  function endTurn(turn: OpenTurn, { at, seq, reason, text }: TurnEnd): void {
    turns.delete(turn.agent);
    ends.set(turn.turnId, seq);
    const failed = FAILS[reason];
    span(turn, {
      ...{ spanId: turn.place.spanId, name: `invoke_agent ${turn.name}`, kind: "internal", failed },
      ...(turn.parent !== undefined && { parentSpanId: turn.parent }),
      ...(turn.link && { link: turn.link }),
      ...{ from: turn.from, to: at, events: turn.events },
      attributes: {
        ...turnAttributes(context, turn, { reason, failed }),
        ...content?.ofTurn(turn.inputs, text),
      },
    });
  }

  function replied(turn: OpenTurn, event: StoredEvent, data: DataOf<"reply.received"> | DataOf<"reply.aside">): void {
    const to = Math.min(event.at, askedOf(data) ?? event.at);
    span(turn, {
      ...{ spanId: spanIdOf(context, event.id), parentSpanId: turn.place.spanId, kind: "client", failed: false },
      ...{ name: `chat ${oneLine(data.model.replace(/^[^/]*\//, ""), 80)}`, from: turn.roundFrom, to },
      events: turn.retried,
      attributes: { ...chatAttributes(context, turn, data), ...content?.ofReply(turn.shown, data) },
    });
    turn.usages.push({ model: data.model, usage: data.usage });
    turn.retried = [];
    turn.shown = [];
    turn.roundFrom = Math.max(turn.roundFrom, to);
    if (!("for" in data)) turn.rounds++;
  }

  function called(turn: OpenTurn, event: StoredEvent, data: DataOf<"tool.started">): void {
    const call: OpenCall = { spanId: spanIdOf(context, event.id), from: event.at, input: data.input };
    turn.calls.set(data.callId, call);
    tools.add(data.name);
    const place = { traceId: turn.place.traceId, spanId: call.spanId };
    const { name, agent } = isRecord(data.input) ? data.input : {};
    // Another prompt for a subagent, or the beginning of a teammate.
    if (data.name === "task" && typeof agent === "string" && types.has(agent)) begunBy.set(agent, place);
    if (data.name === "spawn_teammate" && typeof name === "string") begunBy.set(name, place);
  }

  function finished(turn: OpenTurn, event: StoredEvent, data: DataOf<"tool.finished">): void {
    const call = turn.calls.get(data.callId);
    turn.calls.delete(data.callId);
    const failure = failureOf(data);
    const name = toolName(data, call !== undefined);
    const from = Math.min(call?.from ?? event.at, event.at - data.durationMs);
    span(turn, {
      ...{ spanId: call?.spanId ?? spanIdOf(context, event.id), parentSpanId: turn.place.spanId, kind: "internal" },
      ...{ name: `execute_tool ${name}`, from: Math.max(turn.from, from), to: event.at },
      ...{ events: [], failed: failure !== undefined },
      attributes: { ...toolAttributes(context, turn, { data, name, failure }), ...content?.ofCall(call?.input, data) },
    });
    turn.shown.push({ result: data });
    turn.roundFrom = event.at;
  }

  /** Of an agent in its turn. */
  function inTurn(turn: OpenTurn, event: StoredEvent, fact: Known): void {
    turn.lastAt = event.at;
    switch (fact.type) {
      case "turn.ended":
        endTurn(turn, { at: event.at, seq: event.seq, reason: fact.data.reason, text: fact.data.text });
        break;
      case "reply.received":
      case "reply.aside":
        replied(turn, event, fact.data);
        break;
      case "tool.started":
        called(turn, event, fact.data);
        break;
      case "tool.finished":
        finished(turn, event, fact.data);
        break;
      case "model.retried":
        turn.retried.push(retryEvent(event, fact.data));
        break;
      case "agent.taken":
        turn.events.push({
          ...{ name: "holdfast.agent.taken", at: event.at },
          attributes: { "holdfast.holder.was": fact.data.from.was },
        });
        break;
      case "input.taken": {
        const words = fact.data.content ?? inputs.get(fact.data.inputId);
        inputs.delete(fact.data.inputId);
        turn.inputs.push(words);
        turn.shown.push({ input: words });
        turn.roundFrom = event.at;
        break;
      }
      case "note.added":
      case "request.changed":
        turn.roundFrom = event.at;
        break;
      default:
        break;
    }
  }

  return {
    get size() {
      return done.length;
    },
    observe(event) {
      const fact = event as StoredEvent & Known;
      switch (fact.type) {
        case "context.forked":
          copied(event, fact.data.goesOn && { of: fact.data.context });
          break;
        case "context.imported":
          copied(event, undefined);
          break;
        case "turn.started":
          begin(event, fact.data);
          break;
        case "subagent.started": {
          const { parent, callId, type } = fact.data;
          types.set(event.actor, type);
          const above = turns.get(parent);
          const call = above?.calls.get(callId);
          if (above && call) begunBy.set(event.actor, { traceId: above.place.traceId, spanId: call.spanId });
          break;
        }
        case "input.received":
          if (content) inputs.set(fact.data.inputId, fact.data.content);
          break;
        default: {
          const turn = turns.get(event.actor);
          if (turn) inTurn(turn, event, fact);
        }
      }
    },
    take(isWanted = () => true) {
      const taken = new Set(done.filter((one) => isWanted(one, ends.get(one.turn))));
      done = done.filter((one) => !taken.has(one) && !ends.has(one.turn));
      ends = new Map();
      return [...taken];
    },
  };
}

interface TurnEnd {
  at: number;
  seq: Seq;
  reason: Ended;
  text: string;
}

/** `left`: a restore went back behind its beginning. */
type Ended = TurnEndReason | "left";

const FAILS: Record<Ended, boolean> = {
  ...{ failed: true, blocked: true, done: false, interrupted: false, limit: false, left: false },
};

type DataOf<T extends Known["type"]> = Extract<Known, { type: T }>["data"];

const retryEvent = ({ at }: StoredEvent, data: DataOf<"model.retried">): SpanEvent => ({
  ...{ name: "holdfast.model.retried", at },
  attributes: {
    "error.type": oneLine(data.kind, 80),
    ...(data.status !== undefined && { "http.response.status_code": data.status }),
    "holdfast.retry.attempt": data.attempt,
    "holdfast.retry.delay_ms": Math.round(data.delayMs),
  },
});
