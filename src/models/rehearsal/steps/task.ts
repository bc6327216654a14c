// A teammate's work on a task of the board: an overview of some kind of files or a known request; completed, or released with the reason.

import { listOf, phrasesIn, type Say } from "../phrases.ts";
import { call, type Section, type Stage, type Step } from "../plan.ts";
import { type Intent, understand } from "../request.ts";
import type { ClaimedTask } from "../transcript.ts";
import { byFolder, commandResult, firstLine, foundIn } from "./results.ts";

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
  listOf(say, "topics").map((topic, i) => ({ file: `NOTES-${i + 1}.md`, topic, pattern: PATTERNS[i]! }));

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

export function* workOn(stage: Stage, task: ClaimedTask): Step {
  const { say } = stage;
  const { id } = task;
  const place = yield* call(stage, "bash", { command: "pwd" });
  const { output, trouble } = commandResult(place);
  const where = place.isError
    ? say("noDir", { why: trouble ?? firstLine(place.text) })
    : say("worksIn", { dir: output[0] ?? "?" });
  const work = yield* theWork(stage, task);
  if (!work.ok) return yield* giveUp(stage, id, work.text);
  const { text, isError } = yield* call(stage, "complete_task", { task_id: id, note: firstLine(work.text) });
  const end = isError ? say("taskNotDone", { id, why: firstLine(text) }) : say("taskDone", { id, said: work.text });
  return { text: `${end}\n${where}`, ok: !isError };
}

/** A lead's, or of no use to whoever asked a teammate for it. */
const NOT_OWN: Intent["kind"][] = ["team", "review", "shutdown", "remind"];

/** What a teammate can do of that text: all of it, or undefined. */
export function ownWork(text: string): Intent[] | undefined {
  const { intents, unknown } = understand(text);
  return unknown === undefined && intents.every((intent) => !NOT_OWN.includes(intent.kind)) ? intents : undefined;
}

function* theWork(stage: Stage, { subject }: ClaimedTask): Step {
  const { say } = stage;
  const overview = overviewIn(subject);
  if (overview) return yield* writeOverview(stage, overview);
  const intents = ownWork(subject);
  if (!intents) return { text: say("notUnderstoodTask", { subject }), ok: false };
  const texts: string[] = [];
  for (const intent of intents) {
    const { text, ok } = yield* stage.stepFor(intent);
    if (!ok) return { text: say("failedWork", { why: text }), ok: false };
    texts.push(text);
  }
  return { text: texts.join("\n\n"), ok: true };
}

function* writeOverview(stage: Stage, { file, topic, pattern }: Overview): Step {
  const { say } = stage;
  const failed = (text: string): Section => ({ text: say("failedWork", { why: firstLine(text) }), ok: false });
  const globbed = yield* call(stage, "glob", { pattern });
  if (globbed.isError) return failed(globbed.text);
  const { found, rest } = foundIn(globbed.text);
  // The tool has them by time, which differs from tree to tree.
  const lines = found.sort().map((path) => `- ${path}`);
  const folders = rest === 0 ? byFolder(found) : [];
  const content = [
    say("overviewHead", { topic, pattern, n: found.length + rest }),
    [...lines, ...(rest > 0 ? [say("more", { n: rest })] : [])].join("\n"),
    folders.length > 1 ? say("byFolder", { counts: folders.join(", ") }) : "",
  ].filter((part) => part !== "");
  const { text, isError } = yield* call(stage, "write_file", { path: file, content: `${content.join("\n\n")}\n` });
  return isError ? failed(text) : { text: say("overviewDone", { file }), ok: true };
}

function* giveUp(stage: Stage, id: string, why: string): Step {
  const { say } = stage;
  const given = yield* call(stage, "update_task", { task_id: id, status: "pending", note: firstLine(why) });
  const text = `${given.isError ? say("notReleased", { id, why: firstLine(given.text) }) : say("released", { id })} ${why}`;
  const sent = yield* call(stage, "send_message", { to: "lead", content: text });
  const unsent = sent.isError ? `\n${say("notSent", { name: "lead", why: firstLine(sent.text) })}` : "";
  return { text: `${text}${unsent}`, ok: false };
}
