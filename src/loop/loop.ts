// The turn: the one order in which things happen. Mechanisms attach at the seams; none is named here.
import { crashPoint } from "../ledger/crash-point.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { EventInput } from "../ledger/store.ts";
import { type Item, ModelError, noUsage, type Reply } from "../models/model.ts";
import { answerInput } from "./answer-input.ts";
import type { TurnEndReason } from "./events.ts";
import type { Merged } from "./merge.ts";
import { askBehind, asking } from "./model-call.ts";
import { areUnsent, lastReply, type ModelCalls } from "./model-calls.ts";
import { firstParts, type sentAs } from "./request-parts.ts";
import { noteFacts, type Turn } from "./seams.ts";
import { closeCalls, runCalls } from "./tool-calls.ts";
import { dueInputs, isIntakeDue, openTurn } from "./transcript.ts";
import { cannotBeRecorded, endBy, type TurnEnd } from "./turn-end.ts";

export interface Agent {
  readonly turn: Turn;
  readonly seams: Merged;
  /** Since when this process holds the agent: what was asked for before that, an earlier one took in. */
  readonly heldSince: number;
  readonly modelCalls: ModelCalls;
  readonly isLeft?: () => boolean; // whether this process lets it go behind the present round
}

type Facts = Omit<EventInput, "actor">[];

/**
 * Advances the open turn until it ends. What comes next is read from the state alone, so a turn that another process
 * began goes on here as if nothing had happened. Contract: undefined when it was left open, for another process.
 */
export async function runTurn(agent: Agent): Promise<TurnEndReason | undefined> {
  const { turn } = agent;
  try {
    while (!turn.signal.aborted) {
      if (turn.state.pending.length > 0) await runCalls(agent);
      else if (openTurn(turn.state).answered && !(await goesOn(agent))) return await endTurn(agent, { reason: "done" });
      else if (agent.isLeft?.()) return undefined;
      else await round(agent);
    }
    return await endTurn(agent, { reason: "interrupted" });
  } catch (error) {
    if (cannotBeRecorded(error)) throw error;
    return await endTurn(agent, turn.signal.aborted ? { reason: "interrupted" } : endBy(error));
  }
}

/** One model call: take in what arrived, ask, and record the reply, durable before any effect of it. */
async function round(agent: Agent): Promise<void> {
  const { turn } = agent;
  await takeIn(agent);
  if (openTurn(turn.state).answered) return;
  crashPoint("model.before");
  const { ask, how } = await asking(agent);
  let reply: Reply;
  try {
    reply = await ask();
  } catch (error) {
    if (error instanceof ModelError && error.kind === "aborted") {
      agent.modelCalls.aborted++;
      await keepPartial(turn, error, how());
    }
    throw error;
  }
  crashPoint("reply.arrived");
  let calls = turn.state.calls;
  const parts = reply.parts.map((part) => (part.type === "call" ? { ...part, id: `c${++calls}` } : part));
  // Durable with the intent of its first effect, or with the results of its reads: in any case before anything is done or asked.
  const asked = calls > turn.state.calls ? { askedAt: Date.now() } : {};
  const data = { ...reply, parts, ...asked, ...how() };
  await turn.append([{ type: "reply.received", data }], { durability: "deferred" });
  agent.modelCalls.received = lastReply(turn.state.items);
  crashPoint("reply.taken");
}

/**
 * Inputs that wait (steering included) pass seam input, then seam intake adds its notes: all at the tail. An input and what was said with
 * it are one append; the next one, and the notes, see both. One that a mechanism answers is not shown to the model; one that is
 * blocked is answered by its refusal; it ends a turn that has nothing else to answer, and notes that came beside it wait for the next one.
 */
async function takeIn(agent: Agent): Promise<void> {
  const { turn, seams } = agent;
  const facts: Facts = [];
  let blocked: string | undefined;
  let { toAnswer } = openTurn(turn.state);
  let isTaken = false;
  for (const { inputId, waits: _, ...input } of dueInputs(turn.state)) {
    const result = await seams.input(input, turn);
    if ("block" in result) {
      blocked = result.block;
      facts.push({ type: "input.blocked", data: { inputId, reason: blocked } });
    } else if ("answer" in result) {
      await answerInput(agent, inputId, result);
    } else {
      const changed = result.content === input.content ? {} : { content: result.content };
      const taken = { type: "input.taken", data: { inputId, ...changed } };
      await turn.append([...(result.events ?? []), taken], { durability: "deferred" });
      toAnswer = true;
      isTaken = true;
    }
  }
  if (openTurn(turn.state).answered) return;
  const refusal = toAnswer ? undefined : blocked;
  const how = areUnsent(agent.modelCalls, turn.state.items) ? { withResults: true as const } : {};
  const isDue = refusal === undefined && isIntakeDue(turn.state, { isTaken });
  for (const note of isDue ? await seams.intake(turn) : []) facts.push(...noteFacts(note, how));
  if (refusal === undefined) facts.push(...(await firstParts(agent)));
  if (facts.length > 0 || isTaken) await turn.append(facts); // with the inputs, which are deferred
  if (refusal !== undefined) throw new HoldfastError("refused", refusal);
}

/** The reply asked for nothing: the turn ends unless seam stop has more, or someone spoke meanwhile. */
async function goesOn(agent: Agent): Promise<boolean> {
  const { turn, seams } = agent;
  const { from, cutOff, refused, rounds } = openTurn(turn.state);
  const last = turn.state.items.slice(from).findLast((item) => item.kind === "reply");
  const reply: Reply = {
    model: last?.model ?? turn.model.id, // a reply of nothing is no item
    parts: last?.parts ?? [],
    finish: cutOff ? "length" : refused ? "refused" : "stop",
    usage: noUsage(),
  };
  const ask = (question: Item) => askBehind(agent, question);
  const notes = rounds === 0 ? [] : await seams.stop(turn, reply, { ask });
  if (notes.length > 0) {
    await turn.append(notes.flatMap((note) => noteFacts(note)));
    return true;
  }
  if (dueInputs(turn.state).length === 0) return false;
  await takeIn(agent);
  return !openTurn(turn.state).answered;
}

/** What the user saw before an interrupt stays in the transcript. */
async function keepPartial(turn: Turn, error: ModelError, how: ReturnType<typeof sentAs>): Promise<void> {
  const parts = (error.partial ?? []).filter((p) => p.type === "text" && p.text !== "");
  if (parts.length === 0) return;
  const reply = { model: turn.model.id, parts, finish: "other", usage: noUsage(), interrupted: true, ...how };
  await turn.append([{ type: "reply.received", data: reply }]);
}

/** No call stays open behind a turn: the next one begins with what its input says. */
async function endTurn(agent: Agent, end: TurnEnd): Promise<TurnEndReason> {
  const { turn } = agent;
  if (turn.state.pending.length > 0) await closeCalls(agent, `the turn ended (${end.reason})`);
  const { turnId, text } = openTurn(turn.state);
  await turn.append([{ type: "turn.ended", data: { turnId, text, ...end } }]);
  crashPoint("turn.ended");
  return end.reason;
}
