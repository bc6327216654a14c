// The prompt as it is typed into, key by key, and as it stands on a terminal.
import xterm from "@xterm/headless";
import { describe, expect, it } from "vitest";
import { PLAIN, type Style, styleFor } from "../../../src/front/presentation/style.ts";
import type { Completions } from "../../../src/front/terminal/prompt-completion.ts";
import { createPromptEditor } from "../../../src/front/terminal/prompt-editor.ts";
import type { Size, View } from "../../../src/front/terminal/view.ts";

const KEYS = {
  enter: "\r",
  esc: "\u001b",
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  home: "\u001b[H",
  shiftEnter: "\u001b[13;2u",
  backspace: "\u007f",
  tab: "\t",
  altLeft: "\u001b[1;3D",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlJ: "\n",
  ctrlR: "\u0012",
  ctrlU: "\u0015",
  ctrlW: "\u0017",
  ctrlY: "\u0019",
  undo: "\u001f",
};

interface Opening {
  history?: string[];
  complete?: Partial<Completions>;
  size?: Size;
  style?: Style;
}

function open({ history = [], complete, size = { columns: 60, rows: 30 }, style = PLAIN }: Opening = {}) {
  const sent: string[] = [];
  let frames = 0;
  let waiting: (() => void) | undefined;
  const editor = createPromptEditor({
    history,
    complete: { commands: () => [], files: async () => [], ...complete },
    onSubmit: (text) => sent.push(text),
    changed: () => {
      frames += 1;
      waiting?.();
    },
    size: () => size,
    style,
  });
  const press = (...keys: string[]): boolean[] => keys.map((data) => editor.key({ kind: "key", data }));
  const type = (text: string): void => void press(...text);
  const view = (): View => editor.render(size);
  /** Completions come later than the key. */
  const until = async (wanted: (view: View) => boolean): Promise<View> => {
    while (!wanted(view())) await new Promise<void>((resolve) => (waiting = resolve));
    return view();
  };
  return { editor, sent, press, type, view, until, frames: () => frames };
}

/** The view on a terminal of its own, with the cursor where the caret is. */
async function onTerminal(view: View, { columns, rows }: Size) {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const caret = view.caret ?? { row: 0, column: 0 };
  const bytes = `${view.lines.join("\r\n")}\u001b[${caret.row + 1};${caret.column + 1}H`;
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: view.lines.length }, (_, i) => active.getLine(i)!.translateToString(true));
  const under = active.getLine(active.cursorY)!.getCell(active.cursorX)!.getChars();
  return { lines, under, wrapped: lines.some((_, i) => active.getLine(i)!.isWrapped) };
}

describe("typing", () => {
  it("sends what was typed, and is empty then", () => {
    const { editor, sent, press, type, view } = open();
    type("fix it");
    expect(view()).toEqual({ lines: ["> fix it"], caret: { row: 0, column: 8 } });
    expect([editor.text(), editor.isEmpty]).toEqual(["fix it", false]);
    press(KEYS.enter, KEYS.enter);
    expect(sent).toEqual(["fix it"]);
    expect(view()).toEqual({ lines: [">"], caret: { row: 0, column: 2 } });
    expect([editor.text(), editor.isEmpty]).toEqual(["", true]);
  });

  it("has several lines by Shift-Enter, Ctrl-J and a backslash before Enter", () => {
    const { sent, press, type, view } = open();
    type("a");
    press(KEYS.shiftEnter);
    type("b");
    press(KEYS.ctrlJ);
    type("c\\");
    press(KEYS.enter);
    type("d");
    expect(view()).toEqual({ lines: ["> a", "  b", "  c", "  d"], caret: { row: 3, column: 3 } });
    press(KEYS.enter);
    expect(sent).toEqual(["a\nb\nc\nd"]);
  });

  it("undoes, moves by words, and brings back what was cut", () => {
    const { editor, press, type } = open();
    type("one two three");
    press(KEYS.ctrlW);
    expect(editor.text()).toBe("one two ");
    press(KEYS.altLeft, KEYS.ctrlY);
    expect(editor.text()).toBe("one threetwo ");
    press(KEYS.undo, KEYS.undo);
    expect(editor.text()).toBe("one two three");
    press(KEYS.ctrlU);
    expect(editor.isEmpty).toBe(true);
  });

  it("is set, cleared and inserted into by others, without control characters", () => {
    const { editor, press, frames } = open();
    editor.set("a\u001b[31mb\u0007");
    press(KEYS.left);
    editor.insert("日\u0000");
    expect(editor.text()).toBe("a日b");
    editor.clear();
    expect(editor.isEmpty).toBe(true);
    expect(frames()).toBeGreaterThanOrEqual(4);
  });

  it("leaves keys that mean nothing to a text to others", () => {
    const { press, type, view } = open();
    expect(press(KEYS.esc, KEYS.ctrlC, KEYS.ctrlD, KEYS.tab, "\u000c", "\u001b[Z")).toEqual(Array(6).fill(false));
    type("ab");
    expect(press(KEYS.esc, KEYS.ctrlC, KEYS.tab, KEYS.home, KEYS.ctrlD)).toEqual([false, false, false, true, true]);
    expect(view().lines).toEqual(["> b"]);
  });
});

