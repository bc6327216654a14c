// What the attributes of a POML element mean. Only captions and languages take {{ }}: a value never chooses a file.
import { parseCondition, parseLoop, variableName } from "./control.ts";
import { type Cursor, type Decode, parsePieces, unexpected } from "./expression.ts";
import { includePath } from "./includes.ts";
import { LIST_STYLES, type Tag } from "./poml-tags.ts";
import type { Element } from "./poml-tree.ts";
import { problem, quotedSource, type Source } from "./source.ts";

/** Where the value stands in the file. */
export interface Attribute {
  at: number;
  end: number;
}

export function applyAttributes(
  source: Source,
  element: Element,
  attributes: ReadonlyMap<string, Attribute>,
  decode: Decode,
  parent: Tag | undefined,
): void {
  const cursor = ({ at, end }: Attribute): Cursor => ({ source, at, end, decode });
  for (const [key, place] of attributes) {
    const raw = source.text.slice(place.at, place.end);
    const braces = raw.indexOf("{{");
    if (braces !== -1 && key !== "caption" && key !== "lang") {
      const advice =
        key === "if" || key === "for" ? "Write the path without braces." : "Write it out: a value cannot choose it.";
      throw problem(source, place.at + braces, `${key} takes no {{ }}`, advice);
    }
    if (key === "if") element.when = parseCondition(cursor(place));
    else if (key === "for") element.each = parseLoop(cursor(place));
    else if (key === "caption") element.caption = parsePieces(source, place.at, place.end, decode);
    else if (key === "lang") element.lang = parsePieces(source, place.at, place.end, decode);
    else if (key === "src") element.src = includePath(source, place.at, decode(raw, place.at));
    else if (key === "name") {
      const c = cursor(place);
      element.name = variableName(c);
      if (c.at < c.end) throw unexpected(c, "A variable has a name of letters, digits and _.");
    } else if (key === "listStyle") {
      const style = LIST_STYLES.find((one) => one === raw);
      if (!style) {
        throw problem(source, place.at, `there is no listStyle ${quotedSource(raw)}`, `Use ${LIST_STYLES.join(", ")}.`);
      }
      element.style = style;
    } else if (raw !== "true" && raw !== "false") {
      throw problem(source, place.at, `inline is ${quotedSource(raw)}`, "Write true or false.");
    }
  }
  const need = (key: string): void => {
    if (!attributes.has(key)) throw problem(source, element.at, `<${element.tag}> has no ${key}`, `Add ${key}="…".`);
  };
  if (element.tag === "let") need("name");
  if (element.tag === "include") need("src");
  if (element.tag !== "code") return;
  const inline = attributes.get("inline");
  element.block = inline ? source.text.slice(inline.at, inline.end) === "false" : attributes.has("lang");
  if (element.block && (parent === "b" || parent === "i")) {
    throw problem(
      source,
      element.at,
      `a block of code may not stand in <${parent}>`,
      'Write inline="true" or move it out.',
    );
  }
}
