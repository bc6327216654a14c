// Owns the todo list of each agent: kept in the ledger, and a reminder when it is forgotten.
import * as z from "zod";
import type { Slice } from "../../ledger/fold.ts";
import { defineMechanism, type Mechanism, type Turn } from "../../loop/seams.ts";
import { createTodoWriteTool, showTodos, TODO_STATUSES, type Todo } from "../../tools/todo-write.ts";

const REMIND_AFTER_ROUNDS = 3;

interface TodoList {
  todos: Todo[];
  /** Since the list was written or reminded of. */
  rounds: number;
}

type TodoState = Record<string, TodoList>;

const slice: Slice<TodoState> = {
  version: 1,
  initial: () => ({}),
  apply(state, event) {
    const list = state[event.actor];
    if (event.type === "todo.written") {
      state[event.actor] = { todos: (event.data as { todos: Todo[] }).todos, rounds: 0 };
    } else if (event.type === "todo.reminded" && list) list.rounds = 0;
    else if (event.type === "reply.received" && list) list.rounds++;
    return state;
  },
};

/** The list as it stands. */
export const todosOf = (turn: Pick<Turn, "agent" | "slice">): readonly Todo[] =>
  turn.slice<TodoState>("todo")[turn.agent]?.todos ?? [];

export function createTodo(): Mechanism {
  return defineMechanism({
    name: "todo",
    events: {
      "todo.written": {
        v: 1,
        schema: () =>
          z.object({
            todos: z.array(z.object({ id: z.number(), content: z.string(), status: z.enum(TODO_STATUSES) })),
          }),
      },
      "todo.reminded": { v: 1, schema: () => z.object({}) },
    },
    fold: slice,
    tools: [createTodoWriteTool(todosOf)],
    seams: {
      intake(turn) {
        const list = turn.slice<TodoState>("todo")[turn.agent];
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
