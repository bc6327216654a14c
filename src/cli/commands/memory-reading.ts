// `holdfast memory extract|consolidate`: a model reads what was said, or what is remembered, under a budget; what it proposes waits in the inbox.
import { type ContextInfo, listContexts } from "../../contexts/listing.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { oneLine, printable } from "../../front/presentation/printable.ts";
import { createHarness } from "../../harness.ts";
import { openMemories } from "../../mechanisms/memory/memories.ts";
import { type MemoryReader, type ReadResult, readConversation, readMemory } from "../../mechanisms/memory/reading.ts";
import { modelSpec } from "../../models/model-spec.ts";
import type { JsonToo, PlaceFlags, PolicyFlags } from "../flags.ts";
import { findContext, isIn, type OpenState, openChosenModel, withState } from "../open.ts";
import { type OpenSettings, openSettings } from "../settings.ts";

type Flags = PlaceFlags &
  Partial<JsonToo> &
  Pick<PolicyFlags, "settings"> & { model?: string | undefined; maxTokens?: number | undefined; quiet: boolean };

const MOST_TOKENS = 100_000;
/** Model calls of one reading: it may look, propose, and be told what was wrong with it. */
const MOST_ROUNDS = 8;
const FAILED = 1;
const LIMIT = 3;

type Done = Omit<Extract<ReadResult, { kind: "read" }>, "resumed"> & { source: string };

export const extract = (flags: Flags, given?: string): Promise<number> =>
  withState(flags, async (state) => {
    const sources = given === undefined ? await unread(state) : [await findContext(state.store, given, flags)];
    const settings = await openSettings(flags, state.project);
    return readAll(
      flags,
      { state, settings },
      sources.map((one) => ({ ...one, read: (reader: MemoryReader) => readConversation(reader, one) })),
    );
  });

export const consolidate = (flags: Flags): Promise<number> =>
  withState(flags, async (state) => {
    const settings = await openSettings(flags, state.project);
    return readAll(flags, { state, settings }, [{ id: "memory", title: "memory", read: readMemory }]);
  });

/** As settings ask for it: the conversation that was just had. What comes of it changes nothing about how that ended. */
export async function extractAfter(
  flags: Omit<Flags, "maxTokens" | "json">,
  { state, settings, id, title }: { state: OpenState; settings: OpenSettings; id: string; title: string },
): Promise<void> {
  const { maxTokens } = settings.settings.memory;
  const source = { id, title, read: (reader: MemoryReader) => readConversation(reader, { id, title }) };
  await readAll({ ...flags, maxTokens }, { state, settings }, [source]).catch((error: unknown) => {
    process.stderr.write(`holdfast: memory: ${oneLine(String(error instanceof Error ? error.message : error), 300)}\n`);
  });
}

/** Begun in this folder, the newest first; not those that only read, and none that somebody works in. */
const unread = async ({ store, project }: OpenState): Promise<ContextInfo[]> =>
  (await listContexts(store)).filter((one) => isIn(project, one) && !one.aside && one.heldBy === undefined);

interface Source {
  id: string;
  title: string;
  read: (reader: MemoryReader) => Promise<ReadResult>;
}

async function readAll(
  flags: Flags,
  { state, settings }: { state: OpenState; settings: OpenSettings },
  sources: readonly Source[],
): Promise<number> {
  const { store, project, jobsDir } = state;
  const chosen = settings.settings.model;
  const model = await openChosenModel(flags.model ?? (chosen && modelSpec(chosen)), settings.modelEnv);
  const memories = await openMemories(store);
  const dir = `${project.stateDir}/memory`;
  const done: Done[] = [];
  let tokens = flags.maxTokens ?? MOST_TOKENS;
  let left = 0;
  /** Contract: true where an earlier process had begun what was read: there may be more since. */
  const readOne = async (source: Source): Promise<boolean> => {
    const budget = { tokens, rounds: MOST_ROUNDS };
    const harness = createHarness({ model, store, root: project.root, jobsDir, budget, memory: { dir } });
    try {
      const result = await source.read({ host: harness.host, store, memories, root: project.root });
      say(flags, source, result);
      if (result.kind !== "read") return false;
      const { resumed, ...read } = result;
      tokens -= read.tokens;
      done.push({ ...read, source: source.id });
      return resumed && read.ended === "done";
    } finally {
      await harness.close();
    }
  };
  for (const source of sources) {
    let isMore = true;
    while (isMore && tokens > 0) isMore = await readOne(source);
    if (isMore) left++;
  }
  return closing(flags, done, left);
}

function say(flags: Flags, { title }: Source, result: ReadResult): void {
  if (flags.quiet || result.kind === "nothing") return;
  const name = oneLine(title, 60);
  if (result.kind === "held") process.stderr.write(`memory: ${name} is read by another process (${result.reader})\n`);
  else {
    const { reader, ended, proposed, tokens } = result;
    const how = ended === "done" ? "" : `, ended early (${ended})`;
    process.stderr.write(`memory: read ${name}: ${proposed} proposed, ${tokens} tokens, ${reader}${how}\n`);
  }
}

function closing(flags: Flags, done: readonly Done[], left: number): number {
  const proposed = done.reduce((sum, one) => sum + one.proposed, 0);
  if (flags.json) process.stdout.write(`${JSON.stringify({ read: done, left })}\n`);
  else if (!flags.quiet) {
    const inbox = commandLine(["memory", "inbox"], flags);
    const lines = [
      ...(done.length === 0 ? ["memory: nothing new to read"] : []),
      ...(proposed > 0 ? [`memory: look at what is proposed with: ${inbox}`] : []),
      ...(left > 0
        ? [`memory: the budget is used up; ${left} not looked at: run it again, or give more with --max-tokens`]
        : []),
    ];
    for (const line of lines) process.stderr.write(`${printable(line)}\n`);
  }
  if (done.some(({ ended }) => ended === "failed")) return FAILED;
  return left > 0 || done.some(({ ended }) => ended === "limit") ? LIMIT : 0;
}
