// Owns `holdfast contexts ls|show|resume|verify`; the other verbs are in the files beside it.
import { type ContextInfo, listContexts } from "../../contexts/index.ts";
import { mechanismsOf } from "../../harness.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type Ledger, openLedger } from "../../ledger/ledger.ts";
import { type Repair, repairSqliteStore } from "../../ledger/sqlite/index.ts";
import type { Damage, Store } from "../../ledger/store.ts";
import { contextState } from "../../loop/agent.ts";
import { readers } from "../../loop/host.ts";
import { type Item, textOf } from "../../models/model.ts";
import type { Flags } from "../args.ts";
import { resumeLine } from "../command-line.ts";
import { findContext, openState } from "../open.ts";
import { oneLine, printable } from "../printable.ts";
import { createProgressBar } from "../progress.ts";

export async function contexts(flags: Flags): Promise<number> {
  const [, verb = "ls", id] = flags.words;
  if (verb === "resume") {
    const { headless } = await import("../headless.ts");
    return headless({ ...flags, print: true, resume: id ?? "", words: flags.words.slice(3) });
  }
  if (verb === "ls" && flags.all) {
    const { contextsOfAll } = await import("./contexts-all.ts");
    return printList(await contextsOfAll(flags), flags);
  }
  const { store, project, jobsDir } = await openState(flags);
  try {
    if (verb === "ls") return await ls(store, flags);
    if (verb === "verify")
      return await verify(store, flags, { id, file: project.ledgerFile, root: project.root, jobsDir });
    if (verb === "show") return await show(store, flags, { id, root: project.root, jobsDir });
    const { STORE_VERBS, runStoreVerb } = await import("./contexts-store.ts");
    if (Object.hasOwn(STORE_VERBS, verb)) {
      await runStoreVerb(verb, flags, store);
      return 0;
    }
    const { TIME_VERBS } = await import("./contexts-time.ts");
    const time = Object.hasOwn(TIME_VERBS, verb) ? TIME_VERBS[verb] : undefined;
    if (time) {
      if (!id) throw new HoldfastError("invalid", `contexts ${verb} needs an id: see \`holdfast contexts ls\``);
      const info = await findContext(store, id);
      const { openContexts, projectFiles } = await import("../../contexts/index.ts");
      const files = projectFiles({ root: info.root || project.root, dir: `${project.stateDir}/files` });
      await time(
        await (await openContexts({ store })).get(info.id, { files, author: "user" }),
        flags,
        flags.words.slice(3),
      );
      return 0;
    }
  } finally {
    await store.close();
  }
  throw new HoldfastError(
    "invalid",
    `contexts ${verb}: there are ls, show, resume, verify, resumable, data, checkpoints, checkpoint, restore, undo, diff, fork, export, import, gc, rm`,
  );
}

async function ls(store: Store, flags: Flags): Promise<number> {
  const all = await listContexts(store);
  const hint = store.readOnly?.code === "damaged" ? " (holdfast contexts verify --repair)" : "";
  if (store.readOnly) process.stderr.write(`holdfast: ${store.readOnly.message}${hint}\n`);
  return printList(all, flags);
}

const FOLDER = 32;

