// The project's tasks in columns by status; each opens to what it waits for and what was noted on it.
import { useMemo } from "preact/hooks";
import type { BoardTask } from "../../api.ts";
import { Ago } from "../components/figures.tsx";
import { lookOf, Status } from "../components/status.tsx";
import { addressOf } from "../router.ts";
import { shownStatus } from "./graph.ts";

const COLUMNS = ["in_progress", "pending", "blocked", "completed", "cancelled"];
/** Of one column; the rest is counted. */
const MOST_CARDS = 100;

export function TaskColumns({ project, board }: { project: string; board: readonly BoardTask[] }) {
  const columns = useMemo(() => columnsOf(board), [board]);
  return (
    <div class="board">
      {columns.map(({ status, tasks }) => (
        <section key={status} class="board-column" aria-label={lookOf(status).says}>
          <h3>
            <Status status={status} /> <span class="count">{tasks.length.toLocaleString("en-US")}</span>
          </h3>
          <ul>
            {tasks.slice(0, MOST_CARDS).map((task) => (
              <TaskCard key={task.id} project={project} task={task} />
            ))}
          </ul>
          {tasks.length > MOST_CARDS && (
            <p class="quiet-ink">
              and {(tasks.length - MOST_CARDS).toLocaleString("en-US")} more: <code>holdfast tasks</code>
            </p>
          )}
        </section>
      ))}
    </div>
  );
}

/** Contract: a status that this page does not know has a column too. */
function columnsOf(board: readonly BoardTask[]): { status: string; tasks: BoardTask[] }[] {
  const all = new Map(board.map((task) => [task.id, task]));
  const found = new Map<string, BoardTask[]>();
  for (const task of board) {
    const status = shownStatus(task, all);
    found.set(status, [...(found.get(status) ?? []), task]);
  }
  const others = [...found.keys()].filter((status) => !COLUMNS.includes(status));
  return [...COLUMNS, ...others].flatMap((status) => {
    const tasks = found.get(status);
    return tasks ? [{ status, tasks }] : [];
  });
}

export const cardId = (task: string): string => `task-${task}`;

function TaskCard({ project, task }: { project: string; task: BoardTask }) {
  const { id, subject, owner, blockedBy, priority, updatedAt, notes } = task;
  return (
    <li>
      <details class="task" id={cardId(id)}>
        <summary>
          <span class="others">{subject}</span>
          <span class="task-facts quiet-ink">
            {id}
            {priority !== "normal" && <b>{priority}</b>}
            {owner && <span class="others">{owner.split("/").at(-1)}</span>}
            <Ago at={updatedAt} />
          </span>
        </summary>
        {blockedBy.length > 0 && <p>waits for {blockedBy.join(", ")}</p>}
        {owner && <Owner project={project} owner={owner} />}
        {notes.length > 0 && (
          <ul class="notes">
            {notes.map((note, i) => (
              <li key={i} class="others">
                {note}
              </li>
            ))}
          </ul>
        )}
      </details>
    </li>
  );
}

/** `CONTEXT/AGENT`, or a person. */
function Owner({ project, owner }: { project: string; owner: string }) {
  const [context, agent] = owner.split("/", 2);
  if (!context || agent === undefined) return <p class="others">{owner}</p>;
  return (
    <p class="others">
      {agent} in <a href={addressOf({ kind: "context", project, context, view: "transcript" })}>{context}</a>
    </p>
  );
}
