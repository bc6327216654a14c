// What the page knows of everything: the first answer, and each change after it put in its place.
import type { ContextKey, ContextRow, Need, OverviewMessage, ProjectRow } from "../api.ts";
import type { LiveState } from "./client.ts";

export interface Known {
  version: string;
  /** What to add to this machine's clock to get the monitor's. */
  clock: number;
  projects: readonly ProjectRow[];
  contexts: ReadonlyMap<string, ContextRow>;
  total: number;
  needs: readonly Need[];
  /** How often something of a project's own changed: board, schedules, hosts, backups. */
  projectChanges: ReadonlyMap<string, number>;
}

export interface Watching {
  /** Undefined until the first answer. */
  known: Known | undefined;
  state: LiveState;
}

export const keyOfContext = ({ project, context }: ContextKey): string => `${project}/${context}`;

export const keyOfNeed = (need: Need): string => `${keyOfContext(need)}/${need.kind}/${need.id}`;

/** Contract: gives another value where something changed; what came before the first `hello` is not known of, and dropped. */
export function withMessage(known: Known | undefined, message: OverviewMessage, now: number): Known | undefined {
  if (message.kind === "hello") {
    const { version, projects, contexts, total, needs } = message.overview;
    return {
      version,
      clock: message.overview.now - now,
      projects,
      contexts: new Map(contexts.map((row) => [keyOfContext(row), row])),
      total,
      needs,
      projectChanges: new Map(projects.map(({ id }) => [id, (known?.projectChanges.get(id) ?? 0) + 1])),
    };
  }
  if (!known) return undefined;
  switch (message.kind) {
    case "contexts": {
      const contexts = new Map(known.contexts);
      for (const key of message.gone) contexts.delete(keyOfContext(key));
      for (const row of message.rows) contexts.set(keyOfContext(row), row);
      return { ...known, contexts, total: Math.max(contexts.size, known.total + contexts.size - known.contexts.size) };
    }
    case "needs":
      return { ...known, needs: message.needs };
    case "projects":
      return { ...known, projects: message.projects };
    case "project": {
      const times = (known.projectChanges.get(message.project) ?? 0) + 1;
      return { ...known, projectChanges: new Map(known.projectChanges).set(message.project, times) };
    }
  }
}
