// `remember` and `forget`. A person's own words are kept at once; what a model words itself waits until a person accepts it.
import * as z from "zod";
import { currentBranch } from "../../file-access/git-branch.ts";
import { own } from "../../ledger/own.ts";
import { durableCall } from "../../loop/durable-call.ts";
import { defineTool, type Tool, type ToolRun, type Turn } from "../../loop/seams.ts";
import { cutText } from "../../text/cut.ts";
import { wordsIn } from "../../text/word-search.ts";
import { MEMORY_TYPES } from "./events.ts";
import type { Memories, NewMemory, Provenance } from "./memories.ts";
import { GONE, type MemorySlice } from "./shown.ts";

type Open = () => Promise<Memories>;
/** The files for people follow. */
type Changed = (turn: Turn, memories: Memories) => Promise<void>;

interface Remembered {
  name: string;
  description: string;
  type?: NewMemory["type"];
  words?: string;
  text?: string;
  replaces?: string[];
}

export const createRememberTool = (open: Open, changed: Changed): Tool<Remembered> =>
  defineTool<Remembered>({
    name: "remember",
    description:
      "Keep something for all later work in this project. words: exactly as the user said it, kept at once; text: in your words, kept when the user accepts it. replaces: names that go when it is kept.",
    schema: () =>
      z.strictObject({
        name: z.string(),
        description: z.string(),
        type: z.enum(MEMORY_TYPES).optional(),
        words: z.string().optional(),
        text: z.string().optional(),
        replaces: z.array(z.string()).optional(),
      }),
    effect: "internal",
    async execute(run) {
      const { name, description, type = "user", words, text, replaces = [] } = run.input;
      const seq = words === undefined ? undefined : saidAt(run, words);
      const memory = { name, description, type, text: words ?? text ?? "", replaces };
      const key = await keyOf(run);
      const memories = await open();
      const gone = replaces.filter((one) => one !== name);
      const kept = ({ at }: { at: number }) => ({
        content: `Remembered: ${name}.`,
        events: [knows(name, at), ...gone.map((one) => knows(one, GONE))],
      });
      const before = await memories.recorded(key);
      if (before?.kind === "kept") {
        await changed(run.turn, memories);
        return kept(before);
      }
      const taken = (await memories.list()).filter((one) => one.name === name || replaces.includes(one.name));
      const other = words === undefined ? undefined : taken.find((one) => !isAbout(words, one));
      if (seq === undefined || other || before) {
        const { id } =
          before?.kind === "proposed" ? before : await memories.propose(memory, fromOf(run, { said: "model" }), key);
        const why =
          words === undefined
            ? ""
            : seq === undefined
              ? NOT_SAID
              : `There is a memory${other ? ` ${other.name}` : ""}, which these words do not speak of. `;
        return {
          content: `${why}Proposed as ${id}: it is remembered when the user accepts it (holdfast memory accept ${id}).`,
        };
      }
      const now = { ...memory, description: beginning(memory.text) };
      const done = await memories.keep(now, fromOf(run, { said: "user", seq }), key);
      await changed(run.turn, memories);
      return kept(done);
    },
  });

export const createForgetTool = (open: Open, changed: Changed): Tool<{ name: string; words?: string }> =>
  defineTool<{ name: string; words?: string }>({
    name: "forget",
    description: "Take away something remembered. words: how the user said so; without it the user is asked to accept.",
    schema: () => z.strictObject({ name: z.string(), words: z.string().optional() }),
    effect: "internal",
    async execute(run) {
      const { name, words } = run.input;
      const seq = words === undefined ? undefined : saidAt(run, words);
      const key = await keyOf(run);
      const memories = await open();
      const forgot = async () => {
        await changed(run.turn, memories);
        return { content: `Forgotten: ${name}.`, events: [knows(name, GONE)] };
      };
      const before = await memories.recorded(key);
      if (before?.kind === "forgotten") return forgot();
      if (before?.kind === "proposed") return asked(before.id);
      const old = (await memories.list()).find((one) => one.name === name);
      if (words !== undefined && seq !== undefined && (!old || isAbout(words, old))) {
        await memories.forget(name, fromOf(run, { said: "user", seq }), key);
        return forgot();
      }
      const memory = {
        name,
        description: old?.description ?? "",
        type: old?.type ?? "user",
        text: old?.text ?? "-",
        forgets: true,
      } as const;
      const { id } = await memories.propose(memory, fromOf(run, { said: "model" }), key);
      return asked(id);
    },
  });

const asked = (id: string) => ({
  content: `Proposed as ${id}: it is forgotten when the user accepts it (holdfast memory accept ${id}).`,
});

/** Whoever says it knows it. */
const knows = (name: string, at: number) => ({ type: "memory.shown", data: { memories: [{ name, at }] } });

/** One call is done once, and what it did before a crash is its answer: what is remembered now may be its own doing. */
const keyOf = async (run: ToolRun): Promise<string> =>
  `${run.turn.context}/${run.turn.agent}/${await durableCall(run)}`;

function fromOf({ turn }: ToolRun, said: Pick<Provenance, "said" | "seq">): Provenance {
  const reads = own(turn.slice<MemorySlice>("memory"), turn.agent)?.reads;
  if (reads) return { said: "model", context: reads.source, seq: reads.to, reader: turn.context };
  const branch = currentBranch(turn.root);
  return { ...said, context: turn.context, agent: turn.agent, ...(branch !== undefined && { branch }) };
}

/** The input of a person that has these words, none of them cut in two. */
function saidAt({ turn }: ToolRun, words: string): number | undefined {
  const wanted = plain(words);
  if (wanted === "") return undefined;
  const said = own(turn.slice<MemorySlice>("memory"), turn.agent)?.said ?? [];
  return said.findLast(({ text }) => hasWords(plain(text), wanted))?.seq;
}

function hasWords(text: string, wanted: string): boolean {
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if (!isWithin(text.slice(at - 1, at + 1)) && !isWithin(text.slice(end - 1, end + 1))) return true;
  }
  return false;
}

/** Two characters of one word. */
const isWithin = (two: string): boolean => /^[\p{L}\p{N}]{2}$/u.test(two);

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

const NOT_SAID = "These are not words of the user. ";
const LONGEST_DESCRIPTION = 200;

/** A description says what is shown of a long memory: of a person's words it is a person's too. */
const beginning = (words: string): string => cutText(plain(words), LONGEST_DESCRIPTION);

/** Whether a person's words speak of that memory: by a word of its name, or by two of its text. Any word of theirs would else take away any memory. */
function isAbout(words: string, { name, text }: Pick<NewMemory, "name" | "text">): boolean {
  const said = new Set(wordsIn(words));
  const shared = new Set(wordsIn(text).filter((word) => word.length > 3 && said.has(word)));
  return shared.size > 1 || wordsIn(name).some((word) => said.has(word));
}
