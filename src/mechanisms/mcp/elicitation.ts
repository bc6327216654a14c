// A question of a server to the person: shown as a request for approval; a yes fills in what the form proposes.
import type { Turn } from "../../loop/seams.ts";
import { cutText } from "../../text/cut.ts";
import { fireHook } from "../hooks/port.ts";
import type { McpHouse, McpServer } from "./port.ts";

export interface Elicitation {
  mode?: "form" | "url";
  message: string;
  url?: string;
  requestedSchema?: { properties?: Record<string, { type?: string; default?: unknown }>; required?: string[] };
}

export type Elicited =
  | { action: "accept"; content?: Record<string, string | number | boolean | string[]> }
  | { action: "decline" };

/** Who is asked: the call that runs on that server. */
export interface Asker {
  turn: Turn;
  callId: string;
  /** What the model is told of it besides the result. */
  tell: (says: string) => void;
}

/** A question is short: what does not fit is not asked, and a long one pushes out of sight what a yes means. */
const LONGEST_QUESTION = 2000;

export async function elicit(
  asked: Elicitation,
  { server, asker, askPerson }: Pick<McpHouse, "askPerson"> & { server: McpServer; asker: Asker | undefined },
): Promise<Elicited> {
  const about = { mcp_server_name: server.name, mode: asked.mode ?? "form" };
  const decline = (why: string): Elicited => {
    asker?.tell(`${server.name} asked: ${JSON.stringify(cutText(asked.message, LONGEST_QUESTION))}; declined: ${why}`);
    return { action: "decline" };
  };
  if (!asker) return decline("there is no one to ask");
  const question = { message: asked.message, url: asked.url, requested_schema: asked.requestedSchema };
  const told = await fireHook(asker.turn, "Elicitation", { ...about, ...question });
  if (told.blocked !== undefined) return decline(`a hook said no: ${told.blocked}`);
  if (!askPerson) return decline("there is no one to ask");
  const content = asked.mode === "url" ? {} : proposed(asked.requestedSchema ?? {});
  if (typeof content === "string") return decline(`it wants ${content} to be typed, and an approval is yes or no`);
  if (asked.message.length + JSON.stringify(content).length > LONGEST_QUESTION)
    return decline(`the question and what it proposes have more than ${LONGEST_QUESTION} characters`);
  const input = {
    server: server.name,
    message: asked.message,
    ...(asked.mode === "url" ? { url: asked.url } : { answer: content }),
  };
  const { turn, callId } = asker;
  const name = `mcp__${server.name}`;
  const answer = await askPerson(
    { call: { type: "call", id: `${callId}.ask`, name, input }, tool: { ...QUESTION, name }, input, turn },
    {
      decision: "ask",
      code: "tool",
      firm: true,
      reason: `the MCP server ${server.name} asks: ${asked.message.replaceAll(/\s+/g, " ")}`,
    },
  );
  if (!answer) return decline("there is no one to ask");
  if (answer.decision === "deny") return decline(answer.reason);
  const accepted: Elicited = { action: "accept", ...(asked.mode !== "url" && { content }) };
  const after = await fireHook(turn, "ElicitationResult", { ...about, ...accepted });
  return after.blocked === undefined ? accepted : decline(`a hook said no: ${after.blocked}`);
}

/** Stands for the question where a tool would: it is never run. */
const QUESTION = {
  description: "",
  schema: () => {
    throw new Error("a question has no schema");
  },
  effect: "external" as const,
  execute: async () => ({ content: "", isError: true }),
};

type Proposal = NonNullable<Extract<Elicited, { action: "accept" }>["content"]>;

/** What a yes means, field by field; or the name of one that only typing could answer. */
function proposed({ properties = {}, required = [] }: NonNullable<Elicitation["requestedSchema"]>): Proposal | string {
  const content: Proposal = {};
  for (const [name, field] of Object.entries(properties)) {
    if (field.default !== undefined) content[name] = field.default as Proposal[string];
    else if (field.type === "boolean") content[name] = true;
    else if (required.includes(name)) return name;
  }
  return content;
}
