// What the parts of a call get besides: the network and the repository, never for what stands beside the part that needs them.
import { isAbsolute } from "node:path";
import type { Finding } from "./finding.ts";
import type { OutsidePlace, PolicyDecision, WithheldPart, World } from "./types.ts";

/** A finding, and what the mode made of it. */
export interface Turned {
  finding: Finding;
  decision: PolicyDecision;
}

interface Granted {
  network: boolean;
  git: boolean;
  withheld: WithheldPart[];
  outside: OutsidePlace[];
}

/**
 * One process runs the whole call, so what is granted reaches all of it. A part that only reads or writes files starts nothing else:
 * it may stand beside. Every other part has to need the thing itself, and for the network a rule or a person has to allow that part.
 */
export function granted(turned: readonly Turned[], world: World): Granted {
  const acting = turned.filter(({ finding }) => !isInert(finding));
  const parts = [...new Set(acting.map(({ finding }) => finding.part))].map((part) =>
    acting.filter(({ finding }) => finding.part === part),
  );
  const wanting = parts.filter((part) => part.some(({ finding }) => finding.network));
  const ofGit = parts.filter((part) => part.some(({ finding }) => finding.git));
  const areNamed = (part: readonly Turned[]) => part.every(isNamed);
  const network = wanting.length > 0 && wanting.length === parts.length && parts.every(areNamed);
  const git = ofGit.length > 0 && ofGit.length === parts.length;
  const isOpen = parts.every((part) => areNamed(part) && part.some(({ finding }) => finding.outside !== undefined));
  // What a name of /proc leads to may be no place at all (`pid:[1]`).
  const outside = [
    ...new Set(turned.flatMap(({ finding: { outside = "" } }) => (isAbsolute(outside) ? outside : []))),
  ].map((path) => ({
    path,
    isOpen,
  }));
  const withheld: WithheldPart[] = [];
  if (!network && !world.openNetwork)
    for (const part of wanting) withheld.push(held("network", part, areNamed(part) ? "beside" : "no_rule"));
  if (!git) for (const part of ofGit) withheld.push(held("git", part, "beside"));
  if (!world.sandboxed) return { network, git, withheld: [], outside: [] };
  return { network, git, withheld: withheld.filter((one) => one.part !== ""), outside };
}

const held = (what: WithheldPart["what"], part: readonly Turned[], because: WithheldPart["because"]): WithheldPart => ({
  what,
  part: part.find(({ finding }) => finding[what])?.finding.text ?? "",
  because,
});

/** By a rule, or by the person who is asked about it. */
const isNamed = ({ finding, decision }: Turned): boolean => finding.rule !== undefined || decision === "ask";

/** What is allowed by itself, and edits: coreutils and redirections, each path judged. */
const isInert = ({ decision, rule, code, git, network }: Finding): boolean =>
  !git && !network && ((decision === "allow" && rule === undefined) || code === "edit" || code === "changes");
