// Names of files in a request: which words look like a path, and which kinds of files are meant by a word.
import { isQuoted, pattern, QUOTED, raw } from "./rule.ts";

/** Label, and what the names end with; words for it are its label, its endings and those behind the bar. */
const KINDS = `Python: py | パイソン; TypeScript: ts tsx | タイプスクリプト; JavaScript: js jsx mjs cjs | ジャバスクリプト; Markdown: md | マークダウン;
  Go: go | golang; Rust: rs; Java: java; Kotlin: kt kts; Ruby: rb; PHP: php; C++: cpp cc cxx hpp h; C#: cs; C: c h; Swift: swift; shell: sh bash | シェル;
  SQL: sql; HTML: html htm; CSS: css scss; JSON: json; YAML: yaml yml; TOML: toml; text: txt | テキスト`;

interface FileKind {
  label: string;
  ends?: string[];
  glob?: string;
}

/** What a word says about the files that are meant; undefined when that is nothing. */
export function fileKind(word: string): FileKind | undefined {
  const bare = word.toLowerCase().replace(/,$/, "");
  for (const row of KINDS.split(/;\s*/)) {
    const [label = "", ends = "", words = ""] = row.split(/: | \| /).map((part) => part.trim());
    const known = [label.toLowerCase(), ...ends.split(" "), ...words.split(" ")];
    if (bare !== "" && bare !== "h" && known.includes(bare)) return { label, ends: ends.split(" ") };
  }
  if (/^(?:tests?|テスト)$/.test(bare)) return { label: "test", glob: "**/*{test,spec}*" };
  const end = /^\*?\.(\w+)$/.exec(bare)?.[1];
  if (end) return { label: `*.${end}`, ends: [end] };
  if (word.includes("*")) return { label: word, glob: word.includes("/") ? word : `**/${word}` };
  return undefined;
}

/** One pattern for all of them; undefined when there is none. */
export function patternFor(kinds: FileKind[]): string | undefined {
  const ends = [...new Set(kinds.flatMap((kind) => kind.ends ?? []))];
  const globs = kinds.flatMap((kind) => kind.glob ?? []);
  if (ends.length > 0) globs.push(ends.length === 1 ? `**/*.${ends[0]}` : `**/*.{${ends.join(",")}}`);
  return globs.length > 1 ? undefined : (globs[0] ?? "**/*");
}

/** A letter, an accent, a digit of any script. */
const LETTER = raw`\p{L}\p{M}\p{N}_`;
const PATH_LIKE = [
  "^(?:README|LICENSE|LICENCE|CHANGELOG|Makefile|Dockerfile|Gemfile|Rakefile|Procfile)$",
  raw`^[${LETTER}@~.+-]*\/[${LETTER}@~./+-]*$`,
  raw`^\.?[${LETTER}@~+-][${LETTER}@~.+-]*\.[A-Za-z]\w*$`,
  raw`^\.[A-Za-z]\w+$`,
];

/** A path as people type it: with an extension, a slash, or one of the well-known bare names. */
export const looksLikePath = (word: string): boolean => PATH_LIKE.some((like) => pattern(like, "iu").test(word));

/** "the README" is README.md in nearly every repository. */
export const asPath = (word: string): string => (/^readme$/i.test(word) ? "README.md" : word);

const OTHERS = raw`(?:(?![\p{scx=Hira}\p{scx=Kana}\p{scx=Han}])[${LETTER}])`;
const WORD = raw`${QUOTED}|(?:${OTHERS}|[@~./*+#{},-])*(?:${OTHERS}|[@~/*+#}])`;
/** Up to its ending, with letters that are not ASCII: where words are not parted by blanks, more than a name may stand before it. */
const PATH = raw`(?=[\w@~./+-]*[^\x00-\x7f])[${LETTER}@~./+-]*?\.[A-Za-z]\w*(?![\w@~+/-]|\.\w)`;

/** The words of a clause, quotations as marks; Japanese around them is skipped, but for what belongs to the name of a file. */
export function fileWords(text: string): string[] {
  const words: string[] = [];
  let from = 0;
  const others = (to: number) => words.push(...(text.slice(from, to).match(pattern(WORD, "gu")) ?? []));
  for (const { 0: run, index } of text.matchAll(pattern(PATH, "gu"))) {
    const name = nameAtEnd(index === from && index > 0 ? run.replace(/^[のをにはとでがへもや]/, "") : run);
    others(index + run.length - (name ?? run).length);
    if (name !== undefined) words.push(name);
    from = index + run.length;
  }
  others(text.length);
  return words;
}

/** The name of a file that the run ends with; undefined where a particle stands within: where it begins, nobody can tell. */
function nameAtEnd(run: string): string | undefined {
  const before = run.replace(/[\x21-\x7e]*$/, "");
  const ascii = run.slice(before.length);
  if (/^[A-Za-z]/.test(ascii) && pattern(raw`\p{scx=Hira}$`, "u").test(before) && !/[ァ-ヿ一-鿿]$/.test(before))
    return ascii;
  const name = run.replace(/^(?:ファイル|フォルダー?|ディレクトリ)(?=[A-Za-z0-9])/, "");
  return /[^./][のをにはとでがへもや](?=[^\x00-\x7f])/.test(name) ? undefined : name;
}

export const pathsIn = (text: string): string[] =>
  fileWords(text).filter((word) => isQuoted(word) || looksLikePath(word));
