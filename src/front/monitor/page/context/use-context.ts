// One context as a value: its head, asked anew when something happened, and what comes in live.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ContextKey, ContextRow } from "../../api.ts";
import type { ContextLiveMessage, ContextPage, RowsWindow } from "../../context-api.ts";
import { contextPath } from "../client.ts";
import { keyOfContext } from "../overview.ts";
import { useAnswer, useParts } from "../parts.tsx";
import { useWatching } from "../watching.tsx";
import { type LiveContext, liveFrom, withLive } from "./live.ts";
import { useEvery } from "./use-every.ts";

export interface WatchedContext {
  /** Undefined until it is known how far it is. */
  page: ContextPage | undefined;
  /** False: of its page only that is known. */
  isRead: boolean;
  problem: string | undefined;
  live: LiveContext;
}

/** The head is read whole each time: not for every event of a quick agent. */
const HEAD_EVERY_MS = 700;

export function useContextLive(key: ContextKey): WatchedContext {
  const { client } = useParts();
  const { known } = useWatching();
  const path = contextPath(key);
  const { value, problem, again } = useAnswer<ContextPage>(path);
  const [live, setLive] = useState<LiveContext>(() => liveFrom(0));
  // A long context is read for a while before its head is known; its rows are there at once.
  const { value: counted } = useAnswer<RowsWindow>(`${path}/rows?from=0&count=0`);
  const listed = known?.contexts.get(keyOfContext(key));
  const first = value?.head ?? counted?.head;
  const isThere = first !== undefined;

  // From where the first answer stood: later ones change nothing of the stream.
  useEffect(() => {
    if (first === undefined) return;
    const end = new AbortController();
    let newest = liveFrom(first);
    let isDrawn = true;
    setLive(newest);
    void client.live<ContextLiveMessage>(`${path}/live`, {
      since: String(first),
      signal: end.signal,
      onMessage(message) {
        newest = withLive(newest, message);
        if (!isDrawn) return;
        isDrawn = false;
        // Many messages between two frames are one change of the page.
        requestAnimationFrame(() => {
          isDrawn = true;
          if (!end.signal.aborted) setLive(newest);
        });
      },
    });
    return () => end.abort();
  }, [client, path, isThere]);

  const standing = listed && `${listed.status} ${listed.why} ${listed.host?.pid}`;
  const asked = useRef(standing);
  const isNew = value !== undefined && (live.head > value.head || standing !== asked.current);
  useEvery(HEAD_EVERY_MS, isNew, () => {
    asked.current = standing;
    again();
  });

  const head = Math.max(live.head, first ?? 0);
  const shown = value ?? listedOnly(key, listed);
  const page = isThere ? { ...shown, head, row: { ...shown.row, ...listed } } : undefined;
  return { page, isRead: value !== undefined || listed !== undefined, problem, live: { ...live, head } };
}

/** What is known before it is read: for the first moment. */
const listedOnly = ({ project, context }: ContextKey, listed: ContextRow | undefined): ContextPage => ({
  row: listed ?? {
    ...{ project, context, title: context, folder: "", status: "idle" },
    ...{ createdAt: 0, updatedAt: 0, events: 0 },
  },
  ...{ head: 0, task: "", agents: [], budget: [], problems: [], needs: [], resume: "" },
});
