// What `holdfast/testing` exports: the scripted model server, the suite that every store passes, the replay of recordings.

export {
  type ModelServer,
  type ModelServerOptions,
  type ServerLog,
  startModelServer,
} from "./model-server.ts";
export type { LoggedRequest } from "./model-server-log.ts";
export type { ProviderName } from "./model-server-providers.ts";
export {
  type Fault,
  isGoalQuestion,
  type Script,
  type ScriptCall,
  type ScriptRequest,
  type ScriptRound,
} from "./model-server-script.ts";
export { type ReplaysOptions, replays } from "./replays.ts";
export { type StoreUnderTest, storeConformance } from "./store-conformance.ts";
export type { ConformanceOptions as OpenOptions, Framework } from "./store-conformance-steps.ts";
