// Owns the parts of a team request: what was said in several clauses joined into one undertaking, and its description.
import type { Intent, Mate, Team } from "./request.ts";

/** Also for the generic tasks: there are that many kinds. */
export const MOST = 4;

export const team = (part: Partial<Omit<Team, "kind">>): Team => ({
  kind: "team",
  tasks: 0,
  worktrees: false,
  mates: [],
  ...part,
});

/** Contract: neighbours only; the order of everything else stays. */
export function joinTeams(intents: Intent[]): Intent[] {
  const joined: Intent[] = [];
  for (const intent of intents) {
    const last = joined.at(-1);
    if (intent.kind !== "team" || last?.kind !== "team") joined.push(intent);
    else joined[joined.length - 1] = join(last, intent);
  }
  return joined;
}

function join(a: Team, b: Team): Team {
  const subjects = [...(a.subjects ?? []), ...(b.subjects ?? [])];
  const plans = b.plans ?? a.plans;
  return {
    kind: "team",
    tasks: a.tasks + b.tasks,
    ...(subjects.length > 0 && { subjects }),
    worktrees: a.worktrees || b.worktrees,
    mates: [...a.mates, ...b.mates],
    ...(plans && { plans }),
  };
}

export function mateOf(name: string, role: string | undefined): Mate {
  return role === undefined ? { name } : { name, role };
}
