// Owns `holdfast cron ls|add|rm`: what agents have scheduled, setting a schedule from outside, taking one away.
import { listContexts, openContexts } from "../../contexts/index.ts";
import { mechanismsOf } from "../../harness.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import { contextState } from "../../loop/agent.ts";
import { LEAD, readers } from "../../loop/host.ts";
import {
  cancelling,
  localZone,
  onlyLocal,
  schedulesOf,
  scheduling,
  showSchedule,
} from "../../mechanisms/cron/index.ts";
import type { Flags } from "../args.ts";
import { findContext, type OpenState, openState } from "../open.ts";
import { printable } from "../printable.ts";

const USE = 'ls, add "WHEN" PROMPT [-r CONTEXT], rm ID';

interface Owner {
  ledger: Ledger;
  of: { context: string; agent: string; slice: <T>(name: string) => T };
}

export async function cron(flags: Flags): Promise<number> {
  const [, verb = "ls", id] = flags.words;
  const state = await openState(flags);
  try {
    if (verb === "add") return await add(state, flags);
    const owners = await allOwners(state);
    if (verb === "ls") return list(owners, flags);
    if (verb !== "rm" || id === undefined) throw new HoldfastError("invalid", `use: holdfast cron ${USE}`);
    for (const { ledger, of } of owners) {
      const done = cancelling(of, id, "user");
      if (!done) continue;
      const { wake } = done;
      await ledger.append(
        done.events.map((event) => ({ ...event, actor: of.agent })),
        wake ? { wake } : {},
      );
      process.stdout.write(`Cancelled: ${printable(onlyLocal(showSchedule(done.was)))}\n`);
      return 0;
    }
    throw new HoldfastError("not_found", `there is no schedule ${id}: see \`holdfast cron ls\``);
  } finally {
    await state.store.close();
  }
}

/** For the lead of a context, or of a fresh one. */
async function add({ store, project, jobsDir }: OpenState, flags: Flags): Promise<number> {
  const [, , when, ...words] = flags.words;
  const prompt = words.join(" ").trim();
  if (when === undefined || prompt === "") throw new HoldfastError("invalid", `use: holdfast cron ${USE}`);
  const opts = { now: Date.now(), zone: localZone(), by: "user" };
  const nobody = { context: "", agent: LEAD, slice: <T>() => ({}) as T };
  await scheduling(nobody, { when, prompt }, opts); // what cannot be understood leaves no context behind
  const context = flags.resume
    ? (await findContext(store, flags.resume)).id
    : (await (await openContexts({ store })).create({ task: prompt, title: prompt.slice(0, 80), root: project.root }))
        .id;
  const ledger = await openLedger({ store, name: context, ...readers(mechanismsOf({ root: project.root, jobsDir })) });
  const of = { context, agent: LEAD, slice: <T>(name: string) => ledger.state.slices[name] as T };
  const { events, wake, scheduleId, echo } = await scheduling(of, { when, prompt }, opts);
  await ledger.append(
    events.map((event) => ({ ...event, actor: LEAD })),
    { wake },
  );
  if (flags.json) process.stdout.write(`${JSON.stringify({ context, scheduleId })}\n`);
  else process.stdout.write(`${context}  ${printable(echo)}\nIt fires while a host runs: holdfast worker\n`);
  return 0;
}

async function allOwners({ store, project, jobsDir }: OpenState): Promise<Owner[]> {
  const reading = readers(mechanismsOf({ root: project.root, jobsDir }));
  const owners: Owner[] = [];
  for (const { id: context } of await listContexts(store)) {
    const ledger = await openLedger({ store, name: context, ...reading });
    for (const agent of Object.keys(contextState(ledger).agents)) {
      owners.push({ ledger, of: { context, agent, slice: <T>(name: string) => ledger.state.slices[name] as T } });
    }
  }
  return owners;
}

function list(owners: Owner[], flags: Flags): number {
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
