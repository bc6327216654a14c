// Which rules a person may keep instead of answering the same question again: the command as it is, the command by its beginning, all edits of the project.

import { toClaude } from "../claude-code/tool-names.ts";
import { isReader, isWriter } from "../file-access/file-tools.ts";
import { isRecord } from "../ledger/guards.ts";
import type { ToolCall } from "./types.ts";

/** All edits inside the tree that the agent works in. */
const PROJECT_EDITS = "Edit(/**)";

const MOST_CHARS = 200;

const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/));
/** What they do is their second word. */
const WITH_VERBS =
  words(`npm pnpm yarn bun npx git gh cargo go deno docker podman kubectl terraform gradle ./gradlew mvn ./mvnw
  poetry uv pip pip3 bundle rake mix dotnet composer rustup`);
/** Their second word only says that the third is what counts. */
const RUNNERS = words("run run-script exec x dlx compose tool");
/** They run the script that their second word names. */
const INTERPRETERS = words("python python3 node ruby perl php tsx ts-node");
/** They do one thing, whatever their arguments are. */
const SINGLE = words(
  "make just pytest tox ruff mypy black eslint prettier biome tsc vitest jest mocha ctest cmake ninja phpunit rspec",
);
const PLAIN = /^[A-Za-z0-9@_.][\w@:.+/-]*$/;

/** The narrowest first. Contract: proposals; whether one of them would allow the call is for the engine to say. */
export function rulesFor({ tool, input }: Pick<ToolCall, "tool" | "input">): string[] {
  if (isWriter(tool)) return [PROJECT_EDITS];
  if (isReader(tool)) return [];
  if (tool !== "bash") return [toClaude(tool, {}).name];
  const command = isRecord(input) ? input.command : undefined;
  if (typeof command !== "string" || !isWritable(command)) return [];
  const start = beginningOf(command);
  return [`Bash(${command.trim()})`, ...(start === undefined ? [] : [`Bash(${start} *)`])];
}

/** As a rule it reads the same: a rule is one line, and its stars match anything. */
const isWritable = (command: string): boolean =>
  command.length <= MOST_CHARS && !/[*\0-\x1f\x7f]|:$/.test(command.trim());

/** `npm test`, `npm run build`, `python3 tools/check.py`, `pytest`, `./work.sh`; undefined where it is not plain to see what is repeated. */
function beginningOf(command: string): string | undefined {
  const [program = "", second = "", third = ""] = command.trim().split(/[ \t]+/);
  if (SINGLE.has(program)) return program;
  if (WITH_VERBS.has(program)) {
    if (!PLAIN.test(second)) return undefined;
    if (!RUNNERS.has(second)) return `${program} ${second}`;
    return PLAIN.test(third) ? `${program} ${second} ${third}` : undefined;
  }
  if (INTERPRETERS.has(program)) return PLAIN.test(second) ? `${program} ${second}` : undefined;
  return program.startsWith("./") && PLAIN.test(program) ? program : undefined;
}
