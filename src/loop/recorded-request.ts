// The requests that an agent's replies were asked with, made again from the ledger alone: nothing is read from the disk, and no seam is asked.
import { HoldfastError } from "../ledger/error.ts";
import type { Codec } from "../ledger/events.ts";
import { createFold, type Slice, type Slices, type State } from "../ledger/fold.ts";
import { knownFact } from "../ledger/guards.ts";
import { own } from "../ledger/own.ts";
import { readFacts } from "../ledger/read-facts.ts";
import type { Seq, Store, StoredEvent } from "../ledger/store.ts";
import type { Item, ModelRequest, ToolSpec, Usage, WireSettings } from "../models/model.ts";
import type { loopEvents, SentAs } from "./events.ts";
import { type AgentState, transcript, transcriptIn } from "./transcript.ts";

export interface RecordedRequest {
  agent: string;
  /** The number of its reply: r1, r2, …; of the next one where there is none. */
  n: number;
  /** Not there: no reply to it is recorded. */
  reply?: { seq: Seq; at: number; usage: Usage };
  /** As `provider/name`: the one that answered; of a request without a reply the last one that did. */
  model?: string;
  request: ModelRequest;
  /** How it was sent; of one without a reply as the last one was. Not there: the model does not say, or an older Holdfast recorded it. */
  wire?: WireSettings;
  /** Why it may not be what was sent. Not there: it is, byte for byte. */
  doubt?: RequestDoubt;
}

export type RequestDoubt =
  /** An older Holdfast did not record all that a request is made of. */
  | { kind: "unrecorded" }
  /** Mechanisms of an embedding program changed what the model saw. */
  | { kind: "viewed_by"; mechanisms: string[] }
  /** One around the model call sent something else. */
  | { kind: "altered" };

/** How what the model sees comes from the facts: by mechanisms that attach at seam `context`, in their order. */
// biome-ignore lint/suspicious/noExplicitAny: slices of every type
export interface Viewer<S = any> {
  name: string;
  slice: Slice<S>;
  /** Contract: from its slice alone. */
  view: (items: readonly Item[], slice: S, agent: string) => readonly Item[];
}

export interface RecordedSource {
  store: Pick<Store, "read" | "blob">;
  codec: Codec;
  viewers: readonly Viewer[];
}

export interface RecordedRound {
  request: RecordedRequest;
  /** Of this agent, and of the context, since its request before this one: why it may look otherwise. */
  since: readonly StoredEvent[];
}

/**
 * Every request of that agent in the order of its replies, and last the one that comes next. Contract: those of timelines that were left
 * too; a copy of a context has those of the original up to where it was copied.
 */
export async function* recordedRequests(
  { store, codec, viewers }: RecordedSource,
  context: string,
  { agent, upTo }: { agent: string; upTo?: Seq },
): AsyncGenerator<RecordedRound> {
  const slices: Slices = Object.fromEntries(viewers.map(({ name, slice }) => [name, slice]));
  const fold = createFold({ transcript, sent: sentSlice, ...slices });
  let state = fold.initial();
  let since: StoredEvent[] = [];
  let last: { model?: string } = {};
  const range = { after: 0, types: [...(fold.types ?? [])], ...(upTo !== undefined && { upTo }) };
  for await (const event of readFacts(store, codec, context, range)) {
    const fact = knownFact<typeof loopEvents>(event);
    const isReply = fact.type === "reply.received" && fact.actor === agent;
    const mine = own(transcriptIn(state).agents, agent);
    if (isReply && mine) {
      const { model, usage, sentAs } = fact.data;
      const as = sentAs ?? mine.sent?.as;
      const reply = { seq: event.seq, at: event.at, usage };
      yield { request: { ...requestIn(state, mine, { as, viewers }), reply, model }, since };
      since = [];
      last = { model };
    } else if (event.actor === agent || IS_OF_ALL.has(event.type)) since.push(event);
    state = fold.apply(state, event);
  }
  const mine = own(transcriptIn(state).agents, agent);
  if (mine) yield { request: { ...requestIn(state, mine, { as: mine.sent?.as, viewers }), ...last }, since };
}

/** What changes the conversation of every agent. */
const IS_OF_ALL = new Set(["context.restored", "context.forked", "context.imported", "context.moved"]);

function requestIn(
  state: State,
  agent: AgentState,
  { as, viewers }: { as: SentAs | undefined; viewers: readonly Viewer[] },
): RecordedRequest {
  const { name, rounds } = agent;
  let items: readonly Item[] = agent.items;
  for (const viewer of viewers) items = viewer.view(items, state.slices[viewer.name], name);
  const sent = own(sentIn(state), name);
  const request: ModelRequest = {
    system: sent?.system ?? [],
    tools: toolsOf(sent?.tools ?? "[]"),
    items: [...items], // the fold goes on with its own
    maxOutputTokens: as?.maxOutputTokens ?? 0,
  };
  const doubt = doubtOf({ sent, as, viewers });
  return { agent: name, n: rounds + 1, request, ...(as?.wire && { wire: as.wire }), ...(doubt && { doubt }) };
}

function doubtOf(found: {
  sent: Sent | undefined;
  as: SentAs | undefined;
  viewers: readonly Viewer[];
}): RequestDoubt | undefined {
  const { sent, as, viewers } = found;
  if (!as || sent?.system === undefined || sent.tools === undefined) return { kind: "unrecorded" };
  if (as.isAltered) return { kind: "altered" };
  const mechanisms = as.viewedBy.filter((name) => !viewers.some((viewer) => viewer.name === name));
  return mechanisms.length > 0 ? { kind: "viewed_by", mechanisms } : undefined;
}

/** What requests carry besides the conversation, as text. */
interface Sent {
  system?: readonly string[];
  /** JSON. */
  tools?: string;
}

const sentSlice: Slice<Record<string, Sent>> = {
  version: 1,
  types: ["request.changed"],
  initial: () => ({}),
  apply(state, event) {
    const { type, actor, data } = knownFact<typeof loopEvents>(event);
    if (type !== "request.changed") return state;
    state[actor] = {
      ...own(state, actor),
      ...(data.system && { system: data.system.blocks }),
      ...(data.tools && { tools: data.tools.specs }),
    };
    return state;
  },
};

const sentIn = (state: State): Record<string, Sent> => state.slices.sent as Record<string, Sent>;

let lastTools: { json: string; specs: readonly ToolSpec[] } = { json: "[]", specs: [] };

/** Contract: the same list for the same text, as far as the last one goes. */
function toolsOf(json: string): readonly ToolSpec[] {
  if (json !== lastTools.json) lastTools = { json, specs: specsIn(json) };
  return lastTools.specs;
}

function specsIn(json: string): readonly ToolSpec[] {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new HoldfastError("damaged", "the tools that the model was offered are recorded as no JSON", { cause });
  }
}
