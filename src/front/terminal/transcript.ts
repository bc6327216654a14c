// What is told of a context on the terminal: what is finished goes up into the scrollback once, what goes on stays below as live lines.
import type { StoredEvent } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import type { AgentView } from "../../loop/seams.ts";
import type { ContextState } from "../../loop/transcript.ts";
import { type Content, textOf } from "../../models/model.ts";
import type { HarnessEvent } from "../../run-result.ts";
import { counted } from "../../text/counted.ts";
import type { FactBlock, LiveBlock } from "../presentation/blocks.ts";
import { createLineRenderer } from "../presentation/lines.ts";
import { createLiveReader } from "../presentation/live.ts";
import { createPresenter, type ShownFact } from "../presentation/presenter.ts";
import { printable } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import type { Tally } from "../presentation/tally.ts";
import { wrappedLines } from "./rows.ts";
import type { Running } from "./running.ts";
import { createStreamedMarkdown, markdownLines, type StreamedMarkdown } from "./streamed-markdown.ts";
import type { LivePart, Size } from "./view.ts";

export interface TerminalTranscript extends LivePart {
  /** What the context holds already: what of it is still open is shown. */
  resume(past: Pick<AgentView, "slice">): void;
  event(event: HarnessEvent): void;
  /** Lines of this process, about what is not recorded: what a command gave, what is wrong. */
  say(lines: readonly string[]): void;
}

export interface TerminalTranscriptOptions {
  style: Style;
  size: () => Size;
  running: Running;
  tally: Tally;
  /** Finished lines, for good. */
  append: (lines: string[]) => void;
  changed: () => void;
  /** Nothing is live: a call is named when it begins. */
  isPlain?: boolean;
  /** Contract: true when those words of a person stand on the screen as they were typed; asked once. */
  isShown?: (words: string) => boolean;
}

/** What was typed; what came with it is counted. */
function typedWords(content: readonly Content[]): { text: string } {
  const [first, ...more] = content;
  const words = printable(textOf(first ? [first] : []));
  return { text: more.length === 0 ? words : `${words}\n(with ${counted(more.length, "attachment")})` };
}

const MARGIN = "  ";
/** Of a prompt that is repeated above: a pasted file is not. */
const MOST_PROMPT_LINES = 10;
/** What stands close together: a call below a call, a notice below a notice. */
const CLOSE: ReadonlySet<string> = new Set([
  "begun",
  "ended",
  "notice",
  "todos",
  "message",
  "answered",
  "turnEnded",
  "said",
]);

