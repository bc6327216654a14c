// Every request of an agent beside the one before it: what a provider could keep of it, what was sent anew, and why where that broke.
import type { Codec } from "../../ledger/events.ts";
import { isRecord } from "../../ledger/guards.ts";
import type { Store, StoredEvent } from "../../ledger/store.ts";
import { type RecordedRequest, type RecordedRound, recordedRequests } from "../../loop/recorded-request.ts";
import { compactionViewer } from "../../mechanisms/compaction/viewer.ts";
import { BREAK_CAUSES } from "../../mechanisms/prompt-cache/index.ts";
import type { BreakCause } from "../../mechanisms/prompt-cache/port.ts";
import { type Compared, compareRequests, requestSize } from "./compare.ts";

interface Source {
  store: Pick<Store, "read" | "blob">;
  codec: Codec;
  context: string;
  agent: string;
}

/** Contract: in the order of its replies, the one that comes next last. */
export const requestsOf = ({ store, codec, context, agent }: Source): AsyncGenerator<RecordedRound> =>
  recordedRequests({ store, codec, viewers: [compactionViewer] }, context, { agent });

export interface AskedRound {
  n: number;
  at: number;
  /** Since the reply before it; not there for the first. */
  afterMs?: number;
  bytes: { kept: number; anew: number };
  /** As the provider counted them. */
  tokens: { cached: number; fresh: number };
  /** Why it is not the request before it with more behind; empty where it is. */
  causes: BreakCause[];
  /** Against the request before it, where there is a cause. */
  compared?: Compared;
}

export async function* roundsAsked(source: Source): AsyncGenerator<AskedRound> {
  let last: RecordedRequest | undefined;
  for await (const { request, since } of requestsOf(source)) {
    const { reply } = request;
    if (!reply) return;
    yield { n: request.n, at: reply.at, ...costOf(last, request, { reply, since }) };
    last = request;
  }
}

type Answer = NonNullable<RecordedRequest["reply"]>;

function costOf(
  last: RecordedRequest | undefined,
  now: RecordedRequest,
  { reply: { at, usage }, since }: { reply: Answer; since: readonly StoredEvent[] },
): Omit<AskedRound, "n" | "at"> {
  const tokens = { cached: usage.cacheRead, fresh: usage.input + usage.cacheWrite };
  if (!last?.reply) return { bytes: { kept: 0, anew: requestSize(now) }, tokens, causes: [] };
  const compared = compareRequests(last, now);
  const afterMs = at - last.reply.at;
  const { cacheRead, cacheWrite } = last.reply.usage;
  const isLost = compared.isExtension && cacheRead + cacheWrite > 0 && usage.cacheRead === 0;
  const causes = compared.isExtension ? (isLost ? (["expired"] as const) : []) : causesOf(compared, since);
  return {
    ...{ afterMs, bytes: compared.bytes, tokens, causes: [...causes] },
    ...(causes.length > 0 && { compared }),
  };
}

function causesOf({ model, tools, system }: Compared, since: readonly StoredEvent[]): BreakCause[] {
  const { added, removed, changed, isReordered } = tools;
  const found = new Set(since.flatMap(causeIn));
  if (model) found.add("model");
  if (added.length + removed.length + changed.length > 0 || isReordered) found.add("tools");
  if (system.changed.length + system.added.length + system.removed.length > 0) found.add("system");
  if (found.size === 0) found.add("unknown");
  return BREAK_CAUSES.filter((cause) => found.has(cause));
}

function causeIn({ type, data }: StoredEvent): BreakCause[] {
  if (type === "context.compacted") return [isRecord(data) && data.cause === "overflow" ? "overflow" : "epoch"];
  if (type === "context.elided") return ["epoch"];
  if (type === "context.uncompacted") return ["undo"];
  return type === "context.restored" && isRecord(data) && data.conversation === true ? ["restore"] : [];
}
