// What providers have cached stays of use: each request of a conversation begins with the bytes of the one before it, in whichever process it is
// made. Through the command line, three processes a wire: one is killed in the middle of a tool loop, two take it up again.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type ModelServer, startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRound } from "../../src/testing/model-server-script.ts";
import { type Exited, runCli, startCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { scratch } from "../turn.ts";

const FAKE = { command: "node", args: ["server.mjs", "plan.json", "log"] };

/** A project with all that a system prompt is made of. */
function furnish(cwd: string, { server }: { server: boolean }): void {
  const write = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(cwd, file)), { recursive: true });
    fs.writeFileSync(path.join(cwd, file), text);
  };
  write("AGENTS.md", "Use tabs.\n");
  write("src/AGENTS.md", "Here use spaces.\n");
  write("src/a.txt", "one\n");
  for (const name of ["zebra", "ant"])
    write(
      `.holdfast/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: About the ${name}.\n---\nA ${name}.\n`,
    );
  if (!server) return;
  fs.copyFileSync(path.join(import.meta.dirname, "../mcp/fake-server.mjs"), path.join(cwd, "server.mjs"));
  write("plan.json", JSON.stringify({ tools: [{ name: "zoom" }, { name: "look" }] }));
  write(".mcp.json", JSON.stringify({ mcpServers: { fake: FAKE } }));
}

const think = (text: string) => ({ reasoning: { text, signature: `signed ${text}` } });
const CONNECT: ScriptRound = { ...think("servers"), calls: [{ name: "connect_mcp", input: { name: "fake" } }] };
const rounds: ScriptRound[] = [
  {
    ...think("look"),
    calls: [
      { name: "read_file", input: { path: "src/a.txt" } },
      { name: "remember", input: { name: "tabs", description: "tabs", text: "tabs are wanted" } },
    ],
  },
  { ...think("act"), calls: [{ name: "bash", input: { command: "echo hello" } }] },
  { ...think("again"), calls: [{ name: "read_file", input: { path: "src/a.txt" } }], faults: [{ pauseAt: 1 }] },
  { text: "one" },
  { text: "two" },
];

/** The parts that are cached, in their order, without the marks, which move. */
function partsOf({ api, body }: ReturnType<ModelServer["log"]>["requests"][number]) {
  const text = (part: unknown) => (JSON.stringify(part) ?? "").replaceAll(',"cache_control":{"type":"ephemeral"}', "");
  // More blocks may come into the last message where no reply is between.
  const end = api === "anthropic" ? "]}]" : "]";
  const messages = text(body.messages ?? body.input);
  expect(messages.endsWith(end)).toBe(true);
  return {
    tools: text(body.tools),
    system: text(body.system ?? body.instructions),
    messages: messages.slice(0, -end.length),
  };
}

test.each(["anthropic/mock", "openai-compatible/mock", "openai-responses/mock"])(
  "%s: after -c, -r and kill -9 each request begins with the bytes of the one before it",
  async (model) => {
    const hasServer = model.startsWith("anthropic/"); // one wire is enough: it costs a process each time
    const server = await startModelServer({ script: hasServer ? [CONNECT, ...rounds] : rounds });
    onTestFinished(() => server.close());
    const opts = {
      cwd: scratch(onTestFinished),
      state: scratch(onTestFinished),
      env: { ANTHROPIC_BASE_URL: server.anthropicUrl, OPENAI_BASE_URL: server.openaiUrl, ...KEYS },
    };
    furnish(opts.cwd, { server: hasServer });
    const flags = ["--model", model, "--permission-mode", "bypass", "--trust", "--output-format", "json"];
    const first = startCli(["-p", "begin", ...flags], opts);
    await server.paused();
    first.child.kill("SIGKILL");
    await first.exited;
    server.release();
    const resumed = await runCli(["-p", "-c", ...flags], opts);
    const id = answer(resumed).session_id;
    const again = answer(await runCli(["-p", "-r", id, "and now?", ...flags], opts));
    expect([answer(resumed).result, again.result, server.log().invalid]).toEqual(["one", "two", []]);

    const parts = server.log().requests.map(partsOf);
    const broken = parts.flatMap((now, i) => {
      const before = parts[i - 1];
      if (!before || now.messages.startsWith(before.messages)) return [];
      return [{ request: i + 1, before: before.messages, now: now.messages }];
    });
    expect(broken).toEqual([]);
    expect(new Set(parts.map(({ system }) => system)).size).toBe(1);
    // The server is connected in the first round: its tools come with the second request, and stay where nobody connects it again.
    const tools = parts.map((one) => one.tools === parts[1]!.tools);
    expect(tools).toEqual([!hasServer, ...parts.slice(1).map(() => true)]);
    expect(/mcp__fake__zoom.*mcp__fake__look/.test(parts[1]!.tools)).toBe(hasServer);
    expect(parts[0]!.system + parts[0]!.messages).toMatch(/Use tabs.*About the ant.*About the zebra/s);
    expect(parts.at(-1)!.messages).toMatch(/Here use spaces.*hello/s);
    expect([answer(resumed).usage.cache_breaks, again.usage.cache_breaks]).toEqual([undefined, undefined]);
  },
);

function answer({ code, stdout, stderr }: Exited): {
  result: string;
  session_id: string;
  usage: { cache_breaks?: object };
} {
  expect([code, stderr]).toEqual([0, stderr]);
  return JSON.parse(stdout);
}
