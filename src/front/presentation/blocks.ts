// The blocks that people see. Facts come from the ledger and stay; live blocks come at once and are replaced by the facts.
import type { TurnEndReason } from "../../loop/events.ts";
import type { Todo } from "../../mechanisms/todo/todo-write.ts";
import type { Usage } from "../../models/model.ts";

/** Where an answer comes from that was given where the question stood. */
export const ASKED_HERE = "the terminal";

/** Every text in a block is safe to print. */
export interface CallBlock {
  agent: string;
  callId: string;
  tool: string;
  /** What it is about, in one line: the command, the path. */
  title: string;
}

export interface OutputBlock {
  kind: "text" | "diff";
  /** All that was kept of it. */
  lines: string[];
  /** How many there were. */
  total: number;
}

/** Why a call was refused, and what would have allowed it where nobody could be asked. */
export interface Refusal extends Advice {
  call: CallBlock;
  why: string;
}

export interface Advice {
  /** It was asked, and nobody was there to answer: not a rule, a hook or a person refused it. */
  unanswered: boolean;
  /** As they are typed. */
  flags: string[];
}

export type FactBlock =
  /** `waits`: it is not for the turn that runs, but begins one of its own. */
  | { kind: "prompt"; agent: string; from: string; text: string; waits?: true }
  /** `goesOn`: it asks for calls, or was cut off and is continued. */
  | { kind: "reply"; agent: string; text: string; goesOn: boolean; cutOff: boolean; model: string; usage: Usage }
  /** `before`: another process began it, and its end was not recorded. */
  | { kind: "begun"; call: CallBlock; at: number; before: boolean }
  | {
      kind: "ended";
      call: CallBlock;
      outcome: "done" | "failed" | "refused";
      /** In one line: the exit code, why it was refused, how much was read. */
      says: string;
      output?: OutputBlock;
      /** Where it is worth saying. */
      ms?: number;
      /** Begun by a process that is gone: it ran on and was waited for here (`left`: its host had to let it go), it was found done, or nobody knows. */
      resumed?: "adopted" | "left" | "finished" | "unknown";
      refusal?: Refusal;
    }
  /** A subagent has made one more call for this one. */
  | { kind: "subtask"; call: CallBlock; calls: number }
  /** `isNew`: other items than before. */
  | { kind: "todos"; agent: string; todos: Todo[]; isNew: boolean }
  | { kind: "notice"; agent: string; tone: "plain" | "bad"; text: string }
  | { kind: "message"; from: string; to: string; text: string }
  | { kind: "asked"; agent: string; requestId: string; title: string }
  /** `here`: where it was asked, by whoever sees it. */
  | { kind: "answered"; agent: string; requestId: string; text: string; here: boolean }
  /** Said to the model, not to people. */
  | { kind: "note"; agent: string; origin: string; text: string }
  | { kind: "turnEnded"; agent: string; reason: TurnEndReason; text: string; error?: string };

export type LiveBlock =
  /** More of what the model says; all of them together are the text of the reply that is then recorded. */
  | { kind: "saying"; text: string }
  /** What was said since the last fact does not count: the model is asked again. */
  | { kind: "again" }
  | { kind: "thinking" }
  /** The model writes a call of this tool. */
  | { kind: "calling"; tool: string }
  /** The last line that a running command printed. */
  | { kind: "tail"; callId: string; line: string }
  | { kind: "status"; text: string };
