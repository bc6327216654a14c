// Runs of the command line that show every kind of line of stream-json: what it prints is looked at by several tests.
import fs from "node:fs";
import { startModelServer } from "../../src/testing/model-server.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { type RunningCli, startCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { tempDir } from "../house.ts";

// biome-ignore lint/suspicious/noExplicitAny: a line of stream-json, whatever it says
export type Line = any;

export interface Recording {
  cwd: string;
  state: string;
  /** One conversation: tools, a refused call, background work, a subagent, a refusal, limits, failures, a hook, an interrupted tool. */
  conversation: Line[];
  /** A budget that is spent. */
  budget: Line[];
  /** Interrupted while the model spoke. */
  interrupted: Line[];
}

const call = (name: string, input: object) => ({ name, input });
/** Ends when it is told to: after the subtask beside it. */
export const JOB = "until test -e go; do sleep 0.05; done; echo ready; exit 3";
const usage = { input: 100, output: 10, cacheRead: 50, cacheWrite: 20 };

/** What the lead says in each turn, by the word that the turn begins with. */
const TURNS: Record<string, (ScriptRound | ((request: ScriptRequest) => ScriptRound))[]> = {
  TOOLS: [
    {
      reasoning: { text: "Let me look.", signature: "c2lnbmVk" },
      text: "Looking.",
      calls: [
        call("read_file", { path: "a.txt" }),
        call("write_file", { path: "../outside.txt", content: "x" }),
        call("bash", { command: "cd sub" }),
      ],
      usage,
      faults: [{ status: 529, type: "overloaded_error", message: "busy" }],
    },
    { calls: [call("read_file", { path: "b.txt" })], usage },
    { text: "It says hello.", usage, faults: [{ errorAt: 4, type: "overloaded_error" }] },
  ],
  BACKGROUND: [
    {
      calls: [
        call("bash", { command: JOB, run_in_background: true }),
        call("task", { description: "look around", prompt: "SUBTASK beside", background: true }),
      ],
      usage,
    },
    { text: "started", usage },
  ],
  SUBAGENT: [
    { calls: [call("task", { description: "look inside", prompt: "SUBTASK here" })], usage },
    { text: "the subagent is done", usage },
  ],
  REFUSED: [{ text: "I started", finish: "refused", usage }],
  OVERFLOW: [
    { calls: [call("read_file", { path: "../long.txt" })], usage: { input: 3000, output: 5 } },
    { calls: [call("glob", { pattern: "*.txt" })], usage: { input: 9000, output: 5 } },
    {
      text: "fits again",
      faults: [{ status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum" }],
      usage,
    },
  ],
  ROUNDS: [({ round }) => ({ calls: [call("glob", { pattern: `*.${round}` })], usage })],
  REPEATED: [{ calls: [call("glob", { pattern: "*.none" })], usage }],
  FALLBACK: [
    { text: "from another model", usage, faults: [1, 2, 3].map(() => ({ status: 529, type: "overloaded_error" })) },
  ],
  BLOCKED: [{ text: "never asked" }],
  FAILED: [{ faults: [{ status: 401, type: "authentication_error", message: "invalid x-api-key" }] }],
  CUT: [{ calls: [call("bash", { command: "echo begun; sleep 30" })], usage }],
};

export const TURN_WORDS = Object.keys(TURNS);

const textsOf = (content: string | { type: string; text?: string }[]): string[] =>
  typeof content === "string" ? [content] : content.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : []));

function script(request: ScriptRequest): ScriptRound {
  const messages: { role: string; content: string | { type: string; text?: string }[] }[] = request.body.messages;
  const said = messages.map(({ role, content }) => (role === "user" ? textsOf(content) : []));
  const pause = { faults: [{ pauseAt: 0 }] };
  const subtask = said[0]!.find((text) => text.includes("SUBTASK"));
  if (subtask && request.round === 0)
    return {
      ...{ text: "Searching.", calls: [call("glob", { pattern: "*.txt" })], usage },
      ...(subtask.includes("beside") && pause),
    };
  if (subtask) return { text: "two files", usage };
  const wordOf = (text: string) => TURN_WORDS.find((word) => text.startsWith(word));
  const asked = (texts: string[]) => texts.map(wordOf).findLast((word) => word !== undefined);
  const from = said.findLastIndex((texts) => asked(texts) !== undefined);
  const round = messages.slice(from).filter(({ role }) => role === "assistant").length;
  const turn = TURNS[asked(said[from]!)!]!;
  const next = turn[Math.min(round, turn.length - 1)]!;
  const isWoken = round >= turn.length && turn.length > 1;
  if (isWoken) return { text: "noted", usage, ...(said.at(-1)!.join().includes("<status>failed") && pause) };
  return typeof next === "function" ? next(request) : next;
}

