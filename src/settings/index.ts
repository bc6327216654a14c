// Owns the door of settings: what the command line may use.
export { settingsFiles, settingsPlaces } from "./files.ts";
export { describeWithheld, type LoadedSettings, type LoadOptions, loadSettings } from "./load.ts";
export { isBypass } from "./merge.ts";
export { isEscalating } from "./repository.ts";
export { openTrust, type Trust } from "./trust.ts";
export type { Settings } from "./types.ts";
