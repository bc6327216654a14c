// An MCP server for tests, over stdio: what it offers and how it behaves stands in the file that it is given, read anew at each list.
import { spawn } from "node:child_process";
import fs from "node:fs";
import readline from "node:readline";

const [file, log] = process.argv.slice(2);
const plan = () => JSON.parse(fs.readFileSync(file, "utf8"));
const note = (line) => fs.appendFileSync(log, `${line}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answers = new Map();
let asked = 0;
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `q${++asked}`;
    answers.set(id, resolve);
    send({ id, method, params });
  });
note(`start ${process.pid}`);
if (plan().fails) process.exit(plan().fails);
if (plan().child) spawn("/bin/sh", ["-c", `sleep 1000; : ${log}`], { stdio: "inherit" });
process.stderr.write("fake server is here\n");

const DEFAULTS = { properties: {}, type: "object" };

async function call({ name, arguments: given = {}, _meta = {} }) {
  note(`call ${name} ${JSON.stringify(given)}`);
  const does = plan().does?.[name] ?? {};
  if (does.progress)
    for (const progress of [1, 2]) {
      send({
        method: "notifications/progress",
        params: { progressToken: _meta.progressToken, progress, total: 2, message: "step" },
      });
      await new Promise((resolve) => setTimeout(resolve, 20)); // in one read with the result the client library drops it
    }
  if (does.last) fs.writeFileSync(file, JSON.stringify({ ...plan(), fails: 7 }));
  if (does.exit) {
    process.stderr.write("out of memory\n");
    process.exit(does.exit);
  }
  if (does.hang) return new Promise(() => undefined);
  if (does.become) fs.writeFileSync(file, JSON.stringify({ ...plan(), tools: does.become }));
  if (does.become) send({ method: "notifications/tools/list_changed" });
  if (does.ask)
    return { content: [{ type: "text", text: JSON.stringify(await ask(does.ask.method, does.ask.params)) }] };
  if (does.env) return { content: [{ type: "text", text: JSON.stringify(process.env) }] };
  if (does.touch) {
    try {
      fs.writeFileSync(does.touch, "x");
    } catch (error) {
      return { content: [{ type: "text", text: error.code }] };
    }
  }
  return does.result ?? { content: [{ type: "text", text: `${name} ${JSON.stringify(given)}` }] };
}

const METHODS = {
  async initialize({ protocolVersion }) {
    const { answersAt, instructions } = plan();
    while (answersAt && !fs.existsSync(answersAt)) await new Promise((resolve) => setTimeout(resolve, 20));
    return {
      protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "fake", version: "1" },
      ...(instructions && { instructions }),
    };
  },
  ping: () => ({}),
  "tools/list": () => ({ tools: plan().tools.map((tool) => ({ inputSchema: DEFAULTS, ...tool })) }),
  "tools/call": call,
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (method === undefined) answers.get(id)?.(result ?? error);
  else if (id === undefined) note(method);
  else
    void Promise.resolve()
      .then(() => {
        if (!Object.hasOwn(METHODS, method)) throw Object.assign(new Error(`no ${method} here`), { code: -32601 });
        return METHODS[method](params);
      })
      .then(
        (done) => send({ id, result: done }),
        ({ code = -32603, message }) => send({ id, error: { code, message } }),
      );
}
