// One project on the page: the task board, teams, schedules, who holds what, backups.
import { backedUpTo, lastBackups } from "../../backup/own-ledgers.ts";
import { agentLease, listContexts } from "../../contexts/listing.ts";
import { sliceOf } from "../../ledger/ledger.ts";
import { contextState } from "../../loop/agent.ts";
import { showSchedule } from "../../mechanisms/cron/plan.ts";
import { schedulesOf } from "../../mechanisms/cron/schedules.ts";
import { onlyLocal } from "../../mechanisms/cron/zone.ts";
import { openBoard } from "../../mechanisms/tasks/index.ts";
import { isTeamWake } from "../../mechanisms/team/talk.ts";
import { matesOf } from "../actions/team.ts";
import { boardTask } from "../past/board.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import type { AgentLeaseRow, ProjectPage, ScheduleRow, TeamRow } from "./api.ts";
import { hostRow } from "./listed-context.ts";
import type { LedgerOf, MonitoredProject } from "./monitored-project.ts";

const MOST_TASKS = 1_000;
const MOST_CONTEXTS = 200;

/** `ledgers`: contexts with every mechanism folded. */
export async function projectPage(project: MonitoredProject, ledgers: LedgerOf): Promise<ProjectPage> {
  const { store, row } = project;
  const board = await openBoard(store);
  const contexts = (await listContexts(store)).filter(({ aside }) => !aside);
  const wakes = await store.due(Number.MAX_SAFE_INTEGER);
  const withTeam = new Set(wakes.filter(isTeamWake).map(({ context }) => context));
  const isOpen = new Set(
    contexts.filter(({ status }) => status !== "completed" && status !== "idle").map(({ id }) => id),
  );
  const due = new Set(wakes.map(({ context }) => context));
  const looked = contexts.filter(({ id }) => withTeam.has(id) || isOpen.has(id) || due.has(id)).slice(0, MOST_CONTEXTS);
  const team: TeamRow[] = [];
  const schedules: ScheduleRow[] = [];
  const leases: AgentLeaseRow[] = [];
  for (const { id } of looked) {
    const ledger = await ledgers(id).catch(() => undefined);
    if (!ledger) continue;
    for (const one of await matesOf(board, [ledger])) {
      const { mate, doing, task, inbox } = one;
      const names = { context: id, name: oneLine(mate.name, 60), role: oneLine(mate.role, 80) };
      team.push({ ...names, doing: oneLine(doing, 200), ...(task && { task: task.id }), inbox });
    }
    const { agents } = contextState(ledger);
    for (const agent of Object.keys(agents)) {
      const held = await store.leases.inspect(agentLease(id, agent));
      if (held)
        leases.push({ context: id, agent, host: hostRow(held), term: held.term, expiresInMs: held.expiresInMs });
      const of = { context: id, agent, slice: <T>(name: string) => sliceOf<T>(ledger, name) };
      for (const one of schedulesOf(of))
        schedules.push({
          ...{ context: id, agent: oneLine(agent, 60), id: one.scheduleId },
          says: oneLine(onlyLocal(showSchedule(one)), 300),
          ...(one.next !== null && { next: one.next }),
        });
    }
  }
  const backups = await lastBackups(store);
  return {
    ...{ project: row, durability: store.durability.says, ...(store.server !== undefined && { server: store.server }) },
    board: (await board.list()).slice(0, MOST_TASKS).map(boardTask),
    ...{ team, schedules, leases },
    backups: backups.map((one) => ({
      ...{ place: printable(one.place), at: one.at },
      lag: contexts.reduce((sum, { id, events }) => sum + (backedUpTo([one], { id, events })?.lag ?? events), 0),
    })),
  };
}
