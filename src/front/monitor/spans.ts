// Stretches of time in a context: turns, model calls, tools, jobs, waits for a person. Gathered event by event; drawn for any part of it.

import type { contextEvents } from "../../contexts/events.ts";
import type { Fact } from "../../ledger/events.ts";
import { isRecord } from "../../ledger/guards.ts";
import type { StoredEvent } from "../../ledger/store.ts";
import type { ShownFact } from "../presentation/presenter.ts";
import { oneLine } from "../presentation/printable.ts";
import { callTitle } from "../presentation/titles.ts";
import type { Span, Timeline } from "./context-api.ts";
import { createRoundTimes } from "./round-times.ts";

const MOST_SPANS = 2_000;
const MOST_AGENTS = 60;
const MOST_MARKS = 500;

export interface SpanGatherer {
  observe(event: StoredEvent): void;
  /** Contract: bounded, whatever the context: what is narrower than a pixel is joined with its neighbours. */
  between(range: { from?: number; to?: number; width: number; now: number }): Timeline;
}

type Kept = Span & { to?: number };

export function gatherSpans(): SpanGatherer {
  const agents: string[] = [];
  const known = new Set<string>();
  /** In order of their beginning, about. */
  const spans: Kept[] = [];
  const open = new Map<string, Kept>();
  const marks: Timeline["marks"] = [];
  const times = createRoundTimes();
  let first = 0;
  let last = 0;

  function begin(key: string, span: Kept): void {
    open.set(key, span);
    spans.push(span);
  }

  function end(key: string, at: number, more: Partial<Kept> = {}): void {
    const span = open.get(key);
    open.delete(key);
    if (!span || span.to !== undefined) return; // it has two names: an answer ended it before its call
    Object.assign(span, more, { to: Math.max(span.from, at) });
  }

  const mark = (event: StoredEvent, kind: Timeline["marks"][number]["kind"], title: string) =>
    marks.push({ at: event.at, seq: event.seq, kind, title: oneLine(title, 120) });

  return {
    observe(event) {
      const { seq, at, actor } = event;
      first ||= at;
      last = Math.max(last, at);
      const agent = oneLine(actor, 60);
      const fact = event as ShownFact | Fact<typeof contextEvents>;
      const isOfAgent = /^(?:turn|reply|tool|job)\./.test(event.type);
      if (isOfAgent && !known.has(agent) && known.size < MOST_AGENTS) {
        known.add(agent);
        agents.push(agent);
      }
      switch (fact.type) {
        case "turn.started":
          end(`turn ${actor}`, at); // its end was never recorded: another process went on
          begin(`turn ${actor}`, { agent, kind: "turn", from: at, seq, title: `turn (${fact.data.cause})` });
          if (fact.data.cause === "resume") mark(event, "takeover", `${agent}: taken up again`);
          break;
        case "agent.taken":
          mark(event, "takeover", `${agent}: taken over (its process ${fact.data.from.pid} was ${fact.data.from.was})`);
          break;
        case "turn.ended": {
          const failed = fact.data.reason === "failed" || fact.data.reason === "blocked";
          end(`turn ${actor}`, at, { ...(failed && { failed }) });
          break;
        }
        case "reply.received": {
          const { askedAt, model } = fact.data;
          spans.push({ agent, kind: "model", ...times.of(event, askedAt), seq, title: oneLine(model, 80) });
          break;
        }
        case "tool.started": {
          const { callId, name, input } = fact.data;
          const title = oneLine(`${name} ${callTitle(name, input)}`, 120);
          begin(`call ${actor} ${callId}`, { agent, kind: "tool", from: at, seq, title });
          break;
        }
        case "tool.finished":
          end(`call ${actor} ${fact.data.callId}`, at, { ...(fact.data.isError && { failed: true }) });
          end(`wait ${actor} ${fact.data.callId}`, at);
          if (fact.data.resumedAt !== undefined) mark(event, "takeover", `${agent}: ${fact.data.name} found again`);
          break;
        case "job.started":
          if (!fact.data.background) break;
          begin(`job ${fact.data.jobId}`, {
            agent,
            kind: "job",
            from: at,
            seq,
            title: oneLine(fact.data.command, 120),
          });
          break;
        case "job.ended":
          end(`job ${fact.data.jobId}`, at, { ...(fact.data.exitCode !== 0 && { failed: true }) });
          break;
        case "approval.asked": {
          const { callId, tool, requestId } = fact.data;
          const span: Kept = { agent, kind: "wait", from: at, seq, title: oneLine(`a person is asked: ${tool}`, 120) };
          begin(`wait ${actor} ${callId}`, span);
          open.set(`asked ${requestId}`, span);
          break;
        }
        case "approval.answered":
          end(`asked ${fact.data.requestId}`, at);
          break;
        case "plan.submitted": {
          const title = `plan of ${agent} waits for an answer`;
          end(`plan ${actor}`, at); // a new one stands for it
          const span: Kept = { agent, kind: "wait", from: at, seq, title };
          begin(`plan ${actor}`, span);
          open.set(`reviewed ${fact.data.requestId}`, span);
          break;
        }
        case "plan.reviewed":
          end(`reviewed ${fact.data.requestId}`, at);
          break;
        case "context.compacted":
        case "context.elided":
          mark(event, "epoch", `${agent}: what the model sees was made smaller`);
          break;
        case "context.checkpointed":
          mark(event, "checkpoint", isRecord(fact.data) ? fact.data.name : "");
          break;
        case "context.restored":
          mark(event, "restore", `back to ${fact.data.checkpoint}`);
          break;
        case "context.forked":
          mark(event, "fork", `a copy of ${fact.data.context}`);
          break;
        default:
          break;
      }
      times.observe(event);
    },
    between({ from = first, to = Math.max(last, first + 1), width, now }) {
      const inRange = spans.filter((one) => one.from <= to && (one.to ?? now) >= from);
      const shown = joined(inRange, Math.max(1, to - from) / Math.max(100, Math.min(4_000, width)));
      const near = marks.filter((one) => one.at >= from && one.at <= to);
      const step = Math.ceil(near.length / MOST_MARKS);
      return {
        ...{ from, to, agents, spans: shown.slice(-MOST_SPANS) },
        marks: near.filter((one, i) => i % step === 0 || (one.kind !== "checkpoint" && near.length < 4 * MOST_MARKS)),
      };
    },
  };
}

/** Neighbours of one agent and kind that are narrower than a pixel become one. */
function joined(spans: readonly Kept[], pixelMs: number): Span[] {
  let ms = pixelMs;
  for (;;) {
    const found: Span[] = [];
    const lastOf = new Map<string, Span>();
    for (const span of spans) {
      const key = `${span.kind} ${span.agent}`;
      const before = lastOf.get(key);
      const isNarrow = span.to !== undefined && span.to - span.from < ms;
      if (isNarrow && before?.to !== undefined && span.from - before.to < ms && before.to - before.from < 40 * ms) {
        before.to = Math.max(before.to, span.to!);
        before.count = (before.count ?? 1) + 1;
        before.title = `${before.count} × ${span.kind}`;
        if (span.failed) before.failed = true;
        continue;
      }
      const copy = { ...span };
      lastOf.set(key, copy);
      found.push(copy);
    }
    if (found.length <= MOST_SPANS || ms > pixelMs * 1e6) return found;
    ms *= 2;
  }
}
