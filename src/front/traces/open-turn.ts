// A turn whose end was not read yet, and what of it its spans will say.
import type { Fact } from "../../ledger/events.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { Usage } from "../../models/model.ts";
import type { SpanEvent, SpanPlace } from "./span.ts";

export type ToolResult = Extract<Fact<typeof loopEvents>, { type: "tool.finished" }>["data"];

/** What a model was shown since its last reply. */
export type ShownSince = { input: unknown } | { result: ToolResult };

export interface OpenCall {
  spanId: string;
  from: number;
  input: unknown;
}

export interface OpenTurn {
  turnId: string;
  cause: string;
  /** Its actor; as what it is named outside, and what kind of agent it is. */
  agent: string;
  id: string;
  name: string;
  place: SpanPlace;
  parent?: string;
  /** The event whose id its own ids come from. */
  begunBy: string;
  /** Of the turn in the context that this one is a copy of. */
  link?: SpanPlace;
  from: number;
  lastAt: number;
  /** Since when the next reply is waited for. */
  roundFrom: number;
  rounds: number;
  usages: { model: string; usage: Usage }[];
  calls: Map<string, OpenCall>;
  events: SpanEvent[];
  retried: SpanEvent[];
  inputs: unknown[];
  shown: ShownSince[];
}

type Begun = Pick<OpenTurn, "turnId" | "cause" | "agent" | "id" | "name" | "place" | "parent" | "begunBy" | "link"> & {
  at: number;
};

export const begunTurn = ({ at, ...begun }: Begun): OpenTurn => ({
  ...begun,
  ...{ from: at, lastAt: at, roundFrom: at, rounds: 0 },
  ...{ usages: [], calls: new Map(), events: [], retried: [], inputs: [], shown: [] },
});

/** What a copy goes on with: the turn from there on, and what its next reply answers. */
export const copiedTurn = (
  { turnId, cause, agent, id, name, inputs, shown }: OpenTurn,
  goingOn: Pick<Begun, "at" | "place" | "begunBy" | "link">,
): OpenTurn => ({ ...begunTurn({ turnId, cause, agent, id, name, ...goingOn }), inputs, shown });
