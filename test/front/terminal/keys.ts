// Keys as a terminal sends them, and what every view has to keep.
import { visibleWidth } from "@earendil-works/pi-tui";
import { expect } from "vitest";
import type { Panel, Size, View } from "../../../src/front/terminal/view.ts";

export const KEYS = {
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  pageUp: "\u001b[5~",
  pageDown: "\u001b[6~",
  home: "\u001b[H",
  end: "\u001b[F",
  enter: "\r",
  escape: "\u001b",
  ctrlC: "\u0003",
  backspace: "\u007f",
};

export const press = (panel: Panel, ...keys: string[]): boolean[] =>
  keys.map((data) => panel.key({ kind: "key", data }));

export const type = (panel: Panel, text: string): void => void press(panel, ...text);

/** Contract: fails when a line is wider than the screen, when there are more than fit, or when a line breaks by itself. */
export function drawn(panel: Panel, size: Size): View {
  const view = panel.render(size);
  expect(view.lines.length).toBeLessThanOrEqual(size.rows);
  for (const line of view.lines) {
    expect(visibleWidth(line), line).toBeLessThanOrEqual(size.columns);
    expect(line.replace(/\u001b\[[0-9;]*m/g, "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  }
  if (view.caret) {
    expect(view.caret.row).toBeLessThan(view.lines.length);
    expect(view.caret.column).toBeLessThan(size.columns);
  }
  return view;
}

export const textOf = (panel: Panel, size: Size): string =>
  drawn(panel, size)
    .lines.join("\n")
    .replace(/\u001b\[[0-9;]*m/g, "");
