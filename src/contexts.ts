// The public API of execution contexts (`holdfast/contexts`): what the room has, and the loop beside it where a conversation is read.
import { type ContextOptions, type Contexts, openContexts as openWith, type Where } from "./contexts/index.ts";

export * from "./contexts/index.ts";

/** Opens the door to all contexts of a store. */
export function openContexts(where: Where = {}, defaults: ContextOptions = {}): Promise<Contexts> {
  return openWith(where, defaults, async (...asked) => {
    const { openRecall } = await import("./mechanisms/compaction/recall-program.ts");
    return openRecall(...asked);
  });
}
