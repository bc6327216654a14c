// Reading a git configuration, and what of it is credentials. Pure.

interface Setting {
  section: string;
  subsection?: string;
  key: string;
  /** Undefined: the key alone, which means true. */
  value?: string;
}

/** Contract: undefined where git itself could not read it either. */
export function withoutCredentials(text: string): { text: string; dropped: boolean; includes: string[] } | undefined {
  const settings = parse(text);
  if (!settings) return undefined;
  const kept = settings.filter((setting) => !holdsCredentials(setting));
  const includes = kept.filter(isInclude).map(({ value = "" }) => value);
  return { text: kept.map(written).join(""), dropped: kept.length < settings.length, includes };
}

/** Where `.gitmodules` says that submodules are. */
export const submodulePaths = (text: string): string[] =>
  (parse(text) ?? []).flatMap(({ section, key, value }) =>
    section === "submodule" && key === "path" && value ? [value] : [],
  );

const isInclude = ({ section, key }: Setting): boolean => /^include(?:if)?$/.test(section) && key === "path";

const SECRET_KEY = /token|passw|pass$|secret|oauth|cookie|extraheader|apikey|sslkey/;
/** As the large hosts make them, and what a header carries. */
const SECRET_VALUE = /\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abp]-|AKIA|sk-)\w{4}|authorization:|bearer\s/i;
const ADDRESS = /([a-z][a-z0-9+.-]*):\/\/([^/\s]*)@/gi;

function holdsCredentials({ section, subsection = "", key, value = "" }: Setting): boolean {
  if (section === "credential" || SECRET_KEY.test(key) || SECRET_VALUE.test(value)) return true;
  return [subsection, value].some((text) =>
    // The user of an ssh address is a name; of any other one it may be a token.
    [...text.matchAll(ADDRESS)].some(([, scheme = "", user = ""]) => !/ssh/i.test(scheme) || user.includes(":")),
  );
}

const quoted = (text: string): string =>
  `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\b", "\\b")}"`;

function written({ section, subsection, key, value }: Setting): string {
  const named = subsection === undefined ? "" : ` "${subsection.replace(/[\\"]/g, "\\$&")}"`;
  return `[${section}${named}]\n\t${key}${value === undefined ? "" : ` = ${quoted(value)}`}\n`;
}

const SPACE = /(?:\s|[#;].*)*/y;
const HEADER = /\[([\w.-]+)(?:[ \t]+"((?:\\.|[^"\\\n])*)")?[ \t]*\]/y;
const KEY = /([a-z][\w-]*)[ \t]*(=?)[ \t]*/iy;
/** An escape, a quote, a comment, and what stands for itself; between quotes there is no comment. */
const PIECE = /\\(\n|[ntb\\"])|(")|([#;].*)|([^\\"#;\n]+)/y;
const IN_QUOTES = /\\(\n|[ntb\\"])|(")|(\n)|([^\\"\n]+)/y;

function parse(given: string): Setting[] | undefined {
  const text = given.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const settings: Setting[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  let section: Pick<Setting, "section" | "subsection"> | undefined;
  for (take(SPACE); at < text.length; take(SPACE)) {
    const header = take(HEADER);
    if (header) {
      const [, name = "", quotedName] = header;
      const [first = "", ...rest] = name.split(".");
      const dotted = rest.length > 0 ? rest.join(".").toLowerCase() : undefined;
      const subsection = quotedName?.replace(/\\(.)/g, "$1") ?? dotted;
      section = { section: first.toLowerCase(), ...(subsection !== undefined && { subsection }) };
      continue;
    }
    const key = section && take(KEY);
    if (!section || !key) return undefined;
    const [, name = "", equals] = key;
    const value = equals === "=" ? valueAt(take) : undefined;
    if (value === null || (value === undefined && at < text.length && !/[\n#;]/.test(text.charAt(at))))
      return undefined;
    if (value !== undefined && at < text.length && text[at] !== "\n") return undefined;
    settings.push({ ...section, key: name.toLowerCase(), ...(value !== undefined && { value }) });
  }
  return settings;
}

const ESCAPED: Record<string, string> = { n: "\n", t: "\t", b: "\b" };

/** Up to the end of its line. Null: a quote that stays open. */
function valueAt(take: (pattern: RegExp) => RegExpExecArray | null): string | null {
  let value = "";
  let open = false;
  /** How much of it a blank at the end does not belong to. */
  let kept = 0;
  for (let piece = take(PIECE); piece; piece = take(open ? IN_QUOTES : PIECE)) {
    const [, escaped, quote, end, plain = ""] = piece;
    if (end !== undefined) break;
    if (quote !== undefined) open = !open;
    else value += escaped === undefined ? plain : escaped === "\n" ? "" : (ESCAPED[escaped] ?? escaped);
    if (open || escaped !== undefined || quote !== undefined) kept = value.length;
  }
  return open ? null : value.slice(0, kept) + value.slice(kept).trimEnd();
}
