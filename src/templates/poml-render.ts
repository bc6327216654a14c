// Turning POML into Markdown. Elements decide the structure; values only fill it.
import { fenceFor } from "./data.ts";
import type { Document } from "./document.ts";
import type { TextPiece } from "./expression.ts";
import { isList, kindOf, ownValue } from "./json.ts";
import type { Library } from "./library.ts";
import type { Meter } from "./meter.ts";
import { trimPieces } from "./poml-layout.ts";
import { CAPTIONS } from "./poml-tags.ts";
import type { Element, Node, PomlPart } from "./poml-tree.ts";
import { expressionText, holds, inner, need, type TemplateScope, templateValue } from "./scope.ts";
import { problem } from "./source.ts";

export interface Rendering {
  library: Library;
  meter: Meter;
}

/** The document as Markdown. `chain` ends in it; `level` is that of its next heading. */
export function renderDocument(
  rendering: Rendering,
  chain: readonly Document[],
  scope: TemplateScope,
  level: number,
): string {
  const { library, meter } = rendering;
  const document = chain.at(-1)!;
  const { source, content } = document;

  const text = (pieces: readonly TextPiece[], within: TemplateScope): string => {
    let out = "";
    for (const piece of pieces) {
      const at = typeof piece === "string" ? 0 : piece.at;
      meter.step(source, at);
      if (typeof piece === "string") out += meter.write(source, 0, piece);
      else {
        const value = templateValue(source, piece, within, meter.left());
        out += meter.write(source, at, expressionText(source, piece, value, meter.left()));
      }
    }
    return out;
  };

  /** Calls `visit` as often as `for` and `if` say, each time with the names that hold there. */
  const expand = (element: Element, within: TemplateScope, visit: (scope: TemplateScope) => void): void => {
    const { each, when } = element;
    meter.step(source, element.at);
    if (!each) {
      if (!when || holds(when, within)) visit(inner(within));
      return;
    }
    const list = need(source, each.list, within);
    if (!isList(list)) {
      const advice = "A loop runs over a list.";
      throw problem(source, each.list.at, `${each.list.name} is ${kindOf(list)}`, advice);
    }
    for (let index = 0; index < list.length; index++) {
      meter.round(source, each.at);
      const round = inner(within);
      const { length } = list;
      round.names.set(each.name, ownValue(list, index));
      round.names.set("loop", { index, length, first: index === 0, last: index === length - 1 });
      if (!when || holds(when, round)) visit(round);
    }
  };

  const define = (element: Element, within: TemplateScope): void => {
    meter.step(source, element.at);
    if (element.when && !holds(element.when, within)) return;
    within.names.set(element.name!, letValue(element, within));
  };

  const letValue = (element: Element, within: TemplateScope): unknown => {
    if (element.src !== undefined) return library.data(document, element);
    const pieces = nodesIn(element).flatMap((node) => (node.tag === "text" ? node.pieces : []));
    const [only, ...rest] = pieces;
    // One expression and nothing else: the value itself, not its text.
    if (typeof only === "object" && rest.length === 0) {
      const value = templateValue(source, only, within, meter.left());
      return typeof value === "string" && only.filters.length > 0 ? meter.write(source, only.at, value) : value;
    }
    return text(pieces, within);
  };

  const lines = (nodes: readonly Node[], within: TemplateScope): string => {
    let out = "";
    for (const node of nodes) {
      if (node.tag === "text") out += text(node.pieces, within);
      else if (node.tag === "let") define(node, within);
      else expand(node, within, (scope) => (out += inline(node, scope)));
    }
    return out;
  };

  const inline = (element: Element, within: TemplateScope): string => {
    const content = lines(nodesIn(element), within);
    if (content === "") return "";
    if (element.tag === "b") return `**${content}**`;
    return element.tag === "i" ? `*${content}*` : codeSpan(content);
  };

  const codeBlock = (element: Element, within: TemplateScope): string => {
    const lang = text(element.lang ?? [], within);
    if (!/^[\w+#.-]*$/.test(lang)) {
      throw problem(
        source,
        element.at,
        "the language of <code> is not a word",
        "Use letters, digits and + # . - _ in lang.",
      );
    }
    const content = lines(nodesIn(element), within);
    const fence = fenceFor(content);
    return `${fence}${lang}\n${content}${content === "" || content.endsWith("\n") ? "" : "\n"}${fence}`;
  };

  const list = (element: Element, within: TemplateScope, at: number): string => {
    const items: string[] = [];
    for (const child of element.body) {
      if (child.tag === "let") define(child, within);
      else if (child.tag !== "lines") {
        expand(child, within, (scope) => {
          const mark = `${marker(element, items.length)} `;
          items.push(mark + indented(blocks(child.body, scope, at, true), mark.length));
        });
      }
    }
    return items.join("\n");
  };

  const block = (element: Element, within: TemplateScope, at: number): string => {
    if (element.tag === "list") return list(element, within, at);
    if (element.tag === "code") return codeBlock(element, within);
    if (element.tag === "include") {
      meter.step(source, element.at, 9);
      return renderDocument(rendering, [...chain, library.template(chain, element)], within, at);
    }
    const caption = CAPTIONS[element.tag];
    if (caption === undefined) return blocks(element.body, within, at);
    const title = oneLine(element.caption ? text(element.caption, within) : caption);
    const body = blocks(element.body, within, at + 1);
    if (title === "") return body;
    return `${"#".repeat(Math.min(at, 6))} ${title}${body === "" ? "" : `\n\n${body}`}`;
  };

  const blocks = (parts: readonly PomlPart[], within: TemplateScope, at: number, tight = false): string => {
    const out: string[] = [];
    let tail = "";
    const add = (made: string, close: boolean): void => {
      if (made === "") return;
      if (tail !== "") out.push(close ? lineBreak(tail, 1) : lineBreak(tail, 2));
      out.push(made);
      tail = made.slice(-2);
    };
    parts.forEach((part, n) => {
      if (part.tag === "lines") {
        add(lines(part.nodes, within), false);
        return;
      }
      const follows = tight && part.tag === "list" && parts[n - 1]?.tag === "lines";
      expand(part, within, (scope) => add(meter.fits(source, part.at, block(part, scope, at)), follows));
    });
    return out.join("");
  };

  if (content.kind === "poml") return blocks(content.root.body, inner(scope), level);
  // Included Markdown is a block among others; by itself it stays as it is written.
  return text(chain.length > 1 ? trimPieces(content.pieces) : content.pieces, scope);
}

/** Of an element that holds nothing but what flows in lines. */
const nodesIn = ({ body: [lines] }: Element): readonly Node[] => (lines?.tag === "lines" ? lines.nodes : []);

/** What is missing to `count` line breaks after a text. */
function lineBreak(tail: string, count: number): string {
  const there = tail.endsWith("\n\n") ? 2 : tail.endsWith("\n") ? 1 : 0;
  return "\n".repeat(Math.max(0, count - there));
}

const oneLine = (text: string): string => text.replace(/[\r\n\u2028\u2029]+/g, " ");

/** Code inside a line; its backticks cannot end it, its line breaks are spaces as Markdown has it. */
function codeSpan(text: string): string {
  const content = oneLine(text);
  const fence = fenceFor(content, 1);
  const pad = /^`|`$|^ .* $/s.test(content) ? " " : "";
  return fence + pad + content + pad + fence;
}

function marker(list: Element, index: number): string {
  if (list.style === "decimal") return `${index + 1}.`;
  if (list.style !== "latin") return { dash: "-", star: "*", plus: "+" }[list.style ?? "dash"];
  let letters = "";
  for (let n = index + 1; n > 0; n = Math.floor((n - 1) / 26))
    letters = String.fromCharCode(97 + ((n - 1) % 26)) + letters;
  return `${letters}.`;
}

function indented(text: string, width: number): string {
  return text.replace(/\n(?=[^\n])/g, `\n${" ".repeat(width)}`);
}
