// Asking for approval at the terminal: shows the whole call, takes a line as the answer, and never swallows Ctrl-C.
import { createInterface, type Interface } from "node:readline";
import type { ApprovalAnswer, ApprovalRequest } from "../../mechanisms/approvals/events.ts";
import { previewChange } from "../../mechanisms/files/change-preview.ts";
import { answerBy, type Choice, choicesFor, describeRequest } from "../presentation/approval.ts";
import { ASKED_HERE } from "../presentation/blocks.ts";
import { escaped } from "../presentation/printable.ts";
import { styleFor } from "../presentation/style.ts";
import type { Screen } from "./screen.ts";
import { untilQuiet } from "./until-quiet.ts";

const WITH_REASON = " (n TEXT: no, and the model is told why)";

type Ask = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer | undefined>;

/** Contract: one question at a time; undefined leaves it to others: it was answered elsewhere, the turn was interrupted, or the input has ended. */
export const askingOn =
  (screen: Pick<Screen, "exclusively">, toSee: (requestId: string) => string): Ask =>
  (request, signal) =>
    screen.exclusively(() => ask(request, signal, toSee));

async function ask(
  request: ApprovalRequest,
  signal: AbortSignal,
  toSee: (requestId: string) => string,
): Promise<ApprovalAnswer | undefined> {
  if (signal.aborted) return undefined;
  const style = styleFor(process.stderr, process.env);
  const say = (lines: string[]) => process.stderr.write(`${lines.join("\n")}\n`);
  const change = await previewChange(request);
  const who = escaped(request.agent);
  say(["", style.yellow(style.bold(`${who} asks: may I?`)), ...describeRequest({ request, change, style })]);
  const choices = choicesFor(request);
  if (!(await typedBefore(signal))) return undefined;
  say(choices.map(({ key, scope, says }) => `  ${style.bold(`[${key}]`)} ${says}${scope === "no" ? WITH_REASON : ""}`));
  const answer = await readAnswer(choices, signal);
  if (answer) say([style.dim(`  ${outcomeOf(answer)}`), ""]);
  else if (signal.aborted) say(["", style.dim("  (no longer asked)")]);
  else say(["", style.dim(`  (left open; see it with: ${toSee(request.requestId)})`)]);
  return answer;
}

function outcomeOf({ decision, remember, keeps, reason }: ApprovalAnswer): string {
  if (decision === "deny") return reason === undefined ? "refused" : "refused; the model is told why";
  if (keeps) return `allowed; in this context from now on: ${escaped(keeps.rule)}`;
  return remember ? "allowed, and in this context again" : "allowed this once";
}

/** Contract: false when it need not be asked any more. Whatever is typed until somebody can have read it is dropped, but for Ctrl-C. */
async function typedBefore(signal: AbortSignal): Promise<boolean> {
  const { stdin } = process;
  if (!stdin.isTTY) return true; // whoever pipes answers in means them
  const pressed = new AbortController();
  const look = (typed: Buffer) => typed.includes(CTRL_C) && pressed.abort();
  // As keys: the terminal would keep a half line to itself, and give it with the Enter that comes later.
  stdin.setRawMode(true);
  stdin.on("data", look).resume();
  const isQuiet = await untilQuiet(stdin, AbortSignal.any([signal, pressed.signal]));
  stdin.removeListener("data", look);
  stdin.pause();
  stdin.setRawMode(false);
  if (pressed.signal.aborted) interrupt();
  return isQuiet;
}

const CTRL_C = 3;

/** As if the terminal had sent it: while a line is read, it comes as a key. */
function interrupt(): void {
  if (!process.emit("SIGINT", "SIGINT")) process.exit(130);
}

async function readAnswer(choices: Choice[], signal: AbortSignal): Promise<ApprovalAnswer | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (;;) {
      const typed = await nextLine(lines, signal);
      if (typed === undefined) return undefined;
      const answer = lineAnswer(typed, choices);
      if (answer) return answer;
      process.stderr.write(`  answer with ${choices.map(({ key }) => key).join(", ")}\n`);
    }
  } finally {
    lines.close();
  }
}

/** Undefined: interrupted, no longer asked, or no more input. */
function nextLine(lines: Interface, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const end = (line?: string) => {
      signal.removeEventListener("abort", stop);
      lines.removeListener("SIGINT", pressed).removeListener("close", stop).removeListener("line", end);
      resolve(line);
    };
    const stop = () => end();
    const pressed = () => {
      end();
      interrupt();
    };
    if (signal.aborted) return end();
    signal.addEventListener("abort", stop, { once: true });
    lines.on("line", end).on("close", stop).on("SIGINT", pressed);
    lines.setPrompt("  > ");
    lines.prompt();
  });
}

/** What a typed line answers. Contract: a line that is not one of the answers, whole, answers nothing. */
export function lineAnswer(typed: string, choices: readonly Choice[]): ApprovalAnswer | undefined {
  const [, word = "", rest = ""] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(typed) ?? [];
  const key = word.toLowerCase().replace(/[,:;.]$/, "");
  const chosen = choices.find((choice) => choice.key === key || WORDS[choice.scope] === key);
  // Only a no goes on: whoever says more to a yes means something else.
  if (!chosen || (chosen.scope !== "no" && rest !== "")) return undefined;
  return answerBy(chosen, { from: ASKED_HERE, ...(rest !== "" && { reason: rest }) });
}

const WORDS: Record<Choice["scope"], string> = { once: "yes", exactly: "always", rule: "rule", no: "no" };
