// What mechanisms carry over when the past leaves the model's view: each its part, all of them together within bounds.
import { nameBlob } from "../ledger/checksum.ts";
import { messageOf } from "../ledger/error.ts";
import type { Item } from "../models/model.ts";
import { cutText } from "../text/cut.ts";
import type { Mechanism, Turn } from "./seams.ts";

export interface Carrying {
  /** How many characters that share of the window holds, where so much is left. */
  room: (share: number) => number;
  /** Whether what is called so (a call `c17`, something said `u3`) is in view as it was. */
  shows: (ref: string) => boolean;
}

/** Of one mechanism. */
export interface Carried {
  origin: string;
  text: string;
}

/** For mechanisms of which the model knows nothing, or reads it in every request. */
export const nothing = (): string => "";

/** The share of the window for all of them. */
const MOST = 0.35;
const CUT = "\n[more did not fit here; recall finds it by words]";

export async function carriedBy(
  mechanisms: readonly Mechanism[],
  turn: Turn,
  { window, shows }: Pick<Carrying, "shows"> & { window: number },
): Promise<Carried[]> {
  let left = Math.floor(MOST * window);
  const room = (share: number) => Math.max(0, Math.min(left, Math.floor(share * window)));
  const all: Carried[] = [];
  for (const { name, carry } of mechanisms) {
    const text = bounded(await carriedText({ name, carry }, turn, { room, shows }), left);
    left -= text.length;
    if (text !== "") all.push({ origin: name, text });
  }
  return all;
}

async function carriedText(
  { name, carry }: Pick<Mechanism, "name" | "carry">,
  turn: Turn,
  how: Carrying,
): Promise<string> {
  try {
    return (await carry?.(turn, how)) ?? "";
  } catch (error) {
    turn.emit({ type: "status", text: `what ${name} knows is not carried over: ${messageOf(error)}` });
    return "";
  }
}

/** Whoever does not keep to its room is cut. */
function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  return most <= CUT.length ? "" : `${cutText(text, most - CUT.length)}${CUT}`;
}

/** Stands in an event for a text of the conversation: by it that is found again, and nothing is kept twice. */
export const saidMark = (text: string): string => nameBlob(Buffer.from(text));

/** A text of the conversation, by what `recall` calls it. */
export interface Said {
  ref: string;
  text: string;
}

/** Of what was said to the agent, the texts with these marks, by their mark. */
export function saidAs(items: readonly Item[], marks: Iterable<string>): Map<string, Said> {
  const wanted = new Set(marks);
  const found = new Map<string, Said>();
  if (wanted.size === 0) return found;
  for (const item of items) {
    if (item.kind !== "user") continue;
    for (const part of item.content) {
      if (part.type !== "text") continue;
      const mark = saidMark(part.text);
      if (wanted.has(mark)) found.set(mark, { ref: `u${item.n}`, text: part.text });
    }
  }
  return found;
}
