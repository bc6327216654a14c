// What the parts of one run share: the context it holds, the runner, the bounds, and who is told.
import type { Context } from "../contexts/context.ts";
import type { AgentRunner } from "../hub/port.ts";
import type { Slots } from "../ledger/slots.ts";
import type { Workflow } from "./definition.ts";
import type { MemoryMeter } from "./memory.ts";
import type { Compose } from "./prompt.ts";
import type { PhaseRecord, Records } from "./records.ts";

export type WorkflowProgress =
  | {
      kind: "phase";
      at: number;
      phase: string;
      state: PhaseRecord["state"];
      run: number;
      round: number;
      agent: string;
      error?: string;
      question?: string;
    }
  | { kind: "retry"; at: number; phase: string; agent: string; error: string }
  | {
      kind: "item";
      at: number;
      phase: string;
      index: number;
      total: number;
      state: "running" | "done" | "failed";
      agent: string;
      error?: string;
    }
  | { kind: "workflow"; at: number; state: RunState };

/** `interrupted`: begun by a process that is gone. */
export type RunState = "running" | "interrupted" | "done" | "failed" | "paused" | "waiting";

/** Asks the person; undefined leaves the phase waiting. */
export type AskPerson = (question: {
  phase: string;
  question: string;
  /** JSON Schema of each key. */
  keys: Record<string, unknown>;
  /** Why the last answer was not taken. */
  error?: string;
  signal: AbortSignal;
}) => Promise<Record<string, unknown> | undefined>;

export interface Session {
  workflow: Workflow;
  context: Context;
  runner: AgentRunner;
  records: Records;
  /** The highest run of each phase so far. */
  runs: Map<string, number>;
  /** Agents at one time. */
  slots: Slots;
  /** Phases settle one after the other: the results are in the order in which they finished. */
  settling: Slots;
  memory: MemoryMeter;
  compose: Compose;
  ask?: AskPerson;
  /** Stop: what is unfinished stays so. */
  signal: AbortSignal;
  now(): number;
  tell(progress: WorkflowProgress): void;
  /** Tokens of everything that has finished, of this workflow. */
  tokens: { used: number };
}

/** So many names of agents in a row may be taken. */
export const MOST_RENAMED = 20;

export function tellPhase(session: Session, id: string, record: PhaseRecord): void {
  const { state, run, round, agent, error, question } = record;
  session.tell({
    ...{ kind: "phase", at: session.now(), phase: id, state, run, round, agent },
    ...(error !== undefined && { error }),
    ...(question !== undefined && { question }),
  });
}

/** What is behind an error of the hub. */
export const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);
