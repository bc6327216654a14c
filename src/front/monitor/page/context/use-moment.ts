// The moment that is looked at: moves at once, is asked for as quickly as answers come, and stands in the address when it rests.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ContextKey } from "../../api.ts";
import type { ContextAt, EventRow, RowsWindow } from "../../context-api.ts";
import { contextPath } from "../client.ts";
import { useParts } from "../parts.tsx";
import { createLatest } from "./latest.ts";

export interface Moment {
  /** Where the scrubber stands; undefined: now. */
  wanted: number | undefined;
  /** What is shown: follows `wanted` as quickly as the server answers. */
  seq: number | undefined;
  /** The newest answer. */
  at: ContextAt | undefined;
  /** The event of `at`. */
  row: EventRow | undefined;
  problem: string | undefined;
  goTo(seq: number | undefined): void;
}

/** Browsers refuse an address that changes many times a second. */
const RESTS_MS = 300;

interface Shown extends Pick<Moment, "seq" | "at" | "row" | "problem"> {}
const NOW: Shown = { seq: undefined, at: undefined, row: undefined, problem: undefined };

interface MomentOptions extends ContextKey {
  /** Of the address. */
  given: number | undefined;
  /** The last event there is, once that is known. */
  head: number | undefined;
  /** Contract: called when it rests. */
  onRest(seq: number | undefined): void;
}

export function useMoment({ project, context, given, head, onRest }: MomentOptions): Moment {
  const { client } = useParts();
  const [wanted, setWanted] = useState<number | undefined>(undefined);
  const [shown, setShown] = useState<Shown>(NOW);
  const rest = useRef(onRest);
  rest.current = onRest;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const inAddress = useRef<number | undefined>(undefined);

  const latest = useMemo(() => {
    const path = contextPath({ project, context });
    return createLatest<number, { at: ContextAt; row: EventRow | undefined }>({
      async fetch(seq, signal) {
        const [at, { rows }] = await Promise.all([
          client.get<ContextAt>(`${path}/at/${seq}`, signal),
          client.get<RowsWindow>(`${path}/rows?from=${seq - 1}&count=1`, signal),
        ]);
        return { at, row: rows[0] };
      },
      onAsk: (seq) => setShown((before) => ({ ...before, seq })),
      onAnswer: (answer, seq) => setShown({ ...answer, seq, problem: undefined }),
      onProblem: (error) =>
        setShown((before) => ({ ...before, problem: error instanceof Error ? error.message : String(error) })),
    });
  }, [client, project, context]);
  useEffect(
    () => () => {
      latest.end();
      clearTimeout(timer.current);
    },
    [latest],
  );

  const look = (seq: number | undefined) => {
    setWanted(seq);
    if (seq !== undefined) return latest.ask(seq);
    latest.end();
    setShown(NOW);
  };
  const goTo = (seq: number | undefined) => {
    const to = seq === undefined || head === undefined ? seq : Math.max(1, Math.min(head, seq));
    look(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      inAddress.current = to;
      rest.current(to);
    }, RESTS_MS);
  };

  // When the address is another one that was not written here.
  useEffect(() => {
    if (head === undefined || given === inAddress.current) return;
    clearTimeout(timer.current);
    inAddress.current = given;
    look(given === undefined ? undefined : Math.max(1, Math.min(head, given)));
  }, [given, head === undefined]);

  return { wanted, ...shown, goTo };
}
