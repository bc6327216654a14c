// The generic tasks that a team without an AI can do: an overview of some kind of files, made from a real glob.
import { call, type PlanStep, type Section, type Stage } from "../plan.ts";
import type { Words } from "../words.ts";
import type { Topic } from "../words-team.ts";
import { byFolder, pathsOf } from "./list.ts";
import { firstLine } from "./output.ts";

const CODE = "ts,tsx,js,jsx,mjs,cjs,py,go,rs,java,kt,rb,php,c,cc,cpp,h,hpp,cs,swift,sh";
const TOPICS: { topic: Topic; pattern: string; sign: RegExp }[] = [
  { topic: "sources", pattern: `**/*.{${CODE}}`, sign: /^(?:the )?source(?: file)?s$|^ソースファイル$/i },
  { topic: "tests", pattern: "**/*{test,spec}*", sign: /^(?:the )?tests?(?: files)?$|^テスト$/i },
  { topic: "docs", pattern: "**/*.md", sign: /^(?:the )?(?:documents|docs|documentation)$|^文書$/i },
  {
    topic: "config",
    pattern: "**/*.{json,yaml,yml,toml}",
    sign: /^(?:the )?config(?:uration)? files$|^設定ファイル$/i,
  },
];

interface Overview {
  file: string;
  topic: Topic;
  pattern: string;
}

/** Contract: as many as asked for, at most as there are topics. */
export function genericTasks(words: Words, count: number): { subject: string; description: string }[] {
  return TOPICS.slice(0, count).map(({ topic, pattern }, i) => {
    const file = `NOTES-${i + 1}.md`;
    return { subject: words.overviewSubject(file, topic), description: words.overviewDescription(file, pattern) };
  });
}

const SUBJECT = /^Write ([\w.-]+\.md): an overview of (.+?)\.?$|^([\w.-]+\.md) を書く: (.+?)の概要$/;

/** What a subject of that kind asks for; undefined for any other. */
export function overviewIn(subject: string): Overview | undefined {
  const found = SUBJECT.exec(subject.trim());
  const named = TOPICS.find(({ sign }) => sign.test(found?.[2] ?? found?.[4] ?? ""));
  return found && named ? { file: found[1] ?? found[3]!, topic: named.topic, pattern: named.pattern } : undefined;
}

/** Writes the overview. Not ok: nothing was written. */
export function* writeOverview(stage: Stage, { file, topic, pattern }: Overview): PlanStep {
  const { words } = stage;
  const globbed = yield* call(stage, "glob", { pattern });
  if (globbed.isError) return failed(stage, globbed.text);
  const { paths, rest } = pathsOf(globbed.text);
  // The tool has them by time, which differs from tree to tree.
  const sorted = paths.sort();
  const folders = rest === 0 ? byFolder(sorted) : [];
  const content = [
    words.overviewTitle(topic),
    words.overviewIntro(pattern, paths.length + rest),
    [...sorted.map((path) => `- ${path}`), ...(rest > 0 ? [words.more(rest)] : [])].join("\n"),
    folders.length > 1 ? words.byFolder(folders.join(", ")) : "",
  ].filter((part) => part !== "");
  const outcome = yield* call(stage, "write_file", { path: file, content: `${content.join("\n\n")}\n` });
  return outcome.isError ? failed(stage, outcome.text) : { text: words.doneNote(file), ok: true };
}

const failed = ({ words }: Stage, why: string): Section => ({ text: words.failedWork(firstLine(why)), ok: false });
