// Reading a command line: which command it means, its flags and words; one line, with a guess, when it means nothing.
import { HoldfastError } from "../ledger/error.ts";
import { nearestName } from "../text/similarity.ts";
import { type Command, checkWords, type Verb } from "./command.ts";
import { type Flag, type FlagTable, type Spelling, spellingsOf } from "./flag.ts";
import { insteadOf } from "./instead.ts";
import { PRINT, PROMPT } from "./table/prompt.ts";
import { COMMANDS } from "./table.ts";

/** A command line, understood. */
export interface ParsedCommand {
  /** `contexts restore`; "" is the prompt. */
  name: string;
  verb: Verb;
  flags: Record<string, unknown>;
  words: string[];
}

/** What is asked about instead of done. */
export interface HelpRequest {
  help: readonly string[];
}

interface TypedFlag {
  /** As it was typed: `--max-turns`, `-r`. */
  typed: string;
  /** Of its argument; undefined: there was none. */
  value: string | undefined;
}

interface Line {
  flags: TypedFlag[];
  words: string[];
}

const invalid = (message: string, see: string) =>
  new HoldfastError("invalid", `${message} (see \`holdfast ${see ? `${see} ` : ""}--help\`)`);

export function parseCommandLine(argv: readonly string[]): ParsedCommand | HelpRequest {
  const line = lex(argv);
  const has = (...names: string[]) => line.flags.some(({ typed }) => names.includes(typed));
  const [first, ...rest] = line.words;
  if (!has(...PRINT)) {
    if (first === "help") return { help: rest };
    const command = first === undefined ? undefined : commandNamed(first);
    if (command) return parseCommand(command, rest, line);
  }
  if (has("--help", "-h")) return { help: [] };
  const isPrompt = has(...PRINT, "--input-format", "-c", "--continue", "-r", "--resume", "--version", "-v");
  const wrong = isPrompt ? undefined : noCommand(line);
  if (wrong) throw wrong;
  return { name: "", verb: PROMPT, flags: valuesOf("", PROMPT.flags, line.flags), words: line.words };
}

interface Named {
  name: string;
  command: Command;
}

function commandNamed(word: string): Named | undefined {
  const found = Object.entries(COMMANDS).find(([one, { also }]) => one === word || also?.includes(word));
  return found && { name: found[0], command: found[1] };
}

function parseCommand({ name, command }: Named, rest: string[], line: Line): ParsedCommand | HelpRequest {
  const { verbs, bare } = command;
  const asks = line.flags.some(({ typed }) => typed === "--help" || typed === "-h");
  const [word] = rest;
  const isVerb = word !== undefined && Object.hasOwn(verbs, word);
  if (!isVerb && word === "help") return { help: [name, ...rest.slice(1)] };
  if (asks) return { help: isVerb ? [name, word] : [name] };
  const only = Object.hasOwn(verbs, "") ? "" : undefined;
  const chosen = isVerb ? word : word === undefined ? (bare ?? only) : only;
  const verb = chosen === undefined ? undefined : verbs[chosen];
  if (!verb || (!isVerb && word !== undefined && isSlip(word, verbs))) throw noVerb(name, word, verbs);
  const full = chosen === "" ? name : `${name} ${chosen}`;
  const words = isVerb ? rest.slice(1) : rest;
  const flags = valuesOf(full, verb.flags, line.flags);
  checkWords(full, verb, words);
  return { name: full, verb, flags, words };
}

/** A word that is near a verb, where the command takes other words too. */
const isSlip = (word: string, verbs: Command["verbs"]): boolean =>
  nearestName(
    word,
    Object.keys(verbs).filter((one) => one.length > 3),
  ) !== undefined;

function noVerb(name: string, word: string | undefined, verbs: Command["verbs"]): HoldfastError {
  const known = Object.keys(verbs).filter(Boolean);
  const near = word === undefined ? undefined : nearestName(word, known);
  if (near) return invalid(`there is no \`${name} ${word}\`: did you mean \`holdfast ${name} ${near}\`?`, name);
  const what = word === undefined ? `${name} needs a verb` : `there is no \`${name} ${word}\``;
  return invalid(`${what}: there are ${known.join(", ")}`, name);
}

/** Undefined: words for an agent, or none: the terminal takes them. */
function noCommand({ words, flags }: Line): HoldfastError | undefined {
  const known = allSpellings();
  const unknown = flags.find(({ typed }) => !known.includes(typed));
  if (unknown) {
    const near = nearFlag(unknown.typed, known);
    return invalid(`there is no flag ${unknown.typed}${near ? `: did you mean ${near}?` : ""}`, "");
  }
  const [first] = words;
  if (first === undefined || /\s/.test(first)) return undefined;
  const none = `there is no command ${first}`;
  const instead = insteadOf(words);
  if (instead) return invalid(`${none}: ${instead}`, "");
  const elsewhere = Object.entries(COMMANDS).flatMap(([name, { verbs }]) =>
    Object.hasOwn(verbs, first) ? [`\`holdfast ${name} ${first}\``] : [],
  );
  if (elsewhere.length > 0) return invalid(`${none}: did you mean ${elsewhere.slice(0, 3).join(" or ")}?`, "");
  const names = Object.entries(COMMANDS).flatMap(([name, { also = [] }]) => [name, ...also]);
  const near = nearestName(first, [...names, "help"]);
  if (near) return invalid(`${none}: did you mean \`holdfast ${near}\`?`, "");
  return invalid(`${none}; to send words to an agent: holdfast -p "${words.join(" ")}"`, "");
}

