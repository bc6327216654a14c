// The one bound on what a tool may show the model: head and tail, the whole kept as a blob that read_file opens.
import { hash } from "node:crypto";
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type ToolOutput } from "../../loop/seams.ts";
import { type Content, textOf } from "../../models/model.ts";
import { cutText, cutTextTail } from "../../text/cut.ts";

export interface OutputBoundOptions {
  /** Characters a text may have and stay whole. */
  max?: number;
  head?: number;
  tail?: number;
}

export function createOutputBound(opts: OutputBoundOptions = {}): Mechanism {
  const { max = 30_000, head = 20_000, tail = 8_000 } = opts;
  const bound = (text: string, blobs: Uint8Array[]): string => {
    if (text.length <= max) return text;
    const bytes = Buffer.from(text, "utf8");
    blobs.push(bytes);
    const path = `blob:${hash("sha256", bytes, "hex")}`;
    const [first, last] = [cutText(text, head), cutTextTail(text, tail)];
    const cut = text.length - first.length - last.length;
    return `${first}\n[… ${cut} of ${text.length} characters left out; all of this text: read_file path ${path} …]\n${last}`;
  };
  return defineMechanism({
    name: "output",
    carry: nothing,
    seams: {
      tool: async (run, next) => boundOutput(await next(run), bound),
    },
  });
}

/** Contract: the same object when nothing had to be cut. */
function boundOutput(output: ToolOutput, bound: (text: string, blobs: Uint8Array[]) => string): ToolOutput {
  const blobs: Uint8Array[] = [];
  const content =
    typeof output.content === "string"
      ? bound(output.content, blobs)
      : output.content.map((c): Content => (c.type === "text" ? { ...c, text: bound(c.text, blobs) } : c));
  if (blobs.length === 0) return output;
  return { ...output, content, lines: linesOf(output.content), blobs: [...(output.blobs ?? []), ...blobs] };
}

const linesOf = (content: ToolOutput["content"]): number =>
  (typeof content === "string" ? content : textOf(content)).trimEnd().split("\n").length;
