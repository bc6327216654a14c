// The flags that a rule with a wildcard means. `Bash(pytest *)` was written for `pytest -q -k name`, not for `pytest --pastebin=all`:
// every flag of these programs that is not listed here needs a rule that names it, or one without a wildcard.
import { own } from "../../ledger/own.ts";
import type { Field, Word } from "../shell/field.ts";
import { compileFlags } from "./flags.ts";
import { GIT_READS } from "./git-table.ts";
import { GIT_ORDINARY } from "./ordinary-git.ts";
import { type FlagRow, GOALS, KIN, RESPONSE_FILES, ROWS } from "./ordinary-rows.ts";

/** Subcommands of package managers whose other words are scripts of the project: what follows those is for the script. */
const SCRIPT_RUNNERS: Record<string, RegExp> = {
  pnpm: /^(?:install|i|add|remove|rm|un|uninstall|update|up|upgrade|why|ls|list|ll|outdated|audit|dedupe|prune|fetch|import|link|store|dlx|exec|publish|pack|config|root|bin|create|init|rebuild|licenses|patch)$/,
  yarn: /^(?:install|add|remove|up|upgrade|why|list|info|outdated|audit|dedupe|dlx|exec|config|workspaces?|link|pack|init|create|npm|cache|plugin|set)$/,
  bun: /^(?:install|i|add|a|remove|rm|update|outdated|link|pm|build|test|x|create|init|upgrade|publish)$/,
};

/** Of a program that nobody has listed: what destroys elsewhere, publishes, runs other programs, shows secrets, or holds for all projects. */
const UNNAMED =
  /^(?:(?:.*[.:])?(?:delete|destroy|drop|purge|wipe|reset|publish|upload|push|exec|execute|eval|shell|ssh|secrets?|tokens?|credentials?|login|logout|allow|trust|clean|archive\.install)|--?(?:global|system|install|uninstall|publish|upload|share|deploy))$/;

/** What is called: a program, and its words. */
export interface Called {
  name: string;
  /** Of a program whose judge has taken it off the arguments. */
  sub?: string;
  args: readonly Field[];
  judged: ReadonlySet<Word>;
}

/** `pnpm exec tsc …`, `yarn workspace web test …`: after so many words the flags are another program's. */
const STARTS_AFTER: Record<string, number> = { exec: 2, dlx: 2, x: 2, node: 1, workspace: 3 };

/** Of a program that is listed here, the flags that no rule with a wildcard means. */
export function unusualFlags({ name, sub, args, judged }: Called): string[] {
  const program = programOf(name);
  const words = args.map((f) => String(f.text));
  const module = program === "python" ? words.indexOf("-m") + 1 : 0;
  const moduleName = words[module];
  if (module > 0 && moduleName !== undefined)
    return [
      ...unusualFlags({ name, args: args.slice(0, module - 1), judged }),
      ...unusualFlags({ name: moduleName, args: args.slice(module + 1), judged }),
    ];
  const first = sub ?? words.find((word) => !word.startsWith("-")) ?? "";
  const row = program === "git" ? gitRow(first) : (own(ROWS, `${program} ${first}`) ?? own(ROWS, program));
  if (!row) return words.filter((word, i) => UNNAMED.test(word) && wordsBefore(words, i) < 3);
  const mine = ownArguments({ program, row, first, words });
  const isJudged = (f: Field | undefined) => f !== undefined && judged.has(f);
  const flags = mine.filter((word, i) => /^-./.test(word) && word !== "--" && !isJudged(args[i]));
  if (program === "tar" && /^[a-zA-Z]+$/.test(mine[0] ?? "") && !isJudged(args[0])) flags.unshift(`-${mine[0]}`);
  const verbs =
    row instanceof RegExp
      ? []
      : mine.filter((word, i) => row.verbs?.test(word) && wordsBefore(mine, i) < (row.verbDepth ?? 1));
  const goals = own(GOALS, program);
  const more = mine.filter((word) => goals?.test(word) || (RESPONSE_FILES.test(program) && /^@./.test(word)));
  if (row instanceof RegExp) return [...more, ...flags.filter((word) => !row.test(word))];
  return [...more, ...verbs, ...unlisted(row, mine, new Set(flags))];
}

