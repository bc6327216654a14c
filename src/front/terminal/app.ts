// The terminal as a whole: what stands below the transcript, who takes a key, and questions one after the other.
import { matchesKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { ApprovalAnswer, ApprovalRequest } from "../../mechanisms/approvals/events.ts";
import type { Style } from "../presentation/style.ts";
import { cutRow, wrappedLines } from "./rows.ts";
import type { LivePart, Panel, Size, TypedKey, View } from "./view.ts";

export interface TerminalApp extends LivePart {
  /** Contract: every key and paste, in order. */
  key(key: TypedKey): void;
  /** Puts a panel in front of the prompt, over those that stand there; gives what takes it away again. */
  open(panel: Panel): () => void;
  /** One question after the other. Contract: undefined when the signal ends it first. */
  ask(question: AskedQuestion): Promise<ApprovalAnswer | undefined>;
  /** One line above the prompt, until something is typed. */
  notice(line: string): void;
  /** How many questions wait for a person. */
  readonly waiting: number;
  /** When a key was last typed. */
  readonly typedAt: number | undefined;
}

export interface AskedQuestion {
  request: ApprovalRequest;
  signal: AbortSignal;
  /** Made when it is its turn; `more`: how many wait behind it. */
  card: (answered: (answer: ApprovalAnswer) => void, more: number) => Promise<Panel>;
}

/** What the keys mean that no panel takes. */
export interface AppKeys {
  /** Contract: false when nothing was running. */
  interrupt(): boolean;
  leave(): void;
  /** Enter was pressed; `queued`: it waits for its own turn. */
  submit(text: string, how: { queued: boolean }): void;
  nextMode(): void;
  team(): void;
  rewind(): void;
  redraw(): void;
  suspend(): void;
}

interface PromptPanel extends Panel {
  text(): string;
  clear(): void;
  remember(past: readonly string[]): void;
  readonly isEmpty: boolean;
  /** A list of completions or of the history stands open: it takes Esc. */
  readonly hasList: boolean;
}

export interface AppOptions {
  style: Style;
  /** Above the prompt, from top to bottom; and the last line. */
  parts: readonly LivePart[];
  status: LivePart;
  prompt: PromptPanel;
  keys: AppKeys;
  isWorking: () => boolean;
  changed: (when?: "soon" | "at once") => void;
  now: () => number;
}

const ESCAPE = "\u001b";
/** Two of the same key within this time are meant together. */
const TWICE_MS = 1_500;

export function createTerminalApp(opts: AppOptions): TerminalApp {
  const { style, parts, status, prompt, keys, isWorking, changed, now } = opts;
  const panels: Panel[] = [];
  const questions: { question: AskedQuestion; settle: (answer: ApprovalAnswer | undefined) => void }[] = [];
  let notice = "";
  let typedAt: number | undefined;
  let leaveQuestion: (() => void) | undefined;
  let lastPressed = { key: "", at: 0 };

  const front = (): Panel => panels.at(-1) ?? prompt;

  function open(panel: Panel): () => void {
    panels.push(panel);
    changed("at once");
    return () => {
      const at = panels.indexOf(panel);
      if (at >= 0) panels.splice(at, 1);
      changed("at once");
    };
  }

  /** The next question stands in front as soon as the one before it is answered. */
  async function askNext(): Promise<void> {
    const [next] = questions;
    if (!next) return;
    const { question, settle } = next;
    let close: () => void = () => undefined;
    const end = (answer?: ApprovalAnswer) => {
      if (questions[0] !== next) return;
      question.signal.removeEventListener("abort", gone);
      questions.shift();
      leaveQuestion = undefined;
      close();
      settle(answer);
      void askNext();
    };
    const gone = () => end();
    leaveQuestion = gone;
    if (question.signal.aborted) {
      end();
      return;
    }
    question.signal.addEventListener("abort", gone, { once: true });
    const card = await question.card(end, questions.length - 1);
    if (questions[0] === next) close = open(card);
  }

  /** The same key twice, soon after each other. */
  function isTwice(key: string): boolean {
    const is = lastPressed.key === key && now() - lastPressed.at < TWICE_MS;
    lastPressed = is ? { key: "", at: 0 } : { key, at: now() };
    return is;
  }

  /** Whoever opened it is told by the panel itself, where that takes Esc. */
  function leavePanel(): void {
    if (!front().key({ kind: "key", data: ESCAPE })) panels.pop();
  }

  /** Of a question that another agent asks, the lead's turn is not the one to stop: it is left open. */
  function stop(): void {
    if (keys.interrupt() || !leaveQuestion) return;
    leaveQuestion();
    notice = "Left open: it waits, also for `holdfast approve`, and is asked here again after holdfast -c.";
  }

  function onInterruptKey(): void {
    if (isWorking()) {
      if (isTwice("ctrl+c")) keys.leave();
      else stop();
    } else if (panels.length > 0) leavePanel();
    else if (!prompt.isEmpty) prompt.clear();
    else if (isTwice("ctrl+c")) keys.leave();
    else notice = "Ctrl-C once more leaves.";
  }

  function onEscape(): void {
    if (questions.length > 0 || (panels.length === 0 && isWorking())) stop();
    else if (panels.length > 0) panels.pop();
    else if (prompt.isEmpty && isTwice("escape")) keys.rewind();
    else if (prompt.isEmpty) notice = "Esc once more: go back to an earlier prompt.";
    else prompt.clear();
  }

  /** Contract: true when it was one of the terminal's own. */
  function ownKey(data: string): boolean {
    const isPrompt = panels.length === 0;
    if (matchesKey(data, "ctrl+c")) onInterruptKey();
    else if (matchesKey(data, "escape")) {
      if (isPrompt && prompt.hasList) return false;
      if (!isPrompt && questions.length === 0 && front().key({ kind: "key", data })) return true;
      onEscape();
    } else if (matchesKey(data, "ctrl+z")) keys.suspend();
    else if (matchesKey(data, "ctrl+l")) keys.redraw();
    else if (!isPrompt) return false;
    else if (matchesKey(data, "ctrl+d") && prompt.isEmpty) keys.leave();
    else if (matchesKey(data, "shift+tab")) keys.nextMode();
    else if (matchesKey(data, "ctrl+t")) keys.team();
    else if (matchesKey(data, "alt+enter")) submit({ queued: true });
    else return false;
    return true;
  }

  /** What was not meant for the question that came up goes on where it was typed; but nothing is sent by that. */
  function pass(key: TypedKey): void {
    const panel = front();
    if (panel.key(key) || panel === prompt || questions.length === 0) return;
    if (key.kind === "paste" || !matchesKey(key.data, "enter")) prompt.key(key);
  }

  function submit(how: { queued: boolean }): void {
    const text = prompt.text().trim();
    if (text === "") return;
    prompt.clear();
    prompt.remember([text]);
    keys.submit(text, how);
  }

  return {
    get waiting() {
      return questions.length;
    },
    get typedAt() {
      return typedAt;
    },
    key(key) {
      notice = "";
      if (key.kind !== "key" || !ownKey(key.data)) pass(key);
      typedAt = now();
      changed("at once");
    },
    open,
    ask(question) {
      return new Promise((settle) => {
        questions.push({ question, settle });
        if (questions.length === 1) void askNext();
        else changed();
      });
    },
    notice(line) {
      notice = line;
      changed();
    },
    render(size) {
      return stacked([...parts, EMPTY, noticePart(notice, style), front(), status], size);
    },
  };
}

/** Between what was said and what is typed. */
const EMPTY: LivePart = { render: () => ({ lines: [""] }) };

const noticePart = (notice: string, style: Style): LivePart => ({
  render: ({ columns }) => ({
    lines: notice === "" ? [] : wrappedLines([style.yellow(notice)], columns).slice(0, 3),
  }),
});

/** Below each other; what does not fit is taken from the top ones, so that whoever takes keys is seen. */
function stacked(parts: readonly LivePart[], size: Size): View {
  const lines: string[] = [];
  let caret: View["caret"];
  let room = size.rows - 1;
  for (const part of parts.toReversed()) {
    const view = part.render({ columns: size.columns, rows: Math.max(1, room) });
    const cut = Math.max(0, view.lines.length - Math.max(0, room));
    const shown = view.lines.slice(cut).map((line) => cutRow(line, size.columns));
    if (caret) caret = { ...caret, row: caret.row + shown.length };
    if (view.caret && !caret) caret = { row: Math.max(0, view.caret.row - cut), column: view.caret.column };
    lines.unshift(...shown);
    room -= shown.length;
  }
  return { lines, ...(caret && { caret }) };
}
