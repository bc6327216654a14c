// The terminal in plain lines, for screen readers and terminals that only take lines: nothing is drawn over, no timer, a bell at the end of a turn.
import { createInterface } from "node:readline";
import { LEAD } from "../../loop/agent.ts";
import type { ApprovalAnswer } from "../../mechanisms/approvals/events.ts";
import { previewChange } from "../../mechanisms/files/change-preview.ts";
import { choicesFor, describeRequest } from "../presentation/approval.ts";
import { escaped } from "../presentation/printable.ts";
import { isDumb, PLAIN, styleFor } from "../presentation/style.ts";
import { createTally } from "../presentation/tally.ts";
import { lineAnswer } from "../text/terminal-approval.ts";
import { createRunning } from "./running.ts";
import type { OpenTerminal, TerminalOptions } from "./terminal.ts";
import { createTranscript } from "./transcript.ts";
import type { Panel, Size } from "./view.ts";

const TWICE_MS = 1_500;
const CLEAR_LINE = { ctrl: true, name: "u" };
const ENTER = "\r";
const ESCAPE = "\u001b";
/** Typed alone it leaves a list or a page. */
const LEAVE = ".";

/** Contract: as the drawn one; a panel is printed, and takes the lines that are typed: letters, then Enter. */
export function openPlainTerminal({ keys, status }: TerminalOptions): OpenTerminal {
  const { stdin, stdout } = process;
  const style = isDumb(process.env) ? PLAIN : styleFor(stdout, process.env);
  const size = (): Size => ({ columns: stdout.columns || 80, rows: 1_000 });
  const tally = createTally();
  const running = createRunning({ style, lead: LEAD, now: () => Date.now() });
  const panels: Panel[] = [];
  /** Takes the next lines instead of the prompt: a question stands there. */
  let answering: ((line: string) => void) | undefined;
  const questions: (() => void)[] = [];
  const lines = createInterface({ input: stdin, output: stdout, terminal: !isDumb(process.env), prompt: "> " });
  const print = (more: readonly string[]) => void stdout.write(`${more.join("\n")}\n`);
  const transcript = createTranscript({
    ...{ style, size, running, tally },
    append: print,
    changed: () => undefined,
    isPlain: true,
  });
  let wasWorking = false;

  /** A turn that ended is heard, and then the prompt stands there again. */
  function settle(): void {
    const isWorking = running.isAtWork();
    if (wasWorking && !isWorking) {
      const { model, mode, context = "", spent } = status();
      print([style.dim([model, mode, context, spent].filter(Boolean).join(" · "))]);
      stdout.write("\u0007");
      lines.prompt();
    }
    wasWorking = isWorking;
  }

  function show(panel: Panel): void {
    print(panel.render(size()).lines);
    lines.prompt();
  }

  function open(panel: Panel): () => void {
    panels.push(panel);
    print([style.dim(`(type your choice, then Enter; "${LEAVE}" alone leaves)`)]);
    show(panel);
    return () => {
      const at = panels.indexOf(panel);
      if (at >= 0) panels.splice(at, 1);
    };
  }

  function typed(line: string): void {
    if (answering) {
      answering(line);
      return;
    }
    const panel = panels.at(-1);
    if (!panel) {
      if (line.trim() !== "") keys.submit(line.trim(), { queued: false });
      return;
    }
    const pressed = line.trim() === LEAVE ? [ESCAPE] : [...line, ...(line.length === 1 ? [] : [ENTER])];
    for (const data of pressed) panel.key({ kind: "key", data });
    if (panels.at(-1) === panel) show(panel);
  }

  lines.on("line", typed);
  let pressedAt = 0;
  lines.on("SIGINT", () => {
    const isTwice = Date.now() - pressedAt < TWICE_MS;
    pressedAt = Date.now();
    if (isTwice) keys.leave();
    else if (!running.isAtWork() || !keys.interrupt()) print(["Ctrl-C once more leaves."]);
  });
  lines.on("close", () => keys.leave());
  lines.prompt();

  /** One question at a time. */
  async function inTurn<T>(ask: () => Promise<T>): Promise<T> {
    if (questions.push(() => undefined) > 1)
      await new Promise<void>((resolve) => (questions[questions.length - 1] = resolve));
    try {
      return await ask();
    } finally {
      questions.shift();
      questions[0]?.();
    }
  }

  return {
    ...{ running, tally, style, size },
    transcript: {
      ...transcript,
      event(event) {
        transcript.event(event);
        settle();
      },
    },
    isDrawn: false,
    prompt: { remember: () => undefined },
    changed: () => undefined,
    app: { open, notice: (line) => print([line]) },
    suspended: (work) => work(),
    opening: (open) => open(),
    ask: (request, signal) =>
      inTurn(async () => {
        const change = await previewChange(request.tool, request.input, request.cwd);
        const choices = choicesFor(request);
        const keysOf = choices.map(({ key }) => key).join(", ");
        return new Promise((resolve) => {
          if (signal.aborted) return resolve(undefined);
          const end = (answer?: ApprovalAnswer) => {
            signal.removeEventListener("abort", gone);
            answering = undefined;
            resolve(answer);
          };
          const gone = () => end();
          signal.addEventListener("abort", gone, { once: true });
          print([
            `${escaped(request.agent)} asks: may I?`,
            ...describeRequest({ request, ...(change && { change }), style }),
            ...choices.map(({ key, says }) => `  [${key}] ${says}`),
            "  n TEXT: no, and the model is told why",
          ]);
          lines.write(null, CLEAR_LINE); // what was begun before it was asked answers nothing
          answering = (line) => {
            const answer = lineAnswer(line, choices);
            if (answer) end(answer);
            else print([`nothing was answered: type ${keysOf}, then Enter`]);
            lines.prompt();
          };
          lines.prompt();
        });
      }),
    close() {
      lines.close();
    },
  };
}
