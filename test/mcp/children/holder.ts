// A process to be killed: connects the servers that it is given, says so, and waits for its death.
import { serverEnclosure } from "../../../src/mechanisms/jobs/server-enclosure.ts";
import type { McpServer } from "../../../src/mechanisms/mcp/port.ts";
import { createServers } from "../../../src/mechanisms/mcp/servers.ts";
import { sandboxFor } from "../../environment.ts";

const { root, state, servers } = JSON.parse(process.argv[2]!) as { root: string; state: string; servers: McpServer[] };
const sandbox = sandboxFor(state, root);
const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };
const house = {
  root,
  stateDir: state,
  version: "1",
  env,
  encloseServer: sandbox && (async (server: string) => serverEnclosure(sandbox, server)),
};
const pool = createServers(servers, house);
const { signal } = new AbortController();
setInterval(() => undefined, 1000);
const opened = await Promise.all(servers.map((server) => pool.open(server, { signal })));
process.stdout.write(`${opened.map((one) => (one.kind === "ended" ? one.says : one.kind)).join()}\n`);
