// `holdfast contexts ls|show|verify`; the other verbs are in the files beside it.

import type { BackedUpTo } from "../../backup/own-ledgers.ts";
import type { Context } from "../../contexts/context.ts";
import { type ContextInfo, listContexts } from "../../contexts/listing.ts";
import type { Contexts } from "../../contexts/open.ts";
import { commandLine, resumeLine } from "../../front/presentation/command-line.ts";
import { age, listing, oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger, sliceOf } from "../../ledger/ledger.ts";
import { sameJson } from "../../ledger/same-json.ts";
import { type Repair, repairSqliteStore } from "../../ledger/sqlite/repair.ts";
import type { Damage, Store } from "../../ledger/store.ts";
import { contextState, LEAD } from "../../loop/agent.ts";
import { cacheBreaksIn, type PromptCacheState } from "../../mechanisms/prompt-cache/index.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import { findContext, isIn, withState } from "../open.ts";
import { createProgressBar } from "../progress.ts";
import type { STORE_VERBS } from "./contexts-store.ts";
import type { TIME_VERBS } from "./contexts-time.ts";
import type { ViewFlags } from "./contexts-view.ts";
import { withWaitingPlans } from "./waiting-plans.ts";

type Look = PlaceFlags & JsonToo;
type Show = Look & ViewFlags & { at?: string | undefined };

export async function ls(flags: Look & { all: boolean }): Promise<number> {
  if (flags.all) {
    const { contextsOfAll } = await import("./contexts-all.ts");
    return printList(await contextsOfAll(flags), flags);
  }
  return withState(flags, async (state) => {
    const { store } = state;
    const all = await withWaitingPlans(state, await listContexts(store));
    const hint = store.readOnly?.code === "damaged" ? " (holdfast contexts verify --repair)" : "";
    if (store.readOnly && !store.readOnly.restoring)
      process.stderr.write(`holdfast: ${store.readOnly.message}${hint}\n`);
    const isElsewhere = all.some((one) => !isIn(state.project, one));
    const shown = flags.json ? await withBackups(store, all) : all;
    return printList(isElsewhere ? shown.map((one) => ({ ...one, folder: one.root })) : shown, flags);
  });
}

/** How far each is backed up, and where. */
async function withBackups<T extends ContextInfo>(store: Store, all: T[]): Promise<(T & { backedUp?: BackedUpTo })[]> {
  const { backedUpTo, lastBackups } = await import("../../backup/own-ledgers.ts");
  const backups = await lastBackups(store);
  return all.map((one) => {
    const backedUp = backedUpTo(backups, one);
    return backedUp ? { ...one, backedUp } : one;
  });
}

function backupLine({ backedUp, events }: { backedUp?: BackedUpTo; events: number }): string {
  if (!backedUp) return "";
  const { seq, lag, at, place } = backedUp;
  const behind = lag === 0 ? "all of it" : `event ${seq} of ${events}`;
  return `backed up: ${behind}, ${age(at)} ago, in ${printable(place)}\n`;
}

type Listed = Awaited<ReturnType<typeof withWaitingPlans>>[number] & { project?: { folder: string }; folder?: string };

