// An MCP server over stdio, in plain Node: searches and reads the Markdown pages of a folder. `node server.mjs [FOLDER]`, default: the docs of this repository.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";

const folder = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, "../../docs"));

const TOOLS = [
  {
    name: "search",
    description: "Search the documentation. Returns the pages and the lines that have the words.",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string", description: "words, such as: agent loop" } },
      required: ["query"],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: "read",
    description: "Read one page of the documentation.",
    inputSchema: {
      type: "object",
      properties: { page: { type: "string", description: "its name, such as architecture.md" } },
      required: ["page"],
    },
    annotations: { readOnlyHint: true },
  },
];

const pages = () => fs.readdirSync(folder).filter((name) => name.endsWith(".md"));
const text = (says, isError = false) => ({ content: [{ type: "text", text: says }], ...(isError && { isError }) });

function read(page) {
  const name = path.basename(String(page));
  return pages().includes(name) ? fs.readFileSync(path.join(folder, name), "utf8") : undefined;
}

/** Pages with all the words first, then those with most. */
function search(query) {
  const words =
    String(query)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const hits = pages().flatMap((page) => {
    const lines = read(page).split("\n");
    const found = words.filter((word) => lines.some((line) => line.toLowerCase().includes(word)));
    const best = lines
      .map((line, i) => ({ line, at: i + 1, score: words.filter((word) => line.toLowerCase().includes(word)).length }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, 3);
    return found.length === 0 ? [] : [{ page, best, score: found.length * 100 + (best[0]?.score ?? 0) }];
  });
  return hits
    .sort((a, b) => b.score - a.score)
    .slice(0, 5)
    .map(({ page, best }) => [page, ...best.map(({ at, line }) => `  ${at}: ${line.trim()}`)].join("\n"))
    .join("\n");
}

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "docs", version: "1.0.0" },
    instructions: "Search first, then read the page that fits best.",
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ name, arguments: given = {} }) => {
    if (name === "search") return text(search(given.query) || `No page has ${given.query}.`);
    if (name !== "read") throw Object.assign(new Error(`unknown tool ${name}`), { code: -32602 });
    const page = read(given.page);
    return page === undefined ? text(`There is no page ${given.page}. Pages: ${pages().join(", ")}`, true) : text(page);
  },
  "resources/list": () => ({
    resources: pages().map((name) => ({ uri: `docs://${name}`, name, mimeType: "text/markdown" })),
  }),
  "resources/read": ({ uri }) => {
    const page = read(String(uri).replace(/^docs:\/\//, ""));
    if (page === undefined) throw Object.assign(new Error(`there is no ${uri}`), { code: -32002 });
    return { contents: [{ uri, mimeType: "text/markdown", text: page }] };
  },
  "prompts/list": () => ({
    prompts: [{ name: "explain", description: "Explain a topic", arguments: [{ name: "topic", required: true }] }],
  }),
  "prompts/get": ({ arguments: given = {} }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Explain ${given.topic}, from the documentation.` } }],
  }),
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  if (line.trim() === "") continue;
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue; // a notification
  const answer = { jsonrpc: "2.0", id };
  try {
    if (!Object.hasOwn(METHODS, method)) throw Object.assign(new Error(`no ${method} here`), { code: -32601 });
    answer.result = METHODS[method](params);
  } catch (error) {
    answer.error = { code: error.code ?? -32603, message: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
