// Schedules, who holds what, and backups of a project: tables.
import type { ComponentChildren } from "preact";
import type { AgentLeaseRow, BackupRow, ScheduleRow } from "../../api.ts";
import { Ago } from "../components/figures.tsx";
import { away, counted, elapsed } from "../format.ts";
import { useNow } from "../parts.tsx";
import { addressOf } from "../router.ts";
import { useWatching } from "../watching.tsx";
import { cutTo } from "./graph.ts";

interface TableProps {
  label: string;
  headings: readonly string[];
  children: ComponentChildren;
}

function Table({ label, headings, children }: TableProps) {
  return (
    <div class="table-box">
      <table aria-label={label}>
        <thead>
          <tr>
            {headings.map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function ContextName({ project, context }: { project: string; context: string }) {
  const { known } = useWatching();
  return (
    <a class="others" href={addressOf({ kind: "context", project, context, view: "transcript" })}>
      {known?.contexts.get(`${project}/${context}`)?.title || context}
    </a>
  );
}

export function ScheduleTable({ project, schedules }: { project: string; schedules: readonly ScheduleRow[] }) {
  const now = useNow();
  return (
    <Table label="Schedules" headings={["Next", "What", "Agent", "Context"]}>
      {schedules.map(({ context, agent, id, says, next }) => (
        <tr key={`${context} ${agent} ${id}`}>
          <td class="short">{next === undefined ? "not again" : away(next, now)}</td>
          <td class="others">{says}</td>
          <td class="others">{agent}</td>
          <td>
            <ContextName project={project} context={context} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Names of machines may be long numbers. */
const MOST_OF_NAME = 20;

interface LeaseTableProps {
  project: string;
  leases: readonly AgentLeaseRow[];
  /** When they were read: from then on they run out. */
  readAt: number;
}

export function LeaseTable({ project, leases, readAt }: LeaseTableProps) {
  const now = useNow();
  return (
    <Table label="Hosts and leases" headings={["Host", "Agent", "Context", "Term", "Lease"]}>
      {leases.map(({ context, agent, host, term, expiresInMs }) => {
        const left = expiresInMs - Math.max(0, now - readAt);
        return (
          <tr key={`${context} ${agent}`}>
            <td class={host.alive ? "others" : "others gone"} title={host.machine}>
              {host.here ? "here" : cutTo(host.machine, MOST_OF_NAME)}:{host.pid}
              {!host.alive && " ✕ gone"}
            </td>
            <td class="others">{agent}</td>
            <td>
              <ContextName project={project} context={context} />
            </td>
            <td class="short">{term}</td>
            <td class="short">{left > 0 ? `${elapsed(left)} left` : "over"}</td>
          </tr>
        );
      })}
    </Table>
  );
}

export function BackupTable({ backups }: { backups: readonly BackupRow[] }) {
  return (
    <Table label="Backups" headings={["Place", "When", "Not in it yet"]}>
      {backups.map(({ place, at, lag }) => (
        <tr key={place}>
          <td class="others">{place}</td>
          <td class="short">
            <Ago at={at} says />
          </td>
          <td class={lag === 0 ? "short" : "short lag"}>{lag === 0 ? "✓ nothing" : counted(lag, "event")}</td>
        </tr>
      ))}
    </Table>
  );
}
