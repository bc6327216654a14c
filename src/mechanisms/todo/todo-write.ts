// The tool todo_write: the agent's light plan, replaced as a whole.
import * as z from "zod";
import { defineTool, type ToolOutput, type Turn } from "../../loop/seams.ts";

export const TODO_STATUSES = ["pending", "in_progress", "completed"] as const;

export interface Todo {
  id: number;
  content: string;
  status: (typeof TODO_STATUSES)[number];
}

type TodoInput = { todos: Omit<Todo, "id">[] };

const MARKS = { pending: "[ ]", in_progress: "[>]", completed: "[x]" };

export function createTodoWriteTool(current: (turn: Turn) => readonly Todo[]) {
  return defineTool<TodoInput>({
    name: "todo_write",
    description: "Replace your todo list; at most one item in progress.",
    schema: () =>
      z.strictObject({
        todos: z.array(z.strictObject({ content: z.string(), status: z.enum(TODO_STATUSES) })),
      }),
    effect: "internal",
    async execute({ input, turn }): Promise<ToolOutput> {
      const problem = problemOf(input);
      if (problem) return { content: problem, isError: true };
      const todos = withIds(input.todos, current(turn));
      return { content: showTodos(todos), events: [{ type: "todo.written", data: { todos } }] };
    },
  });
}

function problemOf({ todos }: TodoInput): string | undefined {
  const empty = todos.findIndex((t) => t.content.trim() === "");
  if (empty >= 0) return `todos.${empty}.content is empty; the list is unchanged`;
  const busy = todos.filter((t) => t.status === "in_progress").length;
  if (busy > 1) return `${busy} items are in_progress, at most one may be; the list is unchanged`;
  return undefined;
}

/** An item keeps its id as long as its content stays. */
function withIds(todos: TodoInput["todos"], before: readonly Todo[]): Todo[] {
  const known = [...before];
  let next = Math.max(0, ...before.map((t) => t.id)) + 1;
  return todos.map(({ content, status }) => {
    const at = known.findIndex((t) => t.content === content);
    const [same] = at < 0 ? [] : known.splice(at, 1);
    return { id: same?.id ?? next++, content, status };
  });
}

export function showTodos(todos: readonly Todo[]): string {
  return todos.map((t) => `${MARKS[t.status]} ${t.content}`).join("\n") || "(the list is empty)";
}
