// One project: its board, team, schedules, hosts and backups.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { ProjectPage } from "../../api.ts";
import { Problem } from "../components/problem.tsx";
import { counted } from "../format.ts";
import { addressOfQuery, FIRST_QUERY } from "../home/list-order.ts";
import { Needs } from "../home/needs.tsx";
import { useWatching } from "../watching.tsx";
import { cardId, TaskColumns } from "./board.tsx";
import { BackupTable, LeaseTable, ScheduleTable } from "./facts.tsx";
import { MOST_DRAWN } from "./graph.ts";
import { useProjectPage } from "./live-page.ts";
import { TaskGraph } from "./task-graph.tsx";
import { TeamTables } from "./team.tsx";

export function ProjectView({ project }: { project: string }) {
  const { known } = useWatching();
  const page = useProjectPage(project);
  const row = page.value?.project ?? known?.projects.find(({ id }) => id === project);
  const problem = page.problem ?? row?.problem;
  const needs = known?.needs.filter((need) => need.project === project && need.kind !== "failure") ?? [];
  return (
    <div class="project">
      <header class="project-head">
        <h1 class="others">{row?.name ?? project}</h1>
        <a href={addressOfQuery({ ...FIRST_QUERY, project })}>
          {counted(countOf(project, known?.contexts.values() ?? []), "context")}
        </a>
        {row && <Place page={page.value} folder={row.folder} store={row.store} />}
      </header>
      {problem !== undefined && <Problem says={problem} again={page.again} />}
      <Needs needs={needs} isAside />
      {page.value ? (
        <Parts page={page.value} readAt={page.readAt} />
      ) : (
        page.isLoading && <p class="quiet-ink">Reading the project…</p>
      )}
    </div>
  );
}

function countOf(project: string, rows: Iterable<{ project: string }>): number {
  let count = 0;
  for (const row of rows) if (row.project === project) count++;
  return count;
}

function Place({ page, folder, store }: { page: ProjectPage | undefined; folder: string; store: string }) {
  return (
    <dl class="place">
      <div>
        <dt>Folder</dt>
        <dd class="others code">{folder}</dd>
      </div>
      <div>
        <dt>Store</dt>
        <dd class="others code">
          {store}
          {page?.server !== undefined && ` (${page.server})`}
        </dd>
      </div>
      {page && (
        <div>
          <dt>Durability</dt>
          <dd class="others">{page.durability}</dd>
        </div>
      )}
    </dl>
  );
}

function Parts({ page, readAt }: { page: ProjectPage; readAt: number }) {
  const { board, team, schedules, leases, backups } = page;
  const project = page.project.id;
  return (
    <>
      <Part title="Tasks" count={board.length}>
        {board.length === 0 ? (
          <p class="quiet-ink">
            The board is empty. Agents put tasks on it, and so do you: <code>holdfast tasks add "…"</code>.
          </p>
        ) : (
          <>
            <TaskGraph board={board} onPick={showTask} />
            {board.length > MOST_DRAWN && <p class="quiet-ink">Of more than {MOST_DRAWN} tasks not all are drawn.</p>}
            <TaskColumns project={project} board={board} />
          </>
        )}
      </Part>
      <Part title="Team" count={team.length}>
        {team.length === 0 ? (
          <p class="quiet-ink">
            No team works here. <code>holdfast -p --stay "… spawn alice and bob …"</code> builds one.
          </p>
        ) : (
          <TeamTables project={project} team={team} />
        )}
      </Part>
      <div class="side-by-side">
        <Part title="Hosts and leases" count={leases.length}>
          {leases.length === 0 ? (
            <p class="quiet-ink">
              No process runs an agent of this project now. <code>holdfast worker</code> runs its teams.
            </p>
          ) : (
            <LeaseTable project={project} leases={leases} readAt={readAt} />
          )}
        </Part>
        <Part title="Schedules" count={schedules.length}>
          {schedules.length === 0 ? (
            <p class="quiet-ink">Nothing is planned. An agent that is asked for something "every morning" plans it.</p>
          ) : (
            <ScheduleTable project={project} schedules={schedules} />
          )}
        </Part>
        <Part title="Backups" count={backups.length}>
          {backups.length === 0 ? (
            <p class="quiet-ink">
              There is no backup. <code>holdfast backup now DIRECTORY</code> makes one.
            </p>
          ) : (
            <BackupTable backups={backups} />
          )}
        </Part>
      </div>
    </>
  );
}

function Part({ title, count, children }: { title: string; count: number; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="part" aria-labelledby={id}>
      <h2 id={id}>
        {title} {count > 0 && <span class="count">{count.toLocaleString("en-US")}</span>}
      </h2>
      {children}
    </section>
  );
}

/** From the picture to the card with the whole of it. */
function showTask(task: string): void {
  const card = document.getElementById(cardId(task));
  if (!(card instanceof HTMLDetailsElement)) return;
  card.open = true;
  card.querySelector("summary")?.focus();
}
