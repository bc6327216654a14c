// Small questions that a replay asks of events: which belong together, what stands in them, whose doing they are.

import type { State } from "../ledger/fold.ts";
import { isRecord } from "../ledger/guards.ts";
import { sameJson } from "../ledger/same-json.ts";
import type { EventInput, StoredEvent } from "../ledger/store.ts";
import { transcriptIn } from "../loop/transcript.ts";
import type { Model, WireSettings } from "../models/model.ts";
import { type Kind, kindOfField, seamOf, type Unlike } from "./compare.ts";
import { ahead } from "./outcomes.ts";
import type { Player } from "./player.ts";
import { isFact, type Recording } from "./recording.ts";
import type { Doing } from "./seams.ts";

const callIn = ({ data }: Pick<EventInput, "data">): unknown => (isRecord(data) ? data.callId : undefined);

/** Whether they say the same thing, in whatever words. */
export const corresponds = (computed: EventInput | undefined, recorded: EventInput): boolean =>
  computed?.type === recorded.type && (!computed.type.startsWith("tool.") || callIn(computed) === callIn(recorded));

/** Nothing else follows from it: the agent goes on as if it were not there, or were. */
export const isAside = ({ type }: EventInput): boolean => type === "note.added" || type === "request.changed";

/** An event in one line, for who reads a difference. */
export function brief({ type, data }: EventInput): unknown {
  return { type, data };
}

/** Of two events that are not the same: what that is about. */
export function kindOfTwo(recorded: EventInput, computed: EventInput): Kind {
  const types = [recorded.type, computed.type];
  const isAbout = (...names: string[]) => types.some((type) => names.includes(type));
  if (isAbout("turn.ended", "approval.asked")) return "decision";
  if (types.every((type) => type === "tool.started" || type === "tool.finished"))
    return callIn(recorded) === callIn(computed) ? "decision" : "order";
  if (isAbout("note.added", "request.changed")) return "prompt bytes";
  return isAbout("context.compacted", "context.summarised") ? "decision" : "order";
}

/** What hooks say beside a refusal stands behind it, and was not computed. */
export function isBeside(recorded: StoredEvent, { field, recorded: was, computed }: Unlike): boolean {
  const isText = field === "content.0.text" && typeof was === "string" && typeof computed === "string";
  return (
    isFact(recorded, "tool.finished") && recorded.data.denied !== undefined && isText && was.startsWith(`${computed}\n`)
  );
}

/** What a difference in that event is about. */
export function kindIn(
  recorded: StoredEvent,
  computed: EventInput,
  { field }: Unlike,
  later: Iterable<StoredEvent>,
): Kind {
  const isDenied = ({ data }: EventInput) => isRecord(data) && data.denied !== undefined;
  if (recorded.type === "tool.finished" && (isDenied(recorded) || isDenied(computed))) return "decision";
  if (recorded.type !== "note.added") return kindOfField(recorded.type, field);
  for (const event of later) {
    if (event.type === "reply.received") break;
    if (event.type === "note.added" && sameJson(event.data, computed.data)) return "order"; // it comes later
  }
  return kindOfField(recorded.type, field);
}

/** When the process took the agent that goes on at this event: known where it says so of what an earlier one began. */
export function heldSince(recording: Recording, { actor, seq }: StoredEvent): number {
  for (const event of recording.following(actor, recording.placeOf(seq))) {
    if (isFact(event, "tool.finished") && event.data.resumedAt !== undefined) return event.data.resumedAt;
    if (event.type === "reply.received" || event.type === "turn.ended") break;
  }
  return 0;
}

/** What is recorded with an input before it is taken in. */
export const WITH_INPUTS: readonly string[] = ["context.checkpointed", "goal.set", "goal.cleared"];

/** Whether the inputs are there that the agent takes in next. */
export function hasInputs(player: Player, state: State): boolean {
  for (const event of ahead(player)) {
    if (WITH_INPUTS.includes(event.type)) continue;
    const isInput = isFact(event, "input.taken") || isFact(event, "input.blocked") || isFact(event, "input.answered");
    if (!isInput) return true;
    const { inputId } = event.data;
    return transcriptIn(state).agents[player.agent]?.queue.some((one) => one.inputId === inputId) ?? true;
  }
  return true;
}

/** By agent: what its processes worked by, and from where on. */
export function settingsIn(events: readonly StoredEvent[]): Map<string, { at: number; json: string }[]> {
  const all = new Map<string, { at: number; json: string }[]>();
  for (const [at, event] of events.entries()) {
    if (!isFact(event, "request.changed") || !event.data.settings) continue;
    const own = all.get(event.actor) ?? [];
    all.set(event.actor, own);
    own.push({ at, json: event.data.settings.json });
  }
  return all;
}

/** How its model wrote requests; undefined where it did not say. */
export function wiresIn(player: Player): Model["wire"] {
  const { recording, agent } = player;
  const wires: { at: number; wire: WireSettings }[] = [];
  for (const event of recording.following(agent, 0))
    if (isFact(event, "reply.received") && event.data.sentAs?.wire)
      wires.push({ at: recording.placeOf(event.seq), wire: event.data.sentAs.wire });
  const [first] = wires;
  if (!first) return undefined;
  return () => {
    const reply = [...ahead(player)].find((event) => event.type === "reply.received");
    const at = reply ? recording.placeOf(reply.seq) : recording.events.length;
    return (wires.findLast((one) => one.at <= at) ?? first).wire;
  };
}

/** Where what was computed comes from. */
export function whoSaid(
  { says }: Pick<Player, "says">,
  { doing, encoded }: { doing: Doing; encoded: EventInput },
  field: string | undefined,
): Doing {
  const loop: Doing = { seam: seamOf(encoded.type), mechanism: "loop" };
  if (doing.mechanism !== "loop") return doing;
  const data = isRecord(encoded.data) ? encoded.data : {};
  switch (encoded.type) {
    case "note.added":
      // One that is not computed any more has only the name that it was from.
      return says.get(String(data.text)) ?? { ...loop, mechanism: String(data.origin) };
    case "turn.ended":
      return (data.error !== undefined && says.get("turn.ended")) || loop;
    case "request.changed": {
      const isTools = field?.startsWith("tools") ?? (data.tools !== undefined && data.system === undefined);
      return says.get(isTools ? "request.changed tools" : "request.changed") ?? loop;
    }
    case "tool.started":
    case "tool.finished": {
      const isTools = field !== undefined && /^(?:input|effect)\b/.test(field);
      return says.get(isTools ? `tool ${String(data.name)}` : `call ${String(data.callId)}`) ?? loop;
    }
    case "reply.received":
      return field === "shown" ? { seam: "context", mechanism: "loop" } : loop;
    default:
      return loop;
  }
}
