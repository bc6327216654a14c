// The last line of the terminal: model, mode, sandbox, context, what it cost, how full the window is, the team, and what waits.
import { counted } from "../../text/counted.ts";
import { oneLine } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import type { LivePart } from "./view.ts";
import { fittedLine } from "./wrapped-lines.ts";

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
}

/** From here on it is worth a look. */
const NEARLY_FULL = 0.4;

/** What matters most comes first: on a narrow terminal the rest is cut. */
export function createStatusLine(status: () => StatusNow, style: Style): LivePart {
  return {
    render({ columns }) {
      const { model, mode, isSandboxed, context, spent, window, outstanding, waiting, goal } = status();
      const parts = [
        ...(waiting > 0 ? [style.yellow(`${counted(waiting, "question")} for you`)] : []),
        style.dim(oneLine(model, 40)),
        mode === "default" ? style.dim(mode) : style.yellow(mode),
        ...(isSandboxed === false ? [style.yellow("no sandbox")] : []),
        ...(window === undefined ? [] : [windowText(window, style)]),
        ...(spent === "" ? [] : [style.dim(spent)]),
        ...outstanding.map((one) => style.dim(one)),
        ...(goal === undefined ? [] : [style.dim(`goal: ${oneLine(goal, 40)}`)]),
        ...(context === undefined ? [] : [style.dim(context)]),
      ];
      return { lines: [fittedLine(parts.join(style.dim(" · ")), columns)] };
    },
  };
}

function windowText(window: number, style: Style): string {
  const text = `window ${Math.round(100 * window)} %`;
  return window >= NEARLY_FULL ? style.yellow(text) : style.dim(text);
}
