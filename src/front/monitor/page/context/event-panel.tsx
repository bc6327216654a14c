// One event in full, beside the list it was chosen in.
import type { ContextKey } from "../../api.ts";
import type { EventDetail } from "../../context-api.ts";
import { contextPath } from "../client.ts";
import { Tokens } from "../components/figures.tsx";
import { Problem } from "../components/problem.tsx";
import { SectionView } from "../components/section-view.tsx";
import { duration, moment, money } from "../format.ts";
import { useAnswer, useNow } from "../parts.tsx";
import { addressOf } from "../router.ts";
import { KindSign } from "./kind-sign.tsx";

interface EventPanelProps extends ContextKey {
  seq: number;
  /** The moment that is looked at. */
  moment: number | undefined;
  goTo(seq: number): void;
  onClose(): void;
}

export const EVENT_PANEL = "event-panel";

export function EventPanel({ project, context, seq, moment: looked, goTo, onClose }: EventPanelProps) {
  const { value, problem, again } = useAnswer<EventDetail>(`${contextPath({ project, context })}/event/${seq}`);
  return (
    <section id={EVENT_PANEL} class="event-panel" aria-label={`Event ${seq}`} tabIndex={-1}>
      <header>
        <h2>Event {seq.toLocaleString("en-US")}</h2>
        <span class="grow" />
        {looked !== seq && (
          <button
            type="button"
            onClick={() => goTo(seq)}
            title="Shows everything as it was when this had just happened"
          >
            Go to this moment
          </button>
        )}
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </header>
      {problem !== undefined && <Problem says={problem} again={again} />}
      {value && <Detail detail={value} project={project} context={context} />}
    </section>
  );
}

function Detail({ detail, project, context }: { detail: EventDetail } & ContextKey) {
  const { row, sections, round } = detail;
  // The last one is the event itself: what the others show is in it.
  const [shown, recorded] = [sections.slice(0, -1), sections.at(-1)];
  return (
    <>
      <p class="event-facts">
        <KindSign kind={row.kind} /> <code>{row.type}</code> <Facts detail={detail} />
      </p>
      {round && (
        <p>
          <a href={addressOf({ kind: "context", project, context, view: "requests", round })}>
            The exact request of round {round.n}
          </a>
        </p>
      )}
      {shown.map((section, i) => (
        <SectionView key={`${row.seq} ${i}`} section={section} />
      ))}
      {recorded && (
        <details key={row.seq} open={shown.length === 0}>
          <summary>As it is recorded</summary>
          <SectionView section={recorded} />
        </details>
      )}
    </>
  );
}

function Facts({ detail: { row } }: { detail: EventDetail }) {
  const now = useNow();
  const { agent, at, ms, tokens, usd, failed, left } = row;
  return (
    <>
      <span class="others">{agent}</span>
      <span class="quiet-ink">{moment(at, now)}</span>
      {ms !== undefined && <span class="quiet-ink">{duration(ms)}</span>}
      {tokens && (
        <span class="quiet-ink">
          <Tokens counts={tokens} both />
        </span>
      )}
      {usd !== undefined && <span class="quiet-ink">{money(usd)}</span>}
      {failed && <strong class="bad-ink">failed</strong>}
      {left && <span class="warn-ink">left behind by a restore</span>}
    </>
  );
}
