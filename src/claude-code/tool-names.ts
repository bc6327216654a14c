// The one table between our tool names and those that existing scripts know (stream-json, hooks, rules).
import { isRecord } from "../ledger/guards.ts";
import { own } from "../ledger/own.ts";

interface Names {
  name: string;
  /** Our argument → theirs. */
  keys?: Record<string, string>;
  /** The same inside the elements of a list. */
  each?: Record<string, Record<string, string>>;
  /** Our value → theirs, by our argument. */
  values?: Record<string, Record<string, string>>;
  /** Other names by which scripts mean this tool too. */
  also?: string[];
}

const EDIT = { old_text: "old_string", new_text: "new_string" };

const TABLE: Record<string, Names> = {
  bash: { name: "Bash", keys: { timeout_ms: "timeout" } },
  read_file: { name: "Read", keys: { path: "file_path" } },
  write_file: { name: "Write", keys: { path: "file_path" } },
  edit_file: { name: "Edit", keys: { path: "file_path", ...EDIT } },
  multi_edit: { name: "MultiEdit", keys: { path: "file_path" }, each: { edits: EDIT }, also: ["Edit"] },
  glob: { name: "Glob" },
  grep: {
    name: "Grep",
    keys: { ignore_case: "-i", context: "-C", mode: "output_mode" },
    values: { mode: { files: "files_with_matches" } },
  },
  todo_write: { name: "TodoWrite" },
  task: { name: "Task", keys: { agent: "subagent_type", background: "run_in_background" }, also: ["Agent"] },
  web_fetch: { name: "WebFetch" },
  ask_user: { name: "AskUserQuestion" },
  load_skill: { name: "Skill", keys: { name: "skill", arguments: "args" } },
  job_output: { name: "BashOutput", keys: { id: "bash_id" }, also: ["TaskOutput"] },
  job_kill: { name: "KillShell", keys: { id: "shell_id" }, also: ["KillBash", "TaskStop"] },
  // These do what Claude's do, with other arguments: they keep their names, and are meant by Claude's too.
  ...meantBy({
    create_task: ["TaskCreate"],
    get_task: ["TaskGet"],
    list_tasks: ["TaskList"],
    update_task: ["TaskUpdate"],
    claim_task: ["TaskUpdate"],
    complete_task: ["TaskUpdate"],
    send_message: ["SendMessage"],
    spawn_teammate: ["TeamCreate"],
    request_shutdown: ["TeamDelete"],
    submit_plan: ["ExitPlanMode"],
    schedule_cron: ["CronCreate"],
    list_crons: ["CronList"],
    cancel_cron: ["CronDelete"],
    create_worktree: ["EnterWorktree"],
    remove_worktree: ["ExitWorktree"],
  }),
};

function meantBy(names: Record<string, string[]>): Record<string, Names> {
  return Object.fromEntries(Object.entries(names).map(([name, also]) => [name, { name, also }]));
}

/** Whether the house has a tool of that name. Contract: those that have no other name are not among them. */
export const isOurTool = (name: string): boolean => own(TABLE, name) !== undefined;

/** Whether one of our tools goes by that name of Claude's. */
export const isClaudeName = (name: string): boolean =>
  Object.values(TABLE).some((known) => known.name === name || known.also?.includes(name));

export function toClaude(name: string, input: unknown): { name: string; input: unknown } {
  const known = own(TABLE, name);
  return known ? { name: known.name, input: rename(input, known) } : { name, input };
}

/** The way back. Contract: what the table does not know stays as it is; an argument in our own name is understood too. */
export function fromClaude(name: string, input: unknown): { name: string; input: unknown } {
  const found = Object.entries(TABLE).find(([, known]) => known.name === name);
  return found ? { name: found[0], input: rename(input, reverse(found[1])) } : { name, input };
}

/** Every name by which a script may mean this tool: who guards `Edit` guards several edits of one file too. */
export function claudeNames(name: string): string[] {
  const { name: theirs = name, also = [] } = own(TABLE, name) ?? {};
  return [theirs, ...also];
}

type Renaming = Pick<Names, "keys" | "each" | "values">;

function rename(input: unknown, { keys = {}, each = {}, values = {} }: Renaming): unknown {
  if (!isRecord(input)) return input;
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => {
      const inside = own(each, key);
      if (inside && Array.isArray(value)) value = value.map((v) => rename(v, { keys: inside }));
      if (typeof value === "string") value = own(own(values, key) ?? {}, value) ?? value;
      return [own(keys, key) ?? key, value];
    }),
  );
}

function reverse({ keys = {}, each = {}, values = {} }: Renaming): Renaming {
  const theirs = (key: string) => keys[key] ?? key;
  const all = <T>(of: Record<string, Record<string, string>>) =>
    Object.fromEntries(Object.entries(of).map(([key, table]) => [theirs(key), invert(table)])) as T;
  return { keys: invert(keys), each: all(each), values: all(values) };
}

const invert = (table: Record<string, string>) => Object.fromEntries(Object.entries(table).map(([a, b]) => [b, a]));

/** Of Claude Code, for which there is no tool here: rules name them all the same. */
const NO_TOOL_HERE = "LS NotebookEdit NotebookRead SlashCommand WebSearch".split(" ");

/** Whether rules and scripts mean a tool by that word: by our name, or by one that they know. */
export const isToolName = (word: string): boolean =>
  own(TABLE, word) !== undefined ||
  NO_TOOL_HERE.includes(word) ||
  Object.values(TABLE).some(({ name, also }) => name === word || also?.includes(word));
