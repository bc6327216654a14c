// The last line of the terminal: model, mode, sandbox, context, what it cost, how full the window is, the team, and what waits.
import { counted } from "../../text/counted.ts";
import { oneLine } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import { lineWidth } from "./cells.ts";
import { cutRow } from "./rows.ts";
import type { LivePart } from "./view.ts";

export interface StatusNow {
  model: string;
  mode: string;
  /** Undefined: it is not known yet. */
  isSandboxed?: boolean;
  context?: string;
  /** Tokens and cost in few characters. */
  spent: string;
  /** How full the model's window is, from 0 to 1. */
  window?: number;
  /** What is not over: `2 teammates`, `1 background job`. */
  outstanding: readonly string[];
  /** Questions for a person. */
  waiting: number;
  goal?: string;
  /** Since when the store has not answered. */
  silentSince?: number;
}

/** From here on it is worth a look. */
const NEARLY_FULL = 0.4;

/** What waits for a person and what is allowed come first. Where not all fits, whole parts are left out, those of least worth first. */
export function createStatusLine(status: () => StatusNow, style: Style): LivePart {
  return { render: ({ columns }) => ({ lines: [statusRow(partsOf(status(), style), { columns, style })] }) };
}

/** In the order in which they are shown. `worth`: the least is left out first. */
interface StatusPart {
  text: string;
  worth: number;
}

function partsOf(now: StatusNow, style: Style): StatusPart[] {
  const { model, mode, isSandboxed, context, spent, window, outstanding, waiting, goal, silentSince } = now;
  return [
    ...(silentSince === undefined ? [] : [{ text: style.red(silentText(silentSince)), worth: 10 }]),
    ...(waiting > 0 ? [{ text: style.yellow(`${counted(waiting, "question")} for you`), worth: 9 }] : []),
    { text: mode === "default" ? style.dim(mode) : style.yellow(mode), worth: 8 },
    ...(isSandboxed === false ? [{ text: style.yellow("no sandbox"), worth: 7 }] : []),
    { text: style.dim(oneLine(model, 40)), worth: 4 },
    ...(window === undefined ? [] : [{ text: windowText(window, style), worth: window >= NEARLY_FULL ? 6 : 3 }]),
    ...(spent === "" ? [] : [{ text: style.dim(spent), worth: 2 }]),
    ...outstanding.map((one) => ({ text: style.dim(one), worth: 5 })),
    ...(goal === undefined ? [] : [{ text: style.dim(`goal: ${oneLine(goal, 40)}`), worth: 1 }]),
    ...(context === undefined ? [] : [{ text: style.dim(context), worth: 0 }]),
  ];
}

/** By the person's own clock. */
export const silentText = (since: number): string =>
  `the store has not answered since ${new Date(since).toTimeString().slice(0, 8)}`;

function statusRow(parts: readonly StatusPart[], { columns, style }: { columns: number; style: Style }): string {
  const row = parts.map(({ text }) => text).join(style.dim(" · "));
  const [least] = parts.toSorted((a, b) => a.worth - b.worth);
  if (parts.length <= 1 || !least || lineWidth(row) <= columns) return cutRow(row, columns);
  const last = parts.findLastIndex(({ worth }) => worth === least.worth);
  return statusRow(parts.toSpliced(last, 1), { columns, style });
}

function windowText(window: number, style: Style): string {
  const text = `window ${Math.round(100 * window)} %`;
  return window >= NEARLY_FULL ? style.yellow(text) : style.dim(text);
}
