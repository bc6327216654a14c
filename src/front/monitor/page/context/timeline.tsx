// The timeline of a context: agents and what each did when, zoomed and moved, each stretch opened to its event; the same as a table.
import { useState } from "preact/hooks";
import type { Span } from "../../context-api.ts";
import { Problem } from "../components/problem.tsx";
import { counted, duration, moment } from "../format.ts";
import { useNow } from "../parts.tsx";
import { EventPanel } from "./event-panel.tsx";
import type { TabProps } from "./tab.ts";
import { TimelineCanvas } from "./timeline-canvas.tsx";
import { signOf } from "./timeline-draw.ts";
import type { Mark } from "./timeline-lanes.ts";
import { spansIn } from "./timeline-lanes.ts";
import { type Range, zoomed } from "./timeline-range.ts";
import { useTimeline } from "./use-timeline.ts";

const MOST_TABLE_ROWS = 200;
const CLOSER = 0.5;

export function Timeline({ project, context, seq, at, page, live, goTo }: TabProps) {
  const now = useNow();
  const [range, setRange] = useState<Range | undefined>(undefined);
  const [width, setWidth] = useState(0);
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const { timeline, all, problem } = useTimeline({ project, context, range, width, head: live.head });
  const isLive = page.row.status === "running" || page.row.status === "waiting";
  const whole = all && { from: all.from, to: isLive ? Math.max(all.to, now) : Math.max(all.to, all.from + 1000) };
  const shown = range ?? whole;
  const zoom = (factor: number) => {
    if (shown && whole) setRange(zoomed(shown, { factor, at: (shown.from + shown.to) / 2, all: whole }));
  };
  return (
    <div class={`timeline${chosen === undefined ? "" : " with-panel"}`}>
      <div class="timeline-tools">
        <button type="button" class="small" aria-label="Closer" title="Closer  +" onClick={() => zoom(CLOSER)}>
          +
        </button>
        <button type="button" class="small" aria-label="Farther" title="Farther  −" onClick={() => zoom(1 / CLOSER)}>
          −
        </button>
        <button type="button" class="small" disabled={!range} title="All of it  0" onClick={() => setRange(undefined)}>
          all
        </button>
        {shown && <span class="quiet-ink">{duration(shown.to - shown.from)}</span>}
        <Legend />
      </div>
      {problem !== undefined && <Problem says={problem} />}
      <div class="timeline-place">
        <TimelineCanvas
          timeline={timeline}
          whole={whole}
          range={shown}
          now={isLive ? now : (all?.to ?? now)}
          moment={at !== undefined && at.seq === seq ? at.at : undefined}
          chosen={chosen}
          onWidth={setWidth}
          onRange={setRange}
          onChoose={setChosen}
        />
        {timeline && shown && <SpanTable spans={spansIn(timeline, shown, now)} onChoose={setChosen} />}
      </div>
      {chosen !== undefined && (
        <EventPanel {...{ project, context, seq: chosen, moment: seq, goTo }} onClose={() => setChosen(undefined)} />
      )}
    </div>
  );
}

const MARK_WORDS: Readonly<Record<Mark["kind"], string>> = {
  checkpoint: "checkpoint",
  epoch: "context made smaller",
  takeover: "taken over",
  fork: "fork",
  restore: "restore",
};

function Legend() {
  return (
    <ul class="legend" aria-label="What is drawn">
      {(["turn", "model", "tool", "job", "wait", "failed"] as const).map((kind) => (
        <li key={kind}>
          <span class={`swatch swatch-${kind}`} aria-hidden="true" />
          {kind}
        </li>
      ))}
      {(Object.keys(MARK_WORDS) as Mark["kind"][]).map((kind) => (
        <li key={kind}>
          <span aria-hidden="true">{signOf(kind)}</span> {MARK_WORDS[kind]}
        </li>
      ))}
    </ul>
  );
}

/** Opened, not drawn, by whoever cannot see the drawing: so many of what is in sight. */
function SpanTable({ spans, onChoose }: { spans: readonly Span[]; onChoose(seq: number): void }) {
  const [isOpen, setOpen] = useState(false);
  const now = useNow();
  return (
    <details class="span-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The same as a table ({counted(spans.length, "stretch", "stretches")})</summary>
      {isOpen && (
        <table>
          <thead>
            <tr>
              <th>From</th>
              <th>For</th>
              <th>Agent</th>
              <th>What</th>
              <th>Title</th>
            </tr>
          </thead>
          <tbody>
            {spans.slice(0, MOST_TABLE_ROWS).map(({ seq, kind, agent, from, to, title, failed }) => (
              <tr key={`${seq} ${kind}`}>
                <td>{moment(from, now)}</td>
                <td class="number">{to === undefined ? "not over" : duration(to - from)}</td>
                <td class="others">{agent}</td>
                <td>{failed ? `${kind}, failed` : kind}</td>
                <td>
                  <button type="button" class="link others" onClick={() => onChoose(seq)}>
                    {title}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isOpen && spans.length > MOST_TABLE_ROWS && (
        <p class="quiet-ink">The first {MOST_TABLE_ROWS}: look closer for the others.</p>
      )}
    </details>
  );
}
