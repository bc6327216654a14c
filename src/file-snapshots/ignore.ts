// Gitignore rules: reading them as data and saying which paths they leave out. Linear in pattern and name, whatever a repository writes.
import type { RawPath } from "./names.ts";

/** The rules of one file, and those that count less. Compared by identity: the same file gives the same object. */
export interface IgnoreRules {
  parent?: IgnoreRules;
  /** The folder they are relative to; undefined for what lies above the root, where `above` is the way from there to the root. */
  base: RawPath;
  above?: RawPath;
  list: Rule[];
}

type Token = { star: true } | { any: true } | { char: string } | { set: (c: number) => boolean };

interface Segment {
  /** `**`: any number of folders. */
  deep?: true;
  literal?: string;
  /** `*.ts` */
  suffix?: string;
  tokens: Token[];
}

export interface Rule {
  keep: boolean;
  foldersOnly: boolean;
  anchored: boolean;
  segments: [Segment, ...Segment[]];
}

/** The nearest file decides, in it the last line that matches. Contract: the caller does not ask below a folder that is ignored. */
export function isIgnored(rules: IgnoreRules | undefined, path: RawPath, isFolder: boolean): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  for (let at = rules; at; at = at.parent) {
    const inside = at.above === undefined ? path.slice(at.base === "" ? 0 : at.base.length + 1) : `${at.above}/${path}`;
    let parts: string[] | undefined;
    for (let i = at.list.length - 1; i >= 0; i--) {
      const rule = at.list[i]!;
      if (rule.foldersOnly && !isFolder) continue;
      if (rule.anchored) {
        parts ??= inside.split("/");
        if (matchesPath(rule.segments, parts)) return !rule.keep;
      } else if (matchesName(rule.segments[0], name)) return !rule.keep;
    }
  }
  return false;
}

/** Whether rules leave a path out, by itself or by a folder above it. */
export function isLeftOut(
  rulesAt: (folder: RawPath) => IgnoreRules | undefined,
  path: RawPath,
  isFolder: boolean,
): boolean {
  for (let cut = path.indexOf("/"); cut >= 0; cut = path.indexOf("/", cut + 1)) {
    const folder = path.slice(0, cut);
    if (isIgnored(rulesAt(folder.slice(0, Math.max(0, folder.lastIndexOf("/")))), folder, true)) return true;
  }
  return isIgnored(rulesAt(path.slice(0, Math.max(0, path.lastIndexOf("/")))), path, isFolder);
}

/** IgnoreRules of a set of `.gitignore` files by folder, on top of those from outside. */
export function rulesByFolder(files: Map<RawPath, string>, outside: IgnoreRules | undefined) {
  const made = new Map<RawPath, IgnoreRules | undefined>();
  return function rulesAt(folder: RawPath): IgnoreRules | undefined {
    if (made.has(folder)) return made.get(folder);
    const parent = folder === "" ? outside : rulesAt(folder.slice(0, Math.max(0, folder.lastIndexOf("/"))));
    const text = files.get(folder);
    const rules = text === undefined ? parent : { parent, base: folder, list: parseRules(text) };
    made.set(folder, rules);
    return rules;
  };
}

/** Contract: `text` has one character a byte. */
export function parseRules(text: string): Rule[] {
  if (text.startsWith("\xef\xbb\xbf")) text = text.slice(3);
  return text.split("\n").flatMap((line) => parseRule(line.endsWith("\r") ? line.slice(0, -1) : line) ?? []);
}

function parseRule(line: string): Rule | undefined {
  if (line.startsWith("#")) return undefined;
  let text = trimmed(line);
  const keep = text.startsWith("!");
  if (keep) text = text.slice(1);
  const foldersOnly = text.endsWith("/");
  if (foldersOnly) text = text.slice(0, -1);
  if (text === "") return undefined;
  const anchored = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  const parts = anchored ? splitPattern(text) : [text];
  const segments: Segment[] = [];
  for (const part of parts) {
    const segment = anchored && part === "**" ? DEEP : parseSegment(part);
    if (!segment) return undefined;
    segments.push(segment);
  }
  if (segments.at(-1) === DEEP) segments.push({ tokens: [{ star: true }] });
  const [first, ...more] = segments;
  return first && { keep, foldersOnly, anchored, segments: [first, ...more] };
}

/** At slashes, except those that stand in a set: there they are members that match nothing. */
function splitPattern(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "[") i = parseSet(text, i)?.end ?? i;
    else if (text[i] === "/") {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, text.slice(start)];
}

