// The next reply to a transcript: as a teammate by its matters, otherwise by the requests, and what the answer says beside the work.
import type { ModelRequest } from "../model.ts";
import { notesText } from "./notes.ts";
import { advance, type PlannedCall, paragraphs, type Stage } from "./plan.ts";
import { understand } from "./request.ts";
import { readRoster } from "./roster.ts";
import { situationOf } from "./situation.ts";
import { isTeammate, teammateReply } from "./teammate.ts";
import { stepFor, wholePlan } from "./whole-plan.ts";
import type { Words } from "./words.ts";
import { wordsFor } from "./words-for.ts";

export interface NextReply {
  text: string;
  calls: PlannedCall[];
}

/** What to reply to this transcript. Contract: pure; the same request always gives the same reply. */
export function nextReply(request: Pick<ModelRequest, "items" | "tools" | "system">): NextReply {
  const tools = new Set(request.tools.map((t) => t.name));
  if (isTeammate(tools)) return teammateReply(request, tools);
  const now = situationOf(request.items);
  const asked = now.requests.map(understand);
  const words = wordsFor(asked.at(-1)?.lang);
  const roster = readRoster(request.items, now.recorded);
  const { mates } = roster;
  const meanwhile = notesText(words, now.notes, { meanwhile: true, mates });
  if (now.latest === "note" || asked.length === 0) {
    const nothing = now.notes.length > 0 ? words.nothingToDo : help(words);
    return { text: notesText(words, now.notes, { meanwhile: false, mates }) || nothing, calls: [] };
  }
  const intents = asked.flatMap((a) => a.intents);
  const { unknown, missing } = asked.find((a) => a.unknown !== undefined) ?? {};
  const said = missing === undefined ? help(words) : words.noMcp(unknown!);
  const passedOver = now.passedOver.map((text) => words.passedOver(text));
  if (intents.length === 0) return { text: paragraphs([said, ...passedOver, meanwhile]), calls: [] };

  const stage: Stage = { words, tools, roster, stepFor: (intent) => stepFor(stage, intent) };
  const move = advance(wholePlan(stage, intents), now.recorded);
  if ("ask" in move) return { text: move.ask.say, calls: move.ask.calls };
  const missed = unknown === undefined ? [] : missing ? [said] : [words.notUnderstood(unknown), said];
  const answer = paragraphs([move.section.text, ...missed, ...passedOver]);
  if (now.answers.some((given) => given.includes(answer)))
    return { text: paragraphs([meanwhile, words.nothingLeft]), calls: [] };
  return { text: paragraphs([answer, meanwhile]), calls: [] };
}

const help = (words: Words): string =>
  [words.introduction, ...words.abilities.map((ability) => `- ${ability}`), words.advice].join("\n");
