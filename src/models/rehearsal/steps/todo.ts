// The todo list: written alone, or kept up to date around the steps that follow it.
import { call, type PlanStep, type Section, type Stage, together } from "../plan.ts";
import type { Intent } from "../request.ts";
import { firstLine } from "./output.ts";

type Status = "pending" | "in_progress" | "completed";
interface Todo {
  content: string;
  status: Status;
}

const INSPECTS = /inspect|explor|look|review|understand|analy|survey|調べ|調査|確認|把握|点検|解析|見る/i;

/** A list that nothing in the request works off: every item is still to do. */
export function* todoAlone(stage: Stage, intent: Extract<Intent, { kind: "todo" }>): PlanStep {
  const { words } = stage;
  const inspects = INSPECTS.test(intent.subject);
  const contents = intent.items ?? (inspects ? words.inspection : words.generic(intent.subject));
  const todos = contents.map((content): Todo => ({ content, status: "pending" }));
  const outcome = yield* call(stage, "todo_write", { todos }, words.sayTodo);
  if (outcome.isError) return { text: words.todoFailed(firstLine(outcome.text)), ok: false };
  const advice = intent.items || inspects ? [] : [words.genericAdvice];
  return { text: [show(stage, todos), ...advice].join("\n"), ok: true };
}

interface Work {
  /** The intents of a group go out side by side, the groups one after the other. */
  groups: Intent[][];
  runGroup: (group: Intent[]) => PlanStep<Section[]>;
  mayGoOn: (group: Intent[], sections: Section[]) => boolean;
}

/** Wraps the groups of steps that follow: written first, moved on before each group, closed at the end. */
export function* todoAround(stage: Stage, work: Work): PlanStep<Section[]> {
  const { words } = stage;
  const { groups, runGroup, mayGoOn } = work;
  const all = groups.flat();
  const alone = all.length === 1 ? [words.followUp(all[0]!)] : [];
  const contents = [...all.map((intent) => words.describe(intent)), ...alone, words.describe({ kind: "report" })];
  const done: Section[] = [];
  const todos = (active: number): Todo[] => contents.map((content, i) => ({ content, status: statusOf(i, active) }));
  const statusOf = (i: number, active: number): Status => {
    if (i < done.length) return done[i]!.ok ? "completed" : "pending";
    return i < active ? "in_progress" : "pending";
  };
  let written = yield* call(stage, "todo_write", { todos: todos(1) }, words.sayTodo);
  for (const [i, group] of groups.entries()) {
    if (i === 0) done.push(...(yield* runGroup(group)));
    else {
      const update = call(stage, "todo_write", { todos: todos(done.length + 1) });
      const [outcome, sections] = yield* both(update, runGroup(group));
      written = outcome;
      done.push(...sections);
    }
    if (!mayGoOn(group, done.slice(-group.length))) break;
  }
  const fine = done.length === all.length && done.every((section) => section.ok);
  const last = contents.map((content, i): Todo => {
    const closed = i < all.length ? done[i]?.ok === true : fine || i === contents.length - 1;
    return { content, status: closed ? "completed" : "pending" };
  });
  const closing = yield* call(stage, "todo_write", { todos: last });
  const failed = [written, closing].find((outcome) => outcome.isError);
  const text = failed ? words.todoFailed(firstLine(failed.text)) : show(stage, last);
  return [{ text, ok: !failed }, ...done];
}

function* both<A, B>(a: PlanStep<A>, b: PlanStep<B>): PlanStep<[A, B]> {
  const [first, second] = yield* together<A | B>([a as PlanStep<A | B>, b as PlanStep<A | B>]);
  return [first as A, second as B];
}

const BOX: Record<Status, string> = { completed: "[x]", in_progress: "[~]", pending: "[ ]" };

function show(stage: Stage, todos: Todo[]): string {
  const done = todos.filter((todo) => todo.status === "completed").length;
  return [
    stage.words.todoList(done, todos.length),
    ...todos.map((todo) => `- ${BOX[todo.status]} ${todo.content}`),
  ].join("\n");
}
