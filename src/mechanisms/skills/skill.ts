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

/**
 * Contract: what the caller wrote is put in as text, once: nothing in it is looked at again. `$1` is the first word, as in
 * commands; `$ARGUMENTS[0]` is too. Without a place for them arguments stand at the end.
 */
export function filledIn(skill: Skill, args: string): string {
  const words = wordsOf(args);
  const { body, argumentNames, folder, pluginRoot } = skill;
  const names = argumentNames.length > 0 ? `|\\$(${argumentNames.map(escaped).join("|")})\\b` : "";
  const all = new RegExp(
    `\\$ARGUMENTS\\[(\\d{1,3})\\]|\\$ARGUMENTS\\b|\\$(\\d{1,2})(?!\\d)|\\$\\{(CLAUDE_SKILL_DIR|CLAUDE_PLUGIN_ROOT)\\}${names}`,
    "g",
  );
  let isUsed = false;
  const text = body.replace(all, (whole, index?: string, number?: string, variable?: string, name?: string) => {
    if (variable !== undefined) return (variable === "CLAUDE_SKILL_DIR" ? folder : pluginRoot) ?? whole;
    isUsed = true;
    if (index !== undefined) return words[Number(index)] ?? "";
    if (number !== undefined) return number === "0" ? (words[0] ?? "") : (words[Number(number) - 1] ?? "");
    if (typeof name === "string" && argumentNames.includes(name)) return words[argumentNames.indexOf(name)] ?? "";
    return args;
  });
  return isUsed || args.trim() === "" ? text : `${text}\n\nARGUMENTS: ${args}`;
}

const escaped = (name: string): string => name.replaceAll(/[^\w]/g, "\\$&");

/** `` !`command` ``, at the beginning of a line or behind a blank; and blocks that begin with ```` ```! ````. */
const COMMAND = /(?<=^|\s)!`([^`\n]+)`|^```!\n([\s\S]*?)^```[ \t]*$/gm;

export const commandsIn = (text: string): string[] => [...text.matchAll(COMMAND)].map(commandOf);

export function withOutputs(text: string, outputs: readonly string[]): string {
  let at = 0;
  return text.replace(COMMAND, () => outputs[at++] ?? "");
}

const commandOf = ([, inline, block]: RegExpMatchArray): string => (inline ?? block ?? "").trim();
