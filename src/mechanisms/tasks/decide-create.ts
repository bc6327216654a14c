// The decision to create tasks: a batch with its dependencies, wired by id or alias, or none of it.
import { HoldfastError } from "../../ledger/error.ts";
import {
  type BoardDecision,
  checkCycle,
  checkFields,
  EDGES,
  fact,
  IDS,
  invalid,
  refuseDecision,
  taskEntity,
} from "./decision.ts";
import type { BoardState } from "./fold.ts";
import { type By, type NewTask, taskId } from "./port.ts";
import { short } from "./task-text.ts";

const BATCH = 500;
const BLOCKERS = 100;
const ALIAS = 60;

export function decideCreate(state: BoardState, given: NewTask[], by: By): BoardDecision {
  if (given.length === 0) throw invalid("there is no task in the list");
  if (given.length > BATCH) throw invalid(`${given.length} tasks at once, at most ${BATCH}: create them in parts`);
  const fresh = given.map((task, i) => ({ task, id: `task_${state.lastId + 1 + i}`, name: nameOf(task, i, given) }));
  const aliases = aliasesOf(fresh);
  const wired = fresh.map((one) => ({ ...one, blockedBy: resolve(state, one, aliases) }));
  const blockersOf = new Map(wired.map(({ id, blockedBy }) => [id, blockedBy]));
  const nameById = new Map(wired.map(({ id, name }) => [id, name]));
  checkCycle(
    blockersOf.keys(),
    (id) => blockersOf.get(id) ?? [],
    (id) => nameById.get(id) ?? id,
  );
  const outside = wired.flatMap(({ blockedBy }) => blockedBy.filter((id) => state.tasks.has(id)));
  const hasEdges = wired.some(({ blockedBy }) => blockedBy.length > 0);
  return {
    events: wired.map(({ id, task, blockedBy }) =>
      fact("task.created", by, [taskEntity(id), IDS, ...(blockedBy.length > 0 ? [EDGES] : [])], {
        id,
        subject: task.subject.trim(),
        description: task.description ?? "",
        blockedBy,
        priority: task.priority ?? "normal",
        labels: [...new Set(task.labels ?? [])],
      }),
    ),
    reads: [IDS, ...(hasEdges ? [EDGES] : []), ...outside.map(taskEntity)],
    claimable: wired
      .filter(({ blockedBy }) => blockedBy.every((id) => state.tasks.get(id)?.status === "completed"))
      .map(({ id }) => id),
  };
}

/** As the caller knows it. */
function nameOf(task: NewTask, at: number, all: NewTask[]): string {
  if (task.alias) return short(task.alias, ALIAS);
  return all.length === 1 ? "the new task" : `tasks.${at}`;
}

type Fresh = { task: NewTask; id: string; name: string };

function aliasesOf(fresh: Fresh[]): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const [i, { task, id }] of fresh.entries()) {
    const { alias } = task;
    checkFields(task, fresh.length === 1 ? "" : `tasks.${i}.`);
    if (alias === undefined) continue;
    const bad = alias.trim() === "" || alias.length > ALIAS || /^task_\d+$/.test(alias);
    if (bad) throw invalid(`tasks.${i}.alias: take a short word that is no task's id, not ${short(alias, 40)}`);
    if (aliases.has(alias)) throw invalid(`tasks.${i}.alias: ${short(alias, ALIAS)} stands twice in this call`);
    aliases.set(alias, id);
  }
  return aliases;
}

function resolve(state: BoardState, { task, id, name }: Fresh, aliases: Map<string, string>): string[] {
  const given = [...new Set(task.blockedBy ?? [])];
  if (given.length > BLOCKERS) throw invalid(`${name} waits for ${given.length} tasks, at most ${BLOCKERS}`);
  const found = given.map((one) => aliases.get(one) ?? (state.tasks.has(taskId(one)) ? taskId(one) : undefined));
  const unknown = given.filter((_, i) => found[i] === undefined);
  if (unknown.length > 0)
    throw new HoldfastError(
      "not_found",
      `${name} is blocked by ${unknown.map((one) => short(one, 40)).join(", ")}, which is no task${
        aliases.size > 0
          ? ` and no alias of this call (${[...aliases.keys()]
              .slice(0, 20)
              .map((a) => short(a, 40))
              .join(", ")})`
          : ""
      }; nothing was created`,
    );
  if (found.includes(id)) throw refuseDecision(`${name} cannot wait for itself; nothing was created`);
  return [...new Set(found.filter((one) => one !== undefined))];
}
