// Phrases of the rehearsal model: templates in two languages, filled in with values.
import { ENGLISH } from "./phrases-english.ts";
import { JAPANESE } from "./phrases-japanese.ts";
import type { Intent, Lang, Team } from "./request.ts";

/** `{n|line|lines}`: the first for 1, true or a text that is not empty, else the second; `@` in it is the value. */
type Slots<Template> = Template extends `${string}{${infer Slot}}${infer Rest}`
  ? (Slot extends `${infer Name}|${string}` ? Name : Slot) | Slots<Rest>
  : never;
type Key = keyof typeof ENGLISH;
type Value = string | number | boolean | undefined;
type Values<K extends Key> = [Slots<(typeof ENGLISH)[K]>] extends [never]
  ? []
  : [{ [Name in Slots<(typeof ENGLISH)[K]>]: Value }];

/** Contract: pure; a value is put in as it is, whatever it looks like. */
export type Say = <K extends Key>(key: K, ...values: Values<K>) => string;

export const phrasesIn = (lang: Lang | undefined): Say => {
  const phrases: Record<Key, string> = lang === "ja" ? JAPANESE : ENGLISH;
  return (key, ...[values = {}]) =>
    phrases[key].replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name: string, one?: string, other?: string) => {
      const value = (values as Record<string, Value>)[name] ?? "";
      if (one === undefined) return String(value);
      const first = typeof value === "number" ? value === 1 : value !== "" && value !== false;
      return (first ? one : other!).replace("@", () => String(value));
    });
};

export const listOf = (say: Say, key: "abilities" | "inspection" | "followUps" | "topics"): string[] =>
  say(key).split("\n");

/** One line, as in a todo list. */
export function describe(say: Say, intent: Intent): string {
  switch (intent.kind) {
    case "list":
      return say("doList", { path: "", ...intent.files });
    case "read":
    case "write":
    case "edit":
      return say(({ read: "doRead", write: "doWrite", edit: "doEdit" } as const)[intent.kind], intent);
    case "run":
      return say("doRun", intent);
    case "search":
      return say("doSearch", { path: "", ...intent });
    case "subtask":
      return say("doSubtask", intent);
    case "remind":
      return say("doRemind", intent);
    case "team":
      return say("doTeam", teamValues(intent));
    case "review":
      return say("doReview", { names: whoOf(say, intent.names), approve: intent.approve });
    case "shutdown":
      return say("doShutdown", { names: intent.names.join(", ") || say("everyone") });
    case "message":
      return say("doMessage", { name: whoOf(say, [intent.to]) });
    case "todo":
      return say("doTodo");
    case "framework":
      return say("doFramework");
    case "report":
      return say("doReport");
  }
}

const whoOf = (say: Say, names: string[]): string => names.join(", ").replace("*", say("everyone"));

const teamValues = ({ tasks, worktrees, mates, plans }: Team) => ({
  tasks: tasks === 0 ? "" : String(tasks),
  worktrees,
  mates: mates.map((mate) => mate.name).join(", "),
  plans: plans !== undefined,
});
