// The agent's files: the tools that read, search and change them, and what each agent has seen of them.

import type { contextEvents } from "../../contexts/events.ts";
import { SEEN_SLICE, type SeenFiles } from "../../file-access/seen-files.ts";
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { loopEvents } from "../../loop/events.ts";
import { type RootMove, relocate } from "../../loop/moved.ts";
import { defineMechanism, type Mechanism } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";
import { editFileTool } from "./edit-file.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { multiEditTool } from "./multi-edit.ts";
import { readFileTool } from "./read-file.ts";
import { writeFileTool } from "./write-file.ts";

const fileEvents = {
  "file.seen": {
    v: 1,
    schema: () =>
      z.object({
        path: z.string(),
        hash: z.string(),
        inputId: z.string().optional(),
        /** The call that saw it, and how; of older versions not known. */
        callId: z.string().optional(),
        how: z.enum(["read", "wrote"]).optional(),
      }),
  },
} satisfies EventDefs;

type Known = typeof fileEvents & Pick<typeof loopEvents, "input.blocked"> & Pick<typeof contextEvents, "context.moved">;

const slice: MechanismSlice<SeenFiles> = {
  version: 5,
  types: ["file.seen", "input.blocked", "context.moved"],
  timelines: {
    // What was read after the checkpoint is no longer in the conversation: it must be read again before it is overwritten.
    restored: (state, { to }) =>
      Object.fromEntries(Object.entries(state).map(([agent, seen]) => [agent, upTo(seen, to)])),
    copied: (state) => state,
  },
  initial: () => ({}),
  apply(state, event) {
    const { type, actor, data } = knownFact<Known>(event);
    // What an agent has read it has read, wherever the project's folder is now.
    if (type === "context.moved") return relocated(state, data);
    if (type === "input.blocked") return without(state, actor, data.inputId);
    if (type !== "file.seen") return state;
    const { path, hash, inputId, callId, how } = data;
    const seen = ownOr(state, actor, () => ({}));
    const known = own(seen, path);
    const read = how === "read" ? callId : known?.read;
    const wrote = how === "wrote" ? callId : known?.wrote;
    seen[path] = {
      hash,
      seq: event.seq,
      ...(inputId !== undefined && { inputId }),
      ...(read !== undefined && { read }),
      ...(wrote !== undefined && { wrote }),
    };
    return state;
  },
};

/** What an input brought that the agent was never shown. */
function without(state: SeenFiles, agent: string, inputId: string): SeenFiles {
  const seen = own(state, agent);
  if (!seen) return state;
  const kept = Object.entries(seen).filter(([, known]) => known.inputId !== inputId);
  return { ...state, [agent]: Object.fromEntries(kept) };
}

function relocated(state: SeenFiles, move: RootMove): SeenFiles {
  const there = (seen: SeenFiles[string]) =>
    Object.fromEntries(Object.entries(seen).map(([path, known]) => [relocate(path, move), known]));
  return Object.fromEntries(Object.entries(state).map(([agent, seen]) => [agent, there(seen)]));
}

function upTo(seen: SeenFiles[string], to: number): SeenFiles[string] {
  return Object.fromEntries(Object.entries(seen).filter(([, { seq }]) => seq <= to));
}

export function createFiles(): Mechanism {
  return defineMechanism({
    name: SEEN_SLICE,
    events: fileEvents,
    fold: slice,
    carry: async (turn, how) => (await import("./carry.ts")).carryFiles(turn, how),
    tools: [readFileTool, writeFileTool, editFileTool, multiEditTool, globTool, grepTool],
  });
}
