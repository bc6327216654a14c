// Recall: any part of what an agent of a context said, was told and did. What is asked and what comes; the loop, which knows conversations, reads them.
import { HoldfastError } from "../ledger/error.ts";
import type { Store } from "../ledger/store.ts";

/** `not run`: its turn was stopped before it began. `open`: no result is recorded. */
export type RecallOutcome = "succeeded" | "failed" | "stopped" | "not run" | "open";

export interface RecallEnd {
  outcome: RecallOutcome;
  /** Of a command. */
  exitCode?: number;
}

/** A later call that makes what was recalled old. */
export interface RecallSince extends RecallEnd {
  /** `changed`: the file, by a tool of this agent. `again`: the same call, or the same file, once more. */
  what: "changed" | "again";
  ref: string;
  tool: string;
  /** On a timeline that a restore abandoned. */
  isAbandoned: boolean;
}

interface RecallFacts {
  agent: string;
  /** `c17`, `r12` or `u3`. */
  ref: string;
  kind: "call" | "reply" | "said";
  /** Of something said: a note of the runtime, not the words of a person or a program. */
  isNote?: boolean;
  /** Whose words they are, where not the user's. */
  from?: string;
  /** Of a call: its tool, and how it ended. */
  tool?: string;
  end?: RecallEnd;
  /** What makes it old, the newest of each kind. */
  since: RecallSince[];
  /** It lies on a timeline that a restore abandoned. */
  isAbandoned: boolean;
}

export type RecalledContent =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; data: string }
  | { type: "document"; mediaType: string; data: string; name: string };

export interface Recalled extends RecallFacts {
  /** Of a call: what was asked. */
  input?: unknown;
  /** Of a reply: its calls. */
  calls?: { ref: string; tool: string }[];
  /** All of it, from blobs too; with a range its lines. */
  content: RecalledContent[];
  /** With a range: which lines of how many. One of more than 5,000 characters counts as several. */
  lines?: { from: number; to: number; of: number };
}

export interface RecallHit extends RecallFacts {
  /** The words, with some before and behind. */
  text: string;
  /** They stand in what was asked, not in what came. */
  inInput: boolean;
  line: number;
  /** Further places in the same text; at most 99. */
  further: number;
}

export interface RecallHits {
  /** The newest first. */
  hits: RecallHit[];
  /** There are older ones. */
  hasMore: boolean;
}

export interface RecallRange {
  /** The first line, from 1. */
  offset?: number;
  limit?: number;
}

export interface RecallQuery {
  /** Literal words, in whatever case. */
  query: string;
  /** Default: the lead. */
  agent?: string;
  /** Only calls of this tool. */
  tool?: string;
}

/** Contract: `ref` may name its agent (`alice/c17`), otherwise it is the lead's. Throws `not_found` for what is not there. */
export interface Recall {
  (ref: string, range?: RecallRange): Promise<Recalled>;
  (query: RecallQuery): Promise<RecallHits>;
}

/** Who reads conversations, for contexts that are opened with it. `reader`: the agent whose rights hold; default: all may be read. */
export type ConversationReader = (store: Store, context: string, reader?: string) => Promise<Recall>;

/** Opened at its first use, and kept. Contract: `refused` where no reader was given; what `check` throws, whenever it does. */
export function recallWith(open: (() => Promise<Recall>) | undefined, check: () => void): Recall {
  let opened: Promise<Recall> | undefined;
  const reader = (): Promise<Recall> => {
    check();
    if (!open)
      throw new HoldfastError("refused", "conversations are read by contexts that `holdfast/contexts` opens: use that");
    opened ??= open();
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  function recall(ref: string, range?: RecallRange): Promise<Recalled>;
  function recall(query: RecallQuery): Promise<RecallHits>;
  async function recall(asked: string | RecallQuery, range?: RecallRange): Promise<Recalled | RecallHits> {
    const own = await reader();
    return typeof asked === "string" ? own(asked, range) : own(asked);
  }
  return recall;
}
