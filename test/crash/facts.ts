// What a process printed as facts (DESIGN §3), and which of it a ledger does not hold.
import type { StoredEvent } from "../../src/ledger/store.ts";

export type Format = "text" | "json" | "stream-json";

interface Block {
  type: string;
  text?: string;
  id?: string;
  tool_use_id?: string;
  content?: string | { text?: string }[];
}

interface Line {
  type: string;
  message?: { content: Block[] };
  result?: string;
  is_error?: boolean;
}

/** One line for each fact that stdout said and no event of these says. */
export function notKept(stdout: string, format: Format, events: readonly StoredEvent[]): string[] {
  const kept = keptIn(events);
  if (format === "text") {
    const answer = stdout.trimEnd();
    return answer === "" || kept.has(`answer ${answer}`) ? [] : [`the answer ${JSON.stringify(answer)}`];
  }
  return linesOf(stdout)
    .flatMap(factsOf)
    .filter((fact) => !kept.has(fact));
}

/** What a kill cut off in the middle of a line was not said. */
const linesOf = (stdout: string): Line[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

function factsOf({ type, message, result, is_error }: Line): string[] {
  if (type === "result") return is_error ? [] : [`answer ${result?.trimEnd()}`];
  if (type !== "assistant" && type !== "user") return [];
  return message!.content.flatMap((block) => {
    if (block.type === "text") return [`${type === "assistant" ? "said" : "note"} ${block.text}`];
    if (block.type === "tool_use") return [`call ${callId(block.id!)}`];
    return block.type === "tool_result" ? [`result ${callId(block.tool_use_id!)} ${textOf(block.content)}`] : [];
  });
}

// biome-ignore lint/suspicious/noExplicitAny: data of every type of event
function keptIn(events: readonly { type: string; data: any }[]): Set<string> {
  const kept = events.flatMap(({ type, data }) => {
    if (type === "turn.ended") return [`answer ${(data.text ?? "").trimEnd()}`];
    if (type === "note.added") return [`note ${data.text}`];
    if (type === "tool.finished") return [`result ${data.callId} ${textOf(data.content)}`];
    if (type !== "reply.received") return [];
    return data.parts.map((part: Block) => (part.type === "call" ? `call ${part.id}` : `said ${part.text}`));
  });
  return new Set(kept);
}

/** Outside the lead's the agent stands before it. */
const callId = (printed: string): string => printed.slice(printed.lastIndexOf(".") + 1);

const textOf = (content: Block["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
