// Local models write their reasoning into the answer, between <think> and </think> at its beginning: this takes it apart while it streams.

const OPEN = "<think>";
const CLOSE = "</think>";

export interface Split {
  reasoning: string;
  text: string;
}

const NOTHING: Split = { reasoning: "", text: "" };

type State = "start" | "thinking" | "behind" | "answer";

/** Contract: what `feed` and `end` give, put together, is everything that was fed, but for the two tags and blank lines around them. */
export function createThinkSplitter() {
  let state: State = "start";
  let held = "";

  const answer = (text: string): Split => ({ reasoning: "", text });

  function feed(piece: string): Split {
    if (state === "answer") return answer(piece);
    held += piece;
    if (state === "behind") {
      held = held.trimStart();
      return held === "" ? NOTHING : release();
    }
    if (state === "start") {
      const begun = held.trimStart();
      if (OPEN.startsWith(begun) && begun.length < OPEN.length) return NOTHING;
      if (!begun.startsWith(OPEN)) return release();
      state = "thinking";
      held = begun.slice(OPEN.length).replace(/^\n/, "");
    }
    const end = held.indexOf(CLOSE);
    if (end >= 0) {
      const reasoning = held.slice(0, end).trimEnd();
      const text = held.slice(end + CLOSE.length).trimStart();
      held = "";
      state = text === "" ? "behind" : "answer";
      return { reasoning, text };
    }
    const safe = held.length - openEnd(held);
    const reasoning = held.slice(0, safe);
    held = held.slice(safe);
    return { reasoning, text: "" };
  }

  function release(): Split {
    const text = held;
    held = "";
    state = "answer";
    return answer(text);
  }

  return {
    feed,
    /** A thought that was never closed stays one. */
    end(): Split {
      if (state !== "thinking") return release();
      const reasoning = held;
      held = "";
      return { reasoning, text: "" };
    },
  };
}

/** How much of the end may be the beginning of the closing tag, or blanks before it. */
function openEnd(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length--) {
    if (CLOSE.startsWith(text.slice(-length))) return length + trailingBlanks(text.slice(0, -length));
  }
  return trailingBlanks(text);
}

const trailingBlanks = (text: string): number => text.length - text.trimEnd().length;
