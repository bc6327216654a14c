// `holdfast team ls|show|send|plans|approve|reject|shutdown`: a person's side of every team of this project.

import { commandLine } from "../../front/presentation/command-line.ts";
import { escaped, oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import { contextState } from "../../loop/agent.ts";
import { openBoard } from "../../mechanisms/tasks/index.ts";
import { planNamed, reviewing, sending, shuttingDown, type TeamFacts } from "../../mechanisms/team/decide.ts";
import { doing } from "../../mechanisms/team/roster.ts";
import { type TeammatePlan as Plan, type TeamState, USER } from "../../mechanisms/team/state.ts";
import { isTeamWake } from "../../mechanisms/team/talk.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { ledgerReaders, sliceOf } from "../ledger-readers.ts";
import { findContext, type OpenState, withState } from "../open.ts";

type Flags = PlaceFlags & JsonToo & { resume?: string; all?: boolean };

const withTeams = (flags: Flags, work: (teams: Ledger[], state: OpenState) => Promise<number>): Promise<number> =>
  withState(flags, async (state) => work(await openTeams(state, flags), state));

export const ls = (flags: Flags): Promise<number> => withTeams(flags, (teams, state) => list(state, teams, flags));

export const show = (flags: Flags, name: string | undefined): Promise<number> =>
  withTeams(flags, (teams, state) => list(state, teams, flags, name));

export const plans = (flags: Flags): Promise<number> => withTeams(flags, async (teams) => listPlans(teams, flags));

export const send = (flags: Flags, [name = "", ...words]: string[]): Promise<number> =>
  withTeams(flags, async (teams) => {
    const to = theTeam(teams, (one) => name === "*" || name === "lead" || one.mates[name]?.status === "active", name);
    await record(to, sending(stateOf(to), USER, { to: name, content: words.join(" ") }));
    if (stateOf(to).mates[name]?.status === "left")
      throw new HoldfastError("not_found", `${name} has shut down just before: it does not see this`);
    return said(flags, { sent: name }, `Sent to ${name}.`);
  });

export const shutdown = (flags: Flags & { reason?: string }, [name = "", ...words]: string[]): Promise<number> =>
  withTeams(flags, async (teams) => {
    const of = theTeam(teams, (one) => one.mates[name]?.status === "active", name);
    const { facts, requestId } = shuttingDown(stateOf(of), name, flags.reason ?? words.join(" "));
    await record(of, facts);
    return said(
      flags,
      { requestId },
      `Asked ${name} to shut down: request ${requestId}. It answers when a host runs it.`,
    );
  });

export const review = (flags: Flags, [given = "", ...words]: string[], way: "approve" | "reject"): Promise<number> =>
  withTeams(flags, (teams) =>
    reviewPlan({ teams, flags, given, approve: way === "approve", feedback: words.join(" ") }),
  );

const stateOf = (ledger: Ledger): TeamState => sliceOf(ledger, "team");

async function openTeams({ store, project, jobsDir }: OpenState, flags: Flags): Promise<Ledger[]> {
  const reading = await ledgerReaders({ root: project.root, jobsDir });
  const found = (await store.due(Date.now())).filter(isTeamWake).map((wake) => wake.context);
  const contexts = flags.resume ? [(await findContext(store, flags.resume, flags)).id] : found;
  return Promise.all(contexts.map((name) => openLedger({ store, name, ...reading })));
}

/** Whoever was here and left is named too. */
function nobody(teams: readonly Ledger[], name: string): HoldfastError {
  const mates = teams.flatMap((one) => Object.values(stateOf(one).mates));
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
  what: string,
  missing: typeof nobody = nobody,
): Ledger {
  const fitting = teams.filter((one) => fits(stateOf(one)));
  if (fitting.length > 1)
    throw new HoldfastError(
      "invalid",
      `${what} is in ${fitting.length} teams (${fitting.map((one) => one.name).join(", ")}): say which with -r CONTEXT`,
    );
  if (!fitting[0]) throw missing(teams, what);
  return fitting[0];
}

const record = (ledger: Ledger, facts: TeamFacts) => ledger.append(facts.map((fact) => ({ ...fact, actor: USER })));

function said(flags: Flags, value: object, line: string): number {
  process.stdout.write(flags.json ? `${JSON.stringify(value)}\n` : `${printable(line)}\n`);
  return 0;
}

interface Reviewing {
  teams: Ledger[];
  flags: Flags;
  given: string;
  approve: boolean;
  feedback: string;
}

async function reviewPlan({ teams, flags, given, approve, feedback }: Reviewing): Promise<number> {
  const has = (state: TeamState) =>
    state.plans[given] !== undefined ||
    Object.values(state.plans).some((plan) => plan.by === given && plan.status === "pending");
  if (!approve && feedback.trim() === "")
    throw new HoldfastError("invalid", "team reject needs TEXT: say why, so that a better plan can follow");
  const ledger = theTeam(teams, has, given, noPlan);
  const { requestId } = planNamed(stateOf(ledger), given);
  await record(ledger, reviewing(stateOf(ledger), { requestId, approve, feedback }));
  const plan = planNamed(stateOf(ledger), requestId);
  const wanted = approve ? "approved" : "rejected";
  if (plan.status !== wanted || plan.reviewedBy !== USER)
    throw new HoldfastError(
      "invalid",
      `${requestId} was ${plan.status} by ${plan.reviewedBy} just before: it is answered once`,
    );
  return said(flags, { requestId, status: wanted }, `${requestId} ${wanted}. ${plan.by} hears it when a host runs it.`);
}

async function list(state: OpenState, teams: Ledger[], flags: Flags, only?: string): Promise<number> {
  const board = await openBoard(state.store);
  const mates = [];
  for (const ledger of teams) {
    const { agents } = contextState(ledger);
    for (const mate of Object.values(stateOf(ledger).mates)) {
      if (only !== undefined ? mate.name !== only : mate.status === "left" && !flags.all) continue;
      const [task] = await board.list({ owner: `${ledger.name}/${mate.name}`, status: "in_progress" });
      mates.push({
        context: ledger.name,
        name: mate.name,
        role: mate.role,
        status: mate.status === "left" ? "has shut down" : doing(mate, stateOf(ledger), agents[mate.name]),
        gate: mate.gate,
        task: task?.id ?? null,
        cwd: agents[mate.name]?.cwd ?? null,
        rounds: agents[mate.name]?.rounds ?? 0,
        waiting: (stateOf(ledger).inboxes[mate.name] ?? []).length,
        last: agents[mate.name]?.lastTurn?.text ?? null,
      });
    }
  }
  if (only !== undefined && mates.length === 0) throw nobody(teams, only);
  if (flags.json) process.stdout.write(`${JSON.stringify(mates)}\n`);
  else if (mates.length === 0) process.stderr.write("There is no team: `holdfast -p … --stay` can build one.\n");
  for (const mate of flags.json ? [] : mates) {
    const work = [
      mate.status,
      ...(mate.task ? [mate.task] : []),
      ...(mate.gate === "closed" ? ["gate closed"] : []),
    ].join(", ");
    process.stdout.write(`${mate.context}  ${mate.name}  ${oneLine(mate.role, 40)}  ${work}\n`);
    if (only === undefined) continue;
    process.stdout.write(
      `  works in ${escaped(mate.cwd ?? "")}; ${mate.rounds} rounds; ${mate.waiting} in its inbox\n`,
    );
    if (mate.last) process.stdout.write(`${printable(mate.last)}\n`);
  }
  return 0;
}

function listPlans(teams: Ledger[], flags: Flags): number {
  const all = teams.flatMap((ledger) =>
    Object.values(stateOf(ledger).plans).map((plan) => ({ context: ledger.name, ...plan })),
  );
  const shown = flags.all ? all : all.filter((plan) => plan.status === "pending");
  if (flags.json) process.stdout.write(`${JSON.stringify(shown)}\n`);
  else if (shown.length === 0) process.stderr.write("No plan waits for a review.\n");
  else for (const plan of shown) process.stdout.write(`${describe(plan)}\n`);
  const waiting = shown.find((plan) => plan.status === "pending");
  if (!flags.json && waiting) {
    const answer = (verb: string, ...why: string[]) => commandLine(["team", verb, waiting.requestId, ...why], flags);
    process.stderr.write(`Answer with: ${answer("approve")}\n         or: ${answer("reject", "why")}\n`);
  }
  return 0;
}

/** The whole plan, nothing cut, nothing that a terminal acts on. */
const describe = ({ requestId, by, plan, status, feedback }: Plan): string =>
  [
    `${requestId}  ${by}  ${status}`,
    ...escaped(plan)
      .split("\n")
      .map((line) => `  │ ${line}`),
    ...(feedback ? [`  ${escaped(feedback)}`] : []),
  ].join("\n");
