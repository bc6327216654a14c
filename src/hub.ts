// Owns the public API of the hub (`holdfast/hub`): agents that work on one context, prompt templates, workflows.
export { createHub, type Hub, type HubOptions, type HubResult, type HubTask } from "./hub/hub.ts";
export { INJECTION_BYTES, injectShared } from "./hub/injection.ts";
export type { ResultEntry } from "./hub/results.ts";
export {
  asData,
  type Include,
  parseTemplate,
  type Template,
  type TemplateKind,
  type Variable,
} from "./templates/index.ts";
export * from "./workflow/index.ts";