/** Those that are no flags. */
const wordsBefore = (words: string[], at: number): number =>
  words.slice(0, at).filter((word) => !word.startsWith("-")).length;

const programOf = (name: string): string => {
  const base = /^\.\/(?:gradlew|mvnw)$/.test(name) ? name.slice(2) : name;
  return own(KIN, base) ?? base;
};

const gitRow = (sub: string): FlagRow => ({
  flags: own(GIT_ORDINARY, sub) ?? own(GIT_READS, sub) ?? GIT_ORDINARY[""],
  values: /^-\d+$/,
});

function ownArguments({
  program,
  row,
  first,
  words,
}: {
  program: string;
  row: FlagRow | RegExp;
  first: string;
  words: string[];
}): string[] {
  const dashes = words.findIndex((word) => word === "--" || (program === "go" && word === "-args"));
  const before = dashes < 0 ? words : words.slice(0, dashes);
  const builtins = own(SCRIPT_RUNNERS, program);
  const isScript = builtins !== undefined && !builtins.test(first);
  const limit = isScript
    ? first === "run"
      ? 2
      : 1
    : STARTS_AFTER[first] && builtins
      ? STARTS_AFTER[first]
      : row instanceof RegExp
        ? undefined
        : row.ownWords;
  if (limit === undefined) return before;
  let seen = 0;
  const end = before.findIndex(
    (word, i) => !word.startsWith("-") && !takesValue(row, before[i - 1]) && ++seen === limit,
  );
  return end < 0 ? before : before.slice(0, end);
}

const takesValue = (row: FlagRow | RegExp, flag: string | undefined): boolean =>
  flag !== undefined && !(row instanceof RegExp) && /^:/.test(takenBy(row, flag) ?? "");

const takenBy = (row: FlagRow, flag: string): string | undefined => known(row).get(flag);

const tables = new Map<string, Map<string, string>>(); // one entry for each row: it does not grow

/** Flag → ":" if it takes a value, "?" if it may, "" if not. */
function known(row: FlagRow): Map<string, string> {
  let table = tables.get(row.flags);
  if (table) return table;
  const flags = row.hasLongSingles ? row.flags.replaceAll(/(^| )-(?=\w\w)/g, "$1--") : row.flags;
  table = new Map();
  for (const [name, value] of compileFlags(flags))
    if (value !== "refused" && value !== "asked")
      table.set(name, value === "optional" ? "?" : value === "none" ? "" : ":");
  tables.set(row.flags, table);
  return table;
}

function unlisted(row: FlagRow, words: string[], flags: ReadonlySet<string>): string[] {
  const table = known(row);
  const out: string[] = [];
  for (let i = 0; ; i++) {
    const word = words[i];
    if (word === undefined) return out;
    if (!flags.has(word)) continue;
    if (row.values?.test(word) || row.values?.test(`${word} ${words[i + 1] ?? ""}`)) continue;
    const long = row.hasLongSingles ? `--${word.replace(/^--?/, "")}` : word;
    const isLong =
      long.startsWith("--") && (!row.hasLongSingles || !table.has(`-${long.slice(2, 3)}`) || long.length > 3);
    const [flag = word, joined] = word.split(/=(.*)/s);
    if (row.named?.test(flag) && /[/\\]|\.[cm]?[jt]s$/.test(joined ?? words[i + 1] ?? "")) out.push(flag);
    const used = isLong ? longFlag(table, long) : cluster(table, word);
    if (used === undefined) out.push(word.replace(/=.*$/s, ""));
    else if (used === "next") i++;
  }
}

type Used = "alone" | "next" | undefined;

function longFlag(table: Map<string, string>, word: string): Used {
  const equals = word.indexOf("=");
  const takes = table.get(equals < 0 ? word : word.slice(0, equals));
  if (takes === undefined) return undefined;
  return takes === ":" && equals < 0 ? "next" : "alone";
}

/** `-qvx`, `-j8`, `-k name`. */
function cluster(table: Map<string, string>, word: string): Used {
  for (let at = 1; at < word.length; at++) {
    const takes = table.get(`-${word[at]}`);
    if (takes === undefined) return at > 1 && /^-\w\d+$/.test(word) ? "alone" : undefined;
    if (takes !== "") return at === word.length - 1 && takes === ":" ? "next" : "alone";
  }
  return "alone";
}
