// The mechanism `worktrees`: trees of their own for tasks, on branches that stay. Their state is git's; the ledger has what was done.
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own, ownOr } from "../../ledger/own.ts";
import type { Carrying } from "../../loop/carry.ts";
import { type AgentView, defineMechanism, type Mechanism } from "../../loop/seams.ts";
import { type MechanismSlice, unchanged } from "../../loop/timelines.ts";
import { fittingLines } from "../../text/fitting.ts";
import { visible } from "../../text/visible.ts";
import { fireHook } from "../hooks/port.ts";
import type { Isolate } from "../subagents/port.ts";
import type { ComparedTree } from "./compare.ts";
import { type CreateWorktreePorts, createWorktreeTool } from "./create-worktree.ts";
import { keepWorktreeTool } from "./keep-worktree.ts";
import type { ListedTree } from "./list.ts";
import type { MergedTree, MergeOptions } from "./merge.ts";
import { branchOf, type Worktrees } from "./port.ts";
import { type RemoveWorktreePorts, removeWorktreeTool } from "./remove-worktree.ts";

export type { ComparedTree, ListedTree };

export interface WorktreesPlace {
  /** Holds one directory a worktree; outside the project's tree. */
  dir: string;
  /** The project's own tree. */
  root: string;
  /** Folders of it that worktrees share by a link, where git ignores them. */
  link?: readonly string[];
}

/** What a person asks besides: what there is, what is in it, and taking it over. */
export interface TakeOver {
  list(opts?: { all?: boolean }): Promise<ListedTree[]>;
  compare(name: string, opts?: { patch?: boolean; maxBytes?: number }): Promise<ComparedTree>;
  merge(name: string, opts: MergeOptions): Promise<MergedTree>;
}

/** The functions are loaded at their first call. */
export function openWorktrees({ dir, root, link = [] }: WorktreesPlace): Worktrees & TakeOver {
  const place = { dir, root, link };
  const making = () => import("./make.ts");
  const removing = () => import("./remove.ts");
  const looking = () => import("./looking.ts");
  return {
    planMake: async (name, opts) => (await making()).planMake(place, name, opts),
    make: async (plan) => (await making()).make(place, plan),
    resumeMake: async (plan) => (await making()).resumeMake(place, plan),
    ensure: async (name, opts) => (await making()).ensure(place, name, opts),
    remake: async (name, opts) => (await making()).remake(place, name, opts),
    planRemoval: async (name, opts) => (await removing()).planRemoval(place, name, opts),
    remove: async (plan, opts) => (await removing()).removeWorktree(place, plan, opts),
    resumeRemoval: async (plan) => (await removing()).resumeRemoval(place, plan),
    keep: async (name, note) => (await looking()).keep(place, name, note),
    look: async (name) => (await looking()).look(place, name),
    branchLeft: async (name) => (await looking()).branchLeft(place, name),
    placeOf: async (name) => (await looking()).worktreePlace(place, name),
    list: async (opts) => (await import("./list.ts")).listTrees(place, opts),
    compare: async (name, opts) => (await import("./compare.ts")).compareTree(place, name, opts),
    merge: async (name, opts) => (await import("./merge.ts")).mergeTree(place, name, opts),
  };
}

/** A tree for a subagent that is to have its own; after its end it is there for review. */
export const isolateIn =
  (worktrees: Worktrees): Isolate =>
  async ({ context, agent, root, turn }) => {
    const name = `${agent}-${context.slice(-8)}`.toLowerCase().replace(/[^a-z0-9_-]+/g, "-");
    const fitting = name
      .replace(/^[^a-z0-9]+/, "")
      .slice(-41)
      .replace(/^[^a-z0-9]+/, "");
    const path = await worktrees.ensure(fitting, { from: root, mark: `${context}/${agent}` });
    const made = { name: fitting, worktree_path: path, branch: branchOf(fitting) };
    if (turn) await fireHook(turn, "WorktreeCreate", made);
    return { root: path };
  };

const named = { name: z.string(), path: z.string(), branch: z.string() };

export type WorktreesOptions = CreateWorktreePorts &
  RemoveWorktreePorts & {
    worktrees?: Worktrees;
    /** Without it only contexts that have used them are offered the tools. */
    offer?: boolean;
  };

interface WorktreesSlice {
  /** An agent of this context has made one. */
  used: boolean;
  /** By agent, then by name: those that it made, or kept for review, and did not remove. */
  made: Record<string, Record<string, { path: string; task?: string; isKept?: boolean }>>;
}

const worktreeEvents = {
  "worktree.created": {
    v: 1,
    schema: () =>
      z.object({ ...named, commit: z.string(), task: z.string().optional(), machine: z.string().optional() }),
  },
  "worktree.kept": { v: 1, schema: () => z.object({ ...named, note: z.string() }) },
  "worktree.removed": { v: 1, schema: () => z.object({ ...named, head: z.string() }) },
} satisfies EventDefs;

const slice: MechanismSlice<WorktreesSlice> = {
  version: 2,
  types: Object.keys(worktreeEvents),
  timelines: unchanged, // the trees are there, whatever the conversation says
  initial: () => ({ used: false, made: {} }),
  apply(state, event) {
    const { type, actor, data } = knownFact<typeof worktreeEvents>(event);
    const made = ownOr(state.made, actor, () => ({}));
    if (type === "worktree.removed") for (const of of Object.values(state.made)) delete of[data.name];
    else if (type === "worktree.kept") made[data.name] = { ...own(made, data.name), path: data.path, isKept: true };
    else made[data.name] = { path: data.path, ...(data.task !== undefined && { task: data.task }) };
    return { ...state, used: state.used || type === "worktree.created" };
  },
};

/** Of the window. */
const SHARE = 0.02;

function carryTrees(turn: Pick<AgentView, "agent" | "slice">, { room }: Pick<Carrying, "room">): string {
  const made = Object.entries(own(turn.slice<WorktreesSlice>("worktrees").made, turn.agent) ?? {});
  if (made.length === 0) return "";
  const lines = made.map(([name, { path, task, isKept }]) => {
    const facts = [...(task === undefined ? [] : [`for ${task}`]), ...(isKept ? ["kept for review"] : [])];
    return visible(`- ${name} in ${path}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`);
  });
  return ["Worktrees that you made:", ...fittingLines(lines, room(SHARE), (count) => `- and ${count} more`)].join("\n");
}

/** Whether any agent of the same context has made a worktree. */
export const hasMadeWorktrees = (agent: Pick<AgentView, "slice">): boolean =>
  agent.slice<WorktreesSlice | undefined>("worktrees")?.used ?? false;

export function createWorktrees({ worktrees, offer, ...ports }: WorktreesOptions = {}): Mechanism {
  const tools = worktrees
    ? [createWorktreeTool(worktrees, ports), keepWorktreeTool(worktrees), removeWorktreeTool(worktrees, ports)]
    : [];
  const names = new Set(tools.map((tool) => tool.name));
  return defineMechanism({
    name: "worktrees",
    carry: carryTrees,
    fold: slice,
    events: worktreeEvents,
    settings: () => ({ hasPlace: worktrees !== undefined, offer }),
    // What was begun is finished, also by a process that would not offer it; a call alone begins nothing.
    tools: (turn) =>
      offer ||
      turn.slice<WorktreesSlice>("worktrees").used ||
      turn.state.pending.some(({ call, started }) => started !== undefined && names.has(call.name))
        ? tools
        : [],
  });
}
