// The port of every model: one request in, deltas while it runs, one reply out. Adapters depend on nothing else of the house.
import { HoldfastError } from "../ledger/error.ts";

export type Content =
  | { type: "text"; text: string }
  /** Base64. Sent only to models that take it; others see the text beside it. */
  | { type: "image"; mediaType: string; data: string }
  | { type: "document"; mediaType: string; data: string; name: string };

export type ReplyPart =
  | { type: "text"; text: string }
  /** Round-trips verbatim to the model that wrote it, and to no other. */
  | { type: "reasoning"; text: string; signature?: string; redacted?: string; provider?: ProviderData }
  /** `broken`: the arguments were cut off or are not JSON; such a call is answered, never executed. */
  | { type: "call"; id: string; name: string; input: unknown; broken?: string; provider?: ProviderData };

/** What a provider sent with a part and wants back with it. Only the adapter that wrote it looks inside. */
type ProviderData = object;

export type CallPart = Extract<ReplyPart, { type: "call" }>;

/** What a model sees of the past, in order. Items never change: adapters may remember how one looks on the wire. */
export type Item =
  /**
   * `n`: which of the things said to its agent it is; never given twice. `note`: the runtime says it, not a person or a program.
   * `from`: who says it, where that is not the user.
   * `withResults`: of a note behind results; no request has shown those without it, so that it may stand inside them.
   */
  | { kind: "user"; content: Content[]; n?: number; note?: boolean; from?: string; withResults?: boolean }
  /** `n`: which of its agent's replies it is; never given twice. */
  | { kind: "reply"; model: string; parts: ReplyPart[]; n?: number }
  | ResultItem;

/** What no wire carries, its text says too. */
export interface ResultItem {
  kind: "result";
  callId: string;
  name: string;
  content: Content[];
  isError: boolean;
  /** Of a command. */
  exitCode?: number;
  /** The turn was stopped before the call began, or while it ran. */
  stopped?: "before" | "during";
  /** Of texts that are cut. */
  whole?: WholeText[];
  /** Where it ran, where that was not the root of its context. */
  cwd?: string;
  /** The call was open where the conversation was copied, or gone back to: this only stands for its result. */
  standsIn?: true;
}

/** Which part of a content is cut, and the blob that has all of its text. */
export interface WholeText {
  part: number;
  hash: string;
  /** What the text can have (`gramFilter`): who looks for words reads it only then. */
  grams?: string;
}

export interface ToolSpec {
  name: string;
  description: string;
  /** JSON Schema. */
  input: Record<string, unknown>;
}

export interface ModelRequest {
  /** Stable prefix first: caching marks go on its end. */
  system: readonly string[];
  tools: readonly ToolSpec[];
  items: readonly Item[];
  maxOutputTokens: number;
  /** The reasoning of replies up to that number could not be opened by the provider before: it is not sent again. */
  unreadable?: number | undefined;
}

export interface Usage {
  /** Tokens not served from a cache. */
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** `length`: cut off by the output limit. The loop goes on by the presence of calls, never by this alone. */
export type Finish = "stop" | "calls" | "length" | "refused" | "other";

export interface Reply {
  /** The model that wrote it, as `provider/name`. */
  model: string;
  parts: ReplyPart[];
  finish: Finish;
  usage: Usage;
}

export type Delta =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "call"; name: string }
  /** What streamed so far does not count: the call is made again. */
  | { type: "reset" };

export interface Limits {
  contextTokens: number;
  /** Nobody knows it: this much is taken. */
  isAssumed?: boolean;
  outputTokens: number;
  images: boolean;
  documents: boolean;
}

/** What a model writes requests by, beside what it is asked: with it the same bytes can be made again. */
export interface WireSettings {
  wire: "anthropic" | "openai" | "openai-responses";
  /** The provider's name for the model. */
  name: string;
  images: boolean;
  documents: boolean;
  /** More fields of the request. */
  extra?: Record<string, unknown> | undefined;
  limitField?: "max_tokens" | "max_completion_tokens" | undefined;
  asksUsage?: boolean | undefined;
  sealed?: boolean | undefined;
  /** The reasoning of replies up to that number is not sent: the provider could not open it. */
  unreadable?: number | undefined;
}

/** Whether a conversation looks the same by both: how long a reply may be is no part of it. */
export const sameWriting = (a: WireSettings | undefined, b: WireSettings | undefined): boolean =>
  writingOf(a) === writingOf(b);

const writingOf = (wire: WireSettings | undefined): string => {
  const { limitField: _, asksUsage: __, ...rest } = wire ?? {};
  return JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
};

export interface Model {
  /** `provider/name`. */
  readonly id: string;
  readonly limits: Limits;
  /** How `request` was written, or would be. Contract: plain JSON. Not there: nobody can tell. */
  wire?(request: ModelRequest): WireSettings;
  /**
   * Contract: resolves to a whole reply or throws a ModelError; never resolves to a cut stream. On abort it throws
   * with kind `aborted` and, as `partial`, what had streamed.
   */
  reply(request: ModelRequest, opts: { signal: AbortSignal; onDelta?: (delta: Delta) => void }): Promise<Reply>;
}

export type ModelErrorKind =
  | "rate_limit" // 429
  | "overloaded" // 529, or an overload inside a stream
  | "server" // other 5xx
  | "network" // no connection, reset
  | "stalled" // no byte for too long
  | "cut" // the stream ended before its end mark
  | "overflow" // the prompt does not fit
  | "auth" // 401, 403
  | "invalid" // other 4xx, and what stays wrong however often it is asked: a certificate, a web page, a port where nobody listens
  | "refused" // the model, or a filter of its provider, will not answer this
  | "length" // cut off by the output limit, however often it went on
  | "aborted";

export class ModelError extends HoldfastError {
  readonly kind: ModelErrorKind;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly partial?: ReplyPart[];
  /** The field of the request that the provider does not take. */
  readonly field?: string;

  constructor(
    kind: ModelErrorKind,
    message: string,
    opts: { status?: number; retryAfterMs?: number; partial?: ReplyPart[]; field?: string; cause?: unknown } = {},
  ) {
    super("model", message, { cause: opts.cause });
    this.kind = kind;
    if (opts.status !== undefined) this.status = opts.status;
    if (opts.retryAfterMs !== undefined) this.retryAfterMs = opts.retryAfterMs;
    if (opts.partial !== undefined) this.partial = opts.partial;
    if (opts.field !== undefined) this.field = opts.field;
  }
}

/** Somebody's stream lost it on the way: asked again it may come. */
export const callIsMissing = (model: string, partial: ReplyPart[]): ModelError =>
  new ModelError("server", `${model}: the answer announces a call and has none`, { partial });

export const noUsage = (): Usage => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

export function subtractUsage(from: Usage, less: Usage): Usage {
  return {
    input: from.input - less.input,
    output: from.output - less.output,
    cacheRead: from.cacheRead - less.cacheRead,
    cacheWrite: from.cacheWrite - less.cacheWrite,
  };
}

export const textOf = (parts: readonly (ReplyPart | Content)[]): string =>
  parts.map((p) => (p.type === "text" ? p.text : "")).join("");