/** As it is typed. One letter is another only by its case. */
function nearFlag(typed: string, known: readonly string[]): string | undefined {
  if (/^-\w$/.test(typed)) return known.find((one) => one !== typed && one.toLowerCase() === typed.toLowerCase());
  const near = nearestName(
    typed.replace(/^-+/, ""),
    known.filter((one) => one.startsWith("--")).map((one) => one.slice(2)),
  );
  return near && `--${near}`;
}

/** Contract: a flag that is not the command's own is refused, with what was probably meant. */
function valuesOf(name: string, table: FlagTable, typed: readonly TypedFlag[]): Record<string, unknown> {
  const found = Object.entries(table).map(([key, flag]) => ({ key, flag, spellings: spellingsOf(key, flag) }));
  const given = new Map<string, { last: string; values: (string | undefined)[] }>();
  for (const { typed: as, value } of typed) {
    const one = found.find(({ flag, spellings }) => spells(as, flag, spellings));
    if (!one) throw notTaken(name, as, found);
    const { means } = one.spellings.find((spelling) => `--${spelling.name}` === as) ?? {};
    checkArgument(name, as, value, means === undefined ? one.flag : {});
    const values = [...(given.get(one.key)?.values ?? []), means ?? value];
    given.set(one.key, { last: as, values });
  }
  try {
    return Object.fromEntries(
      found.map(({ key, flag }) => [key, flag.read(given.get(key)?.values ?? [], given.get(key)?.last ?? "")]),
    );
  } catch (error) {
    throw error instanceof HoldfastError ? invalid(error.message, name) : error;
  }
}

const spells = (typed: string, flag: Flag, spellings: readonly Spelling[]): boolean =>
  (flag.short !== undefined && typed === `-${flag.short}`) || spellings.some((one) => `--${one.name}` === typed);

function checkArgument(name: string, typed: string, value: string | undefined, flag: Partial<Flag>): void {
  const { argument, optional, idle } = flag;
  if (argument === undefined && value !== undefined && !idle) throw invalid(`${typed} takes no argument`, name);
  if (argument !== undefined && value === undefined && !optional && !idle)
    throw invalid(`${typed} needs ${argument}; one that begins with a dash is given as ${typed}=…`, name);
}

function notTaken(
  name: string,
  typed: string,
  found: readonly { flag: Flag; spellings: readonly Spelling[] }[],
): HoldfastError {
  const mine = found.flatMap(({ flag, spellings }) =>
    flag.idle ? [] : [...spellings.map((one) => `--${one.name}`), ...(flag.short ? [`-${flag.short}`] : [])],
  );
  const near = nearFlag(typed, mine);
  const who = name === "" ? "-p" : `\`${name}\``;
  const guess = near ? `: did you mean ${near}?` : "";
  const what = takingOf(typed) ? `${who} does not take ${typed}` : `there is no flag ${typed}`;
  return invalid(`${what}${guess}`, name);
}

const allTables = (): FlagTable[] =>
  [PROMPT, ...Object.values(COMMANDS).flatMap(({ verbs }) => Object.values(verbs))].map(({ flags }) => flags);

/** Whether a flag of any command is followed by an argument; the prompt's come first, and mostly it is one of them. Undefined: nobody's. */
function takingOf(typed: string): Taking | undefined {
  for (const table of allTables())
    for (const [key, flag] of Object.entries(table)) {
      const { argument, alsoTakes } = flag;
      if (typed === `-${flag.short}`) return { one: argument !== undefined, more: alsoTakes };
      const spelt = spellingsOf(key, flag).find(({ name }) => typed === `--${name}`);
      if (spelt) return { one: argument !== undefined && spelt.means === undefined, more: alsoTakes };
    }
  return undefined;
}

function allSpellings(): string[] {
  const spelt = (key: string, flag: Flag) => [
    ...spellingsOf(key, flag).map(({ name }) => `--${name}`),
    ...(flag.short ? [`-${flag.short}`] : []),
  ];
  return [...new Set(allTables().flatMap((table) => Object.entries(table).flatMap(([key, flag]) => spelt(key, flag))))];
}

interface Taking {
  one: boolean;
  /** Which of those that follow are its own too. */
  more: Flag["alsoTakes"];
}

const FLAG_LIKE = /^(?:--|--?[A-Za-z][\w-]*(?:=[\s\S]*)?)$/;

/** Flags may stand anywhere; after `--` everything is a word. */
function lex(argv: readonly string[]): Line {
  const line: Line = { flags: [], words: [] };
  const left = [...argv];
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) {
    if (arg === "--") {
      line.words.push(...left.splice(0));
    } else if (!FLAG_LIKE.test(arg)) {
      line.words.push(arg);
    } else if (arg.startsWith("--")) {
      const at = arg.indexOf("=");
      const typed = at < 0 ? arg : arg.slice(0, at);
      const { one, more } = takingOf(typed) ?? { one: false, more: undefined };
      const follows = () => (one && isArgument(left[0]) ? left.shift() : undefined);
      line.flags.push({ typed, value: at < 0 ? follows() : arg.slice(at + 1) });
      while (more && isArgument(left[0]) && more(left[0]!)) line.flags.push({ typed, value: left.shift() });
    } else {
      const letters = [...arg.slice(1)];
      for (const [i, letter] of letters.entries()) {
        const typed = `-${letter}`;
        const joined = letters.slice(i + 1).join("");
        if (!takingOf(typed)?.one) {
          line.flags.push({ typed, value: undefined });
          continue;
        }
        line.flags.push({ typed, value: joined.replace(/^=/, "") || (isArgument(left[0]) ? left.shift() : undefined) });
        break;
      }
    }
  }
  return line;
}

const isArgument = (next: string | undefined): boolean => next !== undefined && !FLAG_LIKE.test(next);
