// Names of servers and of their tools, as providers take them.
import { createHash } from "node:crypto";

const LONGEST = 64;

export const cleanName = (name: string): string => name.trim().replaceAll(/[^A-Za-z0-9_-]/g, "_");

/** `__` ends a server's name in those of its tools: it has none in it, nor `_` at its edges. A rule for `docs` else spoke of `docs__other` too. */
export const cleanServerName = (name: string): string =>
  cleanName(name).replaceAll(/_{2,}/g, "_").replaceAll(/^_|_$/g, "");

/** `mcp__server__tool`. Contract: the same for the same names; one that is too long ends with a part of its hash. */
export function toolName(server: string, tool: string): string {
  const name = `mcp__${cleanServerName(server)}__${cleanName(tool)}`;
  if (name.length <= LONGEST) return name;
  const mark = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 6);
  return `${name.slice(0, LONGEST - mark.length - 1)}_${mark}`;
}

/** The tool that connects a server. */
export const CONNECT_MCP = "connect_mcp";
