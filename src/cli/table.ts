// The list of commands, in the order of help. One line each: what it takes stands in its table.
import type { Command } from "./command.ts";
import { CONTEXTS } from "./table/contexts.ts";
import { APPROVE, COMPLETION, DENY, DOCTOR, PERMISSIONS, PROJECT, TRUST, VERSION } from "./table/house.ts";
import { AGENTS, CRON, JOBS, TASKS, TEAM, WORKER, WORKFLOW } from "./table/work.ts";
import { WORKTREES } from "./table/worktrees.ts";

export const COMMANDS: Readonly<Record<string, Command>> = {
  contexts: CONTEXTS,
  tasks: TASKS,
  team: TEAM,
  worktrees: WORKTREES,
  worker: WORKER,
  agents: AGENTS,
  cron: CRON,
  workflow: WORKFLOW,
  jobs: JOBS,
  approve: APPROVE,
  deny: DENY,
  permissions: PERMISSIONS,
  project: PROJECT,
  trust: TRUST,
  doctor: DOCTOR,
  completion: COMPLETION,
  version: VERSION,
};
