// Owns the plan of a request: which steps run one after the other, which side by side, and what the final answer says.
import type { ModelRequest } from "../model.ts";
import { japanese } from "./japanese-words.ts";
import { notesText } from "./notes.ts";
import { advance, type Call, type Section, type Stage, type Step, together } from "./plan.ts";
import { type Intent, understand } from "./request.ts";
import { situationOf } from "./situation.ts";
import { findFramework } from "./steps/framework.ts";
import { listFiles } from "./steps/list.ts";
import { readFile } from "./steps/read.ts";
import { runCommand } from "./steps/run.ts";
import { searchFor } from "./steps/search.ts";
import { subtask } from "./steps/subtask.ts";
import { todoAlone, todoAround } from "./steps/todo.ts";
import { editFile, writeFile } from "./steps/write.ts";
import { english, type Words } from "./words.ts";

export interface NextReply {
  text: string;
  calls: Call[];
}

/** What to reply to this transcript. Contract: pure; the same request always gives the same reply. */
export function nextReply(request: Pick<ModelRequest, "items" | "tools">): NextReply {
  const now = situationOf(request.items);
  const asked = now.requests.map(understand);
  const words = asked.at(-1)?.lang === "ja" ? japanese : english;
  const jobs = notesText(words, now.notes, { jobsOnly: true });
  if (now.latest === "note" || asked.length === 0) {
    return { text: notesText(words, now.notes, { jobsOnly: false }) || help(words), calls: [] };
  }
  const intents = asked.flatMap((a) => a.intents);
  const unknown = asked.find((a) => a.unknown !== undefined)?.unknown;
  const passedOver = now.passedOver.map((text) => words.passedOver(text));
  if (intents.length === 0) return { text: paragraphs([help(words), ...passedOver, jobs]), calls: [] };

  const stage: Stage = {
    words,
    tools: new Set(request.tools.map((t) => t.name)),
    stepFor: (intent) => stepFor(stage, intent),
  };
  const move = advance(wholePlan(stage, intents), now.recorded);
  if ("ask" in move) return { text: move.ask.say, calls: move.ask.calls };
  const missed = unknown === undefined ? [] : [words.notUnderstood(unknown), help(words)];
  const answer = paragraphs([move.section.text, ...missed, ...passedOver]);
  if (now.answers.some((given) => given.includes(answer)))
    return { text: paragraphs([jobs, words.nothingLeft]), calls: [] };
  return { text: paragraphs([answer, jobs]), calls: [] };
}

const paragraphs = (parts: string[]): string => parts.filter((part) => part !== "").join("\n\n");

const help = (words: Words): string =>
  [words.introduction, ...words.abilities.map((ability) => `- ${ability}`), words.advice].join("\n");

function* wholePlan(stage: Stage, intents: Intent[]): Step {
  const sections: Section[] = [];
  const work = intents.filter((intent) => intent.kind !== "report");
  const todoAt = work.findIndex((intent) => intent.kind === "todo" && !intent.items);
  const around = todoAt >= 0 && todoAt < work.length - 1;
  const before = groupsOf(around ? work.slice(0, todoAt) : work);
  const after = around ? groupsOf(work.slice(todoAt + 1)) : [];
  const stopped = yield* runGroups(stage, before, sections);
  if (around && !stopped) {
    const runGroup = (group: Intent[]) => sideBySide(stage, group);
    sections.push(...(yield* todoAround(stage, { groups: after, runGroup, mayGoOn })));
  }
  // One section each so far: what has none was not done.
  const left = work.slice(sections.length).map((intent) => stage.words.describe(intent));
  if (left.length > 0) sections.push({ text: stage.words.stopped(left.join("; ")), ok: false });
  return { text: paragraphs(sections.map((section) => section.text)), ok: sections.every((section) => section.ok) };
}

/** True when it stopped before the end. */
function* runGroups(stage: Stage, groups: Intent[][], sections: Section[]): Step<boolean> {
  for (const [i, group] of groups.entries()) {
    const done = yield* sideBySide(stage, group);
    sections.push(...done);
    if (!mayGoOn(group, done) && i < groups.length - 1) return true;
  }
  return false;
}

const sideBySide = (stage: Stage, group: Intent[]): Step<Section[]> =>
  together(group.map((intent) => stepFor(stage, intent)));

/** After a change that failed nothing that follows can be relied on; a failed look does no harm. */
function mayGoOn(group: Intent[], sections: Section[]): boolean {
  return group.every((intent, i) => sections[i]!.ok || !["run", "write", "edit"].includes(intent.kind));
}

/** A background command goes out with what follows it; reads go out together. Everything else waits for its turn. */
function groupsOf(intents: Intent[]): Intent[][] {
  const groups: Intent[][] = [];
  for (const intent of intents) {
    const last = groups.at(-1)?.at(-1);
    const background = last?.kind === "run" && last.background;
    const reads = last?.kind === "read" && intent.kind === "read";
    if (last && (background || reads)) groups.at(-1)!.push(intent);
    else groups.push([intent]);
  }
  return groups;
}

function stepFor(stage: Stage, intent: Intent): Step {
  switch (intent.kind) {
    case "todo":
      return todoAlone(stage, intent);
    case "list":
      return listFiles(stage, intent.files);
    case "read":
      return readFile(stage, intent.path);
    case "run":
      return runCommand(stage, intent.command, { background: intent.background });
    case "search":
      return searchFor(stage, intent.text, intent.path);
    case "framework":
      return findFramework(stage);
    case "subtask":
      return subtask(stage, intent.prompt);
    case "write":
      return writeFile(stage, intent.path, intent.content);
    case "edit":
      return editFile(stage, intent);
    case "report":
      return nothing();
  }
}

// biome-ignore lint/correctness/useYield: a step that needs no call
function* nothing(): Step {
  return { text: "", ok: true };
}
