// `recall`: any part of the agent's own conversation again, or of those it started, by its name or by words, with what has become of it since.
import * as z from "zod";
import { messageOf } from "../../ledger/error.ts";
import { defineTool, type ToolOutput, type ToolRun, type Turn } from "../../loop/seams.ts";
import type { ContextState } from "../../loop/transcript.ts";
import { type Conversation, recallByName, recallByWords } from "./recall-read.ts";
import { refuseForeign } from "./recall-rights.ts";
import { shownHits, shownPart, splitRef } from "./recall-text.ts";

interface Asked {
  ref?: string;
  query?: string;
  agent?: string;
  tool?: string;
  offset?: number;
  limit?: number;
}

export const recallTool = defineTool<Asked>({
  name: "recall",
  description:
    "Bring back what was left out of this conversation. ref: a call (c17), a reply (r12) or what was said to you (u3), whole or some lines; query: literal words, newest first. An agent you started: alice/c17, or agent.",
  schema: () =>
    z.strictObject({
      ref: z.string().optional(),
      query: z.string().optional(),
      agent: z.string().optional(),
      tool: z.string().optional().describe("query: only calls of this tool"),
      offset: z.int().min(1).optional().describe("ref: first line"),
      limit: z.int().min(1).optional(),
    }),
  effect: "read",
  async execute(run) {
    try {
      return await recalled(run);
    } catch (error) {
      return { content: messageOf(error), isError: true };
    }
  },
});

async function recalled({ turn, call, input }: ToolRun & { input: Asked }): Promise<ToolOutput> {
  const { ref, query, tool, offset, limit } = input;
  const named = splitRef(ref?.trim() ?? "");
  const agent = named.agent ?? input.agent ?? turn.agent;
  const conversation = conversationOf(turn, agent);
  if (named.ref !== "")
    return { content: shownPart(await recallByName(conversation, { agent, ref: named.ref }, { offset, limit }), turn) };
  const words = query?.trim() ?? "";
  if (words === "") return { content: "recall needs ref (such as c17) or query (literal words)", isError: true };
  const asks = turn.state.items.findLast((item) => item.kind === "reply");
  const isOwn = asks?.kind === "reply" && asks.parts.some((part) => part.type === "call" && part.id === call.id);
  const except = agent === turn.agent && isOwn ? asks.n : undefined;
  const found = await recallByWords(conversation, { agent, query: words, tool, except });
  return { content: shownHits(found, { query: words, agent }, turn) };
}

/** Here it is decided who reads: whatever a tool does with it, it has no other way in. */
function conversationOf(turn: Turn, agent: string): Conversation {
  const state = turn.slice<ContextState>("transcript");
  refuseForeign(state, turn.agent, agent);
  return { state, blob: (hash) => turn.blob(hash) };
}
