import { expect, test } from "vitest";
import { createTodo, todosOf } from "../../src/mechanisms/todo/index.ts";
import { testTurn } from "../turn.ts";

const reply = {
  type: "reply.received",
  data: { model: "m", parts: [], finish: "stop", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
};

function setUp() {
  const todo = createTodo();
  const turn = testTurn([todo]);
  return {
    turn,
    write: (...todos: [string, string][]) =>
      turn.call("todo_write", { todos: todos.map(([content, status]) => ({ content, status })) }),
    rounds: (n: number) => turn.append(Array(n).fill(reply)),
    notes: async () => {
      const notes = await todo.seams!.intake!(turn);
      for (const note of notes) await turn.append(note.events!);
      return notes.map((n) => n.text);
    },
  };
}

test("the list is replaced as a whole, and an item keeps its id as long as its content stays", async () => {
  const { turn, write } = setUp();
  expect(await write(["look", "in_progress"], ["fix", "pending"])).toEqual({
    content: "[>] look\n[ ] fix",
    events: [
      {
        type: "todo.written",
        data: {
          todos: [
            { id: 1, content: "look", status: "in_progress" },
            { id: 2, content: "fix", status: "pending" },
          ],
        },
      },
    ],
  });
  await write(["test", "pending"], ["fix", "completed"]);
  expect(todosOf(turn)).toEqual([
    { id: 3, content: "test", status: "pending" },
    { id: 2, content: "fix", status: "completed" },
  ]);
  expect((await write()).content).toBe("(the list is empty)");
});

test("two items in progress or an empty one are refused, and the list stays", async () => {
  const { turn, write } = setUp();
  await write(["keep", "pending"]);
  expect(await write(["a", "in_progress"], ["b", "in_progress"])).toEqual({
    content: "2 items are in_progress, at most one may be; the list is unchanged",
    isError: true,
  });
  expect(await write(["a", "pending"], [" ", "pending"])).toEqual({
    content: "todos.1.content is empty; the list is unchanged",
    isError: true,
  });
  expect(todosOf(turn)).toEqual([{ id: 1, content: "keep", status: "pending" }]);
});

test("a reminder comes after three rounds with open items, and again only after three more", async () => {
  const { write, rounds, notes } = setUp();
  const said = ["Your todo list has open items and was not updated for 3 rounds:\n[ ] fix"];
  await write(["fix", "pending"]);
  await rounds(2);
  expect(await notes()).toEqual([]);
  await rounds(1);
  expect(await notes()).toEqual(said);
  expect(await notes()).toEqual([]);
  await rounds(2);
  expect(await notes()).toEqual([]);
  await rounds(1);
  expect(await notes()).toEqual(said);
});

test("no reminder comes without open items, or after an update", async () => {
  const { write, rounds, notes } = setUp();
  await rounds(5);
  expect(await notes()).toEqual([]);
  await write(["fix", "pending"]);
  await rounds(2);
  await write(["fix", "in_progress"]);
  await rounds(2);
  expect(await notes()).toEqual([]);
  await write(["fix", "completed"]);
  await rounds(9);
  expect(await notes()).toEqual([]);
});
