// What the monitor's server answers of one context, and its page reads: types only. Every text in here is safe to show as text, and only as text.
import type { BoardTask, ContextRow, Need, TokenCounts } from "./api.ts";

/** What kinds of rows there are: for colours, icons and filters. */
export type RowKind =
  | "prompt"
  | "reply"
  | "call"
  | "result"
  | "note"
  | "message"
  | "approval"
  | "plan"
  | "data"
  | "checkpoint"
  | "job"
  | "agent"
  | "turn"
  | "trouble"
  | "other";

/** One event as one line. */
export interface EventRow {
  seq: number;
  at: number;
  agent: string;
  type: string;
  kind: RowKind;
  /** At most about 200 columns. */
  title: string;
  failed?: true;
  ms?: number;
  tokens?: TokenCounts;
  usd?: number;
  /** Not part of the conversation of now: a restore went back behind it. */
  left?: true;
}

/** `/rows?from=N&count=M[&kinds=a,b][&agent=X][&text=…][&upTo=SEQ]`: positions count from 0 within the filter. `upTo`: as of that event. */
export interface RowsWindow {
  from: number;
  rows: EventRow[];
  /** Rows of that filter in all. */
  total: number;
  head: number;
}

/** `/live` of one context, ids are seqs. */
export interface ContextLiveMessage {
  rows: EventRow[];
  head: number;
}

/** Longer texts are cut: `bytes` is how long it was. */
export interface TextSection {
  label: string;
  form: "text" | "markdown" | "json" | "diff";
  text: string;
  bytes?: number;
}

export interface EventDetail {
  row: EventRow;
  sections: TextSection[];
  /** Of a reply: the round whose request can be looked at. */
  round?: { agent: string; n: number };
}

export interface AgentRow {
  name: string;
  /** What it is, and what it does or waits for now. */
  role: string;
  doing: string;
  rounds: number;
  tokens: TokenCounts;
  usd: number;
  openCalls: string[];
}

export interface ContextPage {
  row: ContextRow;
  head: number;
  task: string;
  model?: string;
  agents: AgentRow[];
  budget: string[];
  problems: string[];
  readOnly?: string;
  needs: Need[];
  /** Commands to go on with it in a terminal. */
  resume: string;
}

export type SpanKind = "turn" | "model" | "tool" | "job" | "wait" | "many";

/** A stretch of time of one agent. `many`: several short ones, drawn as one. */
export interface Span {
  agent: string;
  kind: SpanKind;
  from: number;
  /** Not there: it is not over. */
  to?: number;
  seq: number;
  title: string;
  failed?: true;
  count?: number;
}

/** `/timeline?from=MS&to=MS&width=PX`: never more than about 2,000 spans. */
export interface Timeline {
  from: number;
  to: number;
  agents: string[];
  spans: Span[];
  marks: { at: number; seq: number; kind: "epoch" | "checkpoint" | "takeover" | "fork" | "restore"; title: string }[];
}

/** Charts: at most about 600 points each, one a round; parallel lists. Of a copy only what came since: the rest is another context's. */
export interface UsageSeries {
  at: number[];
  seq: number[];
  /** Whose round: a place in `agents`. */
  by: number[];
  agents: string[];
  /** Summed. */
  tokensIn: number[];
  tokensOut: number[];
  cached: number[];
  usd: number[];
  /** What the model saw in that round. */
  window: number[];
  /** What the newest model takes, where that is known. */
  windowMax?: number;
  /** Events so far, and bytes of shared data. */
  events: number[];
  dataBytes: number[];
}

/** Cost by agent, turn, round: a tree for a flame graph, bounded. */
export interface CostNode {
  name: string;
  kind: "context" | "agent" | "turn" | "round";
  seq: number;
  usd: number;
  tokens: TokenCounts;
  ms: number;
  children: CostNode[];
}

export interface CostBreak {
  agent: string;
  n: number;
  seq: number;
  at: number;
  cause: string;
  /** Sent and paid for once more although the provider had it. */
  tokensAnew: number;
  usd?: number;
}

export interface Costs {
  tree: CostNode;
  epochs: { agent: string; seq: number; at: number; says: string }[];
  breaks: CostBreak[];
  /** What this context began with, as a fork or an import: paid for there, and not in the tree. */
  copied?: { seq: number; usd: number; tokens: TokenCounts };
  /** Calls of models without a known price: the sums of money lack them. */
  unpriced: number;
}

export interface DataRow {
  key: string;
  version: number;
  by: string;
  at: number;
  bytes: number;
  preview: string;
}

export interface DataHistory {
  key: string;
  versions: { seq: number; at: number; by: string; op: "set" | "append" | "remove"; bytes: number; current: boolean }[];
  /** Of the version asked for, or the newest. */
  value?: TextSection;
}

/** At most the last 1,000. */
export interface CheckpointRow {
  seq: number;
  at: number;
  name: string;
  auto: boolean;
  note?: string;
  files?: number;
  /** The checkpoint that stands before it on its timeline: a restore begins another branch. */
  parent?: number;
  /** On the timeline of now. */
  current: boolean;
  /** Contexts that were forked here, or from an event before the next one. */
  forks: string[];
}

/** `/files?from=SEQ[&to=SEQ]`: between two checkpoints, or up to now. `/files?at=SEQ`: since the context began, as of that event. */
export interface FilesChanged {
  from: { seq: number; name: string };
  to?: { seq: number; name: string };
  files: { path: string; status: "added" | "deleted" | "changed"; diff?: string; cut?: true }[];
  /** Of all, where not all are listed. */
  total: number;
  /** Recorded edits since, not in a checkpoint yet. */
  edits: { seq: number; path: string; agent: string; tool: string }[];
  problem?: string;
}

/**
 * `/at/SEQ`: the context as it was when that event had just happened. The same as `holdfast contexts show ID --at SEQ --json`.
 * The transcript of then is what `/rows?upTo=SEQ` gives: `left` counts from there.
 */
export interface ContextAt {
  seq: number;
  at: number;
  head: number;
  agents: AgentRow[];
  todos: { agent: string; text: string; status: "pending" | "in_progress" | "completed" }[];
  /** Approvals and plans that were open, a line each. */
  waiting: string[];
  data: DataRow[];
  /** The project's board when that event happened. */
  board: BoardTask[];
  /** As of the last checkpoint before it that holds files; `edits` were recorded since, up to the event. */
  files: { checkpoint?: { seq: number; at: number; name: string }; edits: FilesChanged["edits"] };
  /** Where a fork from here begins: the last place up to this event from which the model was asked, or a turn had ended. `request`: the round whose request a fork sends first, byte for byte. */
  fork: { seq: number; request?: { agent: string; n: number } };
  /** The last checkpoint up to this event: what Restore goes back to. */
  restore?: { seq: number; name: string; files: boolean };
}

/** `/requests?agent=A[&upTo=N][&count=M]`: of one agent, the last M up to round N, at most 1,000. */
export interface RequestRow {
  n: number;
  seq: number;
  at: number;
  model: string;
  tokens: TokenCounts;
  usd?: number;
}

export interface RequestView {
  agent: string;
  n: number;
  /** Why it may not be exactly what was sent; not there: it is, byte for byte. */
  doubt?: string;
  bytes: number;
  /** The body, cut where it is longer than a page shows; the whole: `/requests/AGENT/N/body`. */
  body: TextSection;
  /** Against the request before it: how they differ in words, and line by line. */
  differs: string[];
  diff?: TextSection;
}
