// Owns the public door of workflows: reading them, running them, and seeing how they stand.

export type { AgentAnswer, AgentRunner, AgentTask } from "../hub/port.ts";
export type { BudgetSpec, Phase, PhaseSpec, Until, UntilSpec, Workflow, WorkflowSpec } from "./definition.ts";
export { type DrawOptions, drawWorkflow } from "./draw.ts";
export { defineWorkflow, parseWorkflow, type ReadFile, readWorkflow } from "./parse.ts";
export type { Problem } from "./places.ts";
export type { Standing } from "./plan.ts";
export { type Compose, composePrompt, type PromptParts } from "./prompt.ts";
export type { ItemsRecord, PhaseRecord } from "./records.ts";
export { comparisonTable, type Recovery, type Report, type ReportRow, reportOf } from "./report.ts";
export { type RunOptions, runWorkflow } from "./run.ts";
export type { Ask, Progress, RunState } from "./session.ts";
export { type PhaseStatus, type WorkflowRun, workflowStatus } from "./status.ts";
export { giveInput } from "./wait.ts";
