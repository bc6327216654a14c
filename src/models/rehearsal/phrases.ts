// Phrases of the rehearsal model: templates in two languages, filled in with values.
import { ENGLISH } from "./phrases-english.ts";
import { JAPANESE } from "./phrases-japanese.ts";
import type { Intent, Lang } from "./request.ts";

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
  return (key, ...[values = {}]) => fill(phrases[key], values);
};

const fill = (template: string, values: Partial<Record<string, Value>>): string =>
  template.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name: string, one?: string, other = "") => {
    const value = values[name] ?? "";
    if (one === undefined) return String(value);
    const first = typeof value === "number" ? value === 1 : value !== "" && value !== false;
    return (first ? one : other).replace("@", () => String(value));
  });

/** A phrase of several lines, each for a case. */
export const linesIn = (say: Say, key: "abilities" | "inspection" | "followUps" | "topics" | "statuses"): string[] =>
  say(key).split("\n");

/** What an intent is about in one line, as in a todo list. */
export function describePhrase(say: Say, intent: Intent): string {
  const { files, names, mates, plans, ...plain } = { files: {}, names: [], mates: [], plans: undefined, ...intent };
  const listed = { names: names.join(", "), mates: mates.map((mate: { name: string }) => mate.name).join(", ") };
  const values = { ...plain, ...files, ...listed, plans: plans !== undefined };
  return (say as (key: string, values: object) => string)(`do_${intent.kind}`, values);
}
