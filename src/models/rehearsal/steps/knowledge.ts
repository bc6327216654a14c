// Steps with what is known beyond the conversation: load a skill, remember the user's words, say what is remembered.
import { attempt, type Section, type Stage, type Step } from "../plan.ts";
import type { IntentOf } from "../request.ts";
import { linesOf } from "./results.ts";

const LINES_SHOWN = 8;

export function* loadSkill(stage: Stage, { name }: IntentOf<"skill">): Step {
  const { say, tools } = stage;
  if (!tools.has("load_skill")) return { text: say("noSkills", { name }), ok: false };
  const shown = (text: string) =>
    linesOf(text)
      .filter((line) => !line.startsWith("<"))
      .slice(0, LINES_SHOWN)
      .join("\n> ");
  return yield* attempt(
    stage,
    { name: "load_skill", input: { name } },
    (text) => `${say("skillLoaded", { name })}\n> ${shown(text)}`,
  );
}

export const remember = (stage: Stage, { words }: IntentOf<"remember">): Step => {
  const name = (words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["note"]).slice(0, 4).join("-").slice(0, 40);
  const input = { name, description: words.replaceAll(/\s+/g, " ").slice(0, 200), words };
  return attempt(stage, { name: "remember", input }, () => stage.say("remembered", { words }));
};

export function* recall({ say, remembered }: Stage): Step<Section> {
  const lines = remembered.map((line) => `- ${line}`);
  return { text: lines.length === 0 ? say("nothingRemembered") : [say("recalled"), ...lines].join("\n"), ok: true };
}
