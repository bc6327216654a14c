// What a call is about, in one line: the command, the path, the pattern; of other tools the arguments by name.

import { isRecord } from "../../ledger/guards.ts";
import { own } from "../../ledger/own.ts";
import { counted } from "../../text/counted.ts";
import { oneLine, printable } from "./printable.ts";

type Input = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const inside = (path: unknown): string => (text(path) === "" ? "" : ` in ${text(path)}`);

const TITLES: Record<string, (input: Input) => string> = {
  bash: ({ command, run_in_background }) =>
    `${firstLine(text(command))}${run_in_background === true ? " (in the background)" : ""}`,
  read_file: ({ path, offset, limit }) =>
    `${text(path)}${typeof offset === "number" ? `:${offset}${typeof limit === "number" ? `-${offset + limit - 1}` : ""}` : ""}`,
  write_file: ({ path }) => text(path),
  edit_file: ({ path }) => text(path),
  multi_edit: ({ path, edits }) => `${text(path)}${Array.isArray(edits) ? ` (${edits.length} edits)` : ""}`,
  glob: ({ pattern, path }) => `${text(pattern)}${inside(path)}`,
  grep: ({ pattern, path, glob }) => `${text(pattern)}${inside(glob ?? path)}`,
  todo_write: () => "",
  task: ({ description, agent }) => `${text(description)}${text(agent) === "" ? "" : ` (${text(agent)})`}`,
  spawn_teammate: ({ name, role }) => `${text(name)} (${text(role)})`,
  submit_plan: () => "",
  send_message: ({ to, content }) => `to ${text(to)}: ${text(content)}`,
};

export const callTitle = (tool: string, input: unknown): string =>
  oneLine((own(TITLES, tool) ?? named)(isRecord(input) ? input : {}), 200);

/** A command of several lines by its first, and how many follow. */
function firstLine(command: string): string {
  const [first = "", ...more] = printable(command).trim().split("\n");
  return more.length === 0 ? first : `${first} … (${counted(more.length, "more line")})`;
}

/** The first text bare, everything else by its name. */
function named(input: Input): string {
  let isFirst = true;
  const parts = Object.entries(input).map(([key, value]) => {
    if (Array.isArray(value)) return `${value.length} ${key}`;
    const shown = typeof value === "string" ? value : JSON.stringify(value);
    if (typeof value !== "string" || !isFirst) return `${key}=${shown}`;
    isFirst = false;
    return shown;
  });
  return parts.join(" ");
}
