// The spans of the part of time that is shown: asked for as quickly as answers come, and again when something happens.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ContextKey } from "../../api.ts";
import type { Timeline } from "../../context-api.ts";
import { contextPath } from "../client.ts";
import { useParts } from "../parts.tsx";
import { createLatest } from "./latest.ts";
import type { Range } from "./timeline-range.ts";
import { useEvery } from "./use-every.ts";

interface TimelineOptions extends ContextKey {
  /** Undefined: all of it. */
  range: Range | undefined;
  /** Of the drawing, in pixels; 0: not known yet. */
  width: number;
  head: number;
}

export interface ShownTimeline {
  timeline: Timeline | undefined;
  /** From the first event to the last. */
  all: Range | undefined;
  problem: string | undefined;
}

const LIVE_EVERY_MS = 500;

interface Question {
  range: Range | undefined;
  width: number;
  head: number;
}

export function useTimeline({ project, context, range, width, head }: TimelineOptions): ShownTimeline {
  const { client } = useParts();
  const [shown, setShown] = useState<ShownTimeline & { head: number }>({
    ...{ timeline: undefined, all: undefined, problem: undefined, head: 0 },
  });
  const latest = useMemo(() => {
    const path = `${contextPath({ project, context })}/timeline`;
    return createLatest<Question, Timeline>({
      fetch(asked, signal) {
        const part = asked.range ? `&from=${Math.round(asked.range.from)}&to=${Math.round(asked.range.to)}` : "";
        return client.get<Timeline>(`${path}?width=${asked.width}${part}`, signal);
      },
      onAnswer: (timeline, asked) =>
        setShown((before) => ({
          ...{ timeline, problem: undefined, head: asked.head },
          all: asked.range && before.all ? before.all : { from: timeline.from, to: timeline.to },
        })),
      onProblem: (error, asked) => {
        const problem = error instanceof Error ? error.message : String(error);
        setShown((before) => ({ ...before, problem, head: asked.head }));
      },
    });
  }, [client, project, context]);
  useEffect(() => () => latest.end(), [latest]);
  // Another part or width at once; what happens meanwhile, below.
  useEffect(() => {
    if (width > 0) latest.ask({ range, width, head });
  }, [latest, range, width]);
  useEvery(LIVE_EVERY_MS, shown.timeline !== undefined && shown.head < head, () => latest.ask({ range, width, head }));
  return shown;
}
