// How a team stands, as data, and whom the team view asks for it.

export type MemberWait =
  | { kind: "plan"; id: string }
  | { kind: "approval"; id: string; title: string }
  | { kind: "message" }
  | { kind: "nothing" };

export interface TeamMember {
  name: string;
  role: string;
  /** In a few words: `working`, `idle`, `about to work`. */
  doing: string;
  /** What it runs: `bash npm test`. */
  call?: string;
  task?: { id: string; subject: string };
  waitsFor: MemberWait;
  /** Since when it does or waits for that. */
  since?: number;
  /** What it said at the end of its last turn. */
  last?: string;
}

export interface PlanInReview {
  id: string;
  by: string;
  at: number;
}

export interface TeamWorktree {
  name: string;
  branch: string;
  /** Who works in it, else who made it; "" where nobody knows. */
  agent: string;
  /** `task_1 completed` */
  tasks: string[];
  commits: number;
  files: number;
  uncommitted: number;
  /** `2 ahead, 1 behind; 3 changes uncommitted`, or why it cannot be looked at. */
  says: string;
}

export interface TeamNow {
  members: TeamMember[];
  plans: PlanInReview[];
  worktrees: TeamWorktree[];
}

/** Contract: whatever is refused comes back as the line that says why; texts are as somebody wrote them, not safe to print. */
export interface TeamSource {
  /** Contract: cheap; asked again when the ledger has changed. */
  look(): Promise<TeamNow>;
  plan(id: string): Promise<string>;
  review(id: string, answer: { approve: boolean; feedback: string }): Promise<string>;
  send(to: string, text: string): Promise<string>;
  /** All that it holds and the project's tree does not. */
  worktree(name: string): Promise<{ lines: string[] }>;
  /** `commit`: what is uncommitted in it is committed on its branch first. */
  merge(name: string, opts?: { commit?: boolean }): Promise<string>;
  drop(name: string): Promise<string>;
}
