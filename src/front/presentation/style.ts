// Colour, where it is wanted: a terminal that knows it, and nobody said NO_COLOR.

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  struck(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const plain = (text: string): string => text;
export const PLAIN: Style = {
  bold: plain,
  dim: plain,
  italic: plain,
  underline: plain,
  struck: plain,
  red: plain,
  green: plain,
  yellow: plain,
  cyan: plain,
};

/** It writes no escape sequence at all. */
export const isPlainStyle = (style: Style): boolean => style.bold("x") === "x";

const sgr = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;
const ANSI: Style = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  italic: sgr(3, 23),
  underline: sgr(4, 24),
  struck: sgr(9, 29),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  cyan: sgr(36, 39),
};

type Environment = Record<string, string | undefined>;

/** A terminal that only takes lines: no cursor is moved on it. */
export const isDumb = (env: Environment): boolean => env.TERM === "dumb";

export const styleFor = (stream: { isTTY?: boolean }, env: Environment): Style =>
  stream.isTTY && !isDumb(env) && !env.NO_COLOR ? ANSI : PLAIN;
