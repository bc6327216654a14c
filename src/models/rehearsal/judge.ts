// The rehearsal model as an evaluator of goals: a few kinds of conditions, judged by the calls that were made and what came of them.
import type { Item } from "../model.ts";
import type { Intent } from "./request.ts";
import { happenedIn, type MadeCall } from "./transcript.ts";

const CONDITION = /<condition>\n([\s\S]*)\n<\/condition>/;

/** The condition that a question of the runtime is about; undefined: the last that was said is no such question. */
export function conditionAsked(items: readonly Item[]): string | undefined {
  const last = items.at(-1);
  if (last?.kind !== "user" || !last.note) return undefined;
  const [heard] = happenedIn([last]);
  const question =
    heard?.kind === "heard" && heard.notes.find(({ from, kind }) => from === "goal" && kind === "question");
  return question ? CONDITION.exec(question.text)?.[1]?.trim() : undefined;
}

const CANNOT = "impossible, because the rehearsal model cannot judge this";

/** Contract: pure; in the form that the question asks for. */
export function verdictOn(condition: string, items: readonly Item[]): string {
  const made = happenedIn(items).flatMap((one) => (one.kind === "made" ? one.made : []));
  const known = kindOf(condition);
  return known ? known.judge(known.name, made) : CANNOT;
}

/** What shows whether a goal is met, where that was all that was said; undefined: nothing that is known here. */
export function lookAt(condition: string): Intent | undefined {
  const { judge, name } = kindOf(condition) ?? {};
  if (name === undefined) return undefined;
  if (judge === fileExists) return { kind: "read", path: name };
  return judge === commandPasses ? { kind: "run", command: name, background: false } : undefined;
}

function kindOf(condition: string): { judge: Judge; name: string } | undefined {
  const plain = condition.replace(/[.。！!]+$/, "").trim();
  for (const { pattern, judge } of KINDS) {
    const name = pattern.exec(plain)?.[1]?.trim();
    if (name !== undefined) return { judge, name };
  }
  return undefined;
}

type Judge = (name: string, made: readonly MadeCall[]) => string;

const not = (why: string): string => `not yet, because ${why}`;
const met = (why: string): string => `met, because ${why}`;

const FILE = "[`\"'「]?([\\p{L}\\p{N}_./-]+\\.[\\p{L}\\p{N}]+)[`\"'」]?";

/** English and Japanese, by what they name. */
const KINDS: { pattern: RegExp; judge: Judge }[] = [
  { pattern: /^(all (?:the )?(?:todos|todo items)) are (?:done|complete|completed|finished)$/i, judge: todosDone },
  {
    pattern: /^((?:すべて|全て|全部)の ?(?:todo|タスク))が(?:完了|終わ)(?:している|する|った|っている)?$/i,
    judge: todosDone,
  },
  { pattern: new RegExp(`^(?:the )?(?:file )?${FILE} exists$`, "iu"), judge: fileExists },
  { pattern: new RegExp(`^(?:ファイル ?)?${FILE} ?が(?:存在する|ある)$`, "iu"), judge: fileExists },
  { pattern: /^[`"']?([^`"'\n]+?)[`"']? (?:passes|succeeds)$/i, judge: commandPasses },
  { pattern: /^[`"'「]?([^`"'「」\n]+?)[`"'」]? ?が(?:成功する|通る|パスする)$/, judge: commandPasses },
];

function todosDone(_: string, made: readonly MadeCall[]): string {
  const { todos }: { todos?: unknown } = inputOf(
    made.findLast(({ name, result }) => name === "todo_write" && !result.isError),
  );
  if (!Array.isArray(todos) || todos.length === 0) return not("no todo list was written");
  const open = todos.filter((todo) => todo?.status !== "completed").length;
  return open === 0
    ? met("every item of the todo list is completed")
    : not(`${open} of ${todos.length} todos are open`);
}

function commandPasses(command: string, made: readonly MadeCall[]): string {
  const last = made.findLast(({ name, input }) => name === "bash" && fieldOf(input, "command") === command);
  if (!last) return not(`${command} was not run`);
  const { exitCode, isError } = last.result;
  if (exitCode === 0 && !isError) return met(`${command} ended with exit code 0`);
  return not(exitCode === undefined ? `${command} has not ended well` : `${command} ended with exit code ${exitCode}`);
}

/** What says that a file is there: whoever read, wrote, changed or listed it last. A command that names it may have done anything. */
function fileExists(file: string, made: readonly MadeCall[]): string {
  const path = bare(file);
  let found: "there" | "gone" | "unknown" = "unknown";
  for (const { name, input, result } of made) {
    if (name === "bash" && fieldOf(input, "command").includes(path)) found = "unknown";
    else if (name === "glob" && result.text.split("\n").some((line) => bare(line.trim()) === path)) found = "there";
    else if (/^(?:read_file|write_file|edit_file|multi_edit)$/.test(name) && bare(fieldOf(input, "path")) === path)
      found = result.isError ? "gone" : "there";
  }
  if (found === "there") return met(`${file} is there`);
  return not(found === "gone" ? `${file} could not be opened` : `nobody has looked whether ${file} is there`);
}

const bare = (path: string): string => path.replace(/^\.\//, "");

const inputOf = (call: MadeCall | undefined): object =>
  typeof call?.input === "object" && call.input !== null ? call.input : {};

const fieldOf = (input: unknown, key: "command" | "path"): string => {
  const { [key]: value }: Partial<Record<typeof key, unknown>> = input ?? {};
  return typeof value === "string" ? value : "";
};
