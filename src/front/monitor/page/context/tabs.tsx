// The tabs of a context: which there are, and the row of them, as tabs are everywhere (one stop of Tab, arrows move).
import { useLayoutEffect, useRef } from "preact/hooks";
import { useKeys } from "../parts.tsx";
import { CONTEXT_VIEWS, type ContextViewName } from "../router.ts";
import type { Tab } from "./tab.ts";
import { Timeline } from "./timeline.tsx";
import { Transcript } from "./transcript.tsx";
import { CheckpointsTab } from "./views/checkpoints.tsx";
import { CostsTab } from "./views/costs.tsx";
import { DataTab } from "./views/data.tsx";
import { FilesTab } from "./views/files.tsx";
import { MessagesTab } from "./views/messages.tsx";
import { RequestsTab } from "./views/requests.tsx";
import { UsageTab } from "./views/usage.tsx";

export const TABS: Readonly<Record<ContextViewName, Tab>> = {
  transcript: Transcript,
  timeline: Timeline,
  messages: MessagesTab,
  data: DataTab,
  checkpoints: CheckpointsTab,
  files: FilesTab,
  usage: UsageTab,
  costs: CostsTab,
  requests: RequestsTab,
};

const NAMES: Readonly<Record<ContextViewName, string>> = {
  transcript: "Transcript",
  timeline: "Timeline",
  messages: "Messages",
  data: "Data",
  checkpoints: "Checkpoints",
  files: "Files",
  usage: "Usage",
  costs: "Costs",
  requests: "Requests",
};

export const tabId = (view: ContextViewName): string => `tab-${view}`;

export function TabRow({ view, onOpen }: { view: ContextViewName; onOpen(view: ContextViewName): void }) {
  const row = useRef<HTMLDivElement>(null);
  const open = (name: ContextViewName) => {
    onOpen(name);
    row.current?.querySelector<HTMLElement>(`#${tabId(name)}`)?.focus();
  };
  useKeys(
    CONTEXT_VIEWS.map((name, i) => ({ keys: String(i + 1), says: NAMES[name].toLowerCase(), run: () => onOpen(name) })),
  );
  // In a narrow window there are more than fit.
  useLayoutEffect(() => {
    row.current?.querySelector(`#${tabId(view)}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [view]);
  const onKeyDown = (event: KeyboardEvent) => {
    const now = CONTEXT_VIEWS.indexOf(view);
    const last = CONTEXT_VIEWS.length - 1;
    const places: Record<string, number> = {
      ArrowRight: now === last ? 0 : now + 1,
      ArrowLeft: now === 0 ? last : now - 1,
      Home: 0,
      End: last,
    };
    const place = Object.hasOwn(places, event.key) ? places[event.key] : undefined;
    const name = place === undefined ? undefined : CONTEXT_VIEWS[place];
    if (name === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    open(name);
  };
  return (
    <div ref={row} class="tabs" role="tablist" aria-label="Views of this context" onKeyDown={onKeyDown}>
      {CONTEXT_VIEWS.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={tabId(name)}
          aria-selected={name === view}
          aria-controls="tab-panel"
          tabIndex={name === view ? 0 : -1}
          onClick={() => onOpen(name)}
        >
          {NAMES[name]}
        </button>
      ))}
    </div>
  );
}
