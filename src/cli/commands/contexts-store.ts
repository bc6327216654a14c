// `holdfast contexts data|resumable|export|import|gc|rm`: what is shared, what can be taken up, moving and removing.

import type { ContextInfo } from "../../contexts/listing.ts";
import type { Contexts } from "../../contexts/open.ts";
import { oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { forgetHookFiles } from "../../mechanisms/hooks/transcript-places.ts";
import { settingsPlaces } from "../../settings/files.ts";
import { loadSettings } from "../../settings/load.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { findContext, projectOf } from "../open.ts";
import { trustOf } from "../settings.ts";

/** Each verb has those of its own table. */
type Flags = PlaceFlags & JsonToo & { dryRun?: boolean; force?: boolean };

export const STORE_VERBS = {
  async data(contexts: Contexts, flags: Flags, [id, key, path]: [string, ...string[]]) {
    const context = await contexts.get((await findContext(contexts.store, id, flags)).id);
    if (key !== undefined) {
      const value = await context.read(key, path);
      if (value === undefined)
        throw new HoldfastError(
          "not_found",
          `${key}${path ? ` ${path}` : ""} is not there: see \`holdfast contexts data ${context.id}\``,
        );
      process.stdout.write(`${JSON.stringify(value, null, flags.json ? undefined : 2)}\n`);
      return;
    }
    const all = await context.list();
    if (flags.json) return print(all);
    if (all.length === 0) process.stderr.write(`Nothing is shared in ${context.id}.\n`);
    for (const one of all) {
      process.stdout.write(
        `${oneLine(one.key, 40).padEnd(30)} ${one.type.padEnd(8)} ${String(one.bytes).padStart(10)} bytes  v${one.version}  ${oneLine(one.author, 20)}\n`,
      );
    }
  },
  async resumable(contexts: Contexts, flags: Flags) {
    const all = await contexts.resumable();
    if (flags.json) return print(all);
    if (all.length === 0) process.stderr.write("Nothing waits to be taken up.\n");
    for (const one of all) {
      const name = one.checkpoint?.name ?? "–";
      process.stdout.write(
        `${one.id}  ${one.status.padEnd(11)} ${new Date(one.interruptedAt).toISOString()}  ${oneLine(name, 30)}  ${oneLine(one.title, 50)}\n`,
      );
    }
  },
  async export(contexts: Contexts, flags: Flags, [id, file]: [string, string, ...string[]]) {
    const done = await contexts.export((await findContext(contexts.store, id, flags)).id, file);
    if (flags.json) return print(done);
    process.stdout.write(
      `${done.file}: ${done.events} events, ${done.blobs} blobs, ${done.bytes} bytes\n${done.hash}\n`,
    );
  },
  async import(contexts: Contexts, flags: Flags, [file]: [string, ...string[]]) {
    const { root } = await projectOf(flags);
    const done = await contexts.import(file, { root });
    if (flags.json) return print(done);
    process.stdout.write(
      `${done.id}${done.id === done.from ? "" : ` (was ${printable(done.from)})`}: ${done.events} events, ${done.blobs} blobs\n${done.hash}\n`,
    );
  },
  async gc(contexts: Contexts, flags: Flags) {
    const report = await contexts.gc({ dryRun: flags.dryRun, defaultTtlMs: await ttlOf(flags) });
    const removed = flags.dryRun ? [] : report.removed.map(({ id }) => id);
    if (removed.length > 0) forgetHookFiles((await projectOf(flags)).stateDir, removed);
    if (flags.json) return print(report);
    for (const { id, title, bytes } of report.removed)
      process.stdout.write(`${flags.dryRun ? "would go" : "removed"}  ${id}  ${bytes} bytes  ${oneLine(title, 50)}\n`);
    for (const { id, reason } of report.kept) process.stdout.write(`kept  ${id}: ${oneLine(reason)}\n`);
    const { length } = report.removed;
    process.stdout.write(
      `${flags.dryRun ? "would go: " : ""}${counted(length, "context")} and ${report.blobs} values that nothing names, ${report.bytes} bytes\n`,
    );
  },
  async rm(contexts: Contexts, flags: Flags, [given]: [string, ...string[]]) {
    const info = await findContext(contexts.store, given, flags);
    if (!flags.force && !(await isMeant(info))) return void process.stderr.write("Nothing was removed.\n");
    await contexts.delete(info.id);
    forgetHookFiles((await projectOf(flags)).stateDir, [info.id]);
    if (flags.json) print({ id: info.id, removed: true });
    else process.stdout.write(`Removed ${info.id}\n`);
  },
};

/** It cannot be taken back: a person is asked, and a script says that it means it. */
async function isMeant({ id, title, rounds, status }: ContextInfo): Promise<boolean> {
  const what = `${id} (${oneLine(title, 60)}; ${counted(rounds, "round")}, ${status})`;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new HoldfastError(
      "invalid",
      `${what} would be gone for good: add --force, or keep a copy with \`holdfast contexts export ${id} FILE\``,
    );
  const { askYesOrNo } = await import("../ask-yes-or-no.ts");
  return askYesOrNo(`Remove ${what}? It cannot be taken back.`);
}

/** What the user's settings say about contexts that say nothing themselves. */
async function ttlOf(flags: Flags): Promise<number | undefined> {
  const project = await projectOf(flags);
  const { settings, warnings } = await loadSettings({
    root: project.root,
    ...settingsPlaces(),
    trust: trustOf(flags, project),
  });
  for (const line of warnings) process.stderr.write(`holdfast: ${oneLine(line, 300)}\n`);
  return settings.contexts.ttlMs;
}

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
