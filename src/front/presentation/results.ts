// What a person sees of a call's result: the beginning of what went well, the end of what failed, the diff of an edit, why it was refused.

import type { Fact } from "../../ledger/events.ts";
import type { loopEvents } from "../../loop/events.ts";
import { describeRan } from "../../mechanisms/jobs/bash.ts";
import { textOf } from "../../models/model.ts";
import { counted } from "../../text/counted.ts";
import type { Advice, CallBlock, FactBlock, OutputBlock } from "./blocks.ts";
import { oneLine, printable } from "./printable.ts";

type Finished = Extract<Fact<typeof loopEvents>, { type: "tool.finished" }>["data"];
type Ended = Extract<FactBlock, { kind: "ended" }>;

/** From here on it is said how long something took. */
const LONG_MS = 1_000;

/** Tools whose results are not shown: other events show them, or the title says it all. */
const SHOWN_ELSEWHERE = new Set(["todo_write", "schedule_cron", "task", "send_message", "submit_plan"]);
const READS = new Set(["read_file"]);

export function endOf(call: CallBlock, data: Finished): Ended {
  const { isError, ran, resumed } = data;
  const ms = ran?.ms ?? (resumed ? 0 : data.durationMs); // the time in which no process ran is not its own
  const block: Ended = {
    kind: "ended",
    call,
    outcome: data.denied !== undefined ? "refused" : isError ? "failed" : "done",
    says: "",
    ...((ms >= LONG_MS || (ran && isError)) && { ms }),
    ...(resumed && { resumed: resumed === "adopted" && ran?.left ? "left" : resumed }),
  };
  if (data.denied !== undefined) {
    const why = oneLine(data.denied, 300);
    return { ...block, says: why, refusal: { call, why, ...adviceFor(data) } };
  }
  if (ran) return { ...block, says: describeRan(ran) ?? "", output: commandOutput(data) };
  const output = outputOf(data);
  if (isError)
    return output.lines.length > 1 ? { ...block, output } : { ...block, says: oneLine(output.lines[0] ?? "", 300) };
  if (SHOWN_ELSEWHERE.has(data.name)) return block;
  if (READS.has(data.name)) return { ...block, says: counted(output.total, "line") };
  return { ...block, output };
}

function outputOf(data: Finished): OutputBlock {
  if (data.display !== undefined && isDiff(data.display)) {
    const lines = diffBody(printable(data.display));
    return { kind: "diff", lines, total: lines.length };
  }
  const lines = printable(data.display || textOf(data.content))
    .trimEnd()
    .split("\n");
  return { kind: "text", lines, total: Math.max(data.lines ?? 0, lines.length) };
}

/** Without the line that says how it ended: that stands beside it. */
function commandOutput(data: Finished): OutputBlock {
  const output = outputOf(data);
  const end = describeRan(data.ran!);
  const at = end === undefined ? -1 : output.lines.lastIndexOf(`[${end}]`);
  if (at < 0) return output;
  return { ...output, lines: output.lines.toSpliced(at, 1), total: output.total - 1 };
}

/** A unified diff without the names above it, and without the place where there is only one: the call says what it is about. */
export function diffBody(diff: string): string[] {
  const body = diff.trimEnd().split("\n").slice(2);
  return body[0]?.startsWith("@@ -0,0 ") ? body.slice(1) : body;
}

const isDiff = (text: string): boolean => /^--- .*\n\+\+\+ .*\n@@ /.test(text);

/** What would have allowed it, where nobody could be asked. */
export function adviceFor({ refusal }: Finished): Advice {
  if (!refusal?.unanswered) return { unanswered: false, flags: [] };
  const [rule] = refusal.rules ?? [];
  const byRule = rule === undefined ? [] : [`--allowedTools ${quotedLines(rule)}`];
  return { unanswered: true, flags: refusal.code === "edit" ? ["--permission-mode acceptEdits"] : byRule };
}

export const quotedLines = (rule: string): string =>
  /["$`\\!]/.test(rule) ? `'${rule.replaceAll("'", `'\\''`)}'` : `"${rule}"`;