export function createTranscript(opts: TerminalTranscriptOptions): TerminalTranscript {
  const { style, size, running, tally, append, changed, isPlain = false, isShown } = opts;
  const presenter = createPresenter({ inTerminal: true });
  const reader = createLiveReader();
  const lines = createLineRenderer({ style, lead: LEAD, asksHere: true });
  /** The reply as it comes, and whether a line of it stands above. */
  let stream: StreamedMarkdown | undefined;
  let isOnTop = false;
  let last: string | undefined;
  /** What others did while the reply came: it is told when that is whole. */
  let held: { kind: string; lines: readonly string[] }[] = [];

  const columns = () => size().columns;
  /** The margin is ours: what a model says cannot pass for a prompt, a call or a question. */
  const indented = (more: readonly string[]) => more.map((line) => (line === "" ? "" : `${MARGIN}${line}`));
  const room = () => Math.max(10, columns() - MARGIN.length);
  const markdown = (text: string) => indented(markdownLines(text, { columns: room(), style }));

  /** An empty line stands between what is of another kind. */
  function put(kind: string, more: readonly string[]): void {
    if (more.length === 0) return;
    if (isOnTop && kind !== "reply") {
      held.push({ kind, lines: more });
      return;
    }
    const isSameAgent = kind === last && kind.startsWith("of ");
    const isClose = last === undefined || isSameAgent || (CLOSE.has(last) && CLOSE.has(kind));
    last = kind;
    append(isClose ? [...more] : ["", ...more]);
  }

  /** More of the reply: its first line begins a block, the others go on with it. */
  function putReply(more: readonly string[]): void {
    if (more.length === 0) return;
    if (isOnTop) append([...more]);
    else put("reply", more);
    isOnTop = true;
  }

  function endStream(rest: string): void {
    if (stream) putReply(indented([...stream.push(rest), ...stream.end()]));
    stream = undefined;
    isOnTop = false;
    const waited = held;
    held = [];
    for (const { kind, lines } of waited) put(kind, lines);
  }

  function live(block: LiveBlock): void {
    running.live(block);
    if (block.kind === "status") put("notice", wrappedLines([style.dim(`· ${block.text}`)], columns()));
    else if (block.kind === "saying") {
      stream ??= createStreamedMarkdown({ columns: room(), style });
      stream.resize(room());
      putReply(indented(stream.push(block.text)));
    } else if (block.kind === "again") {
      endStream("");
      put("notice", [style.dim("· what stands above does not count: the model is asked again")]);
    }
  }

  /** The lead has said something for good; what was shown of it already is not shown again. */
  function reply(text: string, cutOff: boolean): void {
    const shown = reader.recorded(text);
    if (shown.kind === "same") {
      endStream(shown.rest);
      return;
    }
    if (shown.kind === "other") {
      endStream("");
      put("notice", [style.dim("· recorded was this instead of what stands above:")]);
    }
    const safe = printable(text).trim();
    if (safe !== "") put("reply", markdown(safe));
    if (cutOff) put("notice", [style.dim("· the reply was cut off; it goes on")]);
  }

  function prompt({ from, text, agent, waits }: Extract<FactBlock, { kind: "prompt" }>): void {
    if (from !== "user") return;
    const all = text.trimEnd().split("\n");
    const shown = all.slice(0, MOST_PROMPT_LINES);
    const more = all.length - shown.length;
    const to = agent === LEAD ? "" : `${style.dim(`(to ${agent})`)} `;
    const quoted = shown.map((line, i) => (i === 0 ? `${to}${style.bold(line)}` : style.bold(line)));
    const rest = [
      ...(more > 0 ? [style.dim(`… ${counted(more, "more line")}`)] : []),
      ...(waits ? [style.dim("queued: a turn of its own, behind this one")] : []),
    ];
    const wrapped = wrappedLines([...quoted, ...rest], Math.max(10, columns() - 2));
    put(
      "prompt",
      wrapped.map((line, i) => `${i === 0 ? style.cyan(">") : " "} ${line}`),
    );
  }

  /** A mechanism has answered what was typed, such as /goal. */
  function answer(event: StoredEvent): void {
    const { data } = event as Extract<ShownFact, { type: "input.answered" }>;
    put("reply", markdown(printable(data.text)));
  }

  function fact(block: FactBlock, event?: StoredEvent): void {
    running.fact(block);
    switch (block.kind) {
      case "begun":
        if (!isPlain) return; // it stands below, with its time
        break;
      case "prompt": {
        const received = event as Extract<ShownFact, { type: "input.received" }> | undefined;
        if (received && isShown?.(textOf(received.data.content.slice(0, 1)).trim())) return;
        prompt(received ? { ...block, ...typedWords(received.data.content) } : block);
        return;
      }
      case "reply": {
        tally.add(block.model, block.usage);
        if (block.agent !== LEAD) break;
        const said = event as Extract<ShownFact, { type: "reply.received" }> | undefined;
        reply(said ? textOf(said.data.parts) : block.text, block.cutOff);
        return;
      }
      case "turnEnded":
        if (block.agent === LEAD) endStream("");
        break;
    }
    const agent = "call" in block ? block.call.agent : "agent" in block ? block.agent : LEAD;
    put(agent === LEAD ? block.kind : `of ${agent}`, wrappedLines(lines.render(block), columns()));
  }

  return {
    resume(past) {
      // What was said before stands above already; what is open goes on below.
      for (const block of presenter.resume(past)) if (block.kind === "begun") fact(block);
      for (const { name, turn } of Object.values(past.slice<ContextState>("transcript").agents))
        if (turn && !presenter.isSubagent(name)) running.turnStarted(name, turn.startedAt);
    },
    event(event) {
      if (event.type === "progress") for (const block of reader.live(event.progress)) live(block);
      else {
        const { type, actor, at } = event.event;
        if (type === "turn.started") running.turnStarted(actor, at);
        if (type === "turn.ended") running.turnEnded(actor);
        if (type === "input.answered") answer(event.event);
        for (const block of presenter.fact(event.event)) fact(block, event.event);
      }
      changed();
    },
    say(more) {
      put("said", wrappedLines(more, columns()));
      changed();
    },
    render() {
      const words = held.filter(({ kind }) => kind === "prompt").flatMap(({ lines }) => lines);
      return { lines: wrappedLines([...indented(stream?.live() ?? []), ...words], columns()) };
    },
  };
}
