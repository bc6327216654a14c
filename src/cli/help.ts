// The help texts, put together from the tables: the page of everything, of a command, of a verb.
import { HoldfastError } from "../ledger/error.ts";
import { own } from "../ledger/own.ts";
import { nearestName } from "../text/similarity.ts";
import { type Command, usage, type Verb } from "./command.ts";
import { type Flag, type FlagTable, shownFlag, spellingsOf } from "./flag.ts";
import { EVERY, PLACE } from "./flags.ts";
import { PROMPT } from "./table/prompt.ts";
import { COMMANDS } from "./table.ts";

const EXITS =
  "Exit codes: 0 done, 1 the work failed, 2 wrong usage, 3 limit reached, 4 refused by policy, 130 interrupted.";

/** `words`: what help was asked about; none is everything. */
export function help([name, word]: readonly string[]): string {
  if (name === undefined) return everything();
  const [known, command] =
    Object.entries(COMMANDS).find(([one, { also }]) => one === name || also?.includes(name)) ?? [];
  if (!known || !command) {
    const near = nearestName(name, Object.keys(COMMANDS));
    const todo = near ? `did you mean \`holdfast help ${near}\`?` : "`holdfast help` lists them";
    throw new HoldfastError("invalid", `there is no command ${name}: ${todo}`);
  }
  if (word === undefined) return aboutCommand(known, command);
  const verb = own(command.verbs, word);
  if (verb) return aboutVerb(`${known} ${word}`, verb);
  const near = nearestName(word, Object.keys(command.verbs));
  const todo = near ? `did you mean \`holdfast help ${known} ${near}\`?` : `\`holdfast help ${known}\` lists them`;
  throw new HoldfastError("invalid", `there is no \`${known} ${word}\`: ${todo}`);
}

function everything(): string {
  const { cwd, state } = PLACE;
  const { debug, help: asked, cwd: _, state: __, print, continue: go, resume, version, ...rest } = PROMPT.flags;
  const flags: FlagTable = { ...rest, cwd, state };
  const shown = Object.entries(flags).filter(([, flag]) => !isForPrograms(flag));
  const commands = Object.entries(COMMANDS).map(
    ([name, command]): Row => [`holdfast ${brief(name, command)}`, command.help],
  );
  return `holdfast: a coding agent whose work survives

${columns([
  ['holdfast ["what to do"]', "the terminal: talk to it, steer it, answer it; -c and -r go on with a context"],
  ['holdfast -p "what to do"', "one turn, then exit; what is piped in comes with it, @FILE brings a file"],
  ['holdfast -p -c ["more"]', "go on with the newest context here; without words take up its interrupted turn"],
  ['holdfast -p -r [CONTEXT] ["more"]', "go on with that one: its id, four characters of it or more, or its title"],
])}

${columns(shown.map(([key, flag]) => row(key, flag)))}
    --debug, --version, --help

${columns(commands)}

Each has its own help: holdfast contexts --help, holdfast contexts restore --help. Every ls and show takes --json.
${EXITS}
`;
}

/** Flags that only programs give have no place on the first page. */
const isForPrograms = (flag: Flag): boolean => flag.idle === true || FOR_PROGRAMS.has(flag);
const FOR_PROGRAMS = new Set<Flag | undefined>(
  [
    "sessionId",
    "forkSession",
    "includePartialMessages",
    "replayUserMessages",
    "verbose",
    "allowDangerouslySkipPermissions",
  ].map((key) => PROMPT.flags[key]),
);

/** `contexts ls | show | …`, or what it takes. */
function brief(name: string, { verbs }: Command): string {
  const named = Object.keys(verbs).filter(Boolean);
  const whole = `${name} ${named.join("|")}`;
  const only = verbs[""];
  if (only && named.length === 0) return usage(name, only);
  return whole.length <= 36 ? whole : `${name} ${named.slice(0, 3).join("|")}|…`;
}

function aboutCommand(name: string, { help: what, verbs, bare, more, also }: Command): string {
  const rows = Object.entries(verbs).map(([word, one]): Row => {
    const said = [one.help, ...(word === bare ? ["the verb may be left out"] : []), ...ownFlags(one)].join("; ");
    return [`holdfast ${usage(word === "" ? name : `${name} ${word}`, one)}`, said];
  });
  const only = Object.hasOwn(verbs, "") ? verbs[""] : undefined;
  const single = only && Object.keys(verbs).length === 1;
  const flags = single ? `\n\n${flagLines(only.flags)}` : "";
  const then = single
    ? ""
    : `\nAll flags of one: holdfast ${name} ${Object.keys(verbs).find(Boolean)} --help, and so on.\n`;
  const known = also?.length ? `Other words for ${name}: ${also.join(", ")}.\n` : "";
  return `holdfast ${name}: ${what}\n\n${columns(rows)}${flags}\n${more ? `\n${more}\n` : ""}${then}${known}`;
}

/** What not every verb has, as far as a line goes. */
function ownFlags({ flags }: Verb): string[] {
  const some = Object.entries(flags).filter(([key]) => !Object.hasOwn(PLACE, key) && key !== "json");
  if (some.length === 0) return [];
  if (some.some(([key]) => key === "permissionMode")) return ["takes what -p takes"];
  return [some.map(([key, flag]) => `--${spellingsOf(key, flag)[0].name}`).join(", ")];
}

function aboutVerb(name: string, { help: what, more, flags, words }: Verb): string {
  return `holdfast ${usage(name, { words })}\n\n  ${what}\n${more ? `\n${more}\n` : ""}\n${flagLines(flags)}\n`;
}

const flagLines = (flags: FlagTable): string => {
  const { debug, help: asked, ...own } = flags;
  const shown = Object.entries({ ...own, debug: debug ?? EVERY.debug, help: asked ?? EVERY.help });
  return columns(shown.filter(([, flag]) => !flag.idle).map(([key, flag]) => row(key, flag)));
};

type Row = [left: string, right: string];

function row(key: string, flag: Flag): Row {
  const others = spellingsOf(key, flag)
    .slice(1)
    .filter(({ hidden }) => !hidden)
    .map(({ name, means }) => (means === undefined ? `--${name}` : `--${name}: ${means}`));
  const [first] = flag.argument ? (flag.values ?? []) : [];
  const values = first !== undefined && !flag.help.includes(first) ? (flag.values ?? []).join(", ") : "";
  const said = [flag.help, values].filter(Boolean).join(": ");
  return [`  ${shownFlag(key, flag)}`, others.length > 0 ? `${said} (${others.join(", ")})` : said];
}

const LEFT = 46;

/** A left side that is too long has a line of its own. */
function columns(rows: readonly Row[]): string {
  const width = Math.min(LEFT, Math.max(...rows.map(([left]) => left.length)) + 2);
  return rows
    .map(([left, right]) =>
      left.length + 2 > width ? `  ${left}\n${" ".repeat(width + 2)}${right}` : `  ${left.padEnd(width)}${right}`,
    )
    .join("\n");
}
