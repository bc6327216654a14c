// What a person names of a server in a prompt: `@server:uri` brings a resource, `/mcp__server__prompt words` a prompt. Both as data.
import { inside, noteText, withoutMarks } from "../../loop/marks.ts";
import type { Input, Turn } from "../../loop/seams.ts";
import { type Content, textOf } from "../../models/model.ts";
import { cutText } from "../../text/cut.ts";
import { fireHook } from "../hooks/port.ts";
import { cleanName } from "./names.ts";
import { resourceText, withoutResult } from "./outcome-text.ts";
import type { McpServer } from "./port.ts";
import type { Servers } from "./servers.ts";

/** Those that the agent sees. */
interface Seen extends Pick<Servers, "open"> {
  find(name: string): McpServer | undefined;
}

const LONGEST = 100_000;
const MOST = 10;
/** At the beginning of a word: `@docs:docs://guide`. */
const RESOURCE = /(?<=^|[\s(])@([A-Za-z0-9_-]+):(?!\s)("[^"\n]+"|\S+)/g;
const PROMPT = /^\/mcp__([A-Za-z0-9_-]+?)__(\S+)(?:\s+([\s\S]*))?$/;

interface Bringing {
  servers: Seen;
  /** What is secret does not come with it. */
  hide: (text: string) => string;
}

export async function brought(
  input: Input,
  turn: Turn,
  { servers, hide }: Bringing,
): Promise<Input | { block: string }> {
  if (input.origin !== "user") return input;
  const hidden = (content: Content): Content =>
    content.type === "text" ? { ...content, text: hide(content.text) } : content;
  const words = textOf(input.content.slice(0, 1)).trim(); // what was typed; the rest is data
  const [, name, prompt, args = ""] = PROMPT.exec(words) ?? [];
  const server = name === undefined ? undefined : servers.find(name);
  if (server) {
    const about = { command_name: `mcp__${name}__${prompt}`, command_args: args, command_source: "mcp", prompt: words };
    const told = await fireHook(turn, "UserPromptExpansion", { expansion_type: "mcp_prompt", ...about });
    if (told.blocked !== undefined) return { block: `blocked by a UserPromptExpansion hook: ${told.blocked}` };
    const notes = (told.context ?? []).map((one) => noteOf("hook", one));
    const text = hidden(await promptOf(server, prompt!, args, turn, servers));
    return { ...input, content: [...input.content, text, ...notes] };
  }
  const content: Content[] = [...input.content];
  for (const [, name, uri] of [...words.matchAll(RESOURCE)].slice(0, MOST)) {
    const of = servers.find(name!);
    if (of) content.push(hidden(await resourceOf(of, uri!, turn, servers)));
  }
  return content.length === input.content.length ? input : { ...input, content };
}

const noteOf = (origin: string, text: string): Content => ({ type: "text", text: `\n${noteText(origin, text)}` });

const failure = (...of: Parameters<typeof withoutResult>): Content => {
  const { content } = withoutResult(...of);
  return noteOf("holdfast", withoutMarks(content as string));
};

async function resourceOf(server: McpServer, given: string, turn: Turn, servers: Seen): Promise<Content> {
  const { signal } = turn;
  const opened = await servers.open(server, { signal, isAsked: true });
  const bare = given.replaceAll('"', "");
  const what = `reading ${bare}`;
  if (opened.kind !== "done") return failure(server, opened, { what });
  const { connection } = opened.value;
  let read = await connection.resource(bare, { signal });
  const trimmed = bare.replace(/[.,;:!?)\]}'"、。！？」）]+$/u, ""); // a sentence may end behind it
  if (read.kind === "error" && trimmed !== bare) read = await connection.resource(trimmed, { signal });
  if (read.kind !== "done") return failure(server, read, { what });
  const text = read.value.contents.map((one) => resourceText(one as Parameters<typeof resourceText>[0])).join("\n\n");
  const origin = `MCP server ${server.name}, ${trimmed.replace(/["<>\n]/g, "?")}`;
  return noteOf(origin, withoutMarks(cutText(text, LONGEST)));
}

/** Words stand for the arguments in the order in which the prompt names them; the last takes the rest. */
async function promptOf(server: McpServer, name: string, words: string, turn: Turn, servers: Seen): Promise<Content> {
  const { signal } = turn;
  const what = `/mcp__${server.name}__${name}`;
  const opened = await servers.open(server, { signal, isAsked: true });
  if (opened.kind !== "done") return failure(server, opened, { what });
  const { connection } = opened.value;
  const listed = await connection.prompts({ signal });
  if (listed.kind !== "done") return failure(server, listed, { what });
  const prompt = listed.value.find((one) => cleanName(one.name) === cleanName(name));
  if (!prompt) {
    const says = `it has no prompt ${name}; there are: ${listed.value.map((one) => one.name).join(", ") || "none"}`;
    return failure(server, { kind: "error", says }, { what });
  }
  const given = await connection.prompt(prompt.name, argumentsOf(prompt.arguments ?? [], words), { signal });
  if (given.kind !== "done") return failure(server, given, { what });
  const text = given.value.messages
    .map(({ role, content }) => {
      const said =
        content.type === "text"
          ? content.text
          : content.type === "resource"
            ? resourceText(content.resource)
            : `[${content.type}]`;
      return role === "assistant" ? `(assistant) ${said}` : said;
    })
    .join("\n\n");
  const safe = inside("mcp_prompt", withoutMarks(cutText(text, LONGEST)));
  return {
    type: "text",
    text: `\n<mcp_prompt server="${server.name}" name="${cleanName(name)}">\n${safe}\n</mcp_prompt>`,
  };
}

function argumentsOf(names: readonly { name: string }[], words: string): Record<string, string> {
  const given = words.trim() === "" ? [] : words.trim().split(/\s+/);
  return Object.fromEntries(
    names
      .slice(0, given.length)
      .map(({ name }, i) => [name, i === names.length - 1 ? given.slice(i).join(" ") : given[i]!]),
  );
}
