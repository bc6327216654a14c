// What is not over while an agent is idle, as its mechanism says it.
/** Something of a mechanism's that is not over while the agent is idle. */
export interface Outstanding {
  /** One of them, in a person's words: "background job". */
  what: string;
  count: number;
  /** When it gives the agent something to take in without anything being recorded (wall clock); a time that has passed: now. */
  dueAt?: number;
  /** A process that stays as long as there is something to wait for waits for it. */
  keepsProcess: boolean;
  /** Hosts advance the agent for its sake: in every turn, or only in those that it wakes for; a turn that a person's input began is theirs. */
  hosts?: "every turn" | "woken turns";
  /** It goes on in processes of this machine: on a store that other machines reach, the host keeps the agent for it. */
  runsHere?: true;
  /** It goes on while no process of ours does; this command shows it. */
  seenBy?: string;
}
