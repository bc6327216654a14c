// Preparing a skill for the model: arguments filled in, its commands run as gated tool calls, its files listed.
import fs from "node:fs";
import path from "node:path";
import type { Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { filledIn, type Piece, type Skill } from "./skill.ts";

/** Whether a repository's skill is approved as it is now: its commands may run. */
export type IsApproved = (skill: Skill) => boolean;

export interface Bringing {
  turn: Turn;
  /** Names its commands for who is asked. */
  id: string;
  isApproved: IsApproved;
  /** Another process began to run its commands and was gone before it said what came of it. */
  wasBegun?: boolean;
}

const MOST_COMMANDS = 20;
const MOST_FILES = 40;

export async function bring(skill: Skill, args: string, how: Bringing): Promise<string> {
  const pieces = filledIn(skill, args);
  const without = whyWithout(skill, pieces, how);
  if (without) how.turn.emit({ type: "status", text: `/${skill.name}: ${without.all}` });
  const text = without ? withoutOutputs(pieces, without) : await withOutputs(pieces, skill, how);
  const files = skill.folder === undefined ? [] : filesIn(skill.folder);
  const beside = files.length === 0 ? "" : `\n\nIts files, in ${skill.folder}: ${files.join(", ")}`;
  return `${text}${beside}`;
}

/** What stands in place of each output, and what is said of all of them. */
interface Without {
  each: string;
  all: string;
}

function whyWithout(skill: Skill, pieces: readonly Piece[], { isApproved, wasBegun }: Bringing): Without | undefined {
  if (!pieces.some((piece) => "run" in piece)) return undefined;
  if (wasBegun) {
    const all =
      "its commands were begun by a process that is gone and are not run again; what came of them is not known: look before you repeat one";
    return { each: "may have run, outcome unknown", all };
  }
  if (!skill.repository || isApproved(skill)) return undefined;
  const todo = `\`holdfast skills show ${skill.name}\`, then \`holdfast trust add\``;
  const all = `its commands were not run: ${skill.source} is new or has changed since it was trusted (${todo})`;
  return { each: "not run", all };
}

const withoutOutputs = (pieces: readonly Piece[], { each, all }: Without): string =>
  `${pieces.map((piece) => ("run" in piece ? `[${each}: \`${piece.run}\`]` : piece.text)).join("")}\n\n(Note: ${all}.)`;

async function withOutputs(pieces: readonly Piece[], skill: Skill, { turn, id }: Bringing): Promise<string> {
  const texts: string[] = [];
  let count = 0;
  for (const piece of pieces) {
    if ("text" in piece) texts.push(piece.text);
    else if (count === MOST_COMMANDS) texts.push(`[not run, more than ${MOST_COMMANDS}: \`${piece.run}\`]`);
    else texts.push(await outputOf(piece.run, skill, turn, `${id}.${++count}`));
  }
  return texts.join("");
}

async function outputOf(command: string, skill: Skill, turn: Turn, id: string): Promise<string> {
  turn.emit({ type: "status", text: `/${skill.name} runs ${command.split("\n")[0]}` });
  const { content, isError } = await turn.runInside("bash", { command }, id);
  const said = (typeof content === "string" ? content : textOf(content)).trim();
  if (!isError) return said;
  turn.emit({ type: "status", text: `/${skill.name}: ${said.split("\n")[0]}` });
  return `[\`${command}\`: ${said}]`;
}

/** Relative to the skill, two folders deep: scripts, references, assets. */
function filesIn(folder: string): string[] {
  const look = (below: string, depth: number): string[] =>
    fs.readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((entry) => {
      const at = path.join(below, entry.name);
      if (entry.name.startsWith(".") || /^skill\.md$/i.test(at)) return [];
      if (entry.isDirectory()) return depth < 2 ? look(at, depth + 1) : [`${at}/`];
      return [at];
    });
  try {
    const all = look("", 0).sort();
    return all.length > MOST_FILES ? [...all.slice(0, MOST_FILES), `and ${all.length - MOST_FILES} more`] : all;
  } catch {
    return [];
  }
}