describe("the caret", () => {
  const size = { columns: 24, rows: 30 };

  it("is on the cell of its character in Japanese text, also where it wraps", async () => {
    const text = "日本語の文章を、とても長く書きます";
    const { press, type, view } = open({ size });
    type(text);
    for (const char of [...text].reverse()) {
      press(KEYS.left);
      const { under, wrapped } = await onTerminal(view(), size);
      expect({ under, wrapped }).toEqual({ under: char, wrapped: false });
    }
  });

  it("fits at the end of a line that fills the columns", async () => {
    for (let length = 18; length < 30; length++) {
      const { type, view } = open({ size });
      type("x".repeat(length));
      const { lines, under } = await onTerminal(view(), size);
      expect([view().caret!.column < size.columns, under]).toEqual([true, ""]);
      expect(lines.join("").replace(/[> ]/g, "")).toBe("x".repeat(length));
    }
  });

  it("stands on the mark of a shell command when it is before its `!`", async () => {
    const { press, type, view } = open({ size });
    type("!ls -l");
    expect(view()).toEqual({ lines: ["! ls -l"], caret: { row: 0, column: 7 } });
    press(KEYS.left);
    expect((await onTerminal(view(), size)).under).toBe("l");
    press(KEYS.home);
    expect((await onTerminal(view(), size)).under).toBe("!");
  });
});

