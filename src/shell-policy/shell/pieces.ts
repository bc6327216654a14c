// Which paths may be meant by a word: the whole of it, what follows `=`, `@`, `:` or `,`, and what is joined to a flag.

export interface WordPiece {
  path: string;
  /** The flag whose value it is, joined or before it; "" for an operand. */
  flag: string;
  /** It stands in a text (a message, a program, a query), not alone. */
  isInText: boolean;
  /** A separator is in it (`a:b`, `k=v`): it is a path only if something of that name is there. */
  isCompound: boolean;
}

/** Blanks, quotes, brackets and operators: then the word is a text, and its pieces are looked at. */
const TEXT = /[\s'"`()|;<>\\]/;
const URL = /^[a-z][a-z0-9+.-]*:\/\//i;
const LOCAL_URL = /^(?:file|fileb|concat|text|subfile):(?:\/\/(?:localhost)?(?=\/))?/i;

/** `before` is the word in front of it. */
export function wordPieces(word: string, before: string, home: string, cwd: string): WordPiece[] {
  if (TEXT.test(word)) return textPieces(word, before, home, cwd);
  const { flag, value } = takeApart(word, before);
  const known = (path: string) => atHome(path, home, cwd);
  const paths = new Set<string>();
  for (const one of value) for (const path of splitUp(one)) paths.add(known(path));
  return [...paths].filter(Boolean).map((path) => ({ path, flag, isInText: false, isCompound: /[=@:,#]/.test(path) }));
}

function takeApart(word: string, before: string): { flag: string; value: string[] } {
  const [, long, rest = ""] = /^(--?[A-Za-z][\w.-]*)[=:](.*)$/s.exec(word) ?? [];
  if (long !== undefined) return { flag: long, value: [rest, ...joined(word)] };
  if (/^--/.test(word)) return { flag: word, value: [] };
  if (/^-./.test(word)) return { flag: word.slice(0, 2), value: joined(word) };
  return { flag: /^--?[A-Za-z][\w.-]*$/.test(before) ? before : "", value: [word] };
}

/** `-ofile`, `-aF/x`: behind the letter, and from where something looks like a path. */
function joined(word: string): string[] {
  if (!/^-[A-Za-z]/.test(word)) return [];
  const at = word.search(/[~/.@$]/);
  const isValue = word.slice(0, Math.max(0, at)).includes("="); // `-var-file=a/b`: the value is looked at by itself
  return [word.slice(2), ...(at > 1 && !isValue ? [word.slice(at)] : [])];
}

/** The whole, and what stands between separators; of an address only what is a file of this machine. */
function splitUp(value: string): string[] {
  const whole = value.replace(/^@+/, "");
  if (LOCAL_URL.test(whole)) return [whole.replace(LOCAL_URL, "")];
  if (URL.test(whole)) return [...whole.matchAll(/@([/~.$][^,]*)/g)].map(([, path = ""]) => path);
  const out = [whole];
  // The place on another machine is not one of this.
  const local = /^[\w.-]+@[\w.-]+:/.test(whole) ? "" : whole;
  for (const m of local.matchAll(/[=@:,#]+/g)) {
    const rest = local.slice(m.index + m[0].length);
    if (m.index === 0 && m[0] === ":") continue; // git's `:/` and `:!x`
    if (URL.test(local.slice(Math.max(0, local.lastIndexOf(",", m.index) + 1))) && m[0] === ":") continue;
    out.push(rest, ...rest.split(/[=@:,#]/).slice(0, 1));
  }
  out.push(...local.split(/[=@:,#]/).slice(0, 1));
  return out;
}

/** Of a text only what is plainly a path: with a slash, or beginning with a dot or a tilde. */
function textPieces(text: string, before: string, home: string, cwd: string): WordPiece[] {
  const flag = /^(--?[A-Za-z][\w.-]*)=/.exec(text)?.[1] ?? (/^--?[A-Za-z][\w.-]*$/.test(before) ? before : "");
  const tokens = text
    .split(/[\s'"`()|;<>\\,=@{}&![\]]+/)
    .filter((token) => /^[.~$]|\//.test(token) && !URL.test(token));
  const paths = new Set(tokens.slice(0, MAX_TOKENS).map((token) => atHome(token.replace(LOCAL_URL, ""), home, cwd)));
  return [...paths].map((path) => ({ path, flag, isInText: true, isCompound: false }));
}
const MAX_TOKENS = 200;

const atHome = (path: string, home: string, cwd: string): string =>
  path
    .replace(/^~(?=\/|$)/, () => home)
    .replace(/\$(?:HOME\b|\{HOME\})/g, () => home)
    .replace(/\$(?:PWD\b|\{PWD\})/g, () => cwd);
