// Blocks as lines of text, for whatever takes lines: standard error, a log, `contexts show`.

import { fitted } from "../../text/columns.ts";
import { counted } from "../../text/counted.ts";
import type { CallBlock, FactBlock, OutputBlock } from "./blocks.ts";
import { duration } from "./format.ts";
import type { Style } from "./style.ts";

/** How many lines of a result are shown: of what went well, of what failed, of a diff. */
const SHOWN = { done: 5, failed: 12, diff: 24 };
/** What others than the lead do is shown shorter. */
const SHOWN_OF_OTHERS = { done: 2, failed: 6, diff: 8 };
/** Of one line of a result: minified files are not for people. */
const MOST_COLUMNS = 300;
const MOST_TITLE = 120;
const MOST_TODOS = 12;
/** What they record is shown, not the call. */
const SHOWN_BY_FACTS = new Set(["todo_write", "send_message"]);
const TODO_MARKS = { pending: "☐", in_progress: "▸", completed: "☑" };

export interface LineOptions {
  style: Style;
  /** Whose lines stand at the margin; those of others begin with their name. */
  lead: string;
  /** What is said to the model, and what the user said: shown where the whole past is. */
  past?: boolean;
  /** A request for approval is shown elsewhere. */
  asksHere?: boolean;
  /** The command line that shows such a request, to be typed elsewhere. */
  toSee?: (requestId: string) => string;
}

export interface LineRenderer {
  /** Contract: the blocks of one context, in order; each result stands below its call, or names it again. */
  render(block: FactBlock): string[];
}

export function createLineRenderer(opts: LineOptions): LineRenderer {
  const { style, lead, past = false, asksHere = false, toSee = (id) => `holdfast approve show ${id}` } = opts;
  /** The call whose heading was the last thing printed. */
  let open: CallBlock | undefined;
  /** Calls whose heading stands somewhere above. */
  const headed = new Set<string>();
  const keyOf = ({ agent, callId }: CallBlock): string => `${agent} ${callId}`;

  const heading = ({ tool, title }: CallBlock, mark = "●"): string =>
    `${style.cyan(mark)} ${style.bold(tool)}${title === "" ? "" : ` ${fitted(title, MOST_TITLE)}`}`;

  function ended(block: Extract<FactBlock, { kind: "ended" }>): string[] {
    const { call, outcome, output, resumed } = block;
    const isBelow = open?.agent === call.agent && open.callId === call.callId;
    const shown = call.agent === lead ? SHOWN : SHOWN_OF_OTHERS;
    const lines = output ? excerpt(output, outcome === "done" ? "start" : "end", shown) : [];
    const body = lines.map((line) => `  ${coloured(fitted(line, MOST_COLUMNS), output!.kind)}`);
    const end = [
      ...(resumed ? [RESUMED[resumed]] : []),
      ...(outcome === "refused" ? [`refused: ${block.says}`] : block.says === "" ? [] : [block.says]),
      ...(block.ms === undefined || call.tool === "task"
        ? []
        : [resumed ? `ran ${duration(block.ms)}` : duration(block.ms)]),
    ].join(" · ");
    const last = outcome === "done" ? style.dim(end) : `${style.red("✗")} ${end}`;
    const rest = [...body, ...(end === "" && outcome === "done" ? [] : [`  ${last}`])];
    const isHeaded = headed.delete(keyOf(call));
    if (isBelow || (rest.length === 0 && (isHeaded || SHOWN_BY_FACTS.has(call.tool)))) return rest;
    return [heading(call, isHeaded ? "└" : "●"), ...rest];
  }

  function coloured(line: string, kind: OutputBlock["kind"]): string {
    if (kind !== "diff") return style.dim(line);
    if (line.startsWith("+")) return style.green(line);
    return line.startsWith("-") ? style.red(line) : style.dim(line);
  }

  function todoLines({ todos, isNew }: Extract<FactBlock, { kind: "todos" }>): string[] {
    const done = todos.filter((todo) => todo.status === "completed").length;
    const now = todos.find((todo) => todo.status === "in_progress");
    const title = `${done} of ${todos.length} done${now && !isNew ? ` · now: ${now.content}` : ""}`;
    const items = isNew ? todos.slice(0, MOST_TODOS) : [];
    const more = isNew && todos.length > MOST_TODOS ? [`  … ${todos.length - MOST_TODOS} more`] : [];
    return [
      heading({ agent: "", callId: "", tool: "todo_write", title }),
      ...items.map((todo) => `  ${TODO_MARKS[todo.status]} ${todo.content}`),
      ...more,
    ];
  }

  function linesOf(block: FactBlock): string[] {
    switch (block.kind) {
      case "prompt":
        return past ? (block.from === "user" ? quoted(block.text, style.bold(">")) : []) : [];
      case "reply":
        return block.text.trim() === "" ? [] : block.text.trim().split("\n");
      case "begun":
        if (SHOWN_BY_FACTS.has(block.call.tool)) return [];
        return [`${heading(block.call)}${block.before ? style.dim(" · begun before the last process ended") : ""}`];
      case "ended":
        return ended(block);
      case "todos":
        return todoLines(block);
      case "notice":
        return [block.tone === "bad" ? `${style.red("✗")} ${block.text}` : style.dim(`· ${block.text}`)];
      case "message":
        return quoted(`${block.from} → ${block.to}: ${block.text}`, "✉");
      case "asked":
        if (asksHere) return [];
        if (past) return [`${style.yellow("?")} ${block.title}: approval was asked for (${block.requestId})`];
        return [`${style.yellow("?")} ${block.title}: waits for approval; see it with: ${toSee(block.requestId)}`];
      case "answered":
        // Who was asked here, and did not answer, is told who did.
        return (asksHere && block.here) || past ? [] : [style.dim(`· ${block.requestId}: ${block.text}`)];
      case "note":
        return past ? quoted(`(note from ${block.origin}) ${block.text}`, style.dim("·")) : [];
      case "turnEnded":
        return block.error === undefined ? [] : [`${style.red("✗")} ${block.error}`];
      case "subtask":
        return [];
    }
  }

  return {
    render(block) {
      const agent = "call" in block ? block.call.agent : "agent" in block ? block.agent : lead;
      const lines = linesOf(block);
      if (lines.length > 0) open = block.kind === "begun" ? block.call : undefined;
      if (block.kind === "begun" && open) headed.add(keyOf(block.call));
      return agent === lead ? lines : lines.map((line) => `  ${style.dim(`[${agent}]`)} ${line}`);
    },
  };
}

const RESUMED = {
  adopted: "adopted after the crash",
  left: "adopted from a process that the store would not hear any more",
  finished: "found done after the crash",
  unknown: "after the crash",
};

const quoted = (text: string, mark: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line, i) => `${i === 0 ? mark : " "} ${line}`.trimEnd());

/** The first lines, or the last, with the count of those that are left out. */
function excerpt(output: OutputBlock, from: "start" | "end", shown: typeof SHOWN): string[] {
  const { lines, total, kind } = output;
  const most = kind === "diff" ? shown.diff : from === "start" ? shown.done : shown.failed;
  if (lines.length <= most + 1 && total === lines.length) return lines;
  const left = total - most;
  return from === "start"
    ? [...lines.slice(0, most), `… ${counted(left, "more line")}`]
    : [`… ${counted(left, "line")} before`, ...lines.slice(-most)];
}