const MODEL = ["--model", "anthropic/claude-sonnet-5-5", "--output-format", "stream-json"];

export async function record(): Promise<Recording> {
  const cwd = fs.realpathSync(tempDir("project"));
  const state = tempDir("state");
  const server = await startModelServer({ script });
  const env = {
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    ANTHROPIC_API_KEY: KEYS.ANTHROPIC_API_KEY,
    HOLDFAST_RETRY_BASE_MS: "1",
  };
  const hook = {
    hooks: [{ type: "command", command: "grep -q BLOCKED && { echo no such words >&2; exit 2; } || exit 0" }],
  };
  const starting = [`echo '{"systemMessage":"mind the gap"}'`, "echo broken >&2; exit 3"].map((command) => ({
    hooks: [{ type: "command", command }],
  }));
  const hooks = { UserPromptSubmit: [hook], SessionStart: starting };
  fs.mkdirSync(`${state}/.config/holdfast`, { recursive: true });
  fs.writeFileSync(`${state}/.config/holdfast/settings.json`, JSON.stringify({ hooks }));
  fs.mkdirSync(`${cwd}/sub`);
  fs.writeFileSync(`${cwd}/a.txt`, "hello\n");
  fs.writeFileSync(`${cwd}/sub/b.txt`, "in a folder\n");
  fs.writeFileSync(`${cwd}/long.txt`, "a long line of text\n".repeat(50));
  try {
    const start = (...args: string[]) =>
      following(startCli(["-p", ...MODEL, ...args], { cwd, state, env, keepStdin: args.includes("--input-format") }));
    const both = ["--input-format", "stream-json", "--include-partial-messages", "--replay-user-messages"];
    const talk = start(...both, "--max-rounds", "7", "--fallback-model", "anthropic/claude-haiku-4-5");
    for (const word of TURN_WORDS) {
      const before = talk.lines.length;
      const later = () => talk.lines.slice(before);
      talk.say(word);
      if (word === "CUT") {
        await talk.until(() => later().some(isAssistant));
        talk.running.child.kill("SIGINT");
      }
      if (word === "SUBAGENT") {
        await talk.until(() => later().some((line) => line.isReplay));
        server.release(); // the turn that the job began: it takes this in too
      }
      await talk.until(() => later().some(isResult));
      if (word === "BACKGROUND") {
        await server.paused();
        server.release(); // the subtask
        await talk.until(() => later().filter(isResult).length === 2);
        fs.writeFileSync(`${cwd}/sub/go`, "");
        await server.paused();
      }
    }
    const conversation = await talk.end();

    const budget = await start("--max-budget-usd", "0.0005", "--dangerously-skip-permissions", "ROUNDS").end();

    server.setScript(() => ({ text: "one two three four five six", pieces: 6, faults: [{ pauseAt: 5 }] }));
    const cut = start("--include-partial-messages", "speak");
    await cut.until(() => JSON.stringify(cut.lines).includes("text_delta"));
    cut.running.child.kill("SIGINT");
    const interrupted = await cut.end();
    return { cwd, state, conversation, budget, interrupted };
  } finally {
    await server.close();
  }
}

const isAssistant = (line: Line): boolean => line.type === "assistant";
const isResult = (line: Line): boolean => line.type === "result";

/** A running command line whose lines are looked at while they come. */
function following(running: RunningCli) {
  const lines: Line[] = [];
  let rest = "";
  let look: () => void = () => undefined;
  running.child.stdout!.on("data", (chunk) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop()!;
    lines.push(...parts.map((line) => JSON.parse(line)));
    look();
  });
  const ended = running.exited.then(({ stderr }) => stderr);
  return {
    running,
    lines,
    say(text: string) {
      const message = { role: "user", content: `${text} please` };
      running.child.stdin!.write(`${JSON.stringify({ type: "user", message, uuid: SENT[text] })}\n`);
    },
    /** Contract: rejects when the process ends before it holds. */
    until: (holds: () => boolean) =>
      new Promise<void>((resolve, reject) => {
        look = () => holds() && resolve();
        look();
        ended.then((stderr) => reject(new Error(`it ended too early: ${stderr}`)));
      }),
    async end(): Promise<Line[]> {
      running.child.stdin!.end();
      await running.exited;
      return lines;
    },
  };
}

/** What the sender calls its message. */
export const SENT: Record<string, string> = { TOOLS: "3f0e6f2c-1111-4222-8333-444455556666" };
