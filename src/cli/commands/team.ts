// `holdfast team ls|show|send|plans|approve|reject|shutdown`: a person's side of every team of this project.

import { askToShutDown, matesOf, nobody, reviewPlan, sendAsUser, teamIn } from "../../front/actions/team.ts";
import { commandLine, startLine } from "../../front/presentation/command-line.ts";
import { escaped, oneLine, printable } from "../../front/presentation/printable.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import { openBoard } from "../../mechanisms/tasks/index.ts";
import type { TeammatePlan as Plan } from "../../mechanisms/team/state.ts";
import { isTeamWake } from "../../mechanisms/team/talk.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import { findContext, type OpenState, withState } from "../open.ts";

type Flags = PlaceFlags & JsonToo & { resume?: string; all?: boolean };

const withTeams = (flags: Flags, work: (teams: Ledger[], state: OpenState) => Promise<number>): Promise<number> =>
  withState(flags, async (state) => work(await openTeams(state, flags), state));

export const ls = (flags: Flags): Promise<number> => withTeams(flags, (teams, state) => list(state, teams, flags));

export const show = (flags: Flags, name: string | undefined): Promise<number> =>
  withTeams(flags, (teams, state) => list(state, teams, flags, name));

export const plans = (flags: Flags): Promise<number> => withTeams(flags, async (teams) => listPlans(teams, flags));

export const send = (flags: Flags, [to = "", ...words]: string[]): Promise<number> =>
  withTeams(flags, async (teams) => {
    const { line } = await sendAsUser(teams, { to, content: words.join(" ") });
    return said(flags, { sent: to }, line);
  });

export const shutdown = (flags: Flags & { reason?: string }, [name = "", ...words]: string[]): Promise<number> =>
  withTeams(flags, async (teams) => {
    const { requestId, line } = await askToShutDown(teams, { name, why: flags.reason ?? words.join(" ") });
    return said(flags, { requestId }, line);
  });

export const review = (flags: Flags, [given = "", ...words]: string[], way: "approve" | "reject"): Promise<number> =>
  withTeams(flags, async (teams) => {
    const answer = { given, approve: way === "approve", feedback: words.join(" ") };
    const { requestId, status, line } = await reviewPlan(teams, answer);
    return said(flags, { requestId, status }, line);
  });

async function openTeams({ store, project, jobsDir }: OpenState, flags: Flags): Promise<Ledger[]> {
  const reading = await ledgerReaders({ root: project.root, jobsDir });
  const found = (await store.due(Date.now())).filter(isTeamWake).map((wake) => wake.context);
  const contexts = flags.resume ? [(await findContext(store, flags.resume, flags)).id] : found;
  return Promise.all(contexts.map((name) => openLedger({ store, name, ...reading })));
}

function said(flags: Flags, value: object, line: string): number {
  process.stdout.write(flags.json ? `${JSON.stringify(value)}\n` : `${printable(line)}\n`);
  return 0;
}

async function list(state: OpenState, teams: Ledger[], flags: Flags, only?: string): Promise<number> {
  const seen = await matesOf(await openBoard(state.store), teams);
  const wanted = seen.filter(({ mate }) =>
    only === undefined ? mate.status !== "left" || flags.all : mate.name === only,
  );
  const mates = wanted.map(({ context, mate, agent, doing, task, inbox }) => ({
    context,
    name: mate.name,
    role: mate.role,
    status: doing,
    gate: mate.gate,
    task: task?.id ?? null,
    cwd: agent?.cwd ?? null,
    rounds: agent?.rounds ?? 0,
    waiting: inbox,
    last: agent?.lastTurn?.text ?? null,
  }));
  if (only !== undefined && mates.length === 0) throw nobody(teams, only);
  if (flags.json) process.stdout.write(`${JSON.stringify(mates)}\n`);
  else if (mates.length === 0)
    process.stderr.write(`There is no team: \`${startLine(flags)} --stay\` can build one.\n`);
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
    Object.values(teamIn(ledger).plans).map((plan) => ({ context: ledger.name, ...plan })),
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
