// What a workflow is: the shape that is written in YAML or TypeScript, and the checked one that is run.
import type { Schema } from "../contexts/schemas.ts";
import type { Condition } from "../templates/control.ts";
import type { Path } from "../templates/expression.ts";
import type { Include } from "../templates/includes.ts";
import type { Template } from "../templates/index.ts";

export interface BudgetSpec {
  tokens?: number;
  rounds?: number;
}

/** A phase as it is written. */
export interface PhaseSpec {
  id: string;
  /** What it is called in reports. */
  title?: string;
  /** The type of agent: general-purpose (default), code-reviewer, … */
  agent?: string;
  /** A Markdown template; or a file of one in `template`. */
  prompt?: string;
  /** A .md or .poml file beside or below the workflow's file. */
  template?: string;
  /** Keys of shared data that go along with the prompt, marked as data. */
  reads?: string[];
  /** JSON Schema (in TypeScript zod too) for each key it gives. */
  exports?: Record<string, Schema>;
  needs?: string[];
  /** `path`, `!path` or `path == 'literal'` on shared data; when it does not hold the phase is skipped. */
  when?: string;
  /** Path to a list in shared data: one agent an item; every exported key becomes the list of what they gave, in order. */
  foreach?: string;
  /** How many items at one time. */
  concurrency?: number;
  until?: UntilSpec;
  /** How often more after a failure, this phase (or item) only. */
  retry?: number;
  /** "90s", "10m", "2h": for one try. */
  timeout?: string;
  budget?: BudgetSpec;
  /** No agent: a person gives the exported keys. The prompt is the question. */
  wait?: "input";
}

export interface UntilSpec {
  /** Asked when the phase has finished. */
  when: string;
  /** Most rounds in all. */
  max: number;
  /** What is done again beside the phase itself: phases that it needs, directly or not. */
  repeat: string[];
  /** After the last round without success (default: fail). */
  exhausted?: "fail" | "continue";
}

export interface WorkflowSpec {
  name: string;
  description?: string;
  /** JSON Schema for each (in TypeScript zod too); one without `default` has to be given. */
  inputs?: Record<string, Schema>;
  /** How many agents at one time (default 4). */
  concurrency?: number;
  /** Of the whole; phases have their own. */
  budget?: Pick<BudgetSpec, "tokens">;
  phases: PhaseSpec[];
}

/** A value is checked; the answer is why it does not fit. */
type Check = (value: unknown) => string | undefined;

export interface Typed {
  schema: Record<string, unknown> | boolean;
  check: Check;
}

export interface Until {
  when: Condition;
  text: string;
  max: number;
  /** With the phase itself. */
  repeat: string[];
  exhausted: "fail" | "continue";
}

export interface Phase {
  id: string;
  title: string;
  agent: string;
  prompt?: { template: Template; include: Include };
  reads: string[];
  exports: Record<string, Typed>;
  needs: string[];
  when?: { condition: Condition; text: string };
  foreach?: { path: Path; text: string };
  concurrency?: number;
  until?: Until;
  retry: number;
  timeoutMs?: number;
  budget: BudgetSpec;
  wait: boolean;
}

/** Checked: every name in it is known, and nothing goes round. */
export interface Workflow {
  name: string;
  description: string;
  /** Where it was read, or `workflow NAME`. */
  file: string;
  inputs: Record<string, Typed & { default?: unknown }>;
  concurrency: number;
  budget: Pick<BudgetSpec, "tokens">;
  /** In an order in which each comes after what it needs. */
  phases: Phase[];
}
