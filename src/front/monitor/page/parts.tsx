// What every view has at hand: the client, the keys, the time, and an answer of the server as a value.
import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Client } from "./client.ts";
import type { KeyBinding, Keyboard } from "./keyboard.ts";

export interface PageParts {
  client: Client;
  keyboard: Keyboard;
  /** Says something to whoever does not look: read out politely. */
  announce(says: string): void;
}

export const PartsContext = createContext<PageParts | undefined>(undefined);

export function useParts(): PageParts {
  const parts = useContext(PartsContext);
  if (!parts) throw new Error("no parts");
  return parts;
}

/** The time of the monitor's clock, a few seconds old at most. */
export const NowContext = createContext(0);
export const useNow = (): number => useContext(NowContext);

/** Binds keys while the component is shown. Their functions may change with each render. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const { keyboard } = useParts();
  const newest = useRef(bindings);
  newest.current = bindings;
  const names = bindings.map(({ keys }) => keys).join("\n");
  // bound anew when the keys are others, not when what they do is
  useLayoutEffect(
    () =>
      keyboard.bind(
        newest.current.map((one, i) => (one.run ? { ...one, run: () => newest.current[i]?.run?.() } : one)),
      ),
    [keyboard, names],
  );
}

export interface Answered<Answer> {
  /** The newest that came, also while the next is awaited: nothing flickers. */
  value: Answer | undefined;
  /** Of which path it is. */
  of: string | undefined;
  problem: string | undefined;
  isLoading: boolean;
  again(): void;
}

/** What the server answers there; undefined asks nothing. Asked anew when the path changes or `again` is called; what is not awaited any more is cancelled. */
export function useAnswer<Answer>(path: string | undefined): Answered<Answer> {
  const { client } = useParts();
  const [times, setTimes] = useState(0);
  const [state, setState] = useState<Omit<Answered<Answer>, "again">>({
    value: undefined,
    of: undefined,
    problem: undefined,
    isLoading: path !== undefined,
  });
  // `times` is there to ask again
  useEffect(() => {
    if (path === undefined) return;
    const end = new AbortController();
    setState((before) => ({ ...before, isLoading: true }));
    client.get<Answer>(path, end.signal).then(
      (value) => !end.signal.aborted && setState({ value, of: path, problem: undefined, isLoading: false }),
      (error: unknown) => {
        if (end.signal.aborted) return;
        const problem = error instanceof Error ? error.message : String(error);
        setState((before) => ({ ...before, problem, isLoading: false }));
      },
    );
    return () => end.abort();
  }, [client, path, times]);
  return { ...state, again: () => setTimes((n) => n + 1) };
}
