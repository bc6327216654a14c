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
  linesIn(say, "topics").map((topic, i) => ({ file: `NOTES-${i + 1}.md`, topic, pattern: PATTERNS[i] ?? "**/*" }));

/** Tasks that can be done without an AI. Contract: as many as asked for, at most as there are topics. */
export const generalTasks = (say: Say, count: number): { subject: string; description: string }[] =>
  overviews(say)
    .slice(0, count)
    .map((one) => ({ subject: say("overview", { ...one }), description: say("overviewMore", { ...one }) }));

/** The overview that the lead's own subject of a general task asks for; undefined for any other. */
const overviewIn = (subject: string): Overview | undefined =>
  [phrasesIn("en"), phrasesIn("ja")]
    .flatMap((say) => overviews(say).map((one) => ({ one, text: say("overview", { ...one }) })))
    .find(({ text }) => text === subject.trim())?.one;

export function* workOn(stage: Stage, { id, subject }: ClaimedTask): Step {
  const { say } = stage;
  const where = yield* attempt(stage, "bash", { command: "pwd" }, (text) => say("worksIn", { dir: firstLine(text) }));
  const work = yield* theWork(stage, subject);
  if (!work.ok) return yield* giveUp(stage, id, work.text);
  const note = firstLine(work.text);
  const end = yield* attempt(stage, "complete_task", { task_id: id, note }, () =>
    say("taskDone", { id, said: work.text }),
  );
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
  const globbed = yield* attempt(stage, "glob", { pattern }, (text) => text);
  if (!globbed.ok) return globbed;
  const { found, n, more } = foundIn(say, globbed.text);
  // The tool has them by time, which differs from tree to tree.
  const lines = found.sort().map((path) => `- ${path}`);
  const parts = [
    say("overviewHead", { topic, pattern, n }),
    [...lines, ...more].join("\n"),
    ...byFolder(say, found, n),
  ];
  const content = `${paragraphs(parts)}\n`;
  return yield* attempt(stage, "write_file", { path: file, content }, () => say("overviewDone", { file }));
}

function* giveUp(stage: Stage, id: string, why: string): Step {
  const released = yield* attempt(stage, "update_task", { task_id: id, status: "pending", note: firstLine(why) }, () =>
    stage.say("released", { id }),
  );
  const text = `${released.text} ${why}`;
  const sent = yield* attempt(stage, "send_message", { to: "lead", content: text });
  return { text: sent.ok ? text : `${text}\n${sent.text}`, ok: false };
}
