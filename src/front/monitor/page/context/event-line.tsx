// One event as one line of the transcript.
import type { EventRow } from "../../context-api.ts";
import { duration, money, tokens } from "../format.ts";
import { KindSign } from "./kind-sign.tsx";

const two = (n: number): string => String(n).padStart(2, "0");

function clock(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export const lineClass = ({ kind, failed, left }: EventRow): string =>
  `line line-${kind}${failed ? " failed" : ""}${left ? " left" : ""}`;

export function EventLine({ row }: { row: EventRow }) {
  const { at, agent, kind, title, tokens: used, usd, ms, failed, left } = row;
  return (
    <>
      <span class="line-time">{clock(at)}</span>
      <span class="line-agent others">{agent}</span>
      <KindSign kind={kind} />
      <span class="line-title others">
        {failed && <strong class="bad-ink">failed </strong>}
        {left && <span class="unseen">left behind by a restore: </span>}
        {title}
      </span>
      <span class="line-numbers">
        {used && <span>{tokens(used.input + used.cacheRead + used.cacheWrite + used.output)} tok</span>}
        {usd !== undefined && <span>{money(usd)}</span>}
        {ms !== undefined && <span>{ms < 1000 ? `${Math.round(ms)} ms` : duration(ms)}</span>}
      </span>
    </>
  );
}
