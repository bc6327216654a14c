// Why a request is not the last one with more behind it: what providers cache of a conversation is lost from there on.

export type BreakCause =
  | "epoch" // the conversation was made smaller
  | "overflow" // likewise, because the provider said that it was too long
  | "undo" // what was left out is in view again
  | "restore" // the conversation went back to a checkpoint
  | "system" // the system prompt changed
  | "tools" // the tools changed
  | "model" // another model, or the same one with other settings
  | "expired" // nothing changed, and the provider had it no more
  | "unknown"; // something else: a mechanism of an embedding program

/** Of one agent, or of several together. A request may have more than one cause. */
export interface CacheBreaks {
  requests: number;
  byCause: Partial<Record<BreakCause, number>>;
}
