// The public API: named exports only. What a store, a model, a tool or a mechanism is made of has its name here too, so that one can be
// written elsewhere.

export type { CommandHook, HookEvent } from "./claude-code/hook-events.ts";
export type { PermissionMode } from "./claude-code/permission-modes.ts";
export type { SeenFile } from "./file-access/seen-files.ts";
export { createHarness, type Harness, type Run, type RunOptions } from "./harness.ts";
export type { HarnessOptions } from "./harness-options.ts";
export type { HostTeamsOptions } from "./host-teams.ts";
export { blobHash } from "./ledger/checksum.ts";
export type { DecideOptions, Decision } from "./ledger/decide.ts";
export { type ErrorCode, HoldfastError, isHoldfastError } from "./ledger/error.ts";
export type { Codec, EventDef, EventDefs, EventSchema, Fact } from "./ledger/events.ts";
export type { Fold, Slice, State } from "./ledger/fold.ts";
export { inspectHolder, type ProcessState, thisHolder } from "./ledger/holder.ts";
export { createLeases, type LeaseRow, type LeaseRows, type LeaseSettings } from "./ledger/leases.ts";
export type { Ledger } from "./ledger/ledger.ts";
export { openStore, type StorePlace } from "./ledger/open-store.ts";
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
  StoreDurability,
  StoredEvent,
  VerifyReport,
  Wake,
  WakeInput,
  Write,
} from "./ledger/store.ts";
export type { StoreOptions } from "./ledger/store-options.ts";
export type { AgentHandle } from "./loop/agent.ts";
export type { Carried, Carrying } from "./loop/carry.ts";
export type { TurnEndReason } from "./loop/events.ts";
export type { Host, NewAgent, NewContextOptions as NewContext, Taken, TakeOptions } from "./loop/host.ts";
export type { Hosting } from "./loop/hosting.ts";
export type { Outstanding } from "./loop/outstanding.ts";
export {
  type AgentView,
  type Answer,
  type Asked,
  defineMechanism,
  defineTool,
  type Effect,
  type EffectOutcome,
  type Gate,
  type GateCall,
  type Grants,
  type Heard,
  type Input,
  type Mechanism,
  type ModelCall,
  type Note,
  type Progress,
  type Seams,
  type Tool,
  type ToolOutput,
  type ToolRun,
  type Turn,
  type Verdict,
  type VerdictCode,
  type ViewOptions,
} from "./loop/seams.ts";
export {
  forgotten as forgottenTimelines,
  type MechanismSlice,
  type Timelines,
  unchanged as unchangedTimelines,
} from "./loop/timelines.ts";
export type { AgentState, PendingCall } from "./loop/transcript.ts";
export type { AgentPlace, Catalogue, CatalogueOptions } from "./mechanisms/agents/catalogue.ts";
export type { AgentDefinition } from "./mechanisms/agents/definition.ts";
export type { ApprovalAnswer, ApprovalRequest } from "./mechanisms/approvals/events.ts";
export type { ApprovalsOptions } from "./mechanisms/approvals/index.ts";
export type { Budget } from "./mechanisms/budget/events.ts";
export type { CronClock, CronOptions } from "./mechanisms/cron/index.ts";
export type { HookOutput } from "./mechanisms/hooks/answer.ts";
export type { HookConfig, HookGroup } from "./mechanisms/hooks/config.ts";
export type { InProcessHook } from "./mechanisms/hooks/handlers.ts";
export type { HookInput } from "./mechanisms/hooks/payload.ts";
export type { SandboxOptions } from "./mechanisms/jobs/sandbox.ts";
export type { PermissionOptions } from "./mechanisms/permissions/index.ts";
export type { SubagentsOptions } from "./mechanisms/subagents/index.ts";
export type { Isolate } from "./mechanisms/subagents/port.ts";
export type { TeamOptions } from "./mechanisms/team/index.ts";
export type { WorktreesPlace } from "./mechanisms/worktrees/index.ts";
export {
  type CallPart,
  type Content,
  type Delta,
  type Finish,
  type Item,
  type Limits,
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelRequest,
  type Reply,
  type ReplyPart,
  type ToolSpec,
  type Usage,
} from "./models/model.ts";
export { type OpenModelOptions, openModel } from "./models/open-model.ts";
export { createRehearsal } from "./models/rehearsal/index.ts";
export type { HarnessEvent, RunResult } from "./run-result.ts";
export type { Policy, RuleText } from "./shell-policy/types.ts";
export { VERSION } from "./version.ts";
