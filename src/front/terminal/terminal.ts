// Opens the terminal: keyboard, screen, transcript, prompt and status line, put together. What keys and commands do is said by whoever opens it.
import { LEAD } from "../../loop/agent.ts";
import type { ApprovalRequest } from "../../mechanisms/approvals/events.ts";
import type { ApprovalsOptions } from "../../mechanisms/approvals/index.ts";
import { previewChange } from "../../mechanisms/files/change-preview.ts";
import { type Style, styleFor } from "../presentation/style.ts";
import { createTally, type Tally } from "../presentation/tally.ts";
import { type AppKeys, createTerminalApp, type TerminalApp } from "./app.ts";
import { createApprovalCard } from "./approval-card.ts";
import { captureWrites } from "./captured-writes.ts";
import { openKeyboard } from "./keyboard.ts";
import type { Completions } from "./prompt-completion.ts";
import { createPromptEditor, type PromptEditor } from "./prompt-editor.ts";
import { reflowOf } from "./reflow.ts";
import { createRunning, type Running } from "./running.ts";
import { createTerminalScreen } from "./screen.ts";
import { createStatusLine, type StatusNow } from "./status-line.ts";
import { createTranscript, type TerminalTranscript } from "./transcript.ts";
import type { Size } from "./view.ts";

export interface OpenTerminal {
  readonly app: Pick<TerminalApp, "open" | "notice">;
  readonly transcript: TerminalTranscript;
  readonly running: Running;
  readonly prompt: Pick<PromptEditor, "remember" | "set" | "isEmpty">;
  readonly tally: Tally;
  readonly style: Style;
  readonly size: () => Size;
  /** Lines at the bottom are drawn anew; otherwise everything is printed once. */
  readonly isDrawn: boolean;
  changed(when?: "soon" | "at once"): void;
  /** Asks for approval at this terminal. */
  readonly ask: NonNullable<ApprovalsOptions["onAsk"]>;
  /** Opens a conversation, or another one: what that says of both is said once. */
  opening<T>(open: () => Promise<T>): Promise<T>;
  /** Gives the terminal to somebody else (a shell, an editor), and takes it back. */
  suspended<T>(work: () => Promise<T>): Promise<T>;
  /** Everything is as it was before; nothing is drawn any more. */
  close(): void;
}

export interface TerminalOptions {
  keys: Omit<AppKeys, "redraw" | "suspend">;
  status: () => Omit<StatusNow, "waiting">;
  complete: Completions;
  history: readonly string[];
}

/** While somebody works the time is drawn anew. */
const TICK_MS = 125;

export function openTerminal({ keys, status, complete, history }: TerminalOptions): OpenTerminal {
  const { stdin, stdout } = process;
  const style = styleFor(stdout, process.env);
  /** As it is now, not as it was when somebody last said so. */
  const size = (): Size => {
    const [columns, rows] = stdout.getWindowSize();
    return { columns: columns || 80, rows: rows || 24 };
  };
  const said = new Set<string>();
  let isOpening = 0;
  const captured = captureWrites((line) => {
    if (isOpening > 0 && said.has(line)) return;
    if (isOpening > 0) said.add(line);
    transcript.say([line]);
  });

  async function opening<T>(open: () => Promise<T>): Promise<T> {
    isOpening++;
    try {
      return await open();
    } finally {
      isOpening--;
    }
  }

  const { write } = captured;
  // It is not asked for its name: an answer that comes after a short run would be typed at the shell.
  const reflow = () => reflowOf(process.env);
  let screen = createTerminalScreen({ write, size, reflow });
  const changed = (when?: "soon" | "at once") => screen.changed(when);
  const now = () => Date.now();
  const tally = createTally();
  const running = createRunning({ style, lead: LEAD, now });
  const append = (lines: string[]) => screen.append(lines);
  const transcript = createTranscript({ style, size, running, tally, append, changed });
  const prompt = createPromptEditor({
    ...{ history, complete, size, style, changed },
    onSubmit: (text) => keys.submit(text, { queued: false }),
  });
  const waiting = () => {
    running.asking(app.waiting);
    return app.waiting;
  };
  const line = createStatusLine(() => ({ ...status(), waiting: waiting() }), style);
  const keyboard = openKeyboard({ input: stdin, write });
  const app = createTerminalApp({
    ...{ style, prompt, changed, now },
    parts: [transcript, running],
    status: line,
    isWorking: () => running.isAtWork(),
    keys: { ...keys, redraw: () => screen.resized(), suspend: () => void suspended(stop) },
  });

  async function suspended<T>(work: () => Promise<T>): Promise<T> {
    keyboard.suspend();
    screen.close();
    try {
      return await work();
    } finally {
      keyboard.resume();
      screen = createTerminalScreen({ write, size, reflow });
      screen.show(app);
      screen.changed("at once");
    }
  }

  const onResize = () => screen.resized();
  stdout.on("resize", onResize);
  keyboard.onKey((key) => app.key(key));
  const ticking = setInterval(() => running.isAtWork() && changed(), TICK_MS);
  ticking.unref();
  screen.show(app);
  screen.changed("at once");

  return {
    isDrawn: true,
    ...{ app, transcript, running, prompt, tally, style, size, changed, suspended, opening },
    ask: (request, signal) => app.ask({ request, signal, card: (answered, more) => card(request, answered, more) }),
    close() {
      clearInterval(ticking);
      stdout.removeListener("resize", onResize);
      keyboard.close();
      screen.close();
      captured.end();
    },
  };

  async function card(
    request: ApprovalRequest,
    answered: Parameters<typeof createApprovalCard>[0]["answered"],
    waiting: number,
  ) {
    const change = await previewChange(request);
    return createApprovalCard({
      request,
      ...(change && { change }),
      waiting,
      style,
      shownAt: now(),
      typedAt: app.typedAt,
      now,
      answered,
      changed,
      givesBack: (letter) => void prompt.key(letter),
    });
  }
}

/** Ctrl-Z: the shell has it until it brings it back. */
function stop(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGCONT", () => resolve());
    process.kill(process.pid, "SIGSTOP");
  });
}
