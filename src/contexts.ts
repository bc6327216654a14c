// The public API of execution contexts (`holdfast/contexts`): what the room has, and the loop beside it where a conversation is read.
import { type ContextOptions, type Contexts, openContexts, type Where } from "./contexts/index.ts";

export * from "./contexts/index.ts";
export { openWithConversations as openContexts };

function openWithConversations(where: Where = {}, defaults: ContextOptions = {}): Promise<Contexts> {
  return openContexts(where, defaults, async (...asked) => {
    const { openRecall } = await import("./mechanisms/compaction/recall-program.ts");
    return openRecall(...asked);
  });
}
