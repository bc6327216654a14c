// What the model reads of a request to a server: its result, or in one line what became of it and what to do.
import { MAX_IMAGE_BYTES, mediaTypeOf } from "../../file-access/media-type.ts";
import type { ToolOutput } from "../../loop/seams.ts";
import type { Content } from "../../models/model.ts";
import type { Outcome, ServerResult } from "./connection.ts";
import type { McpServer } from "./port.ts";

/** Why there is none. `acted`: the call may have had its effect. */
export function withoutResult(
  server: McpServer,
  outcome: Exclude<Outcome<unknown>, { kind: "done" }>,
  { what, acted = false }: { what: string; acted?: boolean },
): ToolOutput {
  const look = acted ? " Its effect is unknown: look before you repeat it." : "";
  const where = `the MCP server ${server.name} (${server.source})`;
  const says = () => {
    switch (outcome.kind) {
      case "error":
        return `${what} failed: ${outcome.says}`;
      case "ended": {
        const again =
          outcome.pauseMs === undefined
            ? "The next call starts it again; if that fails too, go on without it and say so."
            : `It is tried again in ${Math.ceil(outcome.pauseMs / 1000)} s: go on without it, or wait.`;
        return `${what} failed: ${where} is not there: ${outcome.says}.${look} ${again}`;
      }
      case "timeout": {
        const printed = outcome.said === undefined ? "" : ` (it said: ${outcome.said})`;
        const more = outcome.ms === server.timeoutMs ? ' "timeout" of the server, in milliseconds, allows more.' : "";
        return `${what} failed: ${where} did not answer within ${outcome.ms / 1000} s${printed}.${look}${more}`;
      }
      case "aborted":
        return `${what} was interrupted; the server was told.${look}`;
      case "login":
        return `${what} failed: ${where} wants a login: the user runs \`holdfast mcp login ${server.name}\`.`;
    }
  };
  return { content: says(), isError: true };
}

export function outputOf(
  { content = [], structuredContent, isError }: ServerResult,
  notes: readonly string[],
): ToolOutput {
  const parts = content.map(partOf);
  if (parts.length === 0 && structuredContent !== undefined)
    parts.push({ type: "text", text: JSON.stringify(structuredContent, null, 1) });
  if (parts.length === 0) parts.push({ type: "text", text: "(no content)" });
  for (const note of notes) parts.push({ type: "text", text: `(${note})` });
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const whole = texts.length === parts.length ? texts.join("\n") : parts;
  return { content: whole, ...(isError === true && { isError }) };
}

/** Contract: only what providers take, called what it is: one that they refuse would be refused with every later request of the conversation. */
function imageOf(data: string): Content | undefined {
  if (data.length > MAX_IMAGE_BYTES * 1.4) return undefined;
  const bytes = Buffer.from(data, "base64");
  const mediaType = mediaTypeOf(bytes);
  if (!mediaType?.startsWith("image/") || bytes.length > MAX_IMAGE_BYTES) return undefined;
  return { type: "image", mediaType, data: bytes.toString("base64") };
}

function partOf(block: NonNullable<ServerResult["content"]>[number]): Content {
  const text = (says: string): Content => ({ type: "text", text: says });
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return imageOf(block.data) ?? text(`[an image of type ${block.mimeType}, which cannot be shown]`);
    case "audio":
      return text(`[audio of type ${block.mimeType}, which cannot be shown]`);
    case "resource_link":
      return text(`[${block.name}: ${block.uri}${block.description ? `: ${block.description}` : ""}]`);
    case "resource":
      return text(resourceText(block.resource));
    default:
      return text(`[${(block as { type: string }).type}, which cannot be shown]`);
  }
}

export function resourceText(
  resource: { uri: string; mimeType?: string | undefined } & ({ text: string } | { blob: string }),
): string {
  if ("text" in resource) return `${resource.uri}:\n${resource.text}`;
  return `[${resource.uri}: ${Math.floor((resource.blob.length * 3) / 4)} bytes of ${resource.mimeType ?? "data"}, which are not shown]`;
}
