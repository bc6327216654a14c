// Recall for programs: the conversation of a context, folded without a lease and kept up with what its agents record.
import { contextEvents } from "../../contexts/events.ts";
import { LEAD_AGENT } from "../../contexts/listing.ts";
import type { Recall, Recalled, RecallHits, RecallQuery, RecallRange } from "../../contexts/recall.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { createCodec } from "../../ledger/events.ts";
import { createFold } from "../../ledger/fold.ts";
import { isRecord } from "../../ledger/guards.ts";
import { openLedger } from "../../ledger/ledger.ts";
import { own } from "../../ledger/own.ts";
import type { Store } from "../../ledger/store.ts";
import { loopEvents } from "../../loop/events.ts";
import { transcript, transcriptIn } from "../../loop/transcript.ts";
import { type Conversation, recallByName, recallByWords } from "./recall-read.ts";
import { refuseForeign } from "./recall-rights.ts";
import { splitRef } from "./recall-text.ts";

/** `reader`: an agent, for which the rights of the tool hold; default: the program, which may read all. */
export async function openRecall(store: Store, context: string, reader?: string): Promise<Recall> {
  const ledger = await openLedger({
    ...{ store, name: context },
    codec: createCodec([{ events: contextEvents }, { events: loopEvents }]),
    fold: createFold({ transcript }),
  });

  async function conversationOf(agent: string): Promise<Conversation> {
    await ledger.catchUp();
    const state = transcriptIn(ledger.state);
    if (reader !== undefined) refuseForeign(state, reader, agent);
    if (!own(state.agents, agent))
      throw new HoldfastError(
        "not_found",
        `context ${context} has no agent ${agent}: its agents are ${Object.keys(state.agents).join(", ") || "none"}`,
      );
    return { state, blob: store.blob };
  }

  function recall(ref: string, range?: RecallRange): Promise<Recalled>;
  function recall(query: RecallQuery): Promise<RecallHits>;
  async function recall(asked: string | RecallQuery, range?: RecallRange): Promise<Recalled | RecallHits> {
    const fallback = reader ?? LEAD_AGENT;
    if (typeof asked === "string") {
      for (const [name, lines] of Object.entries(range ?? {}))
        if (lines !== undefined && !(Number.isInteger(lines) && lines > 0))
          throw new HoldfastError("invalid", `recall: ${name} is a whole number above 0`);
      const { agent = fallback, ref } = splitRef(asked.trim());
      return recallByName(await conversationOf(agent), { agent, ref }, range);
    }
    const { query, agent = fallback, tool } = isRecord(asked) ? asked : { query: undefined };
    if (typeof query !== "string" || query.trim() === "")
      throw new HoldfastError("invalid", "recall takes a name such as c17, or { query } with some words");
    return recallByWords(await conversationOf(agent), { agent, query: query.trim(), tool });
  }
  return recall;
}
