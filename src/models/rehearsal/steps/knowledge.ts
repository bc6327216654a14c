// Steps with what is known beyond the conversation: search with an MCP server, load a skill, remember the user's words, say what is remembered.
import { attempt, joinedSections, type Section, type Stage, type Step } from "../plan.ts";
import type { IntentOf } from "../request.ts";
import { fenced, linesOf } from "./results.ts";

const FOUND_SHOWN = 20;
const SKILL_SHOWN = 8;

export function* connectServer(stage: Stage, { server, query }: IntentOf<"server">): Step {
  const { say, tools } = stage;
  if (!tools.has("connect_mcp")) return { text: say("noServers", { server }), ok: false };
  const connected = yield* attempt(stage, "connect_mcp", { name: server });
  if (!connected.ok || query === undefined) return connected;
  const found = yield* attempt(stage, `mcp__${server}__search`, { query }, (text) =>
    [say("serverFound", { query, server }), fenced(text.trimEnd().split("\n").slice(0, FOUND_SHOWN))].join("\n"),
  );
  return joinedSections([connected, found]);
}

export function* loadSkill(stage: Stage, { name }: IntentOf<"skill">): Step {
  const { say, tools } = stage;
  if (!tools.has("load_skill")) return { text: say("noSkills", { name }), ok: false };
  return yield* attempt(stage, "load_skill", { name }, (text) => {
    const lines = linesOf(text).filter((line) => !line.startsWith("<"));
    return [say("skillLoaded", { name }), ...lines.slice(0, SKILL_SHOWN)].join("\n> ");
  });
}

export const remember = (stage: Stage, { words }: IntentOf<"remember">): Step => {
  const name = (words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["note"]).slice(0, 4).join("-").slice(0, 40);
  const input = { name, description: words.replaceAll(/\s+/g, " ").slice(0, 200), words };
  return attempt(stage, "remember", input, () => stage.say("remembered", { words }));
};

export function* recall({ say, remembered }: Stage): Step<Section> {
  const lines = remembered.map((line) => `- ${line}`);
  return { text: lines.length === 0 ? say("nothingRemembered") : [say("recalled"), ...lines].join("\n"), ok: true };
}
