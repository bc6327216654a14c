// The todo list: written alone, or kept up to date around the steps that follow it.
import { describePhrase, linesIn } from "../phrases.ts";
import { attempt, type Section, type Stage, type Step } from "../plan.ts";
import type { IntentOf, RequestedWork } from "../request.ts";

type Status = "pending" | "in_progress" | "completed";

const BOX: Record<Status, string> = { completed: "[x]", in_progress: "[~]", pending: "[ ]" };

function writeTodos(stage: Stage, contents: string[], statusOf: (i: number) => Status): Step {
  const todos = contents.map((content, i) => ({ content, status: statusOf(i) }));
  const done = todos.filter(({ status }) => status === "completed").length;
  const lines = todos.map(({ content, status }) => `- ${BOX[status]} ${content}`);
  const heading = stage.say("todoList", { done, all: todos.length });
  return attempt(stage, "todo_write", { todos }, () => [heading, ...lines].join("\n"));
}

const INSPECTS = /inspect|explor|look|review|understand|analy|survey|調べ|調査|確認|把握|点検|解析|見る/i;

/** A list that nothing in the request works off: every item is still to do. */
export function* todoAlone(stage: Stage, { subject, items }: IntentOf<"todo">): Step {
  const { say } = stage;
  const known = items ?? (INSPECTS.test(subject) ? linesIn(say, "inspection") : undefined);
  const { text, ok } = yield* writeTodos(stage, known ?? say("generic", { subject }).split("\n"), () => "pending");
  return { text: ok && !known ? `${text}\n${say("genericAdvice")}` : text, ok };
}

/** In the order of the phrases for what follows; the last is for all others. */
const FOLLOWED: RequestedWork["kind"][] = ["list", "read"];

/** The list of that work; `done` is what has come of it so far. */
export function todoList(stage: Stage, work: RequestedWork[]) {
  const { say } = stage;
  const followUps = linesIn(say, "followUps");
  const contents = [
    ...work.map((intent) => describePhrase(say, intent)),
    ...(work.length > 1 ? [] : work.flatMap(({ kind }) => followUps.slice(FOLLOWED.indexOf(kind)).slice(0, 1))),
    describePhrase(say, { kind: "report" }),
  ];
  let written: number | undefined;
  return {
    /** Contract: writes nothing when nothing has come since. */
    *moveOn(done: Section[]): Step<void> {
      if (done.length === written) return;
      written = done.length;
      yield* writeTodos(stage, contents, (i) =>
        i === done.length ? "in_progress" : done[i]?.ok ? "completed" : "pending",
      );
    },
    close(done: Section[]): Step {
      const fine = done.length === work.length && done.every((section) => section.ok);
      const closed = (i: number) => (i < work.length ? done[i]?.ok === true : fine || i === contents.length - 1);
      return writeTodos(stage, contents, (i) => (closed(i) ? "completed" : "pending"));
    },
  };
}
