// The port to the catalogue of agent types: who can be given work, and what is recorded about an agent of a type.
import type { EventInput } from "../../ledger/store.ts";

export type AgentFacts = Omit<EventInput, "actor">[];

export interface AgentType {
  /** As the catalogue spells it. */
  name: string;
  description: string;
  /** `built-in`, or the file. */
  source: string;
  /** It wants a tree of its own: never run in place. */
  isolation?: "worktree";
  /** It runs beside its caller unless told otherwise. */
  background?: boolean;
}

/** Contract: files are read when something is asked, and again when they have changed. */
export interface AgentCatalogue {
  /** In the order of precedence, each name once. */
  list(): Promise<AgentType[]>;
  /** Contract: throws `not_found`, naming the types there are. */
  about(type: string): Promise<AgentType>;
  /** What to record with the creation of that agent: a copy that a resume uses, whatever becomes of the file. Throws as `about`. */
  define(agent: string, type: string): Promise<AgentFacts>;
  /** What is wrong with the files, one line each with file and line; each is handed out once. */
  problems(): string[];
}
