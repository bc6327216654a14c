// Owns the agent's files: the tools that read, search and change them, and what each agent has seen of them.
import * as z from "zod";
import type { Slice } from "../../ledger/fold.ts";
import { defineMechanism, type Mechanism } from "../../loop/seams.ts";
import { editFileTool } from "../../tools/edit-file.ts";
import { globTool } from "../../tools/glob.ts";
import { grepTool } from "../../tools/grep.ts";
import { multiEditTool } from "../../tools/multi-edit.ts";
import { readFileTool } from "../../tools/read-file.ts";
import { SEEN_SLICE, type SeenFiles } from "../../tools/seen-files.ts";
import { writeFileTool } from "../../tools/write-file.ts";

const slice: Slice<SeenFiles> = {
  version: 1,
  initial: () => ({}),
  apply(state, event) {
    if (event.type !== "file.seen") return state;
    const { path, hash } = event.data as { path: string; hash: string };
    state[event.actor] ??= {};
    state[event.actor]![path] = hash;
    return state;
  },
};

export function createFiles(): Mechanism {
  return defineMechanism({
    name: SEEN_SLICE,
    events: { "file.seen": { v: 1, schema: () => z.object({ path: z.string(), hash: z.string() }) } },
    fold: slice,
    tools: [readFileTool, writeFileTool, editFileTool, multiEditTool, globTool, grepTool],
  });
}
