// The benchmark's model: answers at once, N rounds of one call each, then DONE. Measures the gap between an answer and the next request.
import http from "node:http";
import { performance } from "node:perf_hooks";

export function startModel({ rounds, tool, root }) {
  const gaps = [];
  const bytes = [];
  let first;
  let last;
  let n = 0;
  const now = () => performance.timeOrigin + performance.now();
  const server = http.createServer((request, response) => {
    const arrival = now();
    let size = 0;
    request.on("data", (chunk) => (size += chunk.length));
    request.on("end", () => {
      first ??= arrival;
      if (last !== undefined) gaps.push(arrival - last);
      bytes.push(size);
      n++;
      const input =
        tool === "bash"
          ? { command: `echo o''k-${n}` }
          : { path: `${root}/f${String(((n - 1) % 200) + 1).padStart(3, "0")}.txt` };
      const call = {
        index: 0,
        id: `call_${n}`,
        type: "function",
        function: { name: tool, arguments: JSON.stringify(input) },
      };
      const delta = n <= rounds ? { tool_calls: [call] } : { content: "DONE" };
      const chunk = (d, finish = null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: d, finish_reason: finish }] })}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      last = now();
      response.end(
        `${chunk({ role: "assistant" })}${chunk(delta)}${chunk({}, n <= rounds ? "tool_calls" : "stop")}data: [DONE]\n\n`,
      );
    });
  });
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}/v1`,
        result: () => ({ first, gaps, bytes }),
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      }),
    ),
  );
}
