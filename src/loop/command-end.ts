// How a command ended, and how long it ran: for people and programs.

export interface CommandEnd {
  status: "completed" | "failed" | "killed" | "timeout" | "interrupted" | "unknown";
  exitCode?: number;
  ms: number;
  lostLease?: true; // killed with the lease of its agent
  left?: true; // a host that had lost its lease let it run on
}
