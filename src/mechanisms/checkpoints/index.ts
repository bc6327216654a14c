// Owns the automatic checkpoints: one at each prompt of the user, its files kept beside the model call.
import type { FileKeeper } from "../../contexts/index.ts";
import { messageOf } from "../../ledger/error.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";

export interface CheckpointsOptions {
  /** Keeps the project's files; without it a checkpoint is a position in the ledger. */
  keeper?: () => Promise<FileKeeper>;
}

const NOTE_CHARS = 80;
/** A model that has not answered by now is thinking: there is time. */
const THINKING_MS = 250;

export function createCheckpoints({ keeper }: CheckpointsOptions = {}): Mechanism {
  /** By context: what the first change of the turn begins, and waits for. */
  const keeping = new Map<string, () => Promise<void>>();
  return defineMechanism({
    name: "checkpoints",
    seams: {
      async input(input, turn) {
        if (input.origin !== "user") return input;
        const name = `prompt ${turn.state.items.filter((item) => item.kind === "user").length + 1}`;
        const note = textOf(input.content).replace(/\s+/g, " ").trim().slice(0, NOTE_CHARS);
        const [made] = await turn.append([
          { type: "context.checkpointed", touches: [`checkpoint:${name}`], data: { name, auto: true, note } },
        ]);
        if (keeper && made)
          keeping.set(
            turn.context,
            later(() => keep(keeper, turn, made.seq)),
          );
        return input;
      },
      async tool(run, next) {
        if (run.tool.effect !== "read" && run.tool.effect !== "internal") await keeping.get(run.turn.context)?.();
        return next(run);
      },
    },
  });
}

/** While the model thinks, or when something is about to change: whichever comes first. What answers at once and only reads waits for nothing. */
function later(work: () => Promise<void>): () => Promise<void> {
  let begun: Promise<void> | undefined;
  const begin = () => {
    begun ??= work();
    return begun;
  };
  setTimeout(begin, THINKING_MS).unref();
  return begin;
}

async function keep(keeper: () => Promise<FileKeeper>, turn: Turn, checkpoint: number): Promise<void> {
  try {
    const files = await (await keeper()).save();
    await turn.append([{ type: "checkpoint.kept", data: { checkpoint, files } }], { soon: true });
  } catch (error) {
    turn.emit({ type: "status", text: `the files of this checkpoint are not kept: ${messageOf(error)}` });
  }
}
