// One project: its board, team, schedules, hosts and backups.
export function ProjectView({ project }: { project: string }) {
  return <h1>{project}</h1>;
}
