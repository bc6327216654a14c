// Owns the text format: the answer on stdout, what happens on the way on stderr.
import type { HarnessEvent, RunResult } from "../harness.ts";
import type { Fact } from "../ledger/events.ts";
import type { StoredEvent } from "../ledger/store.ts";
import type { loopEvents } from "../loop/events.ts";
import { LEAD } from "../loop/host.ts";
import type { AgentView } from "../loop/seams.ts";
import type { compactionEvents } from "../mechanisms/compaction/index.ts";
import type { recoveryEvents } from "../mechanisms/recovery/events.ts";
import type { teamEvents } from "../mechanisms/team/events.ts";
import { type ReplyPart, textOf } from "../models/model.ts";
import { oneLine, printable } from "./printable.ts";

export interface Output {
  init(info: {
    context: string;
    model: string;
    cwd: string;
    tools: string[];
    /** The types of agents there are; only looked up for a format that says them. */
    agents: string[];
    permissionMode: string;
    lead: AgentView;
  }): void;
  event(event: HarnessEvent): void;
  /** An input is durable. */
  accepted?(input: { message: unknown; uuid?: string }): void;
  result(result: RunResult): void;
}

const RESULT_LINES = 12;

/** What is shown; the rest passes by. */
type Shown = Fact<typeof loopEvents & typeof teamEvents & typeof recoveryEvents & typeof compactionEvents>;

export function createTextOutput(opts: { quiet: boolean; debug: boolean }): Output {
  const calls = new Map<string, Extract<ReplyPart, { type: "call" }>>();
  const tell = (line: string) => {
    if (!opts.quiet) process.stderr.write(`${line}\n`);
  };

  function show(event: StoredEvent): void {
    const { actor, type, data } = event as Shown;
    const say = (line: string) => tell(actor === LEAD ? line : indented(actor, line));
    switch (type) {
      case "reply.received": {
        const asked = data.parts.filter((part) => part.type === "call");
        for (const call of asked) calls.set(`${actor} ${call.id}`, call);
        const text = textOf(data.parts);
        if (asked.length > 0 && text.trim() !== "") say(printable(text));
        break;
      }
      case "tool.finished": {
        const call = calls.get(`${actor} ${data.callId}`);
        say(`● ${data.name} ${call ? oneLine(argumentsOf(call.input), 100) : ""}`.trimEnd());
        const lines = printable(data.display ?? textOf(data.content))
          .trimEnd()
          .split("\n");
        for (const line of lines.slice(0, RESULT_LINES)) say(`  ${data.isError ? "✗ " : ""}${line}`);
        if (lines.length > RESULT_LINES) say(`  … ${lines.length - RESULT_LINES} more lines`);
        break;
      }
      case "input.blocked":
        say(`✗ not taken: ${oneLine(data.reason)}`);
        break;
      case "note.added":
        say(`· ${oneLine(data.text)}`);
        break;
      case "message.sent":
        if (data.to === "user" || data.to === "*") tell(`✉ ${actor}: ${printable(data.content)}`);
        break;
    }
  }

  return {
    init: () => undefined,
    event(event) {
      if (event.type === "event") show(event.event);
      else if (event.progress.type === "status" && event.progress.text) tell(`· ${oneLine(event.progress.text, 200)}`);
    },
    result(result) {
      if (result.text !== "") process.stdout.write(`${printable(result.text).trimEnd()}\n`);
    },
  };
}

/** What other agents do stands apart, each line with who does it. */
const indented = (actor: string, text: string): string =>
  text
    .split("\n")
    .map((line) => `  [${actor}] ${line}`)
    .join("\n");

/** The arguments as a person reads them: the one that matters bare, the rest by name. */
function argumentsOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  return Object.entries(input)
    .map(([key, value], i) => {
      const text =
        typeof value === "string" ? value : Array.isArray(value) ? `${value.length} ${key}` : JSON.stringify(value);
      return i === 0 || Array.isArray(value) ? text : `${key}=${text}`;
    })
    .join(" ");
}
