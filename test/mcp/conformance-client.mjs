// The client that the official conformance suite drives, on the connection code of the mechanism. By hand:
//   npx -y @modelcontextprotocol/conformance@0.2.0-alpha.12 client --command "node test/mcp/conformance-client.mjs" --requirements 2026-07-28
// The suite appends the address of its server.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { connect } from "../../src/mechanisms/mcp/connection.ts";
import { elicit } from "../../src/mechanisms/mcp/elicitation.ts";
import { keptLogin, loginTo } from "../../src/mechanisms/mcp/login.ts";

const url = process.argv.at(-1);
const stateDir = fs.mkdtempSync(path.join(os.tmpdir(), "conformance-"));
const { client_id: clientId, client_secret: clientSecret } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const oauth = clientId && { clientId, ...(clientSecret && { clientSecret }) };
const server = {
  name: "suite",
  source: "suite",
  repository: false,
  timeoutMs: 10_000,
  transport: { kind: "http", url, headers: {}, ...(oauth && { oauth }) },
};
const { signal } = new AbortController();
const house = { root: process.cwd(), env: {}, version: "1", stateDir };
/** A person who says yes. */
const askPerson = async () => ({ decision: "allow" });
const asker = { turn: {}, callId: "c1", tell: () => undefined };

const open = () =>
  connect(server, {
    house,
    elicit: (asked) => elicit(asked, { server, asker, askPerson }),
    authProvider: keptLogin(server, stateDir),
    signal,
  });
/** The person's browser goes where it is sent. */
const login = () => loginTo(server, { stateDir, version: "1", signal, onAddress: (address) => void fetch(address) });

const EXAMPLES = { string: "text", number: 1, integer: 1, boolean: true, array: [], object: {} };
/** What is asked for, and nothing else. */
const argumentsFor = ({ properties = {}, required = [] }) =>
  Object.fromEntries(
    required.map((name) => [name, properties[name]?.default ?? EXAMPLES[properties[name]?.type] ?? "text"]),
  );

async function run(logins) {
  const again = async () => {
    if (logins === 0) throw new Error("still not let in");
    await login();
    return run(logins - 1);
  };
  const opened = await open();
  if (opened.kind === "login") return again();
  if (opened.kind !== "done") throw new Error(JSON.stringify(opened));
  const connection = opened.value;
  try {
    const listed = await connection.tools();
    if (listed.kind === "login") return await again();
    for (const { tool, schema } of listed.kind === "done" ? listed.value : []) {
      const given = argumentsFor(schema);
      const outcome = await connection.call(tool, given, { signal });
      if (outcome.kind === "login") return await again();
      // Once more with letters that a header cannot carry as they are.
      const odd = Object.keys(given).filter(
        (name) => schema.properties[name]?.["x-mcp-header"] && typeof given[name] === "string",
      );
      if (odd.length > 0)
        await connection.call(
          tool,
          { ...given, ...Object.fromEntries(odd.map((name) => [name, "日本 ✓"])) },
          { signal },
        );
      console.error(tool, JSON.stringify(outcome).slice(0, 300));
    }
  } finally {
    await connection.close();
  }
}

try {
  await run(2);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  fs.rmSync(stateDir, { recursive: true, force: true });
}
