// The YAML between two lines of --- at the top of a Markdown template: about the prompt, never part of it.

import * as yaml from "yaml";
import { messageOf } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { problem, type Source } from "./source.ts";

/** What the front matter says, and where the text after it begins. */
export function splitFrontMatter(source: Source): { front: Record<string, unknown>; body: number } {
  const start = /^---[ \t]*\n/.exec(source.text)?.[0].length;
  if (start === undefined) return { front: {}, body: 0 };
  const close = /^---[ \t]*(?:\n|$)/gm;
  close.lastIndex = start;
  const end = close.exec(source.text);
  if (!end) return { front: {}, body: 0 };
  const text = source.text.slice(start, end.index);
  const document = yaml.parseDocument(text, { prettyErrors: false });
  const advice = "Correct the front matter, or begin the template with an empty line when --- is meant as a rule.";
  const broken = document.errors[0];
  if (broken) {
    const message = broken.message.replace(/\n[\s\S]*/, "").replace(/[.:]?$/, "");
    throw problem(source, start + broken.pos[0], `the front matter is not valid YAML: ${message}`, advice);
  }
  let front: unknown;
  try {
    front = document.toJS() ?? {};
  } catch (cause) {
    throw problem(source, start, `the front matter cannot be read: ${messageOf(cause)}`, advice, { cause });
  }
  if (!isRecord(front)) throw problem(source, start, "the front matter is not a map of names to values", advice);
  return { front, body: close.lastIndex };
}