/** Of several projects, or of several folders of one, each line also has the folder. */
function printList(all: Listed[], flags: Look): number {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(all.map(({ folder: _, ...one }) => one))}\n`);
    return 0;
  }
  if (all.length === 0) process.stderr.write('No contexts yet: start one with holdfast -p "what to do"\n');
  else {
    const column = all.some(({ project }) => project)
      ? ["PROJECT"]
      : all.some(({ folder }) => folder)
        ? ["FOLDER"]
        : [];
    const rows = all.map((c) => [
      ...[c.id, c.status, age(c.updatedAt), String(c.rounds)],
      ...column.map(() => ending(c.folder ?? c.project?.folder ?? "", FOLDER)),
      c.title,
    ]);
    process.stdout.write(listing(["CONTEXT", "STATUS", "AGE", "ROUNDS", ...column, "TITLE"], rows));
  }
  const plans = all.reduce((sum, { plansWaiting = 0 }) => sum + plansWaiting, 0);
  if (plans > 0)
    process.stderr.write(
      `${counted(plans, "plan waits", "plans wait")} for your answer: ${commandLine(["team", "plans"], flags)}\n`,
    );
  const open = all.find(isResumable);
  if (open) process.stderr.write(`Take up ${open.id} with: ${resumeLine(open, flags)}\n`);
  return 0;
}

const FOLDER = 32;

export const ofContext = (
  flags: Look,
  id: string,
  work: (verbs: typeof TIME_VERBS, context: Context) => Promise<void>,
): Promise<number> =>
  withState(flags, async ({ store, project }) => {
    const info = await findContext(store, id, flags);
    const { openContexts, projectFiles } = await import("../../contexts/index.ts");
    const { ownFolders } = await import("../../contexts/project/links.ts");
    const isOwn = ownFolders(store, project);
    const files = projectFiles({ root: info.root || project.root, dir: `${project.stateDir}/files`, isOwn });
    const context = await (await openContexts({ store })).get(info.id, { files, author: "user" });
    await work((await import("./contexts-time.ts")).TIME_VERBS, context);
    return 0;
  });

export const inStore = (
  flags: Look,
  work: (verbs: typeof STORE_VERBS, contexts: Contexts) => Promise<void>,
): Promise<number> =>
  withState(flags, async ({ store }) => {
    const { openContexts } = await import("../../contexts/open.ts");
    await work((await import("./contexts-store.ts")).STORE_VERBS, await openContexts({ store }));
    return 0;
  });

/** A path cut to `width` characters at its beginning: its end says most. */
function ending(path: string, width: number): string {
  const shown = oneLine(path, 4_000);
  return shown.length <= width ? shown : `…${shown.slice(1 - width)}`;
}

const isResumable = ({ status }: ContextInfo): boolean => status === "interrupted" || status === "paused";

interface Where {
  root: string;
  jobsDir: string;
}

async function openReadable(store: Store, context: string, where: Where): Promise<Ledger> {
  return openLedger({ store, name: context, ...(await ledgerReaders(where)) });
}

export const show = (flags: Show, id: string): Promise<number> =>
  withState(flags, ({ store, project: { root }, jobsDir }) => showOne(store, flags, { id, root, jobsDir }));

async function showOne(store: Store, flags: Show, where: Where & { id: string }): Promise<number> {
  const info = await findContext(store, where.id, flags);
  const ledger = await openReadable(store, info.id, where);
  const [{ asksForView, showView }, { breaksText }] = await Promise.all([
    import("./contexts-view.ts"),
    import("../../front/requests/text.ts"),
  ]);
  const { agents } = contextState(ledger);
  if (flags.at !== undefined) {
    const { showAt } = await import("./contexts-at.ts");
    return showAt({ ...flags, at: flags.at }, { store, info, ...where });
  }
  if (asksForView(flags)) {
    const { codec } = await ledgerReaders(where);
    return showView(flags, { store, codec, context: info.id, agents: Object.keys(agents) });
  }
  const breaksOf = (names?: string[]) => cacheBreaksIn(sliceOf<PromptCacheState>(ledger, "prompt-cache"), names);
  const [shown = info] = await withBackups(store, [info]);
  if (flags.json) {
    process.stdout.write(
      `${JSON.stringify({ ...shown, readOnly: ledger.readOnly?.message ?? null, problems: ledger.problems, agents, cacheBreaks: breaksOf(), slices: ledger.state.slices, events: await eventsOf(store, info, ledger) })}\n`,
    );
    return ledger.problems.length > 0 ? 1 : 0;
  }
  const { pastOf } = await import("../../front/text/past-output.ts");
  process.stdout.write(
    `${info.id}  ${info.status}  ${oneLine(info.title, 200)}\n${printable(info.root)}\n${backupLine(shown)}\n`,
  );
  for await (const line of pastOf(store, ledger, (await ledgerReaders(where)).codec)) process.stdout.write(`${line}\n`);
  for (const { name, pending, rounds, usage } of Object.values(agents)) {
    for (const { call } of pending) process.stdout.write(`${name} … ${oneLine(call.name, 60)} has no result yet\n`);
    const { input, output, cacheRead, cacheWrite } = usage;
    process.stdout.write(
      `\n${printable(name)}: ${rounds} rounds; tokens: ${input} in, ${output} out, ${cacheRead} from cache, ${cacheWrite} to cache\n`,
    );
    const broken = breaksText(breaksOf([name]));
    if (broken !== "") {
      const which = name === LEAD ? [] : ["--agent", name];
      const line = commandLine(["contexts", "show", info.id, "--breaks", ...which], flags);
      process.stdout.write(`  ${broken} (${line})\n`);
    }
  }
  if (isResumable(info)) process.stderr.write(`Take it up again with: ${resumeLine(info, flags)}\n`);
  for (const p of ledger.problems) process.stderr.write(`holdfast: seq ${p.seq}: ${p.kind}: ${p.reason}\n`);
  if (ledger.readOnly) process.stderr.write(`holdfast: opens read-only: ${ledger.readOnly.message}\n`);
  return ledger.problems.length > 0 ? 1 : 0;
}

/** The events as they are stored, up to the first that is damaged. */
async function eventsOf(store: Store, info: ContextInfo, ledger: Ledger): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of store.read(info.id, { upTo: ledger.state.seq })) events.push(event);
  return events;
}

type Verify = Look & { repair: boolean };

export const verify = (flags: Verify, given: string | undefined): Promise<number> =>
  withState(flags, async ({ store, project: { root, ledgers }, jobsDir }) => {
    if (flags.repair) {
      await store.close();
      if (!("file" in ledgers))
        throw new HoldfastError(
          "invalid",
          "--repair is for SQLite files; what a server has lost comes back from a backup: `holdfast backup restore`",
        );
      return reportRepair(flags, await repairSqliteStore(ledgers.file));
    }
    const id = given === undefined ? undefined : (await findContext(store, given, flags)).id;
    return verifyAll(store, flags, { id, root, jobsDir });
  });

async function verifyAll(store: Store, flags: Look, where: Where & { id?: string | undefined }): Promise<number> {
  const bar = createProgressBar("verify");
  const checked = await store.verify({ ledger: where.id, progress: bar.update });
  bar.end();
  const folded: Damage[] = [];
  for (const info of await listContexts(store)) {
    if (where.id && info.id !== where.id) continue;
    folded.push(...(await refold(store, info.id, where)));
  }
  return report(flags, { ...checked, damage: [...checked.damage, ...folded] });
}

/** State from a snapshot must equal state folded from the first event, up to the same position: others may append meanwhile. */
async function refold(store: Store, context: string, where: Where): Promise<Damage[]> {
  const { codec, fold } = await ledgerReaders(where);
  const upTo = await store.head(context); // both at one position: someone may be at work in it
  const usual = await openLedger({ store, name: context, codec, fold, upTo });
  const again = await openLedger({ store, name: context, codec, fold, upTo, fromSnapshot: false });
  const wrong: Damage[] = usual.problems
    .filter((p) => p.kind !== "damaged")
    .map((p) => ({ ledger: context, seq: p.seq, what: `${p.kind}: ${p.reason}` }));
  if (usual.problems.length === 0 && !sameJson(usual.state, again.state)) {
    wrong.push({ ledger: context, seq: usual.state.seq, what: "the snapshot differs from what the events say" });
  }
  return wrong;
}

function report(flags: JsonToo, found: { damage: Damage[]; [more: string]: unknown }): number {
  if (flags.json) process.stdout.write(`${JSON.stringify(found)}\n`);
  else if (found.damage.length === 0)
    process.stdout.write(`sound: ${amounts(found)} read again, every checksum right\n`);
  else {
    say(found.damage);
    const then = "What is proven opens. `holdfast contexts verify --repair` builds the store anew from it and from";
    process.stdout.write(`${then} the second copy of every event, and keeps the damaged file.\n`);
  }
  return found.damage.length > 0 ? 1 : 0;
}

/** `3 ledgers, 120 events, 14 kept values`, as far as the store counts them. */
function amounts({ ledgers, events, blobs }: Record<string, unknown>): string {
  const many = (count: unknown, what: string) => (typeof count === "number" ? [counted(count, what)] : []);
  return [...many(ledgers, "ledger"), ...many(events, "event"), ...many(blobs, "kept value")].join(", ");
}

function reportRepair(flags: JsonToo, { damage, ledgers, events, lost }: Repair): number {
  if (flags.json)
    process.stdout.write(`${JSON.stringify({ repaired: damage.length > 0, damage, ledgers, events, lost })}\n`);
  else if (damage.length === 0) process.stdout.write("sound: nothing to repair\n");
  else {
    say(damage);
    const all = `${ledgers} ledgers with ${events} events`;
    process.stdout.write(`repaired: ${all}; ${lost === 0 ? "no event was lost" : `${lost} events were lost`}\n`);
  }
  return 0;
}

function say(damage: Damage[]): void {
  for (const d of damage) {
    const place = d.ledger ? `${d.ledger}${d.seq === undefined ? "" : ` seq ${d.seq}`}` : "the file";
    process.stdout.write(`damaged: ${place}: ${d.what}${d.salvage ? ` (salvaged to ${d.salvage})` : ""}\n`);
  }
}
