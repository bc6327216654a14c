// What the monitor's server answers and its page reads: types only, shared by both. Every text in here is safe to show as text, and only as text.

/** Where a context is: `PROJECT/CONTEXT` in addresses. */
export interface ContextKey {
  project: string;
  context: string;
}

export interface ProjectRow {
  /** Its id, cut: in addresses. */
  id: string;
  /** The last part of its folder. */
  name: string;
  folder: string;
  /** Where its ledgers are, without a password. */
  store: string;
  /** Why it cannot be read, or only be read. */
  problem?: string;
  /** Since when its store has not answered, or its file is gone: its contexts are shown as of then. */
  silentSince?: number;
  /** The one that the command was typed in. */
  here: boolean;
}

export type RowStatus = "running" | "waiting" | "paused" | "interrupted" | "completed" | "failed" | "idle";

export interface TokenCounts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface HostRow {
  pid: number;
  machine: string;
  /** It is on the monitor's own machine. */
  here: boolean;
  alive: boolean;
}

/** One line of the list. What takes reading (from `agents` on) comes later than the rest: it is left out until then. */
export interface ContextRow extends ContextKey {
  title: string;
  folder: string;
  status: RowStatus;
  /** Why it waits or does not go on, in one line: an approval, a plan, a lease, a limit, a host that is gone. */
  why?: string;
  /** What is wrong with its ledger, as far as it was read. */
  damaged?: string;
  createdAt: number;
  updatedAt: number;
  /** Events: its size. */
  events: number;
  host?: HostRow;
  ttlMs?: number;
  forkOf?: { context: string; seq: number };
  backup?: { at: number; lag: number; place: string };
  /** Of its lead, as `holdfast contexts ls` counts them: those of each agent stand on the context's own page. */
  rounds?: number;
  agents?: number;
  tokens?: TokenCounts;
  /** US dollars; `unpriced`: calls of models without a known price. */
  cost?: { usd: number; unpriced: number };
  /** Of shared data. */
  dataBytes?: number;
}

/** What waits for a person. */
export type Need = ContextKey & {
  /** Of the request, the plan; of a failure its context. */
  id: string;
  at: number;
  agent: string;
  title: string;
} & (
    | {
        kind: "approval";
        /** Everything that is asked, line by line, as `holdfast approve show` prints it. */
        lines: string[];
        choices: { scope: "once" | "exactly" | "rule" | "no"; says: string }[];
      }
    /** `isCut`: it is too long to be shown whole; it can only be rejected here. */
    | { kind: "plan"; text: string; isCut?: true }
    /** An agent asked the person something and waits; or a turn ended with a question. */
    | { kind: "question"; text: string }
    | { kind: "failure"; status: "failed" | "interrupted" | "paused"; text: string; command: string }
  );

export interface Overview {
  version: string;
  /** The monitor's clock, for ages. */
  now: number;
  projects: ProjectRow[];
  contexts: ContextRow[];
  /** How many there are, where that is more. */
  total: number;
  needs: Need[];
}

/** `/api/live`: what changed since. Each carries an id; `Last-Event-ID` goes on from there, and where that is not possible a `hello` with everything comes first. */
export type OverviewMessage =
  | { kind: "hello"; overview: Overview }
  | { kind: "contexts"; rows: ContextRow[]; gone: ContextKey[] }
  | { kind: "needs"; needs: Need[] }
  | { kind: "projects"; projects: ProjectRow[] }
  /** Board, schedules, hosts or backups of that project are others now. */
  | { kind: "project"; project: string };

export interface BoardTask {
  id: string;
  subject: string;
  status: string;
  owner?: string;
  blockedBy: string[];
  priority: string;
  updatedAt: number;
  notes: string[];
}

export interface TeamRow {
  context: string;
  name: string;
  role: string;
  doing: string;
  task?: string;
  inbox: number;
}

export interface ScheduleRow {
  context: string;
  agent: string;
  id: string;
  says: string;
  next?: number;
}

export interface AgentLeaseRow {
  context: string;
  agent: string;
  host: HostRow;
  term: number;
  expiresInMs: number;
}

export interface BackupRow {
  place: string;
  at: number;
  /** Events that are not in it yet, over all contexts. */
  lag: number;
}

export interface ProjectPage {
  project: ProjectRow;
  durability: string;
  server?: string;
  board: BoardTask[];
  team: TeamRow[];
  schedules: ScheduleRow[];
  leases: AgentLeaseRow[];
  backups: BackupRow[];
}

/** What every write answers. `ok: false`: nothing was changed, and `says` tells why. */
export interface ActionAnswer {
  ok: boolean;
  says: string;
  /** Of a fork: the new one. */
  context?: string;
  /** How it is gone on with in a terminal. */
  command?: string;
  /** Where someone else was first: what they said. */
  code?: string;
  /** Files that somebody else changed, for which a restore was refused; at most 50. */
  paths?: string[];
}

/** `POST /api/p/PROJECT/c/CONTEXT/ACTION`, with the header `x-holdfast-write: 1`. */
export type Action =
  | { action: "approve"; id: string; scope: "once" | "exactly" | "rule" | "no"; reason?: string }
  | { action: "plan"; id: string; approve: boolean; feedback: string }
  | { action: "send"; to: string; text: string }
  /** At any event: where it begins, `ContextAt.fork` says. */
  | { action: "fork"; seq: number }
  /**
   * To the last checkpoint up to that event: `ContextAt.restore` says which. Files that somebody else changed since: refused with code
   * `conflict` and `paths`, unless `force` (over them) or `keepChanged` (around them).
   */
  | {
      action: "restore";
      seq: number;
      parts: { conversation: boolean; data: boolean; files: boolean };
      force?: boolean;
      keepChanged?: boolean;
    }
  /** Takes the last restore back; as careful as a restore. */
  | { action: "undo"; force?: boolean; keepChanged?: boolean };
