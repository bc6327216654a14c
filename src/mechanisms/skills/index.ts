// Skills and commands: what there is stands in the system prompt, the text of one comes by `load_skill` or by a person's `/name`.
import { defineMechanism, type Input, type Mechanism, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { bring, type IsApproved } from "./bring.ts";
import { createSkillCatalogue, type SkillCatalogue, type SkillPlace } from "./catalogue.ts";
import { skillsEvents, skillsSlice } from "./events.ts";
import { createLoadSkillTool } from "./load-skill.ts";
import type { Skill } from "./skill.ts";

export interface SkillsOptions {
  /** From the highest precedence to the lowest. Of a repository only when it is trusted. */
  places: readonly SkillPlace[];
  isApproved?: IsApproved;
  catalogue?: SkillCatalogue;
}

const MOST_CHARS = 12_000;
const NAMED = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/;

export function createSkills(opts: SkillsOptions | undefined): Mechanism {
  const catalogue = opts?.catalogue ?? createSkillCatalogue(opts?.places ?? []);
  const isApproved = opts?.isApproved ?? (() => false);
  /** As the running turn began: what changes on disk is seen by the next one. */
  let known: Skill[] = [];
  const readFor = new WeakMap<Turn, string | undefined>();
  const read = async () => {
    known = await catalogue.list();
    return known;
  };
  const tool = createLoadSkillTool(read, isApproved);
  const hasSkills = () => known.some(({ onlyByPerson }) => !onlyByPerson);

  /** A person's `/name words`: the skill's text stands behind what was typed. */
  async function expanded(input: Input, turn: Turn): Promise<Input> {
    if (input.origin !== "user") return input;
    const [, name, args = ""] = NAMED.exec(textOf(input.content).trim()) ?? [];
    const skill =
      name && (await read()).find((one) => !one.onlyByModel && one.name.toLowerCase() === name.toLowerCase());
    if (!skill) return input;
    const text = await bring(skill, args, { turn, id: `/${skill.name}`, isApproved });
    await turn.append(
      [{ type: "skill.loaded", data: { name: skill.name, source: skill.source, hash: skill.hash, by: "person" } }],
      { durability: "deferred" },
    );
    const first = {
      type: "text" as const,
      text: `${textOf(input.content)}\n\n<skill name="${skill.name}">\n${text}\n</skill>`,
    };
    return { ...input, content: [first, ...input.content.filter((part) => part.type !== "text")] };
  }

  return defineMechanism({
    name: "skills",
    events: skillsEvents,
    fold: skillsSlice,
    tools: () => (hasSkills() ? [tool] : []),
    async start(turn) {
      if (opts) await read();
      for (const problem of catalogue.problems()) turn.emit({ type: "status", text: problem });
      return [];
    },
    seams: {
      input: (input, turn) => (opts ? expanded(input, turn) : Promise.resolve(input)),
      async system(turn) {
        if (!opts) return "";
        const turnId = turn.state.turn?.turnId;
        if (!readFor.has(turn) || readFor.get(turn) !== turnId) await read();
        readFor.set(turn, turnId);
        return catalogueText(known);
      },
    },
  });
}

/** Contract: every line is whole; what does not fit is counted, and found by its words. */
function catalogueText(all: readonly Skill[]): string {
  const skills = all.filter(({ onlyByPerson }) => !onlyByPerson);
  if (skills.length === 0) return "";
  const lines: string[] = [];
  let chars = 0;
  for (const { name, description } of skills) {
    const line = `- ${name}: ${description.replaceAll(/\s+/g, " ")}`;
    if (chars + line.length > MOST_CHARS) continue;
    chars += line.length;
    lines.push(line);
  }
  const left = skills.length - lines.length;
  const more = left === 0 ? [] : [`${left} more skills are not shown: load_skill with query finds them.`];
  return [
    "Skills: instructions for kinds of work. Load one with load_skill before work it is for.",
    ...lines,
    ...more,
  ].join("\n");
}
