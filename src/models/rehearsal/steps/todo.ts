// The todo list: written alone, or kept up to date around the steps that follow it.

import { describe, listOf } from "../phrases.ts";
import { call, type Section, type Stage, type Step, together } from "../plan.ts";
import type { Intent, IntentOf } from "../request.ts";
import type { Result } from "../transcript.ts";
import { firstLine } from "./results.ts";

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
  const contents = items ?? (inspects ? listOf(say, "inspection") : say("generic", { subject }).split("\n"));
  const todos = contents.map((content): Todo => ({ content, status: "pending" }));
  const result = yield* call(stage, "todo_write", { todos });
  const section = listed(stage, todos, [result]);
  const general = section.ok && !items && !inspects;
  return general ? { text: `${section.text}\n${say("genericAdvice")}`, ok: true } : section;
}

interface Work {
  /** The intents of a group go out side by side, the groups one after the other. */
  groups: Intent[][];
  runGroup: (group: Intent[]) => Step<Section[]>;
  mayGoOn: (group: Intent[], sections: Section[]) => boolean;
}

/** Written first, moved on before each group of steps, closed at the end. */
export function* todoAround(stage: Stage, { groups, runGroup, mayGoOn }: Work): Step<Section[]> {
  const { say } = stage;
  const all = groups.flat();
  const [ofList, ofRead, ofOther] = listOf(say, "followUps");
  const followUp = { list: ofList!, read: ofRead! }[all[0]!.kind as "list" | "read"] ?? ofOther!;
  const steps = all.map((intent) => describe(say, intent));
  const contents = [...steps, ...(all.length === 1 ? [followUp] : []), describe(say, { kind: "report" })];
  const done: Section[] = [];
  const todosAt = (statusOf: (i: number) => Status): Todo[] =>
    contents.map((content, i) => ({ content, status: statusOf(i) }));
  const now = (): Todo[] => {
    const active = done.length;
    return todosAt((i) => (i === active ? "in_progress" : done[i]?.ok ? "completed" : "pending"));
  };
  let written = yield* call(stage, "todo_write", { todos: now() });
  for (const [i, group] of groups.entries()) {
    if (i === 0) done.push(...(yield* runGroup(group)));
    else {
      const update = call(stage, "todo_write", { todos: now() });
      const [result, sections] = yield* together<Result | Section[]>([update, runGroup(group)]);
      written = result as Result;
      done.push(...(sections as Section[]));
    }
    if (!mayGoOn(group, done.slice(-group.length))) break;
  }
  const fine = done.length === all.length && done.every((section) => section.ok);
  const closed = (i: number) => (i < all.length ? done[i]?.ok === true : fine || i === contents.length - 1);
  const last = todosAt((i) => (closed(i) ? "completed" : "pending"));
  const closing = yield* call(stage, "todo_write", { todos: last });
  return [listed(stage, last, [written, closing]), ...done];
}

const BOX: Record<Status, string> = { completed: "[x]", in_progress: "[~]", pending: "[ ]" };

function listed({ say }: Stage, todos: Todo[], written: Result[]): Section {
  const failed = written.find((result) => result.isError);
  if (failed) return { text: say("todoFailed", { why: firstLine(failed.text) }), ok: false };
  const done = todos.filter((todo) => todo.status === "completed").length;
  const lines = todos.map((todo) => `- ${BOX[todo.status]} ${todo.content}`);
  return { text: [say("todoList", { done: String(done), all: String(todos.length) }), ...lines].join("\n"), ok: true };
}
