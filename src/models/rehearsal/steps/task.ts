// A teammate's work on a task of the board: an overview of some kind of files or a known request; completed, or released with the reason.

import { linesIn, phrasesIn, type Say } from "../phrases.ts";
import { attempt, paragraphs, type Stage, type Step } from "../plan.ts";
import { type Intent, understand } from "../request.ts";
import type { ClaimedTask } from "../transcript.ts";
import { byFolder, firstLine, foundIn } from "./results.ts";

/** In the order of the phrases for the topics. */
const PATTERNS = [
  "**/*.{ts,tsx,js,jsx,mjs,cjs,py,go,rs,java,kt,rb,php,c,cc,cpp,h,hpp,cs,swift,sh}",
  "**/*{test,spec}*",
  "**/*.md",
  "**/*.{json,yaml,yml,toml}",
];

interface Overview {
  file: string;
  topic: string;
  pattern: string;
}

const overviews = (say: Say): Overview[] =>
  linesIn(say, "topics").flatMap((topic, i) =>
    PATTERNS.slice(i, i + 1).map((pattern) => ({ file: `NOTES-${i + 1}.md`, topic, pattern })),
  );

/** Tasks that can be done without an AI. Contract: as many as asked for, at most as there are topics. */
export const generalTasks = (say: Say, count: number): { subject: string; description: string }[] =>
  overviews(say)
    .slice(0, count)
    .map(({ file, topic, pattern }) => ({
      subject: say("overview", { file, topic }),
      description: say("overviewMore", { pattern, file }),
    }));

/** The overview that the lead's own subject of a general task asks for; undefined for any other. */
const overviewIn = (subject: string): Overview | undefined =>
  (["en", "ja"] as const)
    .flatMap((lang) =>
      overviews(phrasesIn(lang)).map((one) => ({ one, text: phrasesIn(lang)("overview", { ...one }) })),
    )
    .find(({ text }) => text === subject.trim())?.one;

export function* workOn(stage: Stage, { id, subject }: ClaimedTask): Step {
  const { say } = stage;
  const place = { name: "bash", input: { command: "pwd" } };
  const where = yield* attempt(stage, place, (text) => say("worksIn", { dir: firstLine(text) }));
  const work = yield* theWork(stage, subject);
  if (!work.ok) return yield* giveUp(stage, id, work.text);
  const complete = { name: "complete_task", input: { task_id: id, note: firstLine(work.text) } };
  const end = yield* attempt(stage, complete, () => say("taskDone", { id, said: work.text }));
  return { text: `${end.text}\n${where.text}`, ok: end.ok };
}

/** A lead's, or of no use to whoever asked a teammate for it. */
const NOT_OWN: Intent["kind"][] = ["team", "review", "shutdown", "remind"];

/** What a teammate can do of that text: all of it, or undefined. */
export function ownWork(text: string): Intent[] | undefined {
  const { intents, unknown } = understand(text);
  return unknown === undefined && intents.every((intent) => !NOT_OWN.includes(intent.kind)) ? intents : undefined;
}

function* theWork(stage: Stage, subject: string): Step {
  const overview = overviewIn(subject);
  if (overview) return yield* writeOverview(stage, overview);
  const intents = ownWork(subject);
  return intents ? yield* stage.planFor(intents) : { text: stage.say("notUnderstoodTask", { subject }), ok: false };
}

function* writeOverview(stage: Stage, { file, topic, pattern }: Overview): Step {
  const { say } = stage;
  const globbed = yield* attempt(stage, { name: "glob", input: { pattern } }, (text) => text);
  if (!globbed.ok) return globbed;
  const { found, rest } = foundIn(globbed.text);
  // The tool has them by time, which differs from tree to tree.
  const lines = found.sort().map((path) => `- ${path}`);
  const folders = rest === 0 ? byFolder(found) : [];
  const content = paragraphs([
    say("overviewHead", { topic, pattern, n: found.length + rest }),
    [...lines, ...(rest > 0 ? [say("more", { n: rest })] : [])].join("\n"),
    folders.length > 1 ? say("byFolder", { counts: folders.join(", ") }) : "",
  ]);
  const write = { name: "write_file", input: { path: file, content: `${content}\n` } };
  return yield* attempt(stage, write, () => say("overviewDone", { file }));
}

function* giveUp(stage: Stage, id: string, why: string): Step {
  const release = { name: "update_task", input: { task_id: id, status: "pending", note: firstLine(why) } };
  const released = yield* attempt(stage, release, () => stage.say("released", { id }));
  const text = `${released.text} ${why}`;
  const sent = yield* attempt(stage, { name: "send_message", input: { to: "lead", content: text } });
  return { text: sent.ok ? text : `${text}\n${sent.text}`, ok: false };
}
