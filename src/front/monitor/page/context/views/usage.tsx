// What a context used as it went on: tokens, money, what the model saw, size. Charts, and the same as a table.
import { useMemo, useState } from "preact/hooks";
import type { UsageSeries } from "../../../context-api.ts";
import { contextPath } from "../../client.ts";
import { Problem } from "../../components/problem.tsx";
import { byteCount, moment as clock, counted, money, tokens } from "../../format.ts";
import { useNow } from "../../parts.tsx";
import type { TabProps } from "../tab.ts";
import { Chart } from "./chart.tsx";
import { growing, spread, windowLines } from "./chart-data.ts";
import { type Across, eventTicks, timeTicks } from "./chart-scale.ts";
import { AtTime, ChoiceRow, FiguresTable, Hint } from "./pieces.tsx";
import { useFresh } from "./use-fresh.ts";

const TABLE_ROWS = 60;
/** Work of days has nights in it: by event they take no room. */
const ACROSS = { time: "By time", event: "By event" };

export function UsageTab({ project, context, seq, live, goTo }: TabProps) {
  const change = Math.max(live.last.reply ?? 0, live.last.data ?? 0);
  const { value, problem, again } = useFresh<UsageSeries>(`${contextPath({ project, context })}/usage`, change);
  const drawn = useMemo(() => value && linesOf(value), [value]);
  const [by, setBy] = useState<keyof typeof ACROSS>("time");
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const now = useNow();
  // Moments of today are written without their day.
  const today = new Date(now).toDateString();
  const across = useMemo(() => value && acrossOf(value, by, now), [value, by, today]);
  if (!value || !drawn || !across || value.at.length === 0)
    return (
      <div class="view">
        {problem !== undefined && <Problem says={problem} again={again} />}
        <Hint>{value ? "No model was asked yet." : "…"}</Hint>
      </div>
    );
  const { window } = drawn;
  const place = seq === undefined ? undefined : value.seq.findLastIndex((one) => one <= seq);
  const moment = place === undefined || place < 0 ? undefined : place;
  const shared = {
    ...{ across, moment, cursor, shape: "step" as const, least: 1, onCursor: setCursor },
    onPick: (picked: number) => goTo(value.seq[picked]),
  };
  const most = value.windowMax === undefined ? undefined : { label: "the model takes", value: value.windowMax };
  return (
    <div class="view scrolls">
      {problem !== undefined && <Problem says={problem} again={again} />}
      <div class="view-bar">
        <ChoiceRow label="From left to right" value={by} of={ACROSS} onChoose={setBy} />
      </div>
      <div class="charts">
        <Chart {...shared} title="Tokens, summed" lines={drawn.tokens} format={tokens} />
        <Chart {...shared} title="Cost, summed" lines={drawn.cost} format={money} least={0.0001} />
        <Chart
          {...shared}
          title="Window: what the model saw each round"
          shape="line"
          lines={window.lines}
          most={most}
          format={tokens}
        />
        <Chart {...shared} title="Events" lines={drawn.events} format={tokens} />
        <Chart {...shared} title="Shared data" lines={drawn.data} format={byteCount} />
      </div>
      {window.left > 0 && <Hint>{counted(window.left, "more agent")} in the sums, without a line of their own.</Hint>}
      <UsageTable usage={value} onGo={goTo} />
    </div>
  );
}

function acrossOf({ at, seq }: UsageSeries, by: keyof typeof ACROSS, now: number): Across {
  const says = (place: number) => `${clock(at[place]!, now)} · event ${seq[place]!.toLocaleString("en-US")}`;
  return by === "time" ? { points: growing(at), ticks: timeTicks, says } : { points: seq, ticks: eventTicks, says };
}

function linesOf(usage: UsageSeries) {
  const one = (label: string, values: number[]) => [{ label, values }];
  return {
    tokens: [
      ...one("in, not cached", usage.tokensIn),
      ...one("out", usage.tokensOut),
      ...one("in, cached", usage.cached),
    ],
    cost: one("paid", usage.usd),
    window: windowLines(usage),
    events: one("events", usage.events),
    data: one("bytes", usage.dataBytes),
  };
}

function UsageTable({ usage, onGo }: { usage: UsageSeries; onGo(seq: number): void }) {
  const places = spread(usage.at.length, TABLE_ROWS);
  const isThin = places.length < usage.at.length;
  return (
    <details class="as-table">
      <summary>As a table{isThin && `: ${places.length} of the rounds`}</summary>
      <FiguresTable label="Usage as a table">
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">When</th>
              <th scope="col">Agent</th>
              <th scope="col" class="number">
                In, not cached
              </th>
              <th scope="col" class="number">
                In, cached
              </th>
              <th scope="col" class="number">
                Out
              </th>
              <th scope="col" class="number">
                Cost
              </th>
              <th scope="col" class="number">
                Window
              </th>
              <th scope="col" class="number">
                Data
              </th>
            </tr>
          </thead>
          <tbody>
            {places.map((i) => (
              <tr key={usage.seq[i]}>
                <th scope="row">
                  <button type="button" class="quiet small" onClick={() => onGo(usage.seq[i]!)}>
                    {usage.seq[i]?.toLocaleString("en-US")}
                  </button>
                </th>
                <td>
                  <AtTime at={usage.at[i]!} />
                </td>
                <td class="others">{usage.agents[usage.by[i]!]}</td>
                <td class="number">{tokens(usage.tokensIn[i]!)}</td>
                <td class="number">{tokens(usage.cached[i]!)}</td>
                <td class="number">{tokens(usage.tokensOut[i]!)}</td>
                <td class="number">{money(usage.usd[i])}</td>
                <td class="number">{tokens(usage.window[i]!)}</td>
                <td class="number">{byteCount(usage.dataBytes[i]!)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </FiguresTable>
    </details>
  );
}
