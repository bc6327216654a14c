// The page's one stream over everything, as a value that views read.
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { OverviewMessage } from "../api.ts";
import { type Known, type Watching, withMessage } from "./overview.ts";
import { NowContext, useParts } from "./parts.tsx";

const WatchingContext = createContext<Watching>({ known: undefined, state: "connecting" });

export const useWatching = (): Watching => useContext(WatchingContext);

const TICK_MS = 5000;

export function WatchingEverything({ children }: { children: ComponentChildren }) {
  const { client } = useParts();
  const [watching, setWatching] = useState<Watching>({ known: undefined, state: "connecting" });
  const [now, setNow] = useState(() => Date.now());
  const newest = useRef<Known | undefined>(undefined);
  useEffect(() => {
    const end = new AbortController();
    let isDrawn = true;
    // Many messages between two frames are one change of the page.
    const draw = () => {
      if (!isDrawn) return;
      isDrawn = false;
      requestAnimationFrame(() => {
        isDrawn = true;
        setWatching((before) => ({ ...before, known: newest.current }));
      });
    };
    void client.live<OverviewMessage>("/api/live", {
      signal: end.signal,
      onState: (state) => setWatching((before) => ({ ...before, state })),
      onMessage(message) {
        newest.current = withMessage(newest.current, message, Date.now());
        draw();
      },
    });
    return () => end.abort();
  }, [client]);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <WatchingContext.Provider value={watching}>
      <NowContext.Provider value={now + (watching.known?.clock ?? 0)}>{children}</NowContext.Provider>
    </WatchingContext.Provider>
  );
}
