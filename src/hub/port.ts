// The port to whoever runs agents: a workflow says what is to be done, the runner gets it done and never does it twice.

export interface AgentTask {
  context: string;
  /** Unique in the context and the same after a crash: `review.2`, or `review.2.5` for an item of a fan-out. */
  agent: string;
  /** A type of the catalogue: general-purpose, code-reviewer, … */
  type: string;
  prompt: string;
  /** JSON Schema for each key that the agent has to export. */
  exports?: Record<string, unknown>;
  /** The phase of a workflow, and the item of it: the workflow names agents anew for each piece of work, and keeps their results and errors. */
  phase?: string;
  item?: number;
  maxRounds?: number;
  budgetTokens?: number;
  signal: AbortSignal;
}

export interface AgentAnswer {
  text: string;
  /** What this agent gave, also when others have shared the same keys since. */
  exports: Record<string, unknown>;
  /** Model rounds in all. */
  rounds: number;
  /** Model requests of this call; 0 when it had finished before. */
  requests: number;
  tokens: number;
  durationMs: number;
  /** It was begun by an earlier call. */
  resumed: boolean;
}

export interface AgentRunner {
  /**
   * Contract: the same `agent` in the same context continues where it stopped after a crash; a finished one answers again without any
   * model call. Throws when the work failed for good: that name is not used again.
   */
  run(task: AgentTask): Promise<AgentAnswer>;
}
