// A headless terminal in which a shell has printed its lines, and a screen that draws on it.
import xterm from "@xterm/headless";
import { createTerminalScreen, type TerminalScreen } from "../../../src/front/terminal/screen.ts";
import type { LivePart, Size } from "../../../src/front/terminal/view.ts";

export const SHELL_LINES = Array.from({ length: 60 }, (_, i) => `shell-line-${String(i + 1).padStart(2, "0")}`);

export interface Headless {
  screen: TerminalScreen;
  /** What was written, a string a frame. */
  frames: string[];
  resize(size: Size): Promise<void>;
  /** The terminal has that size, and the news of it is still on its way: what is drawn is for the one before. */
  resizeUntold(size: Size): void;
  /** Waits until all that is to be drawn is on the terminal. */
  settled(): Promise<void>;
  /** Each line of the whole buffer, as it was before the terminal broke it into rows. */
  logical(): string[];
  /** Each row of the buffer, without blanks at its end. */
  rows(): string[];
  /** The same rows with the style of every cell. */
  looks(): string[];
  cursor(): { row: number; column: number };
}

export async function openHeadless(size: Size): Promise<Headless> {
  const terminal = new xterm.Terminal({
    cols: size.columns,
    rows: size.rows,
    scrollback: 20_000,
    allowProposedApi: true,
  });
  const written = (bytes: string) => new Promise<void>((done) => terminal.write(bytes, done));
  await written(`${SHELL_LINES.join("\r\n")}\r\n`);
  const frames: string[] = [];
  let told = size;
  let last = Promise.resolve();
  const screen = createTerminalScreen({
    write(bytes) {
      frames.push(bytes);
      last = written(bytes);
    },
    size: () => told,
    reflow: () => "xterm.js",
    settleMs: 0,
  });
  const settled = async () => {
    screen.changed("at once");
    await new Promise((done) => setImmediate(done));
    await last;
  };
  const buffer = () => terminal.buffer.normal;
  const lines = () => Array.from({ length: buffer().length }, (_, i) => buffer().getLine(i)!);
  return {
    screen,
    frames,
    settled,
    resizeUntold: (to) => terminal.resize(to.columns, to.rows),
    async resize(to) {
      terminal.resize(to.columns, to.rows);
      told = to;
      screen.resized();
      await new Promise((done) => setTimeout(done));
      await settled();
    },
    rows: () => lines().map((line) => line.translateToString(true).trimEnd()),
    logical() {
      const all: string[] = [];
      let isLastEmpty = false;
      for (const line of lines()) {
        const text = line.translateToString(false);
        // A wide character that did not fit leaves the last cell of the row above empty.
        const gap = isLastEmpty && line.getCell(0)?.getWidth() === 2;
        if (line.isWrapped) all.push((all.pop() ?? "").slice(0, gap ? -1 : undefined) + text);
        else all.push(text);
        const last = line.getCell(line.length - 1)!;
        isLastEmpty = last.getChars() === "" && last.getWidth() === 1;
      }
      return all.map((line) => line.trimEnd());
    },
    looks: () =>
      lines().map((line) => {
        const cells = Array.from({ length: line.length }, (_, i) => line.getCell(i)!);
        const style = (cell: (typeof cells)[number]) =>
          cell.isAttributeDefault() || cell.getChars() === ""
            ? "."
            : `<${cell.isBold()},${cell.isUnderline()},${cell.getFgColor()},${cell.getBgColor()}>`;
        return line.translateToString(true).trimEnd() + cells.map(style).join("").replace(/\.+$/, "");
      }),
    cursor: () => ({ row: buffer().baseY + buffer().cursorY, column: buffer().cursorX }),
  };
}

export const part = (render: LivePart["render"]): LivePart => ({ render });
