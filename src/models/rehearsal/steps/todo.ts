// The todo list: written alone, or kept up to date around the steps that follow it.

import { describePhrase, linesIn } from "../phrases.ts";
import { attempt, type Section, type Stage, type Step, together } from "../plan.ts";
import type { IntentOf, RequestedWork } from "../request.ts";

type Status = "pending" | "in_progress" | "completed";
interface Todo {
  content: string;
  status: Status;
}

const INSPECTS = /inspect|explor|look|review|understand|analy|survey|調べ|調査|確認|把握|点検|解析|見る/i;

/** A list that nothing in the request works off: every item is still to do. */
export function* todoAlone(stage: Stage, { subject, items }: IntentOf<"todo">): Step {
  const { say } = stage;
  const inspects = INSPECTS.test(subject);
  const contents = items ?? (inspects ? linesIn(say, "inspection") : say("generic", { subject }).split("\n"));
  const todos = contents.map((content): Todo => ({ content, status: "pending" }));
  const advice = items || inspects ? [] : [say("genericAdvice")];
  return yield* attempt(stage, { name: "todo_write", input: { todos } }, () =>
    [shown(stage, todos), ...advice].join("\n"),
  );
}

/** In the order of the phrases for what follows; the last is for all others. */
const FOLLOWED: RequestedWork["kind"][] = ["list", "read"];

interface Around {
  /** The intents of a group go out side by side, the groups one after the other. */
  groups: RequestedWork[][];
  runGroup: (group: RequestedWork[]) => Step<Section[]>;
  mayGoOn: (group: RequestedWork[], sections: Section[]) => boolean;
}

/** Written first, moved on before each group of steps, closed at the end. */
export function* todoAround(stage: Stage, { groups, runGroup, mayGoOn }: Around): Step<Section[]> {
  const { say } = stage;
  const all = groups.flat();
  const steps = all.map((intent) => describePhrase(say, intent));
  const followUps = linesIn(say, "followUps");
  const followUp = all.length > 1 ? [] : all.flatMap(({ kind }) => followUps.slice(FOLLOWED.indexOf(kind)).slice(0, 1));
  const contents = [...steps, ...followUp, describePhrase(say, { kind: "report" })];
  const done: Section[] = [];
  const todosAt = (statusOf: (i: number) => Status): Todo[] =>
    contents.map((content, i) => ({ content, status: statusOf(i) }));
  const now = (): Todo[] => {
    const active = done.length;
    return todosAt((i) => (i === active ? "in_progress" : done[i]?.ok ? "completed" : "pending"));
  };
  const update = (todos: Todo[]) => attempt(stage, { name: "todo_write", input: { todos } }, () => shown(stage, todos));
  let written = yield* update(now());
  for (const [i, group] of groups.entries()) {
    if (i === 0) done.push(...(yield* runGroup(group)));
    else {
      const [list, sections] = yield* together([update(now()), runGroup(group)]);
      written = list;
      done.push(...sections);
    }
    if (!mayGoOn(group, done.slice(-group.length))) break;
  }
  const fine = done.length === all.length && done.every((section) => section.ok);
  const closed = (i: number) => (i < all.length ? done[i]?.ok === true : fine || i === contents.length - 1);
  const closing = yield* update(todosAt((i) => (closed(i) ? "completed" : "pending")));
  return [written.ok ? closing : written, ...done];
}

const BOX: Record<Status, string> = { completed: "[x]", in_progress: "[~]", pending: "[ ]" };

function shown({ say }: Stage, todos: Todo[]): string {
  const done = String(todos.filter((todo) => todo.status === "completed").length);
  const lines = todos.map((todo) => `- ${BOX[todo.status]} ${todo.content}`);
  return [say("todoList", { done, all: String(todos.length) }), ...lines].join("\n");
}
