// `holdfast cron ls|add|rm`: what agents have scheduled, setting a schedule from outside, taking one away.

import { listContexts } from "../../contexts/listing.ts";
import { openContexts } from "../../contexts/open.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger, sliceOf } from "../../ledger/ledger.ts";
import { contextState, LEAD } from "../../loop/agent.ts";
import { showSchedule } from "../../mechanisms/cron/plan.ts";
import { cancelling, schedulesOf, scheduling } from "../../mechanisms/cron/schedules.ts";
import { localZone, onlyLocal } from "../../mechanisms/cron/zone.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import { findContext, type OpenState, withState } from "../open.ts";

interface Owner {
  ledger: Ledger;
  of: { context: string; agent: string; slice: <T>(name: string) => T };
}

type Look = PlaceFlags & JsonToo;

export const ls = (flags: Look): Promise<number> =>
  withState(flags, async (state) => list(await allOwners(state), flags));

export const rm = (flags: Look, id: string): Promise<number> =>
  withState(flags, async (state) => {
    for (const { ledger, of } of await allOwners(state)) {
      const done = cancelling(of, id, "user");
      if (!done) continue;
      const { wake } = done;
      await ledger.append(
        done.events.map((event) => ({ ...event, actor: of.agent })),
        wake ? { wake } : {},
      );
      if (flags.json)
        process.stdout.write(`${JSON.stringify({ context: of.context, scheduleId: id, cancelled: true })}\n`);
      else process.stdout.write(`Cancelled: ${printable(onlyLocal(showSchedule(done.was)))}\n`);
      return 0;
    }
    throw new HoldfastError("not_found", `there is no schedule ${id}: see \`${commandLine(["cron", "ls"], flags)}\``);
  });

/** For the lead of a context, or of a fresh one. */
export const add = (flags: Look & { resume?: string }, words: string[]): Promise<number> =>
  withState(flags, (state) => addTo(state, flags, words));

async function addTo(
  { store, project, jobsDir }: OpenState,
  flags: Look & { resume?: string },
  [when = "", ...words]: string[],
): Promise<number> {
  const prompt = words.join(" ").trim();
  const opts = { now: Date.now(), zone: localZone(), by: "user" };
  const nobody = { context: "", agent: LEAD, slice: <T>() => ({}) as T };
  await scheduling(nobody, { when, prompt }, opts); // what cannot be understood leaves no context behind
  const context = flags.resume
    ? (await findContext(store, flags.resume, flags)).id
    : (await (await openContexts({ store })).create({ task: prompt, title: prompt.slice(0, 80), root: project.root }))
        .id;
  const ledger = await openLedger({ store, name: context, ...(await ledgerReaders({ root: project.root, jobsDir })) });
  const of = { context, agent: LEAD, slice: <T>(name: string) => sliceOf<T>(ledger, name) };
  const { events, wake, scheduleId, echo } = await scheduling(of, { when, prompt }, opts);
  await ledger.append(
    events.map((event) => ({ ...event, actor: LEAD })),
    { wake },
  );
  if (flags.json) process.stdout.write(`${JSON.stringify({ context, scheduleId })}\n`);
  else
    process.stdout.write(
      `${context}  ${printable(echo)}\nIt fires while a host runs: ${commandLine(["worker"], flags, project.root)}\n`,
    );
  return 0;
}

async function allOwners({ store, project, jobsDir }: OpenState): Promise<Owner[]> {
  const reading = await ledgerReaders({ root: project.root, jobsDir });
  const owners: Owner[] = [];
  for (const { id: context } of await listContexts(store)) {
    const ledger = await openLedger({ store, name: context, ...reading });
    for (const agent of Object.keys(contextState(ledger).agents)) {
      owners.push({ ledger, of: { context, agent, slice: <T>(name: string) => sliceOf<T>(ledger, name) } });
    }
  }
  return owners;
}

function list(owners: Owner[], flags: Look): number {
  const found = owners.flatMap(({ of }) =>
    schedulesOf(of).map((standing) => ({ context: of.context, agent: of.agent, standing })),
  );
  if (flags.json) process.stdout.write(`${JSON.stringify(found)}\n`);
  else if (found.length === 0) process.stderr.write("Nothing is scheduled.\n");
  else
    for (const one of found)
      process.stdout.write(`${one.context}  ${one.agent}  ${printable(onlyLocal(showSchedule(one.standing)))}\n`);
  return 0;
}
