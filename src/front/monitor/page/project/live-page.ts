// The project's page as the server knows it, asked anew when something of it changed, at most about once a second.
import { useEffect, useRef } from "preact/hooks";
import type { ProjectPage } from "../../api.ts";
import { projectPath } from "../client.ts";
import { type Answered, useAnswer, useNow } from "../parts.tsx";
import { useWatching } from "../watching.tsx";

const AGAIN_MS = 800;

/** Agents write in the ledgers of their contexts: what they do is another when a context of the project is. */
function useChanges(project: string): string {
  const { known } = useWatching();
  let newest = 0;
  let running = "";
  for (const row of known?.contexts.values() ?? []) {
    if (row.project !== project) continue;
    newest = Math.max(newest, row.updatedAt);
    if (row.host) running += ` ${row.context} ${row.status} ${row.host.pid} ${row.host.alive}`;
  }
  return `${known?.projectChanges.get(project) ?? 0} ${newest}${running}`;
}

export interface LivePage extends Answered<ProjectPage> {
  /** By the monitor's clock. */
  readAt: number;
}

export function useProjectPage(project: string): LivePage {
  const changes = useChanges(project);
  const page = useAnswer<ProjectPage>(projectPath(project));
  const now = useNow();
  const again = useRef(page.again);
  again.current = page.again;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // A lease that is held on to rings no bell: how long it still counts is asked with each tick of the clock.
  const isHeld = page.value !== undefined && page.value.leases.length > 0;
  const news = isHeld && document.visibilityState === "visible" ? `${changes} ${now}` : changes;
  const seen = useRef(news);
  useEffect(() => {
    if (seen.current === news) return;
    seen.current = news;
    // What changes while it waits is asked for with it.
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      again.current();
    }, AGAIN_MS);
  }, [news]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const read = useRef<{ value: ProjectPage | undefined; at: number }>({ value: undefined, at: now });
  if (read.current.value !== page.value) read.current = { value: page.value, at: now };
  return { ...page, readAt: read.current.at };
}
