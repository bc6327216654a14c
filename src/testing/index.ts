// Owns what `holdfast/testing` exports: the scripted model server and the suite that every store passes.
export {
  type Fault,
  type LoggedRequest,
  type ModelServer,
  type ModelServerOptions,
  type ProviderName,
  type Script,
  type ScriptCall,
  type ScriptRequest,
  type ScriptRound,
  type ServerLog,
  startModelServer,
} from "./model-server.ts";
export { type StoreUnderTest, storeConformance } from "./store-conformance.ts";
export type { Framework, OpenOptions } from "./store-conformance-steps.ts";