describe("a long text", () => {
  it("takes at most a third of the rows, scrolled to the caret", () => {
    for (const rows of [6, 9, 15, 30]) {
      const { editor, press, view } = open({ size: { columns: 40, rows } });
      const most = Math.floor(rows / 3);
      editor.set(Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n"));
      expect(view().lines).toHaveLength(most);
      expect(view().lines.at(-1)).toMatch(/line 39$/);
      expect(view().lines[0]).toMatch(/^↑ /);
      expect(view().caret).toEqual({ row: most - 1, column: 9 });
      press(...Array(39).fill(KEYS.up));
      expect(view().lines[0]).toBe("> line 0".padEnd(8));
      expect(view().caret).toEqual({ row: 0, column: 8 });
      if (most > 1) expect(view().lines.at(-1)).toMatch(/^↓ /);
    }
  });

  it("has a placeholder when it is pasted, and is sent whole, tabs too", () => {
    const { editor, sent, press, type, view } = open();
    const text = Array.from({ length: 10_000 }, (_, i) => `\tline ${i} of what was pasted, and its end`).join("\n");
    type("see ");
    editor.key({ kind: "paste", text });
    type(" and ");
    editor.key({ kind: "paste", text: "y".repeat(2_000) });
    expect(view().lines).toEqual(["> see [paste #1 +10000 lines] and [paste #2 2000 chars]"]);
    const whole = `see ${text} and ${"y".repeat(2_000)}`;
    expect(editor.text() === whole).toBe(true);
    press(KEYS.enter);
    expect(sent[0] === whole).toBe(true);
  });

  it("loses a placeholder as one character, and gets it back by undo", () => {
    const { editor, press, view } = open();
    const text = "a\n".repeat(20);
    editor.key({ kind: "paste", text });
    press(KEYS.backspace);
    expect([view().lines, editor.text()]).toEqual([[">"], ""]);
    press(KEYS.undo);
    expect([view().lines, editor.text()]).toEqual([["> [paste #1 +21 lines]"], text]);
  });

  it("stands as it is when the paste is short; what would be keys in it is text", () => {
    const { editor, sent, view } = open();
    editor.insert("cd src");
    editor.key({ kind: "paste", text: "/front\r\n\u001b[Aq\u0003" });
    expect(view().lines).toEqual(["> cd src/front", "  q"]);
    expect([editor.text(), sent]).toEqual(["cd src/front\nq", []]);
  });
});

describe("the history", () => {
  const history = ["first thing", "fix the date test", "second\nof two lines", "fix the build"];

  it("is walked with Up and Down, and what was being typed comes back", () => {
    const { editor, press, sent } = open({ history });
    press(KEYS.up, KEYS.up);
    expect(editor.text()).toBe("second\nof two lines");
    press(KEYS.down, KEYS.down, KEYS.down);
    expect(editor.text()).toBe("");
    editor.set("new");
    press(KEYS.enter, KEYS.up);
    expect([sent, editor.text()]).toEqual([["new"], "new"]);
  });

  it("is searched with Ctrl-R above the prompt: Enter takes, nothing is sent, Esc leaves", () => {
    const { editor, press, type, view, sent } = open({ history });
    editor.set("draft");
    press(KEYS.ctrlR);
    type("fix");
    expect(view()).toEqual({
      lines: [
        "History: type to search, Enter takes it 1 of 2",
        "> fix",
        "› fix the build",
        "  fix the date test",
        "> draft",
      ],
      caret: { row: 1, column: 5 },
    });
    press(KEYS.ctrlR, KEYS.enter);
    expect([editor.text(), sent]).toEqual(["fix the date test", []]);
    press(KEYS.ctrlR, KEYS.esc);
    expect(view().lines).toEqual(["> fix the date test"]);
  });
});

describe("completion", () => {
  const commands = () => [
    { name: "help", help: "what there is" },
    { name: "model", help: "another model" },
    { name: "mode", help: "how careful it is" },
  ];
  const isListed = ({ lines }: View): boolean => lines.some((line) => line.includes("→"));

  it("of commands at the start: Tab completes, Enter sends", async () => {
    const { editor, press, type, until, sent } = open({ complete: { commands } });
    type("/mo");
    const { lines } = await until(isListed);
    expect(lines.map((line) => line.replace(/ {2,}/g, "  "))).toEqual([
      "> /mo",
      "  → /model  another model",
      "  /mode  how careful it is",
    ]);
    press(KEYS.down, KEYS.tab);
    expect(editor.text()).toBe("/mode ");
    editor.clear();
    type("/he");
    await until(isListed);
    press(KEYS.enter);
    expect(sent).toEqual(["/help"]);
  });

  it("takes what was typed, not an entry of a list that is older than the last keys", async () => {
    const { press, type, until, sent } = open({ complete: { commands } });
    type("/mo");
    await until(isListed);
    type("de");
    press(KEYS.enter);
    expect(sent).toEqual(["/mode"]);
  });

  it("of files at the start of a word, also behind Japanese; a folder goes on, blanks are quoted", async () => {
    const asked: string[] = [];
    const files = async (query: string) => {
      asked.push(query);
      return ["src/", "a b.txt"];
    };
    const { editor, press, type, until } = open({ complete: { files } });
    type("見て、@s");
    await until(isListed);
    press(KEYS.enter);
    expect(editor.text()).toBe("見て、@src/");
    type(" @x");
    await until(isListed);
    press(KEYS.down, KEYS.tab);
    expect(editor.text()).toBe('見て、@src/ @"a b.txt" ');
    expect(asked.at(-1)).toBe("x");
  });

  it("lists at most eight, no wider than the screen, without colour where none is wanted; Esc closes it", async () => {
    const size = { columns: 30, rows: 30 };
    const files = async () => Array.from({ length: 40 }, (_, i) => `${"deep/".repeat(9)}file-${i}.ts`);
    for (const style of [PLAIN, styleFor({ isTTY: true }, {})]) {
      const { press, type, until, view } = open({ complete: { files }, size, style });
      type("@f");
      const shown = await until(isListed);
      expect(shown.lines.filter((line) => line.includes("deep/"))).toHaveLength(8);
      const { wrapped } = await onTerminal(shown, size);
      expect(wrapped).toBe(false);
      if (style === PLAIN) expect(shown.lines.join("")).not.toMatch(/\u001b/);
      expect(press(KEYS.esc)).toEqual([true]);
      expect(view().lines).toHaveLength(1);
    }
  });

  it("survives files that cannot be listed", async () => {
    let asked: (() => void) | undefined;
    const wasAsked = new Promise<void>((resolve) => (asked = resolve));
    const files = async () => {
      asked?.();
      throw new Error("no such folder");
    };
    const { type, view } = open({ complete: { files } });
    type("@f");
    await wasAsked;
    type("o");
    expect(view().lines).toEqual(["> @fo"]);
  });
});
