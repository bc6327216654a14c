// What one rendering may cost.

/** Bytes of a rendered prompt. */
export const MAX_OUTPUT = 1_048_576;
/** Elements inside each other in one file. */
export const MAX_DEPTH = 64;
/** Files that include each other. */
export const MAX_INCLUDES = 16;
/** Rounds of all loops of a rendering together. */
export const MAX_LOOPS = 10_000;
/** Elements and pieces of text looked at, an included file counting as ten: what includes and loops multiply without any output. */
export const MAX_STEPS = 1_000_000;
