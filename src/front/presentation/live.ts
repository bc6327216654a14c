// What happens at this moment, before it is a fact: the reply as it comes, the line that a command prints. Replaced by the fact.
import type { Progress } from "../../loop/seams.ts";
import type { LiveBlock } from "./blocks.ts";
import { oneLine, printable } from "./printable.ts";

export interface LiveReader {
  live(progress: Progress): LiveBlock[];
  /**
   * A reply is recorded: what was shown of it is over. Contract: `same`, with what was still held back, when it is what was shown;
   * `other` when something else was shown, and the recorded one is to be printed; `unseen` when nothing was.
   */
  recorded(text: string): { kind: "same"; rest: string } | { kind: "other" } | { kind: "unseen" };
}

export function createLiveReader(): LiveReader {
  /** All that has come of the reply, and how much of it was given out. */
  let come = "";
  let given = 0;

  function more(text: string): LiveBlock[] {
    come += text;
    const end = come.length - heldBack(come.slice(given));
    const shown = printable(come.slice(given, end));
    given = end;
    return shown === "" ? [] : [{ kind: "saying", text: shown }];
  }

  return {
    live(progress) {
      if (progress.type === "output") {
        const line = printable(progress.text).trimEnd().split("\n").at(-1) ?? "";
        return line.trim() === "" ? [] : [{ kind: "tail", callId: progress.callId, line: oneLine(line, 200) }];
      }
      if (progress.type === "status")
        return progress.text === "" || progress.recorded ? [] : [{ kind: "status", text: oneLine(progress.text, 300) }];
      const { delta } = progress;
      if (delta.type === "text") return more(delta.text);
      if (delta.type === "call") return [{ kind: "calling", tool: oneLine(delta.name, 60) }];
      if (delta.type === "reasoning") return [{ kind: "thinking" }];
      const wasShown = given > 0;
      come = "";
      given = 0;
      return wasShown ? [{ kind: "again" }] : [];
    },
    recorded(text) {
      const [all, shown] = [come, given];
      come = "";
      given = 0;
      if (shown === 0) return { kind: "unseen" };
      return text.startsWith(all.slice(0, shown))
        ? { kind: "same", rest: printable(text.slice(shown)) }
        : { kind: "other" };
    },
  };
}

const MOST_HELD_BACK = 4096;

/** How many characters at the end wait for the next piece: half of a character, a line end, or an escape sequence that may go on. */
function heldBack(text: string): number {
  const at = text.lastIndexOf("\u001b");
  if (at >= 0 && text.length - at < MOST_HELD_BACK && !isWhole(text.slice(at))) return text.length - at;
  return /(?:[\ud800-\udbff]|\r|[\ufe00-\ufe0f])$/.test(text) ? 1 : 0;
}

const isWhole = (sequence: string): boolean =>
  /^\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*\u0007|[^[\]PX^_])/.test(sequence);
