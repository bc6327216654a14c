// Owns what `holdfast/testing` exports: the scripted model server and the suite that every store passes.
export {
  type Fault,
  type LoggedRequest,
  type ModelServer,
  type ModelServerOptions,
  type Script,
  type ScriptCall,
  type ScriptRequest,
  type ScriptRound,
  type ServerLog,
  startModelServer,
} from "./model-server.ts";
export { storeConformance } from "./store-conformance.ts";
