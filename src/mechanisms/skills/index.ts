// Skills and commands: what there is stands in the system prompt, the text of one comes by `load_skill` or by a person's `/name`.
import { own } from "../../ledger/own.ts";
import { saidMark } from "../../loop/carry.ts";
import { inside, noteText, withoutMarks, withoutNotes } from "../../loop/marks.ts";
import { defineMechanism, type Input, type Mechanism, type Note, saying, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { nearestName } from "../../text/similarity.ts";
import { fireHook } from "../hooks/port.ts";
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
  /** Those that the type of an agent gives it at its start. */
  skillsFor?: (turn: Pick<Turn, "agent" | "slice">) => { type: string; names: readonly string[] } | undefined;
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
  /** Once for each turn. */
  const readAt = async (turn: Turn) => {
    const turnId = turn.state.turn?.turnId;
    if (!readFor.has(turn) || readFor.get(turn) !== turnId) await read();
    readFor.set(turn, turnId);
  };
  const tool = createLoadSkillTool(read, isApproved);
  const hasSkills = () => known.some(({ onlyByPerson }) => !onlyByPerson);

  /** A person's `/name words`: the skill's text stands behind what was typed. */
  async function expanded(input: Input, turn: Turn): Promise<Input | { block: string }> {
    if (input.origin !== "user") return input;
    const typed = typedIn(input);
    const [, name, args = ""] = NAMED.exec(typed.trim()) ?? [];
    const skill = name === undefined ? undefined : skillNamed(name, await read(), turn);
    if (!skill) return input;
    const told = await fireHook(turn, "UserPromptExpansion", expansionOf(skill, { args, prompt: typed }));
    if (told.blocked !== undefined) return { block: `blocked by a UserPromptExpansion hook: ${told.blocked}` };
    const notes = (told.context ?? []).map((one) => ({ type: "text" as const, text: noteText("hook", one) }));
    const { text, fact } = await loaded(skill, { turn, args, prompt: typed });
    const brought = saying(input, text, { ...fact, data: { ...fact.data, mark: saidMark(text) } });
    return { ...brought, content: [...brought.content, ...notes] };
  }

  /** `prompt`: what it is loaded for; its commands run once for that. */
  async function loaded(skill: Skill, { turn, args, prompt }: { turn: Turn; args: string; prompt: string }) {
    const { name, source, hash } = skill;
    const wasBegun = own(own(turn.slice<LoadedSkills>("skills"), turn.agent) ?? {}, name)?.begun === prompt;
    const runs = commandsIn(skill.body).length > 0;
    if (runs && !wasBegun) await turn.append([{ type: "skill.begun", data: { name, hash, prompt } }]);
    turn.emit({ type: "status", text: `skill ${name} (${source})` });
    const text = await bring(skill, args, { turn, id: `/${name}`, isApproved, wasBegun });
    const fact = { type: "skill.loaded", data: { name, source, hash, by: "person" } };
    return { text: `<skill name="${name}">\n${inside("skill", withoutMarks(text))}\n</skill>`, fact };
  }

  /** The skills that the type of an agent gives it, once, before its first request. */
  async function given(turn: Turn): Promise<Note[]> {
    const wanted = opts?.skillsFor?.(turn);
    if (!wanted || !turn.state.turn || turn.state.rounds > 0) return [];
    const has = own(turn.slice<LoadedSkills>("skills"), turn.agent) ?? {};
    const all = (await read()).filter(({ onlyByPerson }) => !onlyByPerson);
    const notes: Note[] = [];
    for (const name of new Set(wanted.names)) {
      const skill = all.find((one) => one.name.toLowerCase() === name.toLowerCase());
      if (!skill) turn.emit({ type: "status", text: missingText(wanted.type, name, all) });
      if (!skill || own(has, skill.name)?.agent !== undefined) continue;
      const { text, fact } = await loaded(skill, { turn, args: "", prompt: `agent ${wanted.type}` });
      const note = { origin: "skills", text: withoutMarks(text) };
      const data = { ...fact.data, agent: wanted.type, mark: saidMark(noteText(note.origin, note.text)) };
      notes.push({ ...note, events: [{ ...fact, data }] });
    }
    return notes;
  }

  return defineMechanism({
    name: "skills",
    carry: async (turn, how) => (await import("./carry.ts")).carrySkills(turn, how),
    outside: {
      at: ["input", "intake", "system", "start"],
      notes: ["skills"],
      facts: ["skill.begun"],
      tools: [tool.name],
    },
    events: skillsEvents,
    fold: skillsSlice,
    tools: () => (hasSkills() ? [tool] : []),
    async start(turn) {
      if (opts) await readAt(turn);
      return [];
    },
    seams: {
      input: (input, turn) => (opts ? expanded(input, turn) : Promise.resolve(input)),
      intake: given,
      async system(turn) {
        if (!opts) return "";
        await readAt(turn);
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

/** As hooks are told it. */
const expansionOf = (skill: Skill, { args, prompt }: { args: string; prompt: string }) => ({
  expansion_type: "slash_command",
  command_name: skill.name,
  command_args: args,
  command_source: skill.repository ? "project" : skill.pluginRoot === undefined ? "user" : "plugin",
  prompt,
});

function missingText(type: string, name: string, all: readonly Skill[]): string {
  const near = nearestName(
    name,
    all.map((one) => one.name),
  );
  return `agent ${type}: there is no skill ${name}${near ? `: did you mean ${near}?` : ", and it begins without (`holdfast skills`)"}`;
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
