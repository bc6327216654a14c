// A list to choose from, key by key, at several sizes.
import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { describe, expect, it } from "vitest";
import { PLAIN } from "../../../src/front/presentation/style.ts";
import { createChoiceList, type ListChoice } from "../../../src/front/terminal/choice-list.ts";
import type { Size } from "../../../src/front/terminal/view.ts";

const [UP, DOWN, PAGE_UP, PAGE_DOWN] = ["\u001b[A", "\u001b[B", "\u001b[5~", "\u001b[6~"];
const [ENTER, ESC, CTRL_C, BACKSPACE, CTRL_U, CTRL_W] = ["\r", "\u001b", "\u0003", "\u007f", "\u0015", "\u0017"];
const SIZE: Size = { columns: 50, rows: 30 };

function open(items: ListChoice[], more: { matching?: "fuzzy" | "words"; most?: number } = {}) {
  const chosen: (ListChoice | undefined)[] = [];
  let waiting: (() => void) | undefined;
  const list = createChoiceList({
    title: "Resume which?",
    items,
    onChoose: (item) => chosen.push(item),
    changed: () => waiting?.(),
    style: PLAIN,
    ...more,
  });
  return {
    list,
    chosen,
    press: (...keys: string[]) => keys.map((data) => list.key({ kind: "key", data })),
    lines: (size = SIZE) => list.render(size).lines,
    changed: () => new Promise<void>((resolve) => (waiting = resolve)),
  };
}

const numbered = (count: number): ListChoice[] => Array.from({ length: count }, (_, i) => ({ label: `item ${i + 1}` }));

describe("a list to choose from", () => {
  it("shows title, count, what is typed, entries with details", () => {
    const { list } = open([
      { label: "ctx-1", detail: "fix the date test" },
      { label: "ctx-22", detail: "日本語の題" },
    ]);
    expect(list.render(SIZE)).toEqual({
      lines: ["Resume which? 1 of 2", ">", "› ctx-1   fix the date test", "  ctx-22  日本語の題"],
      caret: { row: 1, column: 2 },
    });
  });

  it("moves round with the arrows, by pages without going round, and gives the one chosen", () => {
    const items = numbered(25);
    const { chosen, press, lines } = open(items);
    const at = () => lines().find((line) => line.startsWith("›"));
    press(UP);
    expect([at(), lines()[0]]).toEqual(["› item 25", "Resume which? 25 of 25"]);
    press(DOWN, PAGE_DOWN);
    expect(at()).toBe("› item 11");
    press(PAGE_DOWN, PAGE_DOWN, PAGE_UP);
    expect(at()).toBe("› item 15");
    expect(lines()).toHaveLength(12);
    press(ENTER);
    expect(chosen).toEqual([items[14]]);
  });

  it("is left by Esc and by Ctrl-C", () => {
    const { chosen, press } = open(numbered(3));
    expect(press(ESC, CTRL_C)).toEqual([true, true]);
    expect(chosen).toEqual([undefined, undefined]);
  });

  it("is filtered by what is typed, the best first, and says when nothing is left", () => {
    const { list, chosen, press, lines } = open([{ label: "claude-sonnet" }, { label: "gpt-large" }, { label: "gpl" }]);
    press("g", "p", "l");
    expect(lines()).toEqual(["Resume which? 1 of 2", "> gpl", "› gpl", "  gpt-large"]);
    press("z");
    expect(lines()).toEqual(["Resume which? none of 0", "> gplz"]);
    press(ENTER, UP, DOWN);
    expect(chosen).toEqual([]);
    press(BACKSPACE);
    expect(lines()).toHaveLength(4);
    press(CTRL_U);
    expect(lines()).toHaveLength(5);
    list.key({ kind: "paste", text: "sonnet x\n" });
    press(CTRL_W);
    expect(lines()).toEqual(["Resume which? 1 of 1", "> sonnet", "› claude-sonnet"]);
  });

  it("by words keeps the order, and each word must be there as it is written", () => {
    const items = [{ label: "Fix the date" }, { label: "date of the fix" }, { label: "f i x" }];
    const { press, lines } = open(items, { matching: "words" });
    press(..."fix date");
    expect(lines().slice(2)).toEqual(["› Fix the date", "  date of the fix"]);
  });

  it("leaves keys that it does not know to others", () => {
    expect(open(numbered(3)).press("\u001b[Z", "\u000c")).toEqual([false, false]);
  });

  it("shows a preview of the chosen one when it comes, once asked for; one that fails shows nothing", async () => {
    let asked = 0;
    const preview = async () => {
      asked += 1;
      return ["> fix it\tnow", "done\u001b[31m", ...Array(20).fill("more")];
    };
    const failing = () => Promise.reject(new Error("gone"));
    const { press, lines, changed } = open([
      { label: "a", preview },
      { label: "b", preview: failing },
    ]);
    await changed();
    expect(lines().slice(2)).toEqual(["› a", "  b", "  > fix it    now", "  done", ...Array(6).fill("  more")]);
    press(DOWN);
    expect(lines().slice(2)).toEqual(["  a", "› b"]);
    await changed();
    press(DOWN);
    expect(lines()).toHaveLength(12);
    expect(asked).toBe(1);
  });

  it("fits every size, whatever its entries say", async () => {
    const items = Array.from({ length: 40 }, (_, i) => ({
      label: `${"日本語".repeat(i % 9)} item\u001b[31m ${i}\nnext`,
      detail: i % 2 === 0 ? "👩‍👩‍👧 a long detail that goes on and on and on" : undefined,
      preview: async () => Array(30).fill("x".repeat(300)),
    }));
    const { press, list, changed } = open(items);
    await changed();
    press(..."item");
    for (const columns of [20, 60, 100, 200])
      for (const rows of [8, 12, 40]) {
        const { lines, caret } = list.render({ columns, rows });
        expect(lines.filter((line) => visibleWidth(line) > columns)).toEqual([]);
        expect(lines.length).toBeLessThan(rows);
        expect(caret!.column).toBeLessThan(columns);
        expect(lines.join("")).not.toMatch(/[\u0000-\u001f]/);
      }
  });
});
