// What the user's rules mean in a tree that is not the project's own: an agent's worktree.
import type { Policy, RuleText } from "./types.ts";

/**
 * A rule relative to the project (`Edit(/src/**)`) is about those files in whatever tree an agent has them. What is denied or asked there
 * stays so in the main tree too; what is allowed is allowed in the agent's own tree instead: the main tree is not its own.
 */
export function policyIn(policy: Policy): (root: string, project: string | undefined) => Policy {
  const known = new Map<string, Policy>();
  return (root, project) => {
    if (project === undefined) return policy;
    const moved = (rules: RuleText[]) =>
      rules.filter((rule) => rule.base === project).map((r) => ({ ...r, base: root }));
    const made = known.get(`${project}\0${root}`) ?? {
      ...policy,
      deny: [...policy.deny, ...moved(policy.deny)],
      ask: [...policy.ask, ...moved(policy.ask)],
      allow: [...policy.allow.filter((rule) => rule.base !== project), ...moved(policy.allow)],
    };
    known.set(`${project}\0${root}`, made);
    return made;
  };
}
