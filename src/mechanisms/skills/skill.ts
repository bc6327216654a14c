// What a skill is, as Agent Skills and Claude Code's commands write it, and how its text is filled in.

export interface Skill {
  name: string;
  description: string;
  /** Where its text stands, as people know it. */
  source: string;
  /** Its folder: files that belong to it lie there. Commands have none. */
  folder?: string;
  /** Its text, as it is on disk. */
  body: string;
  /** Of the whole file: what is trusted is this. */
  hash: string;
  /** Comes with the project: its commands run only as they were approved. */
  repository: boolean;
  argumentHint?: string;
  /** Names for $name, in the order of the words. */
  argumentNames: string[];
  /** Only a person invokes it. */
  onlyByPerson: boolean;
  /** Only a model loads it. */
  onlyByModel: boolean;
  /** Rules under which its own commands run unasked. */
  allowedTools: string[];
  /** The folder of the plugin it came with. */
  pluginRoot?: string;
}

/** Words as a shell takes them apart: quotes keep blanks together. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double?.replaceAll(/\\(.)/g, "$1") ?? single ?? bare ?? "",
  );
}

/** `` !`command` ``, at the beginning of a line or behind a blank; and blocks that begin with ```` ```! ````. */
const COMMAND = /(?<=^|\s)!`([^`\n]+)`|^```!\n((?:(?!```)[^\n]*\n)*)```[ \t]*$/gm;

export const commandsIn = (text: string): string[] => [...text.matchAll(COMMAND)].map(commandOf);

const commandOf = ([, inline, block]: RegExpMatchArray): string => (inline ?? block ?? "").trim();

/** A part of a skill's text: to be read, or to be run with its output in its place. */
export type Piece = { text: string } | { run: string };

/**
 * The text with what was given filled in. Contract: what the caller wrote is text: nothing in it is looked at again, and in a command it is
 * the value of variables (`$1`, `$ARGUMENTS`), not a part of the program. Without a place for them arguments stand at the end.
 */
export function filledIn(skill: Skill, args: string): Piece[] {
  const given: Given = { ...skill, args, words: wordsOf(args), isUsed: false };
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of skill.body.matchAll(COMMAND)) {
    pieces.push(
      { text: inText(skill.body.slice(at, match.index), given) },
      { run: inCommand(commandOf(match), given) },
    );
    at = match.index + match[0].length;
  }
  pieces.push({ text: inText(skill.body.slice(at), given) });
  if (!given.isUsed && args.trim() !== "") pieces.push({ text: `\n\nARGUMENTS: ${args}` });
  return pieces;
}

interface Given extends Pick<Skill, "argumentNames" | "folder" | "pluginRoot"> {
  args: string;
  words: string[];
  isUsed: boolean;
}

/** `$ARGUMENTS[0]` and `$1` are both the first word. */
function placesOf({ argumentNames }: Pick<Skill, "argumentNames">): RegExp {
  const names = argumentNames.length > 0 ? `|\\$(${argumentNames.join("|")})\\b` : "";
  return new RegExp(
    `\\$ARGUMENTS\\[(\\d{1,3})\\]|\\$\\{?ARGUMENTS\\b\\}?|\\$(\\d{1,2})(?!\\d)|\\$\\{(CLAUDE_SKILL_DIR|CLAUDE_PLUGIN_ROOT)\\}${names}`,
    "g",
  );
}

function inText(text: string, given: Given): string {
  const { words, args, folder, pluginRoot, argumentNames } = given;
  return text.replace(placesOf(given), (whole, index?: string, number?: string, variable?: string, name?: string) => {
    if (variable !== undefined) return (variable === "CLAUDE_SKILL_DIR" ? folder : pluginRoot) ?? whole;
    given.isUsed = true;
    if (index !== undefined) return words[Number(index)] ?? "";
    if (number !== undefined) return words[Math.max(0, Number(number) - 1)] ?? "";
    return typeof name === "string" ? (words[argumentNames.indexOf(name)] ?? "") : args;
  });
}

/** The shell is given the values before the command: whatever they hold, they are no part of it. */
function inCommand(command: string, given: Given): string {
  const { words, args, folder, pluginRoot, argumentNames } = given;
  const asked = [...command.matchAll(placesOf(given))];
  if (asked.length === 0) return command;
  const plain = command
    .replaceAll(/\$ARGUMENTS\[(\d{1,3})\]/g, (_, n: string) => `\${${Number(n) + 1}}`)
    .replaceAll(/\$\{CLAUDE_(SKILL_DIR|PLUGIN_ROOT)\}/g, (_, name: string) => `\${${name}}`); // setting one that begins so is asked about
  if (asked.some(([, , , variable]) => variable === undefined)) given.isUsed = true;
  const set = (name: string, value: string | undefined) => (value === undefined ? [] : [`${name}=${quoted(value)}`]);
  const isNamed = (variable: string) => asked.some(([, , , one]) => one === variable);
  const values = [
    ...set("ARGUMENTS", args),
    ...set("SKILL_DIR", isNamed("CLAUDE_SKILL_DIR") ? folder : undefined),
    ...set("PLUGIN_ROOT", isNamed("CLAUDE_PLUGIN_ROOT") ? pluginRoot : undefined),
    ...argumentNames.flatMap((name, i) => set(name, words[i] ?? "")),
    `set -- ${words.map(quoted).join(" ")}`,
  ];
  return `${values.join("; ")}; ${plain}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
