// Reading front matter as people write it: YAML; where it is none, line by line, since many descriptions are plain text with colons and examples.
import { isMap, isScalar, type ParsedNode, parseDocument } from "yaml";
import { splitFront } from "./plain-front-matter.ts";

type Values = Record<string, { value: unknown; line: number }>;

export interface FrontMatter {
  values: Values;
  /** What is behind it. */
  body: string;
  /** Lines that might have meant something else, each with how it was read. */
  guessed: { line: number; says: string }[];
}

/** What is wrong, and where. */
export interface Unreadable {
  line: number;
  says: string;
}

/** `keys`: those that count; `texts`: of these, whose value may be any text. */
export function readFrontMatter(
  text: string,
  { keys, texts }: { keys: readonly string[]; texts: readonly string[] },
): FrontMatter | Unreadable {
  const front = splitFront(text);
  if (!front) return { line: 1, says: "there is no front matter: begin with ---, name, description, ---" };
  const { inside: whole, body } = front;
  const read = parse(whole);
  if (typeof read !== "string") return { values: read, body, guessed: [] };
  const { chunks, guessed } = byLine(whole, keys);
  const values: Values = {};
  for (const { key, line, lines } of chunks) {
    const one = parse(lines.join("\n"));
    const value = typeof one === "string" ? undefined : one[key]?.value;
    if (texts.includes(key) && typeof value !== "string") values[key] = { value: plain(key, lines), line };
    else if (value === undefined) return { line, says: `the front matter is not valid YAML: ${one}` };
    else values[key] = { value, line };
  }
  // Nothing of it could be told apart: what YAML says is the better word.
  return chunks.length === 0
    ? { line: 2, says: `the front matter is not valid YAML: ${read}` }
    : { values, body, guessed };
}

/** Every key with its line in the file, or what is wrong. */
function parse(text: string): Values | string {
  const document = parseDocument(text, { prettyErrors: false });
  const [wrong] = document.errors;
  if (wrong) return wrong.message.replace(/\n[\s\S]*/, "");
  if (!isMap<ParsedNode, ParsedNode | null>(document.contents)) return "it is not a map of names to values";
  const values: Values = {};
  for (const { key, value } of document.contents.items) {
    if (!isScalar(key)) return "a name is not plain";
    const line = text.slice(0, key.range?.[0] ?? 0).split("\n").length + 1;
    values[String(key.value)] = { value: value?.toJS(document) ?? null, line };
  }
  return values;
}

interface Chunk {
  key: string;
  line: number;
  lines: string[];
}

/** A line that begins with a known key, outside of an example, begins a value; every other line goes on with the one before. */
function byLine(text: string, keys: readonly string[]): { chunks: Chunk[]; guessed: FrontMatter["guessed"] } {
  const chunks: Chunk[] = [];
  const guessed: FrontMatter["guessed"] = [];
  const isClosed = (text.match(/<example>/g) ?? []).length === (text.match(/<\/example>/g) ?? []).length;
  let inside = false;
  for (const [i, line] of text.split("\n").entries()) {
    const word = inside ? undefined : /^([A-Za-z][\w-]*):(?:\s|$)/.exec(line)?.[1];
    const last = chunks.at(-1);
    if (word !== undefined && keys.includes(word) && !chunks.some(({ key }) => key === word))
      chunks.push({ key: word, line: i + 2, lines: [line] });
    else {
      last?.lines.push(line);
      // Keys begin with a small letter: `Examples:` is none.
      if (word !== undefined && last && /^[a-z]/.test(word))
        guessed.push({ line: i + 2, says: `this is no YAML: \`${word}:\` was read as part of ${last.key}` });
    }
    if (isClosed) inside = (inside || line.includes("<example>")) && !line.endsWith("</example>");
  }
  return { chunks, guessed };
}

function plain(key: string, lines: readonly string[]): string {
  const text = lines
    .join("\n")
    .slice(key.length + 1)
    .trim();
  const quote = /^(["'])[\s\S]*\1$/.exec(text)?.[1];
  return quote === undefined || text.length < 2 ? text : text.slice(1, -1);
}
