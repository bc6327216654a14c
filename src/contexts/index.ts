// What the room of execution contexts has for others; `holdfast/contexts` is this and `src/contexts.ts`.
export { type ErrorCode, HoldfastError, isHoldfastError } from "../ledger/error.ts";
export type { Seq, Store } from "../ledger/store.ts";
export { RESULTS } from "./authority.ts";
export type {
  Checkpoint,
  CheckpointOptions,
  Checkpoints,
  RestoreOptions,
  RestoreReport,
  UndoOptions,
} from "./checkpoints.ts";
export type {
  Context,
  ContextDetails,
  ContextOptions,
  ContextSettings as Settings,
  LoggedError,
} from "./context.ts";
export type { DataChange as Change, DataDiff, Diff, DiffOptions } from "./diff.ts";
export { contextEvents } from "./events.ts";
export type { ExportReport } from "./export.ts";
export type { FileDiff, FileKeeper, FileMark, FileReport, FileVersion } from "./file-keeper.ts";
export type { AgentNote } from "./fold.ts";
export type { ForkChanges as Changes, ForkOptions } from "./fork.ts";
export type { GcOptions, GcReport } from "./gc.ts";
export type { ImportOptions, ImportReport } from "./import.ts";
export { select } from "./json-path.ts";
export { type ContextInfo, type ContextStatus, type ForkOrigin, listContexts } from "./listing.ts";
export { type Contexts, type CreateOptions, openContexts, type Resumable, type Where } from "./open.ts";
export { type Adopted, adoptProject, forgetProject, type KnownProject, listProjects } from "./project/links.ts";
export { settleMovedRoots } from "./project/moved-roots.ts";
export { findProject, openProject, type Project, type ProjectOptions, stateHome, type Unclear } from "./project.ts";
export { projectFiles } from "./project-files.ts";
export type { ValueProblem as Problem } from "./read-value.ts";
export type {
  Recall,
  RecallEnd,
  Recalled,
  RecalledContent,
  RecallHit,
  RecallHits,
  RecallOutcome,
  RecallQuery,
  RecallRange,
  RecallSince,
} from "./recall.ts";
export type { Schema } from "./schemas.ts";
export type { HistoryEntry, Reducer, SharedData, SharedInfo, WriteOptions } from "./shared-data.ts";
export { type GivenIn, type Remembered, readStart, type Start, startedEvent } from "./start.ts";
export { keepSweeping, type Sweeper, type SweepOptions, sweepExpired } from "./sweep.ts";
export type { Json, JsonType } from "./values.ts";
export type { ContextsVerdict, ContextVerdict } from "./verify.ts";
export { visibleRanges } from "./visible-ranges.ts";
export type { Work } from "./work.ts";
