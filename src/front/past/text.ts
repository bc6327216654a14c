// A context as of an event, as lines for people.
import { counted } from "../../text/counted.ts";
import type { ContextAt } from "../monitor/context-api.ts";
import { tokens } from "../presentation/format.ts";

const time = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ");

const MARKS = { pending: " ", in_progress: ">", completed: "x" } as const;

/** `fork`: the command that forks from here. Contract: every text in it is safe to print. */
export function atLines(then: ContextAt, { fork }: { fork: string }): string[] {
  return [
    time(then.at),
    ...part("agents", then.agents.flatMap(agentLines)),
    ...part(
      "todos",
      then.todos.map(({ agent, text, status }) => `[${MARKS[status]}] ${text} (${agent})`),
    ),
    ...part("waiting for a person", then.waiting),
    ...part(
      "shared data",
      then.data.map(
        ({ key, version, by, bytes, preview }) => `${key} = ${preview} (${bytes} bytes, ${by}, ${version})`,
      ),
    ),
    ...part("board", then.board.map(taskLine)),
    ...part("files", fileLines(then.files)),
    ...part("from here", [...restoreLines(then), forkLine(then, fork)]),
  ];
}

const part = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `  ${line}`)];

function agentLines({ name, role, doing, rounds, tokens: used, openCalls }: ContextAt["agents"][number]): string[] {
  const all = used.input + used.cacheRead + used.cacheWrite + used.output;
  const is = role === name ? name : `${name} (${role})`;
  return [
    `${is}: ${doing}; ${counted(rounds, "round")}, ${tokens(all)} tokens`,
    ...openCalls.map((call) => `  … ${call}`),
  ];
}

function taskLine({ id, subject, status, owner, blockedBy }: ContextAt["board"][number]): string {
  const waits = blockedBy.length > 0 ? `, waits for ${blockedBy.join(", ")}` : "";
  return `${id} ${status}${owner === undefined ? "" : ` by ${owner}`}${waits}: ${subject}`;
}

function fileLines({ checkpoint, edits }: ContextAt["files"]): string[] {
  const known = checkpoint
    ? [`as of checkpoint ${checkpoint.name} (event ${checkpoint.seq}, ${time(checkpoint.at)})`]
    : ["no checkpoint up to then holds files"];
  const since = edits.map(({ seq, path, agent, tool }) => `edited since: ${path} (${agent}, ${tool}, event ${seq})`);
  return checkpoint || edits.length > 0 ? [...known, ...since] : [];
}

function restoreLines({ restore }: ContextAt): string[] {
  if (!restore) return [];
  return [`restore goes back to ${restore.name} (event ${restore.seq}${restore.files ? ", with files" : ""})`];
}

function forkLine({ fork: { seq, request } }: ContextAt, command: string): string {
  const how = request ? `and sends the request of round ${request.n} first` : "and waits for a prompt";
  return `a fork begins at event ${seq} ${how}: ${command}`;
}
