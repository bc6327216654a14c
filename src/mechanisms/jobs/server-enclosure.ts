// The walls around the process of a repository's MCP server: those of a command, with the network and a home of its own that is kept.
import { join } from "node:path";
import { createSandbox, JOBS_SEEN, type SandboxOptions } from "./sandbox.ts";

/** What goes before the server's command. Its packages and settings are kept from one start to the next. */
export function serverEnclosure({ bwrap, ...opts }: SandboxOptions & { bwrap: string }, server: string): string[] {
  const enclose = createSandbox(bwrap, { ...opts, dir: join(opts.dir, "mcp"), network: true });
  const spec = { context: server, agent: "", callId: "", command: "", cwd: opts.root, background: true };
  const { outer, wrap } = enclose(spec);
  return [...outer, "--dir", JOBS_SEEN, "--", ...wrap];
}
