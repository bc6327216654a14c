// One context: its head, the moment that is looked at, and its tabs.
import type { ContextKey } from "../../api.ts";
import { goTo, replaceWith } from "../navigation.ts";
import { useKeys } from "../parts.tsx";
import type { ContextViewName, Round } from "../router.ts";
import { Head } from "./head.tsx";
import { MomentBar } from "./moment-bar.tsx";
import { MomentState } from "./moment-state.tsx";
import { Scrubber } from "./scrubber.tsx";
import type { Place, TabProps } from "./tab.ts";
import { TABS, TabRow, tabId } from "./tabs.tsx";
import { useContextLive } from "./use-context.ts";
import { useMoment } from "./use-moment.ts";

/** The transcript is there by then. */
const FIND_MS = 50;

export interface ContextViewProps extends ContextKey {
  view: ContextViewName;
  seq: number | undefined;
  round: Round | undefined;
}

export function ContextView({ project, context, view, seq: given, round }: ContextViewProps) {
  const { page, isRead, problem, live } = useContextLive({ project, context });
  const here = { kind: "context", project, context } as const;
  const looked = useMoment({
    ...{ project, context, given, head: page?.head },
    onRest: (seq) => replaceWith({ ...here, view, ...(seq !== undefined && { seq }), ...(round && { round }) }),
  });
  const { wanted, at, seq } = looked;
  const isPast = wanted !== undefined;
  const open = ({ view: to, ...more }: Place) => goTo({ ...here, view: to, ...(isPast && { seq: wanted }), ...more });
  useKeys(isPast ? [{ keys: "Escape", says: "back to now", run: () => looked.goTo(undefined) }] : []);
  useKeys(
    view === "transcript" ? [] : [{ keys: "/", says: "look for a text in the transcript", run: () => find(open) }],
  );
  if (!page)
    return (
      <div class="alone">
        <h1 class="others">{context}</h1>
        <p role={problem === undefined ? "status" : "alert"}>{problem ?? "…"}</p>
      </div>
    );
  const Shown = TABS[view];
  const props: TabProps = { project, context, seq, at, page, live, round, goTo: looked.goTo, open };
  return (
    <div class={`context${isPast ? " past" : ""}`} data-at={at?.seq}>
      {isRead ? <Head page={page} then={at} /> : <h1 class="context-head others">{context}</h1>}
      <div class="moment">
        <Scrubber project={project} context={context} head={page.head} looked={looked} />
        {isPast && (
          <MomentBar
            {...{ project, context, looked }}
            folder={page.row.folder}
            isReadOnly={page.readOnly !== undefined}
          />
        )}
        {isPast && at && <MomentState at={at} project={project} context={context} />}
      </div>
      <TabRow view={view} onOpen={(to) => open({ view: to })} />
      <div id="tab-panel" class="tab-panel" role="tabpanel" aria-labelledby={tabId(view)} tabIndex={-1}>
        <Shown {...props} />
      </div>
    </div>
  );
}

function find(open: (place: Place) => void): void {
  open({ view: "transcript" });
  setTimeout(() => document.querySelector<HTMLElement>(".filters input")?.focus(), FIND_MS);
}
