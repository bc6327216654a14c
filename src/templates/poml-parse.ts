// Reading POML: a strict little XML without declarations, namespaces or entities of its own.
import { own } from "../ledger/own.ts";
import { type Cursor, type Decode, eat, parsePieces, skipSpace, type TextPiece, unexpected } from "./expression.ts";
import { MAX_DEPTH } from "./limits.ts";
import { type Attribute, applyAttributes } from "./poml-attributes.ts";
import { layoutBlocks, layoutCode, layoutInline, layoutLines } from "./poml-layout.ts";
import { isTag, listOf, TAGS, type Tag, tagRule } from "./poml-tags.ts";
import type { Element, Node } from "./poml-tree.ts";
import { didYouMean, problem, quotedSource, type Source } from "./source.ts";

const TAG_NAME = /[\p{L}_][\p{L}\p{N}_:.-]*/uy;
const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const ALLOWED = `Allowed are ${listOf(Object.keys(TAGS))}.`;

interface Open {
  element: Element;
  children: Node[];
}

/** Contract: throws HoldfastError with file, line and column for everything that is not in the subset. */
export function parsePoml(source: Source): Element {
  const { text } = source;
  const decode = decoder(source);
  const open: Open[] = [];
  let root: Element | undefined;
  let at = 0;

  const close = (): void => {
    const top = open.pop();
    if (!top) return;
    const { element } = top;
    fill(source, element, top.children);
    const above = open.at(-1);
    if (above) above.children.push(element);
    else root = element;
  };

  while (at < text.length) {
    const next = text.indexOf("<", at);
    const stop = next === -1 ? text.length : next;
    if (stop > at) addText(source, open.at(-1), { from: at, to: stop, decode });
    if (next === -1) break;
    const until = (end: string, from: number, what: string): number => {
      const found = text.indexOf(end, from);
      if (found === -1) throw problem(source, next, `this ${what} is not closed`, `Close it with ${end}`);
      return found;
    };
    if (text.startsWith("<!--", next)) {
      at = until("-->", next + 4, "comment") + 3;
    } else if (text.startsWith("<![CDATA[", next)) {
      const end = until("]]>", next + 9, "CDATA");
      addText(source, open.at(-1), { from: next + 9, to: end, decode: (raw) => raw });
      at = end + 3;
    } else if (text.startsWith("<!", next) || text.startsWith("<?", next)) {
      throw problem(source, next, "declarations are not allowed", "Remove it: no DOCTYPE, no entities, no processing.");
    } else if (text.startsWith("</", next)) {
      const c: Cursor = { source, at: next + 2, end: text.length, decode };
      closingTag(c, open.at(-1)?.element.tag);
      close();
      at = c.at;
    } else {
      const c: Cursor = { source, at: next, end: text.length, decode };
      if (root)
        throw problem(source, next, "there is more than one element at the top", "Put everything inside one <poml>.");
      const { element, empty } = parseTag(c, open.at(-1)?.element.tag);
      if (open.length >= MAX_DEPTH) {
        const advice = "Split the template with <include>.";
        throw problem(source, next, `elements are nested deeper than ${MAX_DEPTH}`, advice, { code: "limit" });
      }
      open.push({ element, children: [] });
      if (empty) close();
      at = c.at;
    }
  }
  const left = open.at(-1);
  if (left)
    throw problem(source, left.element.at, `<${left.element.tag}> is not closed`, `Add </${left.element.tag}>.`);
  if (!root) throw problem(source, 0, "there is no <poml>", "A POML template is one <poml> element.");
  return root;
}

/** `top`: what is open there. */
function addText(source: Source, top: Open | undefined, of: { from: number; to: number; decode: Decode }): void {
  const { text } = source;
  const { from, to, decode } = of;
  const blank = text.slice(from, to).trim() === "";
  if (!top) {
    if (!blank) throw problem(source, firstInk(text, from), "there is text outside <poml>", "Put it inside.");
    return;
  }
  const { tag } = top.element;
  const { holds } = tagRule(tag);
  if (blank && (holds === "items" || holds === "nothing")) return;
  if (holds === "items")
    throw problem(source, firstInk(text, from), "there is text in <list>", "Put it into an <item>.");
  if (holds === "nothing")
    throw problem(source, firstInk(text, from), `<${tag}> holds nothing`, 'Write it as <include src="…"/>.');
  const pieces: TextPiece[] = parsePieces(source, from, to, decode);
  const last = top.children.at(-1);
  if (last?.tag === "text") for (const piece of pieces) last.pieces.push(piece);
  else top.children.push({ tag: "text", pieces });
}

