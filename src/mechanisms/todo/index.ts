// The todo list of each agent: kept in the ledger, and a reminder when it is forgotten.

import type { contextEvents } from "../../contexts/events.ts";
import * as z from "../../ledger/event-schema.ts";
import type { EventDefs } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import type { Seq } from "../../ledger/store.ts";
import type { Carrying } from "../../loop/carry.ts";
import type { loopEvents } from "../../loop/events.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";
import { fittingLines } from "../../text/fitting.ts";
import { createTodoWriteTool, showTodos, TODO_STATUSES, type Todo } from "./todo-write.ts";

const REMIND_AFTER_ROUNDS = 3;

interface TodoList {
  todos: Todo[];
  /** Since the list was written or reminded of. */
  rounds: number;
}

export const todoEvents = {
  "todo.written": {
    v: 1,
    schema: () =>
      z.object({
        todos: z.array(z.object({ id: z.number(), content: z.string(), status: z.enum(TODO_STATUSES) })),
      }),
  },
  "todo.reminded": { v: 1, schema: () => z.object({}) },
} satisfies EventDefs;

export interface TodoState {
  /** By agent. */
  lists: Record<string, TodoList>;
  /** What they were at checkpoints, where they had changed since the one before. */
  marks: [checkpoint: Seq, lists: Record<string, Todo[]>][];
  changed: boolean;
}

type Known = typeof todoEvents &
  Pick<typeof loopEvents, "reply.received"> &
  Pick<typeof contextEvents, "context.checkpointed">;

const slice: MechanismSlice<TodoState> = {
  version: 2,
  types: ["todo.written", "todo.reminded", "reply.received", "context.checkpointed"],
  timelines: {
    restored(state, { to }) {
      const lists = state.marks.findLast(([checkpoint]) => checkpoint <= to)?.[1] ?? {};
      return { lists: freshLists(lists), marks: state.marks, changed: true };
    },
    copied: (state) => state,
  },
  initial: () => ({ lists: {}, marks: [], changed: false }),
  apply(state, event) {
    const { type, actor, data } = knownFact<Known>(event);
    const list = own(state.lists, actor);
    if (type === "todo.written") {
      state.lists[actor] = { todos: data.todos, rounds: 0 };
      state.changed = true;
    } else if (type === "todo.reminded" && list) list.rounds = 0;
    else if (type === "reply.received" && list) list.rounds++;
    else if (type === "context.checkpointed" && state.changed) {
      const lists = Object.entries(state.lists).map(([agent, { todos }]) => [agent, todos] as const);
      state.marks.push([event.seq, Object.fromEntries(lists)]);
      state.changed = false;
    }
    return state;
  },
};

const freshLists = (lists: Record<string, Todo[]>): Record<string, TodoList> =>
  Object.fromEntries(Object.entries(lists).map(([agent, todos]) => [agent, { todos, rounds: 0 }]));

/** The list as it stands. */
export const todosOf = (turn: Pick<Turn, "agent" | "slice">): readonly Todo[] =>
  turn.slice<TodoState>("todo").lists[turn.agent]?.todos ?? [];

/** Of the window. */
const SHARE = 0.05;

function carryTodos(turn: Pick<Turn, "agent" | "slice">, { room }: Pick<Carrying, "room">): string {
  const all = todosOf(turn);
  const open = all.filter(({ status }) => status !== "completed");
  if (open.length === 0) return "";
  const done = all.length - open.length;
  const head = `Your open todos${done > 0 ? ` (${done} of ${all.length} are done)` : ""}:`;
  const lines = open.map((todo) => showTodos([todo]));
  return [head, ...fittingLines(lines, room(SHARE), (count) => `and ${count} more`)].join("\n");
}

export function createTodo(): Mechanism {
  return defineMechanism({
    name: "todo",
    events: todoEvents,
    fold: slice,
    tools: [createTodoWriteTool(todosOf)],
    carry: carryTodos,
    seams: {
      intake(turn) {
        const list = turn.slice<TodoState>("todo").lists[turn.agent];
        if (!list || list.rounds < REMIND_AFTER_ROUNDS || list.todos.every((t) => t.status === "completed")) return [];
        return [
          {
            origin: "todo",
            text: `Your todo list has open items and was not updated for ${list.rounds} rounds:\n${showTodos(list.todos)}`,
            events: [{ type: "todo.reminded", data: {} }],
          },
        ];
      },
    },
  });
}
