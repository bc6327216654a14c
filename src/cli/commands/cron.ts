// Owns `holdfast cron ls|rm`: what agents have scheduled, and taking a schedule away.
import { listContexts } from "../../contexts/index.ts";
import { mechanismsOf } from "../../harness.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import { contextState } from "../../loop/agent.ts";
import { readers } from "../../loop/host.ts";
import { cancelling, schedulesOf, showSchedule } from "../../mechanisms/cron/index.ts";
import type { Flags } from "../args.ts";
import { type OpenState, openState } from "../open.ts";
import { printable } from "../printable.ts";

interface Owner {
  ledger: Ledger;
  of: { context: string; agent: string; slice: <T>(name: string) => T };
}

export async function cron(flags: Flags): Promise<number> {
  const [, verb = "ls", id] = flags.words;
  const state = await openState(flags);
  try {
    const owners = await allOwners(state);
    if (verb === "ls") return list(owners, flags);
    if (verb !== "rm" || id === undefined)
      throw new HoldfastError("invalid", "use: holdfast cron ls, holdfast cron rm ID");
    for (const { ledger, of } of owners) {
      const done = cancelling(of, id, "user");
      if (!done) continue;
      const { wake } = done;
      await ledger.append(
        done.events.map((event) => ({ ...event, actor: of.agent })),
        wake ? { wake } : {},
      );
      process.stdout.write(`Cancelled: ${printable(showSchedule(done.was))}\n`);
      return 0;
    }
    throw new HoldfastError("not_found", `there is no schedule ${id}: see \`holdfast cron ls\``);
  } finally {
    await state.store.close();
  }
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
      process.stdout.write(`${one.context}  ${one.agent}  ${printable(showSchedule(one.standing))}\n`);
  return 0;
}
