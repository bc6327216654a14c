// The automatic checkpoints: one at each prompt of the user, its files kept beside the model call.
import type { FileKeeper } from "../../contexts/file-keeper.ts";
import { messageOf } from "../../ledger/error.ts";
import type { Seq } from "../../ledger/store.ts";
import { nothing } from "../../loop/carry.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { type ContextState, contextRoot } from "../../loop/transcript.ts";
import { textOf } from "../../models/model.ts";
import { type CheckpointsState, checkpointsSlice } from "./owed.ts";

export interface AutomaticCheckpointsOptions {
  /** Keeps the files of a context's tree; without it a checkpoint is a position in the ledger. */
  keeper?: (root: string) => Promise<FileKeeper>;
}

const NOTE_CHARS = 80;
/** A model that has not answered by now is thinking: there is time. */
const THINKING_MS = 250;

export function createAutomaticCheckpoints({ keeper }: AutomaticCheckpointsOptions = {}): Mechanism {
  /** By context: the save that goes on, so that all its agents wait for the same one. */
  const saving = new Map<string, { checkpoint: Seq; done: Promise<void> }>();

  /** Contract: resolves when the files that the ledger says are owed are kept, or cannot be. */
  async function keepOwed(turn: Turn): Promise<void> {
    const state = turn.slice<CheckpointsState>("checkpoints");
    if (!keeper || state.files !== "owed") return;
    const { checkpoint } = state;
    let current = saving.get(turn.context);
    if (current?.checkpoint !== checkpoint) {
      current = { checkpoint, done: keep(keeper, turn, checkpoint) };
      saving.set(turn.context, current);
    }
    await current.done;
  }

  return defineMechanism({
    name: "checkpoints",
    carry: nothing,
    settings: () => ({ keepsFiles: keeper !== undefined }),
    outside: { at: ["beforeEffect"], facts: ["checkpoint.kept"] },
    decides: ["context.checkpointed"],
    fold: checkpointsSlice,
    /** The fact that they are kept becomes durable with the intent: an effect without it has not begun. */
    beforeEffect: ({ turn }) => keepOwed(turn),
    seams: {
      async input(input, turn) {
        if (input.origin !== "user") return input;
        const name = `prompt ${turn.state.items.filter((item) => item.kind === "user").length + 1}`;
        const note = textOf(input.content).replace(/\s+/g, " ").trim().slice(0, NOTE_CHARS);
        const owes = keeper ? { owes: "files" } : {};
        await turn.append([
          { type: "context.checkpointed", touches: [`checkpoint:${name}`], data: { name, auto: true, note, ...owes } },
        ]);
        // While the model thinks, or when something is about to change: whichever comes first. What answers at once and only reads waits for nothing.
        if (keeper) setTimeout(() => keepOwed(turn), THINKING_MS).unref();
        return input;
      },
    },
  });
}

async function keep(keeper: (root: string) => Promise<FileKeeper>, turn: Turn, checkpoint: Seq): Promise<void> {
  try {
    const { createdAt } = turn.slice<ContextState>("transcript");
    const files = await (await keeper(contextRoot(turn))).save({ since: createdAt });
    await turn.append([{ type: "checkpoint.kept", data: { checkpoint, files } }], { durability: "deferred" });
  } catch (error) {
    turn.emit({ type: "status", text: `the files of this checkpoint are not kept: ${messageOf(error)}` });
  }
}
