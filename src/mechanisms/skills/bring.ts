// Bringing a skill: its text filled in, its commands run through the gate, its files named.
import fs from "node:fs";
import path from "node:path";
import type { Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { commandsIn, filledIn, type Skill, withOutputs } from "./skill.ts";

/** Whether a repository's skill is approved as it is now: its commands may run. */
export type IsApproved = (skill: Skill) => boolean;

const MOST_COMMANDS = 20;
const MOST_FILES = 40;

export async function bring(
  skill: Skill,
  args: string,
  { turn, id, isApproved }: { turn: Turn; id: string; isApproved: IsApproved },
): Promise<string> {
  const text = await withCommandsRun(filledIn(skill, args), skill, { turn, id, isApproved });
  const files = skill.folder === undefined ? [] : filesIn(skill.folder);
  const beside = files.length === 0 ? "" : `\n\nIts files, in ${skill.folder}: ${files.join(", ")}`;
  return `${text}${beside}`;
}

async function withCommandsRun(
  text: string,
  skill: Skill,
  { turn, id, isApproved }: { turn: Turn; id: string; isApproved: IsApproved },
): Promise<string> {
  const commands = commandsIn(skill.body);
  if (commands.length === 0) return text;
  if (skill.repository && !isApproved(skill))
    return `${text}\n\n(Its commands were not run: ${skill.source} is new or has changed since it was trusted.)`;
  const outputs: string[] = [];
  for (const [i, command] of commandsIn(text).slice(0, MOST_COMMANDS).entries()) {
    const { content, isError } = await turn.runInside("bash", { command }, `${id}.${i + 1}`);
    const said = typeof content === "string" ? content : textOf(content);
    outputs.push(isError ? `[\`${command}\`: ${said.trim()}]` : said.trimEnd());
  }
  return withOutputs(text, outputs);
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
