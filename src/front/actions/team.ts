// What a person asks of teams, and what comes of it, as values: commands print them, the terminal shows them.

import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, sliceOf } from "../../ledger/ledger.ts";
import { contextState } from "../../loop/agent.ts";
import type { AgentState } from "../../loop/transcript.ts";
import type { Board } from "../../mechanisms/tasks/board.ts";
import type { Task } from "../../mechanisms/tasks/port.ts";
import { planNamed, reviewing, sending, shuttingDown, type TeamFacts } from "../../mechanisms/team/decide.ts";
import { doing } from "../../mechanisms/team/roster.ts";
import { type Teammate, type TeamState, USER } from "../../mechanisms/team/state.ts";

export const teamIn = (ledger: Ledger): TeamState => sliceOf(ledger, "team");

const record = (ledger: Ledger, facts: TeamFacts) => ledger.append(facts.map((fact) => ({ ...fact, actor: USER })));

/** Contract: `line` says what came of it; a refusal is thrown. */
export async function sendAsUser(
  teams: Ledger[],
  { to: name, content }: { to: string; content: string },
): Promise<{ line: string }> {
  const fits = (one: TeamState) => name === "*" || name === "lead" || one.mates[name]?.status === "active";
  const to = theTeam(teams, fits, { what: name, missing: nobody });
  await record(to, sending(teamIn(to), USER, { to: name, content }));
  if (teamIn(to).mates[name]?.status === "left")
    throw new HoldfastError("not_found", `${name} has shut down just before: it does not see this`);
  return { line: `Sent to ${name}.` };
}

export async function askToShutDown(
  teams: Ledger[],
  { name, why }: { name: string; why: string },
): Promise<{ requestId: string; line: string }> {
  const fits = (one: TeamState) => one.mates[name]?.status === "active";
  const of = theTeam(teams, fits, { what: name, missing: nobody });
  const { facts, requestId } = shuttingDown(teamIn(of), name, why);
  await record(of, facts);
  return {
    requestId,
    line: `Asked ${name} to shut down: request ${requestId}. It answers when a host runs it.`,
  };
}

export interface PlanAnswer {
  /** A plan, or the name of a teammate whose plan waits. */
  given: string;
  approve: boolean;
  feedback: string;
}

/** Contract: a plan is answered once; whoever comes second is told what the first said. */
export async function reviewPlan(
  teams: Ledger[],
  { given, approve, feedback }: PlanAnswer,
): Promise<{ requestId: string; status: "approved" | "rejected"; line: string }> {
  const has = (state: TeamState) =>
    state.plans[given] !== undefined ||
    Object.values(state.plans).some((plan) => plan.by === given && plan.status === "pending");
  if (!approve && feedback.trim() === "")
    throw new HoldfastError("invalid", "team reject needs TEXT: say why, so that a better plan can follow");
  const ledger = theTeam(teams, has, { what: given, missing: noPlan });
  const { requestId } = planNamed(teamIn(ledger), given);
  const entity = `plan:${requestId}`;
  // Of people's answers at once one is recorded, also where they say the same: the feedback of the others would not be heard.
  await ledger.decide(({ slices }) => {
    const facts = reviewing(slices.team as TeamState, { requestId, approve, feedback });
    return { events: facts.map((fact) => ({ ...fact, actor: USER, touches: [entity] })), reads: [entity] };
  });
  const plan = planNamed(teamIn(ledger), requestId);
  const wanted = approve ? "approved" : "rejected";
  // The lead's answer may have come in between.
  if (plan.status !== wanted || plan.reviewedBy !== USER)
    throw new HoldfastError(
      "invalid",
      `${requestId} was ${plan.status} by ${plan.reviewedBy} just before: it is answered once`,
    );
  return { requestId, status: wanted, line: `${requestId} ${wanted}. ${plan.by} hears it when a host runs it.` };
}

export interface SeenMate {
  context: string;
  mate: Teammate;
  agent: AgentState | undefined;
  doing: string;
  task: Task | undefined;
  /** How much waits to be shown to it. */
  inbox: number;
}

/** Contract: who has shut down too. */
export async function matesOf(board: Board, teams: readonly Ledger[]): Promise<SeenMate[]> {
  const found: SeenMate[] = [];
  for (const ledger of teams) {
    const { agents } = contextState(ledger);
    const { mates, inboxes } = teamIn(ledger);
    for (const mate of Object.values(mates)) {
      const [task] = await board.list({ owner: `${ledger.name}/${mate.name}`, status: "in_progress" });
      const agent = agents[mate.name];
      const says = mate.status === "left" ? "has shut down" : doing(mate, teamIn(ledger), agent);
      const inbox = (inboxes[mate.name] ?? []).length;
      found.push({ context: ledger.name, mate, agent, doing: says, task, inbox });
    }
  }
  return found;
}

/** Whoever was here and left is named too. */
export function nobody(teams: readonly Ledger[], name: string): HoldfastError {
  const mates = teams.flatMap((one) => Object.values(teamIn(one).mates));
  const here = mates.filter((one) => one.status === "active").map((one) => one.name);
  const there =
    here.length > 0 ? `there are ${here.join(", ")}` : "there is no team; `holdfast -p … --stay` builds one";
  const left = mates.some((one) => one.name === name) ? `${name} has shut down` : `nobody here is ${name}`;
  return new HoldfastError("not_found", `${left}: ${there}`);
}

const noPlan = (_: readonly Ledger[], plan: string): HoldfastError =>
  new HoldfastError("not_found", `there is no plan ${plan}: see \`holdfast team plans --all\``);

function theTeam(
  teams: Ledger[],
  fits: (state: TeamState) => boolean,
  { what, missing }: { what: string; missing: typeof nobody },
): Ledger {
  const fitting = teams.filter((one) => fits(teamIn(one)));
  if (fitting.length > 1)
    throw new HoldfastError(
      "invalid",
      `${what} is in ${fitting.length} teams (${fitting.map((one) => one.name).join(", ")}): say which with -r CONTEXT`,
    );
  if (!fitting[0]) throw missing(teams, what);
  return fitting[0];
}
