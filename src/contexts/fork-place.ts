// Where a fork from any event begins: the last place from which the lead's model was asked, or where no turn of it was open. Read by the names of events: whoever writes them is above this.
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { withoutLongTexts } from "../ledger/spill.ts";
import type { Seq, Store, StoredEvent } from "../ledger/store.ts";
import { LEAD_AGENT } from "./listing.ts";

export interface ForkPlace {
  /** The fork begins as a copy up to this event. */
  seq: Seq;
  /** The lead's turn is open there and goes on: the round whose request comes first. Not there: the fork waits for a prompt. */
  round?: number;
}

export interface ForkPlaces {
  /** Contract: told of every event in order, once. */
  observe(event: Pick<StoredEvent, "seq" | "type" | "actor" | "data">): void;
  /** Contract: as far as was observed. */
  at(seq: Seq): ForkPlace;
}

/** The model is asked, and nothing that it is shown changes until that event: its reply, or the end of the turn. */
interface Asked {
  from: Seq;
  until: Seq;
  round: number;
}

interface LeadTurn {
  from: Seq;
  to: Seq;
  asked: Asked[];
}

interface OpenTurn extends LeadTurn {
  pending: Set<string>;
  toAnswer: boolean;
  isAnswered: boolean;
  /** Since then there is nothing to do but to ask. */
  readyFrom?: Seq | undefined;
}

const NEVER = Number.POSITIVE_INFINITY;

export function createForkPlaces(): ForkPlaces {
  const turns: LeadTurn[] = [];
  const checkpoints = new Set<Seq>();
  let open: OpenTurn | undefined;
  let rounds = 0;

  function close(seq: Seq): void {
    if (!open) return;
    if (open.readyFrom !== undefined) open.asked.push({ from: open.readyFrom, until: seq, round: rounds + 1 });
    open.to = seq;
    open = undefined;
  }

  function begin(seq: Seq, isByInput: boolean): void {
    close(seq);
    open = { from: seq, to: NEVER, asked: [], pending: new Set(), toAnswer: !isByInput, isAnswered: false };
    turns.push(open);
  }

  function replied(turn: OpenTurn | undefined, seq: Seq, calls: readonly string[]): void {
    rounds++;
    if (!turn) return;
    turn.asked.push({ from: turn.readyFrom ?? seq - 1, until: seq, round: rounds });
    turn.pending = new Set(calls);
    turn.isAnswered = calls.length === 0;
  }

  function advance(type: string, seq: Seq, data: Record<string, unknown>): void {
    if (type === "turn.started") begin(seq, data.cause === "input");
    else if (type === "turn.ended") close(seq);
    else if (type === "reply.received") replied(open, seq, callsIn(data.parts));
    else if (open) changeOpen(open, type, data);
    if (open) open.readyFrom = isReady(open) ? seq : undefined;
  }

  return {
    observe({ seq, type, actor, data: stored }) {
      const read = withoutLongTexts(stored);
      const data = isRecord(read) ? read : {};
      if (type === "context.checkpointed") checkpoints.add(seq);
      if (endsTurns(type, data)) close(seq);
      else if (actor === LEAD_AGENT) advance(type, seq, data);
    },
    at(seq) {
      const turn = turns.findLast((one) => one.from <= seq);
      if (checkpoints.has(seq) || !turn || turn.to <= seq) return { seq };
      const { readyFrom } = turn === open ? open : {};
      if (readyFrom !== undefined && readyFrom <= seq) return { seq, round: rounds + 1 };
      const asked = turn.asked.findLast((one) => one.from <= seq);
      return asked ? { seq: Math.min(seq, asked.until - 1), round: asked.round } : { seq: turn.from - 1 };
    },
  };
}

/** What closes the turns of every agent. A copy that goes on keeps that of its lead. */
function endsTurns(type: string, { conversation, goesOn }: Record<string, unknown>): boolean {
  if (type === "context.restored") return conversation === true;
  return type === "context.imported" || (type === "context.forked" && goesOn !== true);
}

function changeOpen(turn: OpenTurn, type: string, data: Record<string, unknown>): void {
  if (type === "tool.finished") turn.pending.delete(String(data.callId));
  else if (type === "input.taken") Object.assign(turn, { toAnswer: true, isAnswered: false });
  else if (type === "note.added") turn.isAnswered = false;
  else if (type === "input.answered" && !turn.toAnswer) turn.isAnswered = true;
}

const isReady = ({ pending, toAnswer, isAnswered }: OpenTurn): boolean => pending.size === 0 && toAnswer && !isAnswered;

const callsIn = (parts: unknown): string[] =>
  Array.isArray(parts)
    ? parts.flatMap((part: unknown) => (isRecord(part) && part.type === "call" ? [String(part.id)] : []))
    : [];

/** Contract: throws `not_found` where there is no such event. */
export async function forkPlaceAt(store: Pick<Store, "read" | "head">, context: string, seq: Seq): Promise<ForkPlace> {
  const head = await store.head(context);
  if (!Number.isSafeInteger(seq) || seq < 1 || seq > head)
    throw new HoldfastError("not_found", `there is no event ${seq} in ${context}: give 1 to ${head}`);
  const places = createForkPlaces();
  for await (const event of store.read(context, {})) {
    places.observe(event);
    if (event.seq > seq && event.actor === LEAD_AGENT && DECIDES.has(event.type)) break;
  }
  return places.at(seq);
}

/** Behind one of these, nothing more is learnt of what came before. */
const DECIDES = new Set(["reply.received", "turn.ended"]);
