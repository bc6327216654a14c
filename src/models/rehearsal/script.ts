// Script files: YAML of rounds that the rehearsal model plays. Every mistake is reported with file, line and what to do.
import * as z from "zod";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { readTextFile } from "../../ledger/text-file.ts";
import type { Item } from "../model.ts";
import type { Draft } from "./stream.ts";

interface ScriptedRound extends Draft {
  /** What an evaluator says of a goal after it. */
  verdict?: string | undefined;
}

export interface RehearsalScript {
  rounds: ScriptedRound[];
}

/** Contract: throws HoldfastError `invalid` when the file cannot be read or is not a script. */
export async function readScript(file: string): Promise<RehearsalScript> {
  let source: string;
  try {
    source = readTextFile(file);
  } catch (cause) {
    throw new HoldfastError(
      "invalid",
      `the script cannot be read: ${messageOf(cause)}; check the path after "rehearsal:"`,
      { cause },
    );
  }
  const { LineCounter, parseDocument, isMap, isScalar, isNode } = await import("yaml");
  const counter = new LineCounter();
  const document = parseDocument(source, { lineCounter: counter, prettyErrors: false });
  const bad = (offset: number, what: string, advice: string): HoldfastError => {
    const line = Math.max(1, counter.linePos(offset).line);
    return new HoldfastError("invalid", `${file}:${line}: ${what}. ${advice}`, { detail: { file, line } });
  };
  const broken = document.errors[0];
  if (broken) throw bad(broken.pos[0], `not valid YAML: ${firstSentence(broken.message)}`, "Correct the YAML there.");

  const parsed = scriptSchema().safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (!issue) throw parsed.error;
  // The innermost node that exists: a missing field has no line of its own.
  let offset = 0;
  for (let depth = 0; depth <= issue.path.length; depth++) {
    const node = document.getIn(issue.path.slice(0, depth), true);
    if (isNode(node) && node.range) offset = node.range[0];
    if (issue.code !== "unrecognized_keys" || depth < issue.path.length || !isMap(node)) continue;
    const key = node.items.find((pair) => isScalar(pair.key) && pair.key.value === issue.keys[0])?.key;
    if (isScalar(key) && key.range) offset = key.range[0];
  }
  const where = issue.path.length > 0 ? `${issue.path.join(".")}: ` : "";
  throw bad(offset, `${where}${issue.message}`, "The format is in docs/rehearsal.md.");
}

const repliesIn = (items: readonly Item[]): number => items.filter((item) => item.kind === "reply").length;

/** What the script says of a goal after the last round that was played. */
export const verdictIn = (script: RehearsalScript, items: readonly Item[]): string | undefined =>
  script.rounds[repliesIn(items) - 1]?.verdict;

/** The round to play: as many replies as there are in the transcript have been played before it. */
export function roundFor(script: RehearsalScript, items: readonly Item[]): Draft {
  return script.rounds[repliesIn(items)] ?? { text: "Script finished.", calls: [], chunks: 1, delayMs: 0 };
}

const firstSentence = (message: string): string => message.replace(/[.:]?(?:\n.*)?$/s, "");

function scriptSchema() {
  const call = z.strictObject({
    name: z.string().min(1),
    input: z.record(z.string(), z.unknown()).default({}),
    broken: z.string().optional(),
  });
  const round = z
    .strictObject({
      text: z.string().default(""),
      reasoning: z.string().optional(),
      calls: z.array(call).default([]),
      finish: z.enum(["stop", "calls", "length", "refused", "other"]).optional(),
      verdict: z.string().min(1).optional(),
      delay_ms: z.number().min(0).max(3_600_000).default(0),
      chunks: z.number().int().min(1).max(10_000).default(3),
    })
    .refine((r) => r.text !== "" || r.calls.length > 0 || r.reasoning, "a round needs text or calls")
    .transform(({ delay_ms: delayMs, ...round }): ScriptedRound => ({ ...round, delayMs }));
  return z.strictObject({ rounds: z.array(round) });
}
