// Skills and commands: what there is stands in the system prompt, the text of one comes by `load_skill` or by a person's `/name`.
import { own } from "../../ledger/own.ts";
import { inside, withoutMarks, withoutNotes } from "../../loop/marks.ts";
import { defineMechanism, type Input, type Mechanism, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { nearestName } from "../../text/similarity.ts";
import { bring, type IsApproved } from "./bring.ts";
import { createSkillCatalogue, type SkillCatalogue, type SkillPlace } from "./catalogue.ts";
import { type LoadedSkills, skillsEvents, skillsSlice } from "./events.ts";
import { createLoadSkillTool } from "./load-skill.ts";
import { commandsIn, type Skill } from "./skill.ts";

export interface SkillsOptions {
  /** From the highest precedence to the lowest. Of a repository only when it is trusted. */
  places: readonly SkillPlace[];
  isApproved?: IsApproved;
  catalogue?: SkillCatalogue;
}

const MOST_CHARS = 12_000;
const MOST_NAMES_CHARS = 3_000;
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
    const typed = typedIn(input);
    const [, name, args = ""] = NAMED.exec(typed.trim()) ?? [];
    const skill = name === undefined ? undefined : skillNamed(name, await read(), turn);
    if (!skill) return input;
    const { source, hash } = skill;
    const wasBegun = own(own(turn.slice<LoadedSkills>("skills"), turn.agent) ?? {}, skill.name)?.begun === typed;
    const runs = commandsIn(skill.body).length > 0;
    if (runs && !wasBegun)
      await turn.append([{ type: "skill.begun", data: { name: skill.name, hash, prompt: typed } }]);
    turn.emit({ type: "status", text: `skill ${skill.name} (${source})` });
    const text = await bring(skill, args, { turn, id: `/${skill.name}`, isApproved, wasBegun });
    await turn.append([{ type: "skill.loaded", data: { name: skill.name, source, hash, by: "person" } }], {
      durability: "deferred",
    });
    const element = {
      type: "text" as const,
      text: `<skill name="${skill.name}">\n${inside("skill", withoutMarks(text))}\n</skill>`,
    };
    return { ...input, content: [...input.content, element] };
  }

  return defineMechanism({
    name: "skills",
    events: skillsEvents,
    fold: skillsSlice,
    tools: () => (hasSkills() ? [tool] : []),
    async start() {
      if (opts) await read();
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

/** The skill that a person means; a name that is nearly one is said. */
function skillNamed(name: string, known: readonly Skill[], turn: Turn): Skill | undefined {
  const all = known.filter(({ onlyByModel }) => !onlyByModel);
  const found = all.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (found) return found;
  const names = all.map((one) => one.name);
  const near = nearestName(name, names);
  const text = `there is no skill ${name}: did you mean /${near}? The words are sent as they are`;
  if (near !== undefined) turn.emit({ type: "status", text });
  return undefined;
}

/** What a person typed: what was piped in, or is told beside it, stands in notes, and nothing in them can end one. */
const typedIn = ({ content }: Input): string => withoutNotes(textOf(content));

/** Contract: every description is whole; what does not fit stands by its name, and what not even fits so is counted. */
function catalogueText(all: readonly Skill[]): string {
  const skills = all.filter(({ onlyByPerson }) => !onlyByPerson);
  if (skills.length === 0) return "";
  const lines = taken(
    skills.map(({ name, description }) => `- ${name}: ${withoutMarks(description.replaceAll(/\s+/g, " "))}`),
    MOST_CHARS,
  );
  const rest = skills.filter((_, i) => !lines.has(i)).map(({ name }) => name);
  const names = taken(rest, MOST_NAMES_CHARS);
  const left = rest.length - names.size;
  return [
    "Skills: instructions for kinds of work. Load one with load_skill before work it is for.",
    ...lines.values(),
    ...(names.size > 0
      ? [`More, by name; load_skill with query says what they are for: ${[...names.values()].join(", ")}`]
      : []),
    ...(left > 0 ? [`${left} more skills are not shown: load_skill with query finds them.`] : []),
  ].join("\n");
}

/** Those that fit, whole, by their place. */
function taken(texts: readonly string[], most: number): Map<number, string> {
  const fit = new Map<number, string>();
  let chars = 0;
  for (const [i, text] of texts.entries()) {
    if (chars + text.length > most) continue;
    chars += text.length;
    fit.set(i, text);
  }
  return fit;
}
