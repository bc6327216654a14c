// What the model says of rounds that go: asked on what it sees already, so that the call is cached; from the originals, once, and bounded.
import { crashPoint } from "../../ledger/crash-point.ts";
import { noteText } from "../../loop/marks.ts";
import type { Turn, ViewOptions } from "../../loop/seams.ts";
import { addUsage, type Item, type Reply, textOf } from "../../models/model.ts";
import { cutText } from "../../text/cut.ts";
import type { Segment } from "./events.ts";

type Wanted = Pick<Segment, "from" | "to">;

interface Question {
  /** What the last request showed. */
  view: readonly Item[];
  wanted: Wanted;
  focus: string | undefined;
  signal: AbortSignal | undefined;
}

/** Characters. */
const LONGEST = 8_000;

/**
 * Asks, and records what came and what it used in one append. Contract: all before the question is as the last request had it, so
 * that it is cached; whatever the model makes of the question, the conversation goes on.
 */
export async function summarise(
  turn: Turn,
  { ask }: ViewOptions,
  { view, wanted, focus, signal }: Question,
): Promise<Segment> {
  const question = [...view, said(questionFor(wanted, focus))];
  const first = await ask(question, signal);
  const again = hasCalls(first) ? await ask([...question, ...refused(first)], signal) : undefined;
  const reply = again ?? first;
  const usage = again ? addUsage(first.usage, again.usage) : first.usage;
  const segment = { ...wanted, text: wordsOf(reply) };
  crashPoint("summary.arrived");
  await turn.append([
    { type: "reply.aside", data: { model: reply.model, usage, for: "summary" } },
    { type: "context.summarised", data: segment },
  ]);
  crashPoint("summary.recorded");
  return segment;
}

const said = (text: string): Item => ({
  kind: "user",
  content: [{ type: "text", text }],
  note: true,
  withResults: true,
});

const questionFor = ({ from, to }: Wanted, focus: string | undefined): string =>
  noteText(
    "compaction",
    `Rounds r${from} to r${to} of this conversation (your replies, counted from the first) will be left out to make room; they stay within reach of recall. ` +
      `Say in at most 400 words what someone who goes on must know of them: what was found, what was decided and why, what failed, what is open. ` +
      `Names, paths, numbers and error texts exactly. Answer with that text alone and call no tool.${focus === undefined ? "" : ` Above all: ${focus}`}`,
  );

const hasCalls = ({ parts }: Reply): boolean => parts.some(({ type }) => type === "call");

/** A call is answered once, and not run. */
const refused = (reply: Reply): Item[] => [
  { kind: "reply", model: reply.model, parts: reply.parts },
  ...reply.parts.flatMap((part): Item[] =>
    part.type === "call"
      ? [
          {
            kind: "result",
            callId: part.id,
            name: part.name,
            isError: true,
            content: [{ type: "text", text: "Not now: answer with the text alone." }],
          },
        ]
      : [],
  ),
];

/** "" where it said nothing of use. */
function wordsOf({ parts, finish }: Reply): string {
  return finish === "refused" ? "" : cutText(textOf(parts).trim(), LONGEST);
}

/** What stands for the rounds. */
export const summaryText = ({ from, to, text }: Segment): string =>
  noteText("compaction", `Rounds r${from} to r${to} are left out here; you said of them:\n${text}`);
