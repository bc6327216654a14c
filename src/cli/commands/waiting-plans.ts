// Which contexts wait for a person although nobody is at work in them: a teammate's plan is not answered.

import type { ContextInfo } from "../../contexts/listing.ts";
import { openLedger, sliceOf } from "../../ledger/ledger.ts";
import type { TeamState } from "../../mechanisms/team/state.ts";
import { isTeamWake } from "../../mechanisms/team/talk.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import type { OpenState } from "../open.ts";

export type Listed = ContextInfo & { plansWaiting?: number };

/** Contract: only contexts with a team are opened, and only those that look finished. */
export async function withWaitingPlans(
  { store, project: { root }, jobsDir }: OpenState,
  all: readonly ContextInfo[],
): Promise<Listed[]> {
  const teams = new Set((await store.due(Date.now())).filter(isTeamWake).map((wake) => wake.context));
  if (teams.size === 0) return [...all];
  const reading = await ledgerReaders({ root, jobsDir });
  return Promise.all(
    all.map(async (one): Promise<Listed> => {
      if (!teams.has(one.id) || (one.status !== "completed" && one.status !== "paused")) return one;
      const { plans } = sliceOf<TeamState>(await openLedger({ store, name: one.id, ...reading }), "team");
      const plansWaiting = Object.values(plans).filter(({ status }) => status === "pending").length;
      return plansWaiting === 0 ? one : { ...one, status: "waiting", plansWaiting };
    }),
  );
}

/** The plans that nobody has answered, of all teams. */
export async function waitingPlans(where: {
  store: OpenState["store"];
  root: string;
  jobsDir: string;
}): Promise<string[]> {
  const { store, root, jobsDir } = where;
  const reading = await ledgerReaders({ root, jobsDir });
  const found: string[] = [];
  for (const { context: name } of (await store.due(Date.now())).filter(isTeamWake)) {
    const { plans } = sliceOf<TeamState>(await openLedger({ store, name, ...reading }), "team");
    found.push(...Object.entries(plans).flatMap(([id, { status }]) => (status === "pending" ? [id] : [])));
  }
  return found;
}