/** Contract: the cursor stands behind `</`; throws unless it closes what is expected. */
function closingTag(c: Cursor, expected: Tag | undefined): void {
  const at = c.at - 2;
  const name = eat(c, TAG_NAME) ?? "";
  skipSpace(c);
  if (expected === undefined || name !== expected) {
    const advice = expected === undefined ? "Nothing is open here." : `Close <${expected}> first.`;
    throw problem(c.source, at, `</${name}> does not close anything`, advice);
  }
  if (eat(c, />/y) === undefined) throw unexpected(c, "A closing tag ends in >.");
}

function parseTag(c: Cursor, parent: Tag | undefined): { element: Element; empty: boolean } {
  const { source } = c;
  const at = c.at++;
  const name = eat(c, TAG_NAME);
  if (name === undefined) throw problem(source, at, "this < begins no tag", "Write &lt; for the character.");
  if (!isTag(name)) {
    const what = name.includes(":")
      ? "namespaces are not allowed"
      : `there is no <${name}>${didYouMean(name, Object.keys(TAGS))}`;
    throw problem(source, at, what, ALLOWED);
  }
  const { inside } = tagRule(name);
  if (parent === undefined ? name !== "poml" : !inside.includes(parent)) {
    const place = inside.length === 0 ? "It stands at the top of the file." : `It may stand in ${listOf(inside)}.`;
    throw problem(source, at, `<${name}> may not stand ${parent ? `in <${parent}>` : "at the top"}`, place);
  }
  const attributes = new Map<string, Attribute>();
  for (;;) {
    const space = eat(c, /\s+/y);
    const end = eat(c, /\/?>/y);
    if (end !== undefined) {
      const element: Element = { tag: name, at, block: !["let", "b", "i", "code"].includes(name), body: [] };
      applyAttributes(source, element, attributes, c.decode, parent);
      return { element, empty: end === "/>" };
    }
    const from = c.at;
    const key = space === undefined ? undefined : eat(c, TAG_NAME);
    if (key === undefined) throw unexpected(c, 'A tag is written <name attribute="value">.');
    if (!tagRule(name).attributes.includes(key)) {
      const known = tagRule(name).attributes;
      const advice = known.length === 0 ? "It takes none." : `It takes ${known.join(", ")}.`;
      throw problem(source, from, `<${name}> has no attribute ${quotedSource(key)}${didYouMean(key, known)}`, advice);
    }
    if (attributes.has(key)) throw problem(source, from, `the attribute ${key} is given twice`, "Keep one.");
    const quote = eat(c, /\s*=\s*["']/y)?.at(-1);
    if (quote === undefined) throw unexpected(c, 'An attribute is written name="value".');
    const start = c.at;
    const close = source.text.indexOf(quote, start);
    if (close === -1) throw problem(source, from, `the value of ${key} is not closed`, `Close it with ${quote}.`);
    const less = source.text.slice(start, close).indexOf("<");
    if (less !== -1)
      throw problem(source, start + less, "there is a < in an attribute", "Write &lt; for the character.");
    attributes.set(key, { at: start, end: close });
    c.at = close + 1;
  }
}

function fill(source: Source, element: Element, children: Node[]): void {
  const { tag } = element;
  if (tag === "list") element.body = children.filter((child) => child.tag !== "text");
  else if (tag === "b" || tag === "i") element.body = [layoutInline(children)];
  else if (tag === "code") element.body = [element.block ? layoutCode(children) : layoutInline(children)];
  else if (tag === "let") element.body = [layoutLines(children)];
  else element.body = layoutBlocks(children);
  const lines = element.body[0];
  if (tag === "let" && lines?.tag === "lines" && (lines.nodes.length === 0) === (element.src === undefined)) {
    throw problem(source, element.at, "<let> takes its value either from its text or from src", "Give one of the two.");
  }
}

const firstInk = (text: string, from: number): number => from + text.slice(from).search(/\S/);

function decoder(source: Source): Decode {
  return (raw, at) =>
    !raw.includes("&")
      ? raw
      : raw.replace(/&(?:#(x[0-9a-fA-F]{1,8}|\d{1,8});|([A-Za-z]\w{0,31});)?/g, (all, code, name, offset: number) => {
          const entity = name === undefined ? undefined : own(ENTITIES, name);
          if (entity !== undefined) return entity;
          const point = code === undefined ? 0 : Number(code.startsWith("x") ? `0${code}` : code);
          if (point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff))
            return String.fromCodePoint(point);
          const what = all === "&" ? "this & begins no entity" : `there is no entity ${all}`;
          throw problem(
            source,
            at + offset,
            what,
            "Use &lt; &gt; &amp; &quot; &apos; or &#number;; write &amp; for the character.",
          );
        });
}
