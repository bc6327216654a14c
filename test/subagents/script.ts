// What the scripted model says to each agent of a test: by the words of its prompt, then by its round.
import type { Script, ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";

// biome-ignore lint/suspicious/noExplicitAny: a provider's request as it came
const textOf = (content: any): string =>
  typeof content === "string" ? content : (content ?? []).map((part: { text?: string }) => part.text ?? "").join("\n");

// biome-ignore lint/suspicious/noExplicitAny: as above
const messagesOf = ({ body }: Pick<ScriptRequest, "body">): any[] =>
  body.messages.filter((m: { role: string }) => m.role !== "system");
const firstReply = (request: Pick<ScriptRequest, "body">): number => {
  const at = messagesOf(request).findIndex((m) => m.role === "assistant");
  return at < 0 ? messagesOf(request).length : at;
};

/** What this agent was told before it said anything. */
export const promptOf = (request: Pick<ScriptRequest, "body">): string =>
  messagesOf(request)
    .slice(0, firstReply(request))
    .map((m) => textOf(m.content))
    .join("\n");

/** Everything it was told since: results and notes. */
export const saidTo = (request: Pick<ScriptRequest, "body">): string =>
  messagesOf(request)
    .slice(firstReply(request))
    .filter((m) => m.role !== "assistant")
    .map((m) => textOf(m.content))
    .join("\n");

/** A row for each agent: a word of its prompt, and its rounds. The first row that fits counts. */
export const byPrompt =
  (...rows: [word: string, rounds: (ScriptRound | ((request: ScriptRequest) => ScriptRound))[]][]): Script =>
  (request) => {
    const [, rounds] = rows.find(([word]) => promptOf(request).includes(word)) ?? [];
    const round = rounds?.[Math.min(request.round, rounds.length - 1)];
    if (!round) return { text: `nothing is scripted for: ${promptOf(request).slice(0, 100)}` };
    return typeof round === "function" ? round(request) : round;
  };

export const task = (prompt: string, more: object = {}) => ({
  name: "task",
  input: { description: prompt.slice(0, 20), prompt, ...more },
});
