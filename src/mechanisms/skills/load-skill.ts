// `load_skill`: a skill by its name, or which ones there are for some words.
import * as z from "zod";
import { inside } from "../../loop/marks.ts";
import { defineTool, type Tool, type ToolRun } from "../../loop/seams.ts";
import { nearestName } from "../../text/similarity.ts";
import { byWords } from "../../text/word-search.ts";
import { bring, type IsApproved } from "./bring.ts";

import { commandsIn, type Skill } from "./skill.ts";

interface Input {
  name?: string;
  query?: string;
  arguments?: string;
}

const MOST_FOUND = 10;

export function createLoadSkillTool(skills: () => Promise<Skill[]>, isApproved: IsApproved): Tool<Input> {
  const named = async (name: string | undefined): Promise<Skill | undefined> =>
    (await forModel()).find((skill) => skill.name.toLowerCase() === name?.trim().replace(/^\//, "").toLowerCase());
  const forModel = async () => (await skills()).filter(({ onlyByPerson }) => !onlyByPerson);

  async function load({ input, turn, call }: ToolRun & { input: Input }) {
    const all = await forModel();
    if (input.name === undefined) return { content: listed(all, input.query ?? "") };
    const skill = await named(input.name);
    if (!skill) {
      const near = nearestName(
        input.name,
        all.map(({ name }) => name),
      );
      return {
        content: `There is no skill ${input.name}. ${near ? `Did you mean ${near}?` : "Give query to search."}`,
        isError: true,
      };
    }
    const { name, source, hash } = skill;
    const text = await bring(skill, input.arguments ?? "", { turn, id: call.id, isApproved });
    return {
      content: `<skill name="${name}">\n${inside("skill", text)}\n</skill>`,
      display: `${name} (${source})`,
      events: [{ type: "skill.loaded", data: { name, source, hash, by: "model", callId: call.id } }],
    };
  }

  return defineTool<Input>({
    name: "load_skill",
    description: "Bring a skill's instructions by name, before work it is for; or find skills by query.",
    schema: () =>
      z.strictObject({ name: z.string().optional(), query: z.string().optional(), arguments: z.string().optional() }),
    effect: "reconcile",
    keepsResults: true,
    execute: load,
    /** Reading it again does nothing twice; its commands might. */
    async reconcile({ input }) {
      const skill = await named((input as Input).name);
      return skill && commandsIn(skill.body).length > 0 ? { kind: "unknown" } : { kind: "undone" };
    },
  });
}

function listed(all: readonly Skill[], query: string): string {
  const hits = byWords(all, query);
  if (hits.length === 0) return `None of ${all.length} skills has these words.`;
  const lines = hits.slice(0, MOST_FOUND).map(({ name, description }) => `- ${name}: ${description}`);
  const more = hits.length > MOST_FOUND ? `\n${hits.length - MOST_FOUND} more: use other words.` : "";
  return `${lines.join("\n")}${more}`;
}
