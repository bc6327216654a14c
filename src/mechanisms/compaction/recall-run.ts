// A call of `recall`: whose conversation it may read, and what of it.
import type { ToolOutput, ToolRun, Turn } from "../../loop/seams.ts";
import type { ContextState } from "../../loop/transcript.ts";
import type { RecallInput } from "./recall.ts";
import { type Conversation, recallByName, recallByWords } from "./recall-read.ts";
import { refuseForeign } from "./recall-rights.ts";
import { shownHits, shownPart, splitRef } from "./recall-text.ts";

export async function recalled({ turn, call, input }: ToolRun & { input: RecallInput }): Promise<ToolOutput> {
  const { ref, query, tool, offset, limit } = input;
  const named = splitRef(ref?.trim() ?? "");
  const agent = named.agent ?? input.agent ?? turn.agent;
  const conversation = conversationOf(turn, agent);
  if (named.ref !== "")
    return { content: shownPart(await recallByName(conversation, { agent, ref: named.ref }, { offset, limit }), turn) };
  const words = query?.trim() ?? "";
  if (words === "") return { content: "recall needs ref (such as c17) or query (literal words)", isError: true };
  if (words.length > MOST_WORDS)
    return { content: `a query has at most ${MOST_WORDS} characters: give the words that matter`, isError: true };
  const asks = turn.state.items.findLast((item) => item.kind === "reply");
  const isOwn = asks?.kind === "reply" && asks.parts.some((part) => part.type === "call" && part.id === call.id);
  const except = agent === turn.agent && isOwn ? asks.n : undefined;
  const found = await recallByWords(conversation, { agent, query: words, tool, except });
  return { content: shownHits(found, { query: words, agent }, turn) };
}

/** What is looked for letter by letter. */
const MOST_WORDS = 200;

/** Here it is decided who reads: whatever a tool does with it, it has no other way in. */
function conversationOf(turn: Turn, agent: string): Conversation {
  const state = turn.slice<ContextState>("transcript");
  refuseForeign(state, turn.agent, agent);
  return { state, blob: (hash) => turn.blob(hash) };
}