const DEEP: Segment = { deep: true, tokens: [] };

/** Without the spaces at its end, except one behind a backslash. */
function trimmed(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") end--;
  let backslashes = 0;
  while (end - backslashes > 0 && line[end - 1 - backslashes] === "\\") backslashes++;
  return line.slice(0, backslashes % 2 === 1 && end < line.length ? end + 1 : end);
}

/** Undefined for what matches nothing: an open bracket, a backslash at the end. */
function parseSegment(text: string): Segment | undefined {
  const tokens: Token[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === "*") {
      if (!("star" in (tokens.at(-1) ?? {}))) tokens.push({ star: true });
    } else if (c === "?") tokens.push({ any: true });
    else if (c === "\\") {
      if (++i >= text.length) return undefined;
      tokens.push({ char: text.charAt(i) });
    } else if (c === "[") {
      const set = parseSet(text, i);
      if (!set) return undefined;
      tokens.push({ set: set.has });
      i = set.end;
    } else tokens.push({ char: c });
  }
  const plain = (from: number) => tokens.slice(from).every((t) => "char" in t);
  const chars = (from: number) =>
    tokens
      .slice(from)
      .map((t) => ("char" in t ? t.char : ""))
      .join("");
  if (plain(0)) return { literal: chars(0), tokens };
  const [first] = tokens;
  if (first && "star" in first && plain(1)) return { suffix: chars(1), tokens };
  return { tokens };
}

const CLASSES: Record<string, RegExp> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[\x21-\x7e]/,
  lower: /[a-z]/,
  print: /[\x20-\x7e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[A-Fa-f0-9]/,
};

/** `[a-z]`, `[!x]`, `[[:digit:]]`; `end` is its closing bracket. */
function parseSet(text: string, start: number): { has: (c: number) => boolean; end: number } | undefined {
  let i = start + 1;
  const not = text[i] === "!" || text[i] === "^";
  if (not) i++;
  const members = new Set<number>();
  for (let first = true; ; first = false) {
    let c = text[i];
    if (c === undefined) return undefined;
    if (c === "]" && !first) break;
    if (c === "[" && text[i + 1] === ":") {
      const close = text.indexOf(":]", i + 2);
      const named = close < 0 ? undefined : CLASSES[text.slice(i + 2, close)];
      if (!named) return undefined;
      for (let n = 0; n < 256; n++) if (named.test(String.fromCharCode(n))) members.add(n);
      i = close + 2;
      continue;
    }
    if (c === "\\") c = text[++i];
    if (c === undefined) return undefined;
    let last = c;
    if (text[i + 1] === "-" && text[i + 2] !== undefined && text[i + 2] !== "]") {
      i += 2;
      last = text[i] === "\\" ? text.charAt(++i) : text.charAt(i);
      if (last === "") return undefined;
    }
    for (let n = c.charCodeAt(0); n <= last.charCodeAt(0); n++) members.add(n);
    i++;
  }
  return { has: (c) => members.has(c) !== not, end: i };
}

/** Both matchers go back to the last star only: never exponential. */
function matchesName(segment: Segment, name: string): boolean {
  if (segment.literal !== undefined) return name === segment.literal;
  if (segment.suffix !== undefined) return name.endsWith(segment.suffix);
  const { tokens } = segment;
  return backtracking(tokens.length, name.length, {
    isStar: (t) => "star" in tokens[t]!,
    isEqual: (t, n) => {
      const token = tokens[t]!;
      if ("char" in token) return token.char === name[n];
      return "set" in token ? token.set(name.charCodeAt(n)) : true;
    },
  });
}

function matchesPath(segments: Segment[], parts: string[]): boolean {
  return backtracking(segments.length, parts.length, {
    isStar: (s) => segments[s]!.deep === true,
    isEqual: (s, p) => matchesName(segments[s]!, parts[p]!),
  });
}

function backtracking(
  patterns: number,
  length: number,
  test: { isStar: (p: number) => boolean; isEqual: (p: number, n: number) => boolean },
): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let from = 0;
  while (n < length) {
    if (p < patterns && test.isStar(p)) {
      star = p++;
      from = n;
    } else if (p < patterns && test.isEqual(p, n)) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++from;
    } else return false;
  }
  while (p < patterns && test.isStar(p)) p++;
  return p === patterns;
}
