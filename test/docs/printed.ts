// Finding the commands that are printed for people: in code blocks of README, docs and the rooms of src/, in help texts.
import fs from "node:fs";
import path from "node:path";
import { help } from "../../src/cli/help.ts";
import { COMMANDS } from "../../src/cli/table.ts";

export interface Printed {
  /** `README.md:41`, `help contexts`. */
  where: string;
  /** As it is printed, without the comment behind it. */
  text: string;
}

const ROOT = path.join(import.meta.dirname, "../..");
const PAGES = ["README.md", "CONTRIBUTING.md", "examples/three-phase/README.md"];

const pages = (): string[] => [
  ...PAGES,
  ...fs
    .readdirSync(path.join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
  ...fs.globSync("src/**/README.md", { cwd: ROOT }).sort(),
];

/** A line that somebody could type: not what a command prints, nor a drawing. */
const TYPED = /^(?:\$ )?((?:(?:cd|git|mv|npm|npx|source|export)\b|[A-Z_]+=|holdfast (?=[-a-z])).*)$/;

export function printedInPages(): Printed[] {
  return pages().flatMap((page) => {
    const lines = fs.readFileSync(path.join(ROOT, page), "utf8").split("\n");
    let language: string | undefined;
    return lines.flatMap((line, i): Printed[] => {
      const fence = /^\s*```(\w*)/.exec(line);
      if (fence) {
        language = language === undefined ? fence[1]! : undefined;
        return [];
      }
      if (language !== "sh" && language !== "") return [];
      const typed = TYPED.exec(line)?.[1]
        ?.replace(/\s+#\s.*$/, "")
        .trim();
      return typed && /(?:^|[\s(])holdfast [-a-z]|^np[mx] /.test(typed)
        ? [{ where: `${page}:${i + 1}`, text: typed }]
        : [];
    });
  });
}

/** Every page of help, and what it shows to be typed. */
export function printedInHelp(): Printed[] {
  const asked = Object.entries(COMMANDS).flatMap(([name, { verbs }]) => [
    [name],
    ...Object.keys(verbs)
      .filter(Boolean)
      .map((verb) => [name, verb]),
  ]);
  return [[], ...asked].flatMap((words) => {
    const where = ["help", ...words].join(" ");
    return help(words)
      .split("\n")
      .flatMap((line) => [
        ...[...line.matchAll(/holdfast (?:[a-z]+ )*--help/g)].map(([text]) => text),
        ...(/^(?: {2,})?(holdfast (?=[-a-z]+(?: |$))(?:(?! {2,}).)*)(?: {2,}|$)/.exec(line)?.slice(1, 2) ?? []),
      ])
      .filter((text) => !/^holdfast [a-z]+:/.test(text))
      .map((text) => ({ where, text: text.trim() }));
  });
}
