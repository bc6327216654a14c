// The port to whoever runs subagents: an agent of its own in the same context, continued after a crash, never begun twice.
import type { Turn } from "../../loop/seams.ts";
import type { AgentFacts } from "../agents/port.ts";

export interface SubagentTask {
  context: string;
  agent: string;
  /** Its caller. */
  startedBy: string;
  type: string;
  prompt: string;
  /** The prompt is for an agent that has worked before: this names it, so that a repetition after a crash says it once. */
  followUp?: string;
  /** Keys of the shared data that go into the prompt. */
  reads?: readonly string[];
  cwd: string;
  /** Recorded with its creation. */
  facts: AgentFacts;
  /** Agents that the context may have in all. */
  most: number;
  signal: AbortSignal;
  onStatus?: (text: string) => void;
}

/** How it ended. What it exported is kept, however that was. */
export interface SubagentEnd {
  ok: boolean;
  /** Its last words. */
  text: string;
  error?: string;
  /** Told to stop, or taken by another process: it can go on. */
  interrupted: boolean;
  exported: string[];
  denials: { name: string; reason: string }[];
}

export interface SubagentRunner {
  /** Contract: durable when it resolves; nothing when it is there already; throws `limit` when the context has its most agents. */
  create(task: SubagentTask): Promise<void>;
  /** Contract: resolves however it ends; throws only when nothing more can be recorded. A finished one answers without a model call. */
  run(task: SubagentTask): Promise<SubagentEnd>;
  /** Whether some process runs it now. */
  isHeld(context: string, agent: string): Promise<boolean>;
  /** Records a fact of that agent from outside its lease. Contract: the same id counts once. */
  record(context: string, agent: string, fact: AgentFacts[number]): Promise<void>;
}

/** Contract: a tree of the agent's own, the same one when asked again; throws when there can be none. */
export type Isolate = (wanted: {
  context: string;
  agent: string;
  /** The tree its caller works in. */
  root: string;
  /** Its caller's: hooks are told in it. */
  turn?: Turn;
}) => Promise<{ root: string; events?: AgentFacts }>;
