// `holdfast memory ls|show|add|forget|inbox|accept|reject`: what the project remembers, and what models propose.
import { escaped, oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import { followMemory } from "../../mechanisms/memory/files.ts";
import { type Memories, type Memory, openMemories, type Proposal } from "../../mechanisms/memory/memories.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { withState } from "../open.ts";

type Look = PlaceFlags & JsonToo;

const PERSON = { said: "person" } as const;

/** The files for reading follow, also what a killed process left behind; where they cannot, what is in the ledger counts all the same. */
const withMemories = <T>(flags: Look, work: (memories: Memories) => Promise<T>): Promise<T> =>
  withState(flags, async ({ store, project }) => {
    const memories = await openMemories(store);
    const done = await work(memories);
    await followMemory(`${project.stateDir}/memory`, memories).catch((error: unknown) => {
      process.stderr.write(`holdfast: memory is kept, but not its files: ${oneLine(messageOf(error), 300)}\n`);
    });
    return done;
  });

const print = (line: string) => process.stdout.write(`${line}\n`);

export async function ls(flags: Look): Promise<number> {
  const { all, waiting } = await withMemories(flags, async (memories) => ({
    all: await memories.list(),
    waiting: (await memories.inbox()).length,
  }));
  if (flags.json) print(JSON.stringify(all));
  else {
    for (const { name, description } of all) print(`${printable(name).padEnd(24)} ${oneLine(description, 90)}`);
    if (all.length === 0) print("Nothing is remembered: say so in a prompt, or use `holdfast memory add NAME TEXT …`");
    if (waiting > 0) print(`${waiting} proposed by models: see \`holdfast memory inbox\``);
  }
  return 0;
}

export async function show(flags: Look, name: string): Promise<number> {
  const all = await withMemories(flags, (memories) => memories.list());
  const found = all.find((one) => one.name === name);
  if (!found) throw new HoldfastError("not_found", `nothing is remembered as ${name}: see \`holdfast memory\``);
  print(flags.json ? JSON.stringify(found) : described(found));
  return 0;
}

export async function add(
  flags: Look & { type?: Memory["type"] | undefined; description?: string | undefined },
  name: string,
  words: string[],
): Promise<number> {
  const text = words.join(" ");
  const { type = "user", description = text.replaceAll(/\s+/g, " ").slice(0, 200) } = flags;
  const memory = { name, description, type, text };
  const kept = await withMemories(flags, (memories) => memories.keep(memory, PERSON));
  print(flags.json ? JSON.stringify(kept) : `Remembered: ${printable(name)}`);
  return 0;
}

export async function forget(flags: Look, name: string): Promise<number> {
  await withMemories(flags, (memories) => memories.forget(name, PERSON));
  print(flags.json ? JSON.stringify({ forgotten: name }) : `Forgotten: ${printable(name)}`);
  return 0;
}

export async function inbox(flags: Look): Promise<number> {
  const { waiting, all } = await withMemories(flags, async (memories) => ({
    waiting: await memories.inbox(),
    all: await memories.list(),
  }));
  if (flags.json) print(JSON.stringify(waiting));
  else if (waiting.length === 0) print("Nothing waits.");
  else for (const one of waiting) print(`${one.id}\n${changeOf(one, all)}\n`);
  return 0;
}

export async function accept(flags: Look, id: string): Promise<number> {
  const taken = await withMemories(flags, (memories) => memories.accept(id, PERSON));
  print(flags.json ? JSON.stringify(taken) : `${taken.forgets ? "Forgotten" : "Remembered"}: ${printable(taken.name)}`);
  return 0;
}

export async function reject(flags: Look, id: string): Promise<number> {
  const taken = await withMemories(flags, (memories) => memories.reject(id));
  print(flags.json ? JSON.stringify(taken) : `Rejected: ${printable(taken.name)}`);
  return 0;
}

/** As a diff: what is remembered now, and what would be. Whoever accepts it sees all of it, also what hides. */
function changeOf(proposal: Proposal, all: readonly Memory[]): string {
  const { name, description, text, forgets, from, replaces = [] } = proposal;
  const lines = (mark: string, of: string) => of.split("\n").map((line) => `${mark} ${escaped(line)}`);
  const gone = all.filter((one) => one.name === name || replaces.some((other) => other.name === one.name));
  const also = replaces.length === 0 ? "" : `, in place of ${replaces.map((one) => one.name).join(", ")}`;
  const says = forgets || description === "" ? [] : [`  described as: ${escaped(description)}`];
  return [
    `  ${escaped(name)}${escaped(also)}${whereOf(from)}`,
    ...says,
    ...gone.flatMap((one) => lines("-", one.text)),
    ...(forgets ? [] : lines("+", text)),
  ].join("\n");
}

function described({ name, description, type, text, from, at }: Memory): string {
  const lines = [
    `name: ${name}`,
    `description: ${description}`,
    `type: ${type}`,
    `kept: ${new Date(at).toISOString()}`,
  ];
  return `${[...lines, `said by: ${from.said}${whereOf(from)}`].map((line) => printable(line)).join("\n")}\n\n${printable(text)}`;
}

const whereOf = ({ context, branch, seq, reader }: Memory["from"]): string => {
  const parts = [
    context && `in ${context}`,
    seq !== undefined && `event ${seq}`,
    branch && `on ${branch}`,
    reader && `read by ${reader}`,
  ].filter(Boolean);
  return parts.length === 0 ? "" : `, ${parts.join(", ")}`;
};
