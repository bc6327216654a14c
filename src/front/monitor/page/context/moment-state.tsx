// The state of a context at the moment that is looked at: todos, what waited, data, the project's board, files. A line of counts, each opened to its list.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ContextKey } from "../../api.ts";
import type { ContextAt } from "../../context-api.ts";
import { Status } from "../components/status.tsx";
import { byteCount, counted, moment } from "../format.ts";
import { useNow } from "../parts.tsx";
import { addressOf } from "../router.ts";

interface Group {
  name: string;
  /** What stands on its button. */
  says: string;
  isEmpty: boolean;
  list(): ComponentChildren;
}

/** Of each list: what is longer is read in its tab. */
const MOST = 200;

export function MomentState({ at, project, context }: { at: ContextAt } & ContextKey) {
  const [open, setOpen] = useState<string | undefined>(undefined);
  const now = useNow();
  const groups = groupsOf(at, { project, context }, now);
  const shown = groups.find(({ name, isEmpty }) => name === open && !isEmpty);
  return (
    <section class="moment-state" aria-label="The state of then">
      <div class="groups">
        {groups.map(({ name, says, isEmpty }) =>
          isEmpty ? (
            <span key={name} class="quiet-ink">
              {says}
            </span>
          ) : (
            <button
              key={name}
              type="button"
              class="small"
              aria-expanded={shown?.name === name}
              aria-controls="moment-list"
              onClick={() => setOpen(shown?.name === name ? undefined : name)}
            >
              {says}
            </button>
          ),
        )}
      </div>
      <div id="moment-list" class="moment-list" hidden={!shown}>
        {shown?.list()}
      </div>
    </section>
  );
}

function groupsOf(at: ContextAt, key: ContextKey, now: number): Group[] {
  const { todos, waiting, data, board } = at;
  const done = todos.filter(({ status }) => status === "completed").length;
  const isOver = (status: string) => status === "completed" || status === "cancelled";
  const open = board.filter(({ status }) => !isOver(status)).length;
  return [
    {
      ...{ name: "todos", isEmpty: todos.length === 0 },
      says: todos.length === 0 ? "no todos" : `${done} of ${counted(todos.length, "todo")} done`,
      list: () => (
        <Lines
          rows={todos}
          line={({ agent, text, status }) => [<Status key="s" status={status} />, <b key="a">{agent}</b>, text]}
        />
      ),
    },
    {
      ...{ name: "waiting", isEmpty: waiting.length === 0 },
      says: waiting.length === 0 ? "nothing waited" : `${waiting.length} waited for a person`,
      list: () => <Lines rows={waiting} line={(text) => [text]} />,
    },
    {
      ...{ name: "data", isEmpty: data.length === 0 },
      says: data.length === 0 ? "no data" : `${counted(data.length, "key")} of data`,
      list: () => (
        <Lines
          rows={data}
          line={({ key: name, preview, by, bytes }) => [
            <b key="k">{name}</b>,
            <code key="p">{preview}</code>,
            <span key="b" class="quiet-ink">{`${by}, ${byteCount(bytes)}`}</span>,
          ]}
        />
      ),
    },
    {
      ...{ name: "board", isEmpty: board.length === 0 },
      says: board.length === 0 ? "no tasks" : `${counted(board.length, "task")}, ${open} open`,
      list: () => (
        <Lines
          rows={board}
          line={({ id, subject, status, owner }) => [
            <Status key="s" status={status} />,
            <code key="i">{id}</code>,
            subject,
            owner && (
              <span key="o" class="quiet-ink">
                {owner}
              </span>
            ),
          ]}
        />
      ),
    },
    filesGroup(at, key, now),
  ];
}

function filesGroup({ files: { checkpoint, edits } }: ContextAt, key: ContextKey, now: number): Group {
  const since = `${counted(edits.length, "edit")} recorded since`;
  const says = checkpoint
    ? `files as of ${checkpoint.name}, ${since}`
    : `no files kept, ${counted(edits.length, "edit")}`;
  return {
    ...{ name: "files", says, isEmpty: !checkpoint && edits.length === 0 },
    list: () => (
      <>
        <p>
          {checkpoint ? (
            <>
              Files as of checkpoint <b class="others">{checkpoint.name}</b> (event {checkpoint.seq},{" "}
              {moment(checkpoint.at, now)}); {since}, up to this event. What commands changed beside them is not
              recorded.
            </>
          ) : (
            "No checkpoint before this event holds files. These edits are recorded."
          )}
        </p>
        <Lines
          rows={edits}
          line={({ seq, path, agent, tool }) => [
            <a key="e" href={addressOf({ kind: "context", ...key, view: "transcript", seq })}>{`event ${seq}`}</a>,
            <code key="p">{path}</code>,
            <span key="t" class="quiet-ink">{`${agent}, ${tool}`}</span>,
          ]}
        />
      </>
    ),
  };
}

function Lines<Row>({ rows, line }: { rows: readonly Row[]; line(row: Row): ComponentChildren[] }) {
  return (
    <ul class="lines">
      {rows.slice(0, MOST).map((row, i) => (
        <li key={i}>
          {line(row).map((part, place) => (
            <span key={place} class="others">
              {part}
            </span>
          ))}
        </li>
      ))}
      {rows.length > MOST && <li class="quiet-ink">and {counted(rows.length - MOST, "more", "more")}</li>}
    </ul>
  );
}