/** Of several projects each line ends with the folder. */
function printList(all: (ContextInfo & { project?: { folder: string } })[], flags: Flags): number {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(all)}\n`);
    return 0;
  }
  if (all.length === 0) process.stderr.write('No contexts yet: start one with holdfast -p "what to do"\n');
  for (const c of all) {
    const where = c.project ? `${ending(c.project.folder, FOLDER).padEnd(FOLDER)}  ` : "";
    process.stdout.write(
      `${c.id}  ${c.status.padEnd(11)}  ${age(c.updatedAt).padStart(8)}  ${String(c.rounds).padStart(4)} rounds  ${where}${oneLine(c.title, 60)}\n`,
    );
  }
  const open = all.find(isResumable);
  if (open) process.stderr.write(`Take up ${open.id} with: ${resumeLine(open, flags)}\n`);
  return 0;
}

/** Of a path the end tells most. */
function ending(path: string, width: number): string {
  const shown = oneLine(path, 4_000);
  return shown.length <= width ? shown : `…${shown.slice(1 - width)}`;
}

const isResumable = ({ status }: ContextInfo): boolean => status === "interrupted" || status === "paused";

interface Where {
  id: string | undefined;
  root: string;
  jobsDir: string;
}

function openReadable(store: Store, context: string, where: Where): Promise<Ledger> {
  return openLedger({ store, name: context, ...readers(mechanismsOf(where)) });
}

async function show(store: Store, flags: Flags, where: Where): Promise<number> {
  if (!where.id) throw new HoldfastError("invalid", "contexts show needs an id: see `holdfast contexts ls`");
  const info = await findContext(store, where.id);
  const ledger = await openReadable(store, info.id, where);
  if (flags.json) {
    const { agents } = contextState(ledger);
    process.stdout.write(
      `${JSON.stringify({ ...info, readOnly: ledger.readOnly?.message ?? null, problems: ledger.problems, agents, slices: ledger.state.slices, events: await eventsOf(store, info, ledger) })}\n`,
    );
    return ledger.problems.length > 0 ? 1 : 0;
  }
  process.stdout.write(`${info.id}  ${info.status}  ${printable(info.title)}\n${info.root}\n\n`);
  for (const agent of Object.values(contextState(ledger).agents)) {
    for (const item of agent.items) process.stdout.write(`${itemLine(agent.name, item)}\n`);
    for (const p of agent.pending) process.stdout.write(`${agent.name} … ${p.call.name} has no result yet\n`);
    const { input, output, cacheRead, cacheWrite } = agent.usage;
    process.stdout.write(
      `\n${agent.rounds} rounds; tokens: ${input} in, ${output} out, ${cacheRead} from cache, ${cacheWrite} to cache\n`,
    );
  }
  if (isResumable(info)) process.stderr.write(`Take it up again with: ${resumeLine(info, flags)}\n`);
  for (const p of ledger.problems) process.stderr.write(`holdfast: seq ${p.seq}: ${p.kind}: ${p.reason}\n`);
  if (ledger.readOnly) process.stderr.write(`holdfast: opens read-only: ${ledger.readOnly.message}\n`);
  return ledger.problems.length > 0 ? 1 : 0;
}

/** The raw facts before any damage. */
async function eventsOf(store: Store, info: ContextInfo, ledger: Ledger): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of store.read(info.id, { upTo: ledger.state.seq })) events.push(event);
  return events;
}

function itemLine(agent: string, item: Item): string {
  if (item.kind === "user") return `> ${printable(textOf(item.content))}`;
  if (item.kind === "result")
    return `  ${item.isError ? "✗" : "└"} ${item.name}: ${oneLine(textOf(item.content), 160)}`;
  return item.parts
    .map((p) => {
      if (p.type === "text") return `${agent}: ${printable(p.text)}`;
      if (p.type === "call") return `  ● ${p.name} ${oneLine(JSON.stringify(p.input), 160)}`;
      return "";
    })
    .filter(Boolean)
    .join("\n");
}

async function verify(store: Store, flags: Flags, where: Where & { file: string }): Promise<number> {
  if (flags.repair) {
    await store.close();
    return reportRepair(flags, await repairSqliteStore(where.file));
  }
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
  const { codec, fold } = readers(mechanismsOf(where));
  const upTo = await store.head(context); // both at one position: someone may be at work in it
  const usual = await openLedger({ store, name: context, codec, fold, upTo });
  const again = await openLedger({ store, name: context, codec, fold, upTo, fromSnapshot: false });
  const wrong: Damage[] = usual.problems
    .filter((p) => p.kind !== "damaged")
    .map((p) => ({ ledger: context, seq: p.seq, what: `${p.kind}: ${p.reason}` }));
  if (usual.problems.length === 0 && JSON.stringify(usual.state) !== JSON.stringify(again.state)) {
    wrong.push({ ledger: context, seq: usual.state.seq, what: "the snapshot differs from what the events say" });
  }
  return wrong;
}

function report(flags: Flags, found: { damage: Damage[]; [more: string]: unknown }): number {
  if (flags.json) process.stdout.write(`${JSON.stringify(found)}\n`);
  else if (found.damage.length === 0) process.stdout.write(`sound: ${JSON.stringify(found)}\n`);
  else {
    say(found.damage);
    const then = "What is proven opens. `holdfast contexts verify --repair` builds the store anew from it and from";
    process.stdout.write(`${then} the second copy of every event, and keeps the damaged file.\n`);
  }
  return found.damage.length > 0 ? 1 : 0;
}

function reportRepair(flags: Flags, { damage, ledgers, events, lost }: Repair): number {
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

function age(at: number): string {
  const s = Math.max(0, Math.round((Date.now() - at) / 1000));
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172_800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} d`;
}
