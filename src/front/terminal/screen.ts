// The screen: finished lines that are the terminal's own, live lines below them, one write a frame.
import { restoreAtExit } from "./at-exit.ts";
import { frameOf, type OnScreen, untouched } from "./frame.ts";
import type { Reflow } from "./reflow.ts";
import type { LivePart, Size } from "./view.ts";

export interface TerminalScreen {
  /** Finished lines: printed once above what is live; from then on they are the terminal's own. */
  append(lines: readonly string[]): void;
  /** What is live below them from now on. */
  show(part: LivePart): void;
  /** Something changed. A frame is drawn soon, with all else that changes until then; or at once: for a key that somebody typed. */
  changed(when?: "soon" | "at once"): void;
  /** The terminal has another size now. */
  resized(): void;
  /** Takes the live lines away, leaves the last ones that are given, puts the cursor below and restores every mode. Nothing is written after it. */
  close(last?: readonly string[]): void;
}

export interface ScreenOptions {
  /** Contract: takes all of it before it returns, or keeps the order. */
  write: (bytes: string) => void;
  size: () => Size;
  /** What this terminal does with long lines when it gets narrower. */
  reflow?: () => Reflow;
  /** How long the size has to stay the same before it is drawn for: while somebody drags the window, the terminal moves its lines itself. */
  settleMs?: number;
}

/** While only content streams in: about 30 frames a second. */
const BETWEEN_FRAMES_MS = 33;

/** But not longer than this. */
const MOST_SETTLING_MS = 250;

const NOTHING: LivePart = { render: () => ({ lines: [] }) };

export function createTerminalScreen({
  write,
  size,
  reflow = () => "unknown",
  settleMs = 40,
}: ScreenOptions): TerminalScreen {
  let part = NOTHING;
  let finished: string[] = [];
  let onScreen: OnScreen = untouched(size());
  let drawnAt = Number.NEGATIVE_INFINITY;
  let resizedAt: number | undefined;
  let isClosed = false;
  /** The frame that is to come. */
  let cancel: (() => void) | undefined;
  const forget = restoreAtExit(() => close());

  function draw(): void {
    cancel?.();
    cancel = undefined;
    const now = size();
    // The terminal is another one already, and the news is still on its way: it is waited for until that settles.
    if (resizedAt === undefined && !isClosed && !isSameSize(now, onScreen.size)) {
      resized();
      return;
    }
    const isResized = resizedAt !== undefined;
    resizedAt = undefined;
    const { lines, ...view } = part.render(now);
    const live = { ...view, lines: lines.map(harmless) };
    const frame = frameOf(onScreen, { finished, view: live, size: now, reflow: reflow(), isResized });
    onScreen = frame.next;
    finished = [];
    if (frame.bytes === "") return;
    drawnAt = performance.now();
    write(frame.bytes);
  }

  function changed(when: "soon" | "at once" = "soon"): void {
    if (isClosed || (resizedAt !== undefined && cancel)) return;
    if (when === "at once") {
      cancel?.();
      // After all keys that came with this one.
      const immediate = setImmediate(draw);
      cancel = () => clearImmediate(immediate);
    } else if (!cancel) {
      const timer = setTimeout(draw, Math.max(0, drawnAt + BETWEEN_FRAMES_MS - performance.now()));
      cancel = () => clearTimeout(timer);
    }
  }

  function resized(): void {
    if (isClosed) return;
    const now = performance.now();
    resizedAt ??= now;
    cancel?.();
    const timer = setTimeout(draw, Math.min(settleMs, Math.max(0, resizedAt + MOST_SETTLING_MS - now)));
    cancel = () => clearTimeout(timer);
  }

  function close(last: readonly string[] = []): void {
    if (isClosed) return;
    isClosed = true;
    forget();
    finished.push(...last.flatMap(rowsIn));
    part = { render: () => ({ lines: [], caret: { row: 0, column: 0 } }) };
    draw();
  }

  return {
    append(lines) {
      if (isClosed) return;
      finished.push(...lines.flatMap(rowsIn));
      changed();
    },
    show(next) {
      part = next;
      changed();
    },
    changed,
    resized,
    close,
  };
}

const isSameSize = (a: Size, b: Size): boolean => a.columns === b.columns && a.rows === b.rows;

/** A line end or a tab in a line would put everything below it in the wrong row or column. */
const rowsIn = (line: string): string[] => line.split(/\r?\n/).map(harmless);

/** Whatever acts on a terminal but a style: other sequences, control characters, and those that turn text around. */
const ACTS =
  /\u001b(?!\[[\d;:]*m)|[\u0000-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Styles, which stay; then whole sequences; then what is left of them. Nothing is swallowed for the want of an end. */
const ACTING = new RegExp(
  [
    "(\\u001b\\[[\\d;:]*m)",
    "\\u001b\\[[0-?]*[ -/]*[@-~]",
    "\\u001b[\\]PX^_][^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)",
    "\\u001b(?:[ -/]+[0-~]|[0-OQ-WYZ\\\\`-~])",
    `${ACTS.source}`,
  ].join("|"),
  "g",
);

/**
 * The last barrier on the way to the terminal, whoever wrote the line. Who renders cleans what it shows, so that nothing is lost here;
 * what is forgotten there must not act. In one pass: what is left when something is taken out is not read again as a sequence, as every
 * escape character that is not a style's goes. A tab has the columns that everybody here counts for it.
 */
function harmless(line: string): string {
  return ACTS.test(line) ? line.replaceAll("\t", "   ").replace(ACTING, "$1") : line;
}
