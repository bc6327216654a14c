// What the rehearsal model knows about names of files: languages, patterns, and which words look like a path.
import { QUOTED } from "./clauses.ts";
import type { Files } from "./request.ts";

const KINDS: { label: string; words: string[]; ends: string[] }[] = [
  { label: "Python", words: ["python", "py", "パイソン"], ends: ["py"] },
  { label: "TypeScript", words: ["typescript", "ts", "タイプスクリプト"], ends: ["ts", "tsx"] },
  { label: "JavaScript", words: ["javascript", "js", "ジャバスクリプト"], ends: ["js", "jsx", "mjs", "cjs"] },
  { label: "Markdown", words: ["markdown", "md", "マークダウン"], ends: ["md"] },
  { label: "Go", words: ["go", "golang"], ends: ["go"] },
  { label: "Rust", words: ["rust"], ends: ["rs"] },
  { label: "Java", words: ["java"], ends: ["java"] },
  { label: "Kotlin", words: ["kotlin"], ends: ["kt", "kts"] },
  { label: "Ruby", words: ["ruby"], ends: ["rb"] },
  { label: "PHP", words: ["php"], ends: ["php"] },
  { label: "C++", words: ["c++", "cpp"], ends: ["cpp", "cc", "cxx", "hpp", "h"] },
  { label: "C#", words: ["c#", "csharp"], ends: ["cs"] },
  { label: "C", words: ["c"], ends: ["c", "h"] },
  { label: "Swift", words: ["swift"], ends: ["swift"] },
  { label: "shell", words: ["shell", "bash", "sh", "シェル"], ends: ["sh", "bash"] },
  { label: "SQL", words: ["sql"], ends: ["sql"] },
  { label: "HTML", words: ["html"], ends: ["html", "htm"] },
  { label: "CSS", words: ["css"], ends: ["css", "scss"] },
  { label: "JSON", words: ["json"], ends: ["json"] },
  { label: "YAML", words: ["yaml", "yml"], ends: ["yaml", "yml"] },
  { label: "TOML", words: ["toml"], ends: ["toml"] },
  { label: "text", words: ["text", "txt", "テキスト"], ends: ["txt"] },
];

const BARE = /^(?:README|LICENSE|LICENCE|CHANGELOG|Makefile|Dockerfile|Gemfile|Rakefile|Procfile)$/i;

/** A letter, an accent, a digit of any script. */
const LETTER = "\\p{L}\\p{M}\\p{N}_";
const WITH_SLASH = new RegExp(`^[${LETTER}@~.+-]*\\/[${LETTER}@~./+-]*$`, "u");
const WITH_ENDING = new RegExp(`^\\.?[${LETTER}@~+-][${LETTER}@~.+-]*\\.[A-Za-z]\\w*$`, "u");

/** A path as people type it: with an extension, a slash, or one of the well-known bare names. */
export const looksLikePath = (word: string): boolean =>
  BARE.test(word) || WITH_SLASH.test(word) || WITH_ENDING.test(word) || /^\.[A-Za-z]\w+$/.test(word);

/** "the README" is README.md in nearly every repository. */
export const asPath = (word: string): string => (/^readme$/i.test(word) ? "README.md" : word);

const JAPANESE = "\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Han}";
const OTHERS = `(?:(?![${JAPANESE}])[${LETTER}])`;
const WORD = new RegExp(`${QUOTED}|(?:${OTHERS}|[@~./*+#{},-])*(?:${OTHERS}|[@~/*+#}])`, "gu");
/** Up to its ending, with letters that are not ASCII: where words are not parted by blanks, more than a name may stand before it. */
const PATH = new RegExp(`(?=[\\w@~./+-]*[^\\x00-\\x7f])[${LETTER}@~./+-]*?\\.[A-Za-z]\\w*(?![\\w@~+/-]|\\.\\w)`, "gu");

/** The words of a clause, quotations as marks; Japanese around them is skipped, but for what belongs to the name of a file. */
export function fileWords(text: string): string[] {
  const words: string[] = [];
  let from = 0;
  const others = (to: number) => words.push(...(text.slice(from, to).match(WORD) ?? []));
  for (const { 0: run, index } of text.matchAll(PATH)) {
    const name = nameIn(index === from && index > 0 ? run.replace(PARTICLE, "") : run);
    others(index + run.length - (name ?? run).length);
    if (name !== undefined) words.push(name);
    from = index + run.length;
  }
  others(text.length);
  return words;
}

const PARTICLE = /^[のをにはとでがへもや]/;
const NOUN = /^(?:ファイル|フォルダー?|ディレクトリ)(?=[A-Za-z0-9])/;
/** A particle with something before and behind it: where the name begins, nobody can tell. */
const UNCLEAR = /[^./][のをにはとでがへもや](?=[^\x00-\x7f])/;

/** The name of a file that the run ends with; undefined where that cannot be told: it has to be quoted. */
function nameIn(run: string): string | undefined {
  const ascii = /[\x21-\x7e]*$/.exec(run)![0];
  const before = run.slice(0, run.length - ascii.length);
  if (/^[A-Za-z]/.test(ascii) && /\p{scx=Hira}$/u.test(before) && !/[ァ-ヿ一-鿿]$/.test(before)) return ascii;
  const name = run.replace(NOUN, "");
  return UNCLEAR.test(name) ? undefined : name;
}

export const isQuoted = (word: string): boolean => new RegExp(`^${QUOTED}$`).test(word);

export const pathsIn = (text: string): string[] => fileWords(text).filter((w) => isQuoted(w) || looksLikePath(w));

/** Collects the kinds of files that a clause names, word by word. */
export class FileChoice {
  private readonly labels: string[] = [];
  private readonly ends: string[] = [];
  private readonly globs: string[] = [];
  path?: string;

  /** False when the word says nothing about files. */
  add(word: string): boolean {
    const bare = word.toLowerCase().replace(/,$/, "");
    const kind = KINDS.find((k) => k.words.includes(bare));
    const end = /^\*?\.(\w+)$/.exec(bare)?.[1];
    if (kind) {
      this.labels.push(kind.label);
      this.ends.push(...kind.ends);
    } else if (bare === "test" || bare === "tests" || bare === "テスト") {
      this.labels.push("test");
      this.globs.push("**/*{test,spec}*");
    } else if (end) {
      this.labels.push(`*.${end}`);
      this.ends.push(end);
    } else if (word.includes("*")) {
      this.labels.push(word);
      this.globs.push(word.includes("/") ? word : `**/${word}`);
    } else return false;
    return true;
  }

  /** A pattern was given, so that the word "files" is not needed. */
  get pattern(): boolean {
    return this.labels.some((label) => label.includes("*"));
  }

  get named(): boolean {
    return this.labels.length > 0;
  }

  /** Undefined when one pattern cannot say it. */
  files(): Files | undefined {
    const ends = [...new Set(this.ends)];
    const globs = [...this.globs];
    if (ends.length === 1) globs.push(`**/*.${ends[0]}`);
    if (ends.length > 1) globs.push(`**/*.{${ends.join(",")}}`);
    if (globs.length > 1) return undefined;
    const files: Files = { label: this.labels.join(", "), pattern: globs[0] ?? "**/*" };
    if (this.path !== undefined) files.path = this.path;
    return files;
  }
}
