// Owns the public API: named exports only.
export {
  createHarness,
  type Harness,
  type HarnessEvent,
  type HarnessOptions,
  type Run,
  type RunOptions,
  type RunResult,
} from "./harness.ts";
export { blobHash } from "./ledger/checksum.ts";
export { type ErrorCode, HoldfastError, isHoldfastError } from "./ledger/error.ts";
export { inspectHolder, type ProcessState, thisHolder } from "./ledger/holder.ts";
export { createLeases, type LeaseRow, type LeaseRows } from "./ledger/leases.ts";
export { possibleReferences } from "./ledger/references.ts";
export { openSqliteStore } from "./ledger/sqlite/index.ts";
export type {
  AppendOptions,
  Base,
  Collected,
  CollectOptions,
  Damage,
  EventInput,
  Fence,
  HeldBy,
  Holder,
  Lease,
  Leases,
  LedgerSummary,
  ListOptions,
  ReadOnly,
  Seq,
  Snapshots,
  Store,
  StoredEvent,
  VerifyReport,
  Wake,
  WakeInput,
  Write,
} from "./ledger/store.ts";
export {
  defineMechanism,
  defineTool,
  type Effect,
  type EffectOutcome,
  type Mechanism,
  type Seams,
  type Tool,
  type ToolOutput,
  type Turn,
  type VerdictCode,
} from "./loop/seams.ts";
export type { AgentDefinition } from "./mechanisms/agents/index.ts";
export type { ApprovalAnswer, ApprovalRequest } from "./mechanisms/approvals/index.ts";
export type { Budget } from "./mechanisms/budget/index.ts";
export type { HookInput, HookOutput, InProcessHook } from "./mechanisms/hooks/index.ts";
export type { PermissionMode } from "./mechanisms/permissions/index.ts";
export { type Model, ModelError, type ModelRequest, type Reply, type Usage } from "./models/model.ts";
export { openModel } from "./models/open-model.ts";
export { createRehearsal } from "./models/rehearsal/index.ts";
export { VERSION } from "./version.ts";
