// The terminal in plain lines, for screen readers and terminals that only take lines: nothing is drawn over, no timer, a bell at the end of a turn.
import { LEAD } from "../../loop/agent.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../mechanisms/approvals/events.ts";
import { previewChange } from "../../mechanisms/files/change-preview.ts";
import { choicesFor, describeRequest } from "../presentation/approval.ts";
import { escaped } from "../presentation/printable.ts";
import { isDumb, styleFor } from "../presentation/style.ts";
import { createTally } from "../presentation/tally.ts";
import { lineAnswer } from "../text/terminal-approval.ts";
import { captureWrites } from "./captured-writes.ts";
import { wrappedLines } from "./rows.ts";
import { createRunning } from "./running.ts";
import type { OpenTerminal, TerminalOptions } from "./terminal.ts";
import { createTranscript } from "./transcript.ts";
import { openTypedLines, PROMPT_MARK } from "./typed-lines.ts";
import type { Panel, Size } from "./view.ts";

const TWICE_MS = 1_500;
/** After the last line so long nothing came: then the prompt stands below it. */
const SETTLED_MS = 150;
const ENTER = "\r";
const ESCAPE = "\u001b";
const BELL = "\u0007";
/** Typed alone it leaves a list or a page. */
const LEAVE = ".";

/** Contract: as the drawn one; a panel is printed, and takes the lines that are typed: letters, then Enter. Nothing is printed twice. */
export function openPlainTerminal({ keys, status }: TerminalOptions): OpenTerminal {
  const { stdin, stdout } = process;
  const style = styleFor(stdout, process.env);
  const size = (): Size => ({ columns: stdout.columns || 80, rows: 1_000 });
  const tally = createTally();
  const running = createRunning({ style, lead: LEAD, now: () => Date.now() });
  const panels: Panel[] = [];
  /** Takes the next lines instead of the prompt: a question stands there. */
  let answering: ((line: string) => void) | undefined;
  const questions: (() => void)[] = [];
  /** What was typed here stands there already: it is not repeated when it is recorded. */
  const echoed: string[] = [];
  const captured = captureWrites((line) => transcript.say([line]));
  const { write } = captured;
  /** The prompt is the last thing on the screen. */
  let isStanding = false;
  /** Lines come until it is open. */
  let isOpening = 1;
  let wasOpened = false;
  let settling: NodeJS.Timeout | undefined;

  const print = (more: readonly string[]): void => {
    write(`${isStanding ? "\n" : ""}${more.join("\n")}\n`);
    isStanding = false;
    promptSoon();
  };

  function showPrompt(): void {
    clearTimeout(settling);
    if (isStanding) return;
    write(PROMPT_MARK + lines.begun);
    isStanding = true;
  }

  /** Not between two lines that belong together, and not while it works: the next line would stand behind it. */
  function promptSoon(): void {
    clearTimeout(settling);
    settling = setTimeout(() => {
      const isTaken = answering !== undefined || panels.length > 0;
      if (isTaken || (isOpening === 0 && !running.isAtWork() && questions.length === 0)) showPrompt();
    }, SETTLED_MS);
  }

  const transcript = createTranscript({
    ...{ style, size, running, tally },
    append: print,
    changed: () => undefined,
    isPlain: true,
    isShown(words) {
      const at = echoed.indexOf(words);
      if (at >= 0) echoed.splice(at, 1);
      return at >= 0;
    },
  });
  let wasWorking = false;

  /** A turn that ended is heard, and then the prompt stands there again. */
  function settle(): void {
    const isWorking = running.isAtWork();
    if (wasWorking && !isWorking) {
      const { model, mode, context = "", spent } = status();
      print(wrappedLines([style.dim([model, mode, context, spent].filter(Boolean).join(" · "))], size().columns));
      write(BELL);
    }
    wasWorking = isWorking;
  }

  function show(panel: Panel): void {
    print(panel.render(size()).lines);
    showPrompt();
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
    isStanding = false; // its Enter ended that line
    promptSoon();
    if (answering) {
      answering(line);
      return;
    }
    const panel = panels.at(-1);
    if (!panel) {
      const words = line.trim();
      if (words === "") return;
      echoed.push(words);
      keys.submit(words, { queued: false });
      return;
    }
    const pressed = line.trim() === LEAVE ? [ESCAPE] : [...line, ...(line.length === 1 ? [] : [ENTER])];
    for (const data of pressed) panel.key({ kind: "key", data });
    if (panels.at(-1) === panel) show(panel);
  }

  let pressedAt = 0;
  const lines = openTypedLines({
    ...{ input: stdin, write, columns: () => size().columns, isDumb: isDumb(process.env) },
    onLine: typed,
    onInterrupt() {
      const isTwice = Date.now() - pressedAt < TWICE_MS;
      pressedAt = Date.now();
      if (isTwice) keys.leave();
      else if (!running.isAtWork() || !keys.interrupt()) print(["Ctrl-C once more leaves."]);
    },
    onEnd: () => keys.leave(),
  });

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

  async function ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer | undefined> {
    const change = await previewChange(request);
    const choices = choicesFor(request);
    const keysOf = choices.map(({ key }) => key).join(", ");
    const { columns } = size();
    const described = describeRequest({ request, ...(change && { change }), style });
    print([`${escaped(request.agent)} asks: may I?`, ...described]);
    if (!(await lines.dropUntilQuiet(signal))) return undefined;
    print(wrappedLines([...choices.map(({ key, says }) => `  [${key}] ${says}`), WITH_REASON], columns));
    return new Promise((resolve) => {
      const end = (answer?: ApprovalAnswer) => {
        signal.removeEventListener("abort", gone);
        answering = undefined;
        resolve(answer);
      };
      const gone = () => end();
      signal.addEventListener("abort", gone, { once: true });
      answering = (line) => {
        const answer = lineAnswer(line, choices);
        if (answer) end(answer);
        else print([`nothing was answered: type ${keysOf}, then Enter`]);
      };
      showPrompt();
    });
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
    prompt: { remember: () => undefined, isEmpty: true, set: (text) => print([`· it was: ${text}`]) },
    changed: () => undefined,
    app: { open, notice: (line) => print([line]) },
    suspended: (work) => work(),
    async opening(open) {
      if (wasOpened) isOpening++;
      wasOpened = true;
      try {
        return await open();
      } finally {
        isOpening--;
        promptSoon();
      }
    },
    ask: (request, signal) => inTurn(() => ask(request, signal)),
    close() {
      clearTimeout(settling);
      if (isStanding) write("\n");
      lines.close();
      captured.end();
    },
  };
}

const WITH_REASON = "  n TEXT: no, and the model is told why";
