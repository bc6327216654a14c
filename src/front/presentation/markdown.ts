// Markdown as it streams: headings, code and bold get a style, and every character stays. Nothing is reflowed, nothing is redrawn.
import type { Style } from "./style.ts";

export interface MarkdownStream {
  /** Contract: what it gives, without its styles, is what was put in, but for a few characters that wait for the next piece. */
  push(text: string): string;
  /** What waited; styles are off after it. */
  end(): string;
}

type Span = "none" | "bold" | "code";

export function createMarkdownStream(style: Style): MarkdownStream {
  let waiting = "";
  let isLineStart = true;
  let inFence = false;
  let line: "text" | "heading" | "fence" = "text";
  let span: Span = "none";

  const styled = (text: string): string => {
    if (text === "" || text === "\n") return text;
    if (inFence || line === "fence" || span === "code") return style.cyan(text);
    return line === "heading" || span === "bold" ? style.bold(text) : text;
  };

  /** What the line is, once enough of it is there; undefined: more is needed. */
  function startOf(text: string, isLast: boolean): typeof line | undefined {
    const rest = text.trimStart();
    if (!isLast && (rest === "" || /^(?:#{1,6}|`{1,2}|~{1,2})$/.test(rest)) && !text.includes("\n")) return undefined;
    if (/^(?:```|~~~)/.test(rest)) return "fence";
    return !inFence && /^#{1,6}\s/.test(text) ? "heading" : "text";
  }

  function run(isLast: boolean): string {
    let out = "";
    while (waiting !== "") {
      if (isLineStart) {
        const kind = startOf(waiting, isLast);
        if (kind === undefined) return out;
        line = kind;
        isLineStart = false;
      }
      const at = line === "text" && !inFence ? waiting.search(/[\n`*]/) : waiting.indexOf("\n");
      const plain = at < 0 ? waiting : waiting.slice(0, at);
      out += styled(plain);
      waiting = waiting.slice(plain.length);
      if (waiting === "") break;
      if (waiting[0] === "\n") {
        if (line === "fence") inFence = !inFence;
        out += "\n";
        waiting = waiting.slice(1);
        [isLineStart, line, span] = [true, "text", "none"];
        continue;
      }
      if (waiting === "*" && !isLast) return out;
      out += mark();
    }
    return out;
  }

  /** A backtick or a star: it begins or ends a span, and has its style. */
  function mark(): string {
    const text = waiting.startsWith("**") ? "**" : waiting.charAt(0);
    waiting = waiting.slice(text.length);
    const kind: Span = text === "`" ? "code" : text === "**" ? "bold" : "none";
    if (kind === "none" || (span !== "none" && span !== kind)) return styled(text);
    if (span === kind) {
      const closing = styled(text);
      span = "none";
      return closing;
    }
    span = kind;
    return styled(text);
  }

  return {
    push(text) {
      waiting += text;
      return run(false);
    },
    end() {
      const out = run(true);
      [isLineStart, inFence, line, span] = [true, false, "text", "none"];
      return out;
    },
  };
}

/** A whole text. */
export function styledMarkdown(text: string, style: Style): string {
  const stream = createMarkdownStream(style);
  return stream.push(text) + stream.end();
}
