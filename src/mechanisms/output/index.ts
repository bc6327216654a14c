// The one bound on what a tool may show the model: head and tail, the whole kept as a blob that read_file opens.
import { hash } from "node:crypto";
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type ToolOutput } from "../../loop/seams.ts";
import { type Content, textOf } from "../../models/model.ts";
import { cutText, cutTextTail } from "../../text/cut.ts";
import { gramFilter } from "../../text/gram-filter.ts";

export interface OutputBoundOptions {
  /** Characters a text may have and stay whole. */
  max?: number;
  head?: number;
  tail?: number;
}

export function createOutputBound(opts: OutputBoundOptions = {}): Mechanism {
  const { max = 30_000, head = 20_000, tail = 8_000 } = opts;
  const bound = (text: string): Cut | undefined => {
    if (text.length <= max) return undefined;
    const bytes = Buffer.from(text, "utf8");
    const name = hash("sha256", bytes, "hex");
    const [first, last] = [cutText(text, head), cutTextTail(text, tail)];
    const cut = text.length - first.length - last.length;
    const line = `[… ${cut} of ${text.length} characters left out; all of this text: read_file path blob:${name} …]`;
    return { text: `${first}\n${line}\n${last}`, all: text, hash: name, bytes };
  };
  return defineMechanism({
    name: "output",
    carry: nothing,
    seams: {
      tool: async (run, next) => boundOutput(await next(run), bound),
    },
  });
}

interface Cut {
  /** What is shown. */
  text: string;
  /** All of it, and the name of that. */
  all: string;
  bytes: Uint8Array;
  hash: string;
}

/** Contract: the same object when nothing had to be cut. */
function boundOutput(output: ToolOutput, bound: (text: string) => Cut | undefined): ToolOutput {
  const given: Content[] =
    typeof output.content === "string" ? [{ type: "text", text: output.content }] : output.content;
  const cuts = given.map((part) => (part.type === "text" ? bound(part.text) : undefined));
  const blobs = cuts.flatMap((cut) => cut?.bytes ?? []);
  if (blobs.length === 0) return output;
  const shown = given.map((part, i): Content => (cuts[i] ? { type: "text", text: cuts[i].text } : part));
  const content = typeof output.content === "string" ? textOf(shown) : shown;
  const whole = cuts.flatMap((cut, part) => (cut ? [{ part, hash: cut.hash, grams: gramFilter(cut.all) }] : []));
  return { ...output, content, whole, lines: linesOf(given), blobs: [...(output.blobs ?? []), ...blobs] };
}

const linesOf = (content: readonly Content[]): number => textOf(content).trimEnd().split("\n").length;
