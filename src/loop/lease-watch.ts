// What a mechanism is told of the leases of agents that this process holds, on a store that other machines reach.

/** An agent that this process holds, by name. */
export interface HeldAgent {
  context: string;
  agent: string;
}

export interface LeaseWatch {
  /**
   * Contract: so long may this process act for the agent without hearing from the store again; told when it takes the agent and at each
   * renewal of its lease. Answers at once.
   */
  leaseRenewed?: (whom: HeldAgent, leftMs: number) => void;
  /** Contract: another has the agent, or may have it soon: whatever reaches beyond this machine is to be stopped. Answers at once. */
  leaseLost?: (whom: HeldAgent) => void;
}
