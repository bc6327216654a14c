// A paragraph or a heading as lines of a terminal: pi-tui's Markdown in our styles, with nothing of the text swallowed.
import { Markdown, type MarkdownTheme } from "@earendil-works/pi-tui/dist/components/markdown.js";
import { setCapabilities } from "@earendil-works/pi-tui/dist/terminal-image.js";
import { isPlainStyle, type Style } from "../presentation/style.ts";

/** Contract: every line fits `width`, has no blanks at its end, and closes its styles. */
export type InlineMarkdown = (source: string, width: number) => string[];

export function createInlineMarkdown(style: Style): InlineMarkdown {
  // Links show where they lead, on every terminal: no OSC 8, and no `tmux` is asked whether it knows it.
  setCapabilities({ images: null, trueColor: false, hyperlinks: false });
  const theme = themeOf(style);
  return (source, width) => {
    if (source.trim() === "") return [];
    const lines = new Markdown(shielded(source), 0, 0, theme, undefined, { renderLatex: false }).render(width);
    return lines.map((line) =>
      unshielded(isPlainStyle(style) ? line.replace(SGR, "").trimEnd() : closed(line.trimEnd())),
    );
  };
}

const themeOf = (style: Style): MarkdownTheme => ({
  heading: (text) => text,
  link: (text) => text,
  linkUrl: style.dim,
  code: style.cyan,
  codeBlock: style.cyan,
  codeBlockBorder: style.dim,
  codeBlockIndent: "",
  quote: style.dim,
  quoteBorder: style.dim,
  hr: style.dim,
  listBullet: (text) => text,
  bold: style.bold,
  italic: style.italic,
  strikethrough: style.struck,
  underline: style.underline,
});

/** Code points that no text has: each stands for a character that the renderer would take for more than it is. */
const STANDS_FOR = new Map([
  ["\ufdd0", "$"],
  ["\ufdd1", "\\"],
  ["\ufdd2", "["],
  ["\ufdd3", "("],
  ["\ufdd4", "!"],
]);
const [DOLLAR, BACKSLASH, BRACKET, PARENTHESIS, EXCLAMATION] = [...STANDS_FOR.keys()];

/** What is shown as it was written: `$HOME` and `\(` (else formulas), definitions of links (else gone), pictures (else without their address). */
const shielded = (source: string): string =>
  source
    .replaceAll("$", DOLLAR!)
    .replace(/\\([[(])/g, (_, open: string) => `${BACKSLASH}${open === "[" ? BRACKET : PARENTHESIS}`)
    .replace(/\\(?=[\])])/g, BACKSLASH!)
    .replace(/^([ \t]*)\[(?=[^\]\n]+\]:)/gm, `$1${BRACKET}`)
    .replace(/!(?=\[)/g, EXCLAMATION!);

const unshielded = (line: string): string => line.replace(/[\ufdd0-\ufdd4]/g, (one) => STANDS_FOR.get(one) ?? one);

const SGR = /\u001b\[[\d;]*m/g;

/** Which code ends the style that a code begins; none: it ends some itself. */
const endOf = (code: number): number | undefined => {
  if (code === 1 || code === 2) return 22;
  if (code >= 3 && code <= 9) return code + 20;
  return code >= 30 && code <= 37 ? 39 : undefined;
};

/** A wrapped line may end within a style; the next one begins it again. */
function closed(line: string): string {
  const open = new Set<number>();
  for (const [sequence] of line.matchAll(SGR))
    for (const code of sequence.slice(2, -1).split(";").map(Number)) {
      const end = endOf(code);
      if (end !== undefined) open.add(end);
      else if (code === 0) open.clear();
      else open.delete(code);
    }
  return open.size === 0 ? line : `${line}\u001b[${[...open].join(";")}m`;
}
