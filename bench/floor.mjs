// The zero line: the least that a plain Node agent loop can cost. No state, no permissions, two tools.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";

const [base, prompt] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
const tool = (name, key) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { [key]: { type: "string" } }, required: [key] } },
});
const tools = [tool("bash", "command"), tool("read_file", "path")];
const messages = [
  { role: "system", content: "You are a coding agent." },
  { role: "user", content: prompt },
];

function ask() {
  const body = JSON.stringify({ model: "mock", stream: true, tools, messages });
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const request = http.request(`${base}/chat/completions`, { method: "POST", agent, headers }, (response) => {
      let buffer = "";
      let text = "";
      const calls = [];
      response.setEncoding("utf8");
      response.on("data", (data) => {
        buffer += data;
        for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
          const line = buffer.slice(0, end);
          buffer = buffer.slice(end + 2);
          if (!line.startsWith("data: {")) continue;
          const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
          text += delta?.content ?? "";
          for (const c of delta?.tool_calls ?? []) calls.push(c);
        }
      });
      response.on("end", () => resolve({ text, calls }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

const bash = (command) =>
  new Promise((resolve) => {
    const child = spawn("/bin/bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let out = "";
    child.stdout.on("data", (d) => (out += d));
    child.on("close", () => resolve(out));
  });

for (;;) {
  const { text, calls } = await ask();
  if (calls.length === 0) {
    console.log(text);
    process.exit(0);
  }
  messages.push({ role: "assistant", content: null, tool_calls: calls.map(({ index: _, ...c }) => c) });
  for (const call of calls) {
    const input = JSON.parse(call.function.arguments);
    const content = call.function.name === "bash" ? await bash(input.command) : fs.readFileSync(input.path, "utf8");
    messages.push({ role: "tool", tool_call_id: call.id, content });
  }
}
