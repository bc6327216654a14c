// What goes on right now, as live lines: the calls that run with their time and last line, and what the model is doing.
import { counted } from "../../text/counted.ts";
import type { CallBlock, FactBlock, LiveBlock } from "../presentation/blocks.ts";
import { elapsed } from "../presentation/format.ts";
import { oneLine } from "../presentation/printable.ts";
import type { Style } from "../presentation/style.ts";
import { cutRow } from "./rows.ts";
import type { LivePart } from "./view.ts";

export interface Running extends LivePart {
  /** Contract: told of everything, in order. */
  fact(block: FactBlock): void;
  live(block: LiveBlock): void;
  turnStarted(agent: string, at: number): void;
  turnEnded(agent: string): void;
  /** A command of the person's own runs; undefined: none does. */
  personRuns(command: string | undefined): void;
  /** What was typed and is not recorded yet, the first one first: it stands there until that. */
  sending(words: readonly string[]): void;
  /** Somebody asked it to stop: that is seen at once. */
  interrupting(): void;
  /** A question stands in front: it is not the model that is waited for. */
  asking(count: number): void;
  /** Whether that agent is at work; of nobody in particular: whether anyone is. */
  isAtWork(agent?: string): boolean;
}

interface RunningCall {
  call: CallBlock;
  since: number;
  /** A process that is gone began it. */
  before: boolean;
  tail: string;
}

const MOST_CALLS = 4;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 125;
const WAITING = "waiting for the model";

export function createRunning({ style, lead, now }: { style: Style; lead: string; now: () => number }): Running {
  const calls = new Map<string, RunningCall>();
  const turns = new Map<string, number>();
  let doing = WAITING;
  let isInterrupting = false;
  let questions = 0;
  let unrecorded: readonly string[] = [];
  let own: { command: string; since: number } | undefined;

  const keyOf = ({ agent, callId }: Pick<CallBlock, "agent" | "callId">): string => `${agent} ${callId}`;

  function callLines({ call, since, before, tail }: RunningCall, columns: number): string[] {
    const who = call.agent === lead ? "" : `${style.dim(`[${call.agent}]`)} `;
    const begun = before ? " · begun before the last process ended" : "";
    const time = style.dim(` · ${elapsed(now() - since)}${begun}`);
    const room = columns - 16 - begun.length;
    const title = call.title === "" ? "" : ` ${call.title}`;
    const heading = cutRow(`${who}${style.cyan("●")} ${style.bold(call.tool)}${title}`, Math.max(12, room));
    return [cutRow(heading + time, columns), ...(tail === "" ? [] : [cutRow(style.dim(`  ${tail}`), columns)])];
  }

  /** Who works, for how long, and what the lead's model does. */
  function workLine(columns: number): string {
    const at = now();
    const frame = FRAMES[Math.floor(at / FRAME_MS) % FRAMES.length];
    const since = Math.min(...turns.values());
    const others = [...turns.keys()].filter((agent) => agent !== lead);
    const who = turns.has(lead) ? [] : [others.length > 2 ? counted(others.length, "teammate") : others.join(", ")];
    const isBusy = calls.size > 0 || !turns.has(lead);
    const what = isInterrupting ? "interrupting" : questions > 0 ? "waits for your answer" : isBusy ? "working" : doing;
    const parts = [...who, what, elapsed(at - since), ...(isInterrupting ? [] : ["esc interrupts"])];
    return cutRow(`${style.cyan(frame ?? "")} ${style.dim(parts.join(" · "))}`, columns);
  }

  return {
    turnStarted: (agent, at) => void turns.set(agent, turns.get(agent) ?? at),
    turnEnded(agent) {
      turns.delete(agent);
      if (agent === lead) isInterrupting = false;
      for (const [key, { call }] of calls) if (call.agent === agent) calls.delete(key);
    },
    interrupting() {
      isInterrupting = true;
    },
    personRuns(command) {
      own = command === undefined ? undefined : { command, since: now() };
    },
    sending(words) {
      unrecorded = words;
    },
    asking(count) {
      questions = count;
    },
    isAtWork: (agent) => (agent === undefined ? turns.size > 0 || own !== undefined : turns.has(agent)),
    fact(block) {
      if (block.kind === "begun")
        calls.set(keyOf(block.call), { call: block.call, since: block.at, before: block.before, tail: "" });
      else if (block.kind === "ended") calls.delete(keyOf(block.call));
      else if (block.kind === "subtask") {
        const one = calls.get(keyOf(block.call));
        if (one) one.tail = counted(block.calls, "call");
      } else if (block.kind === "reply" && block.agent === lead) doing = WAITING;
    },
    live(block) {
      if (block.kind === "tail") {
        const one = [...calls.values()].find(({ call }) => call.callId === block.callId);
        if (one) one.tail = block.line;
      } else if (block.kind === "thinking") doing = "thinking";
      else if (block.kind === "saying") doing = "answering";
      else if (block.kind === "calling") doing = `preparing ${block.tool}`;
      else if (block.kind === "again") doing = "asking again";
    },
    render({ columns }) {
      const running = own && `! ${own.command} · ${elapsed(now() - own.since)} · esc stops it`;
      const sent = unrecorded.map((words) =>
        cutRow(`${style.dim(">")} ${oneLine(words, columns)} ${style.dim("· being recorded")}`, columns),
      );
      const ownLines = [...sent, ...(running === undefined ? [] : [cutRow(style.dim(running), columns)])];
      if (turns.size === 0) return { lines: ownLines };
      const shown = [...calls.values()].slice(-MOST_CALLS);
      const more = calls.size - shown.length;
      return {
        lines: [
          ...ownLines,
          ...(more > 0 ? [style.dim(`… ${counted(more, "more call")}`)] : []),
          ...shown.flatMap((one) => callLines(one, columns)),
          workLine(columns),
        ],
      };
    },
  };
}
