// `holdfast backup now|run|ls|restore|schedules|drill|prune`: copies of this project's state in a bucket or a folder.
import { resolve } from "node:path";
import { STRANGE_NAME } from "../../backup/ledger-names.ts";
import { type BackupReport, makeBackup } from "../../backup/make-backup.ts";
import { sweepTemporary } from "../../backup/temporary-folder.ts";
import type { Vault } from "../../backup/vault.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { age, escapedName, listing, printable } from "../../front/presentation/printable.ts";
import { isHoldfastError } from "../../ledger/error.ts";
import { counted } from "../../text/counted.ts";
import { type BackupFlags, backupSettings, openVaultFor, timeFlag } from "../backup-place.ts";
import type { JsonToo } from "../flags.ts";
import { type OpenState, withState } from "../open.ts";
import { createProgressBar } from "../progress.ts";

type Flags = BackupFlags & JsonToo;
type At = { at?: string | undefined };

const print = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const say = (line: string): void => void process.stdout.write(`${printable(line)}\n`);

export const filesDirOf = ({ project }: Pick<OpenState, "project">): string => `${project.stateDir}/files`;

export const now = (flags: Flags & { anew: boolean }, given: string | undefined): Promise<number> =>
  withState(flags, async (state) => {
    const vault = await openVaultFor(flags, state.project, { given, write: true });
    const bar = createProgressBar("backup");
    sweepTemporary();
    const of = { store: state.store, vault, path: state.project.top, filesDir: filesDirOf(state) };
    const made = await interruptible((signal) =>
      makeBackup({ ...of, anew: flags.anew, progress: bar.update, signal }),
    ).finally(bar.end);
    if (!made) return INTERRUPTED;
    const { report } = made;
    if (flags.json) print({ place: vault.place.shown, ...report });
    else say(backupText(report, vault.place.shown));
    for (const line of doubts(report)) process.stderr.write(`holdfast: ${printable(line)}\n`);
    sayStrays(vault);
    return report.damage.length + report.strange.length > 0 || report.vanished ? 1 : 0;
  });

const STRAYS_SHOWN = 5;

/** Whoever may write to a place may put anything there: it is named, and stops nobody. */
function sayStrays({ strays, place }: Vault): void {
  const names = [...strays];
  const more = names.length > STRAYS_SHOWN ? ` and ${names.length - STRAYS_SHOWN} more` : "";
  if (names.length === 0) return;
  const list = names.slice(0, STRAYS_SHOWN).map(escapedName).join(", ");
  process.stderr.write(`holdfast: passed over in ${printable(place.shown)}, none of ours: ${list}${more}\n`);
}

export function backupText(report: BackupReport, place: string): string {
  const { manifest, newEvents, newBlobs, bytes, ledgers } = report;
  if (manifest === undefined)
    return `Nothing has changed since the last backup to ${place}: ${counted(ledgers, "ledger")}`;
  const what = [counted(newEvents, "new event"), ...(newBlobs > 0 ? [counted(newBlobs, "value")] : [])].join(", ");
  return `Backup ${manifest} in ${place}: ${what}, ${sizeText(bytes)}; ${counted(ledgers, "ledger")} in all`;
}

/** What a person should know of a backup that was made. */
export function doubts({ damage, replaced, strange, vanished, oneMoment }: BackupReport): string[] {
  return [
    ...(vanished
      ? [
          `${counted(vanished.ledgers.length, "ledger")} that ${vanished.ledgers.length === 1 ? "was" : "were"} backed up, and that nobody removed, ${vanished.ledgers.length === 1 ? "is" : "are"} gone from the store (${namesOf(vanished.ledgers)}): backup ${vanished.lastIn} has them last, and no prune takes it`,
        ]
      : []),
    ...strange.map((ledger) => `${ledger} is not backed up: ${STRANGE_NAME}; find out who wrote it`),
    ...damage.map(
      ({ ledger, seq, what }) =>
        `${ledger ?? "the store"} is damaged from event ${seq ?? "?"} (${what}): backed up as far as before; see \`holdfast contexts verify\``,
    ),
    ...replaced.map((ledger) => `${ledger} has another past than in the last backup: both are kept`),
    ...(oneMoment ? [] : ["somebody wrote all the time: ledgers are backed up each as of its own moment"]),
  ];
}

function sizeText(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, "byte");
  return bytes < 1_000_000 ? `${Math.round(bytes / 100) / 10} kB` : `${Math.round(bytes / 100_000) / 10} MB`;
}

export const ls = (flags: Flags, given: string | undefined): Promise<number> =>
  withState(flags, async ({ project }) => {
    const { listManifests, readManifest } = await import("../../backup/manifest.ts");
    const vault = await openVaultFor(flags, project, { given });
    const all = await listManifests(vault);
    sayStrays(vault);
    const newest = all.at(-1);
    const read = newest && (await readManifest(vault, newest, all));
    if (flags.json) {
      print(all.map(({ id, at, bytes, full }) => ({ id, at, bytes, ...(full !== undefined && { full }) })));
      return 0;
    }
    if (!read)
      process.stderr.write(`No backup yet: make one with ${commandLine(nowWords(flags, vault.place.shown), flags)}\n`);
    else
      process.stdout.write(
        listing(
          ["BACKUP", "AGE", "MANIFEST"],
          all.toReversed().map(({ id, at, bytes }) => [id, age(at), sizeText(bytes)]),
        ),
      );
    if (read?.kind === "whole") {
      const { ledgers, project: of } = read.written.manifest;
      const events = [...ledgers.values()].reduce((sum, { head }) => sum + head, 0);
      say(
        `The newest: ${counted(ledgers.size, "ledger")}, ${counted(events, "event")}, of ${of.path} (project ${of.id})`,
      );
    } else if (read)
      process.stderr.write(`holdfast: the newest cannot be read: ${printable(read.name)} is ${read.kind}\n`);
    return 0;
  });

export const restore = (flags: Flags & At & { partial: boolean }, given: string | undefined): Promise<number> =>
  withState(
    flags,
    async (state) => {
      const { store, project } = state;
      const [{ restoreBackup, lossText }, { restoredSchedules, scheduleLines }] = await Promise.all([
        import("../../backup/restore.ts"),
        import("../restored-schedules.ts"),
      ]);
      const vault = await openVaultFor(flags, project, { given });
      const bar = createProgressBar("restore");
      const { at, partial } = flags;
      const keyFile = flags.keyFile === undefined ? {} : { keyFile: resolve(flags.keyFile) };
      const to = { to: store, path: project.top, filesDir: filesDirOf(state) };
      const of = { vault, ...to, partial, progress: bar.update, ...keyFile };
      const done = await interruptible((signal) =>
        restoreBackup({ ...of, ...(at !== undefined && { at }), signal }),
      ).finally(bar.end);
      if (!done) return INTERRUPTED;
      const { heads, ...report } = done;
      const schedules = await restoredSchedules(state, flags);
      if (flags.json) print({ ...report, heads, schedules });
      else {
        const { contexts, events, blobs, packs } = report;
        say(
          `Restored backup ${report.manifest} (${age(report.at)} old): ${counted(contexts, "context")}, ${counted(events, "event")}, ${counted(blobs, "value")}, ${counted(packs, "pack")} of checkpoint files`,
        );
        if (report.goneOn) say(`It was begun before, and went on${newerText(report.goneOn)}`);
        say("Nothing of it starts by itself: jobs, teammates, questions and schedules stay with the original.");
        scheduleLines(schedules).forEach(say);
        if (schedules.length > 0) say(`To see them again: ${commandLine(["backup", "schedules"], flags)}`);
      }
      sayStrays(vault);
      for (const loss of report.losses) process.stderr.write(`holdfast: not restored: ${printable(lossText(loss))}\n`);
      for (const { id, why } of report.passedOver)
        process.stderr.write(`holdfast: backup ${id} cannot be read: ${printable(why)}\n`);
      for (const { ledger, from, to } of report.beyond)
        process.stderr.write(
          `holdfast: ${printable(ledger)}: events ${from} to ${to} lie there without a manifest: of a backup that did not end, or a newer one that was removed\n`,
        );
      return report.losses.length > 0 || report.passedOver.length > 0 ? 1 : 0;
    },
    { restoring: true },
  );

const newerText = ({ newer }: { newer?: string }): string =>
  newer === undefined
    ? ""
    : `: a newer backup, ${newer}, is there: restore it into another folder, or with --state DIR`;

export const drill = (flags: Flags & At, given: string | undefined): Promise<number> =>
  withState(flags, async ({ store, project }) => {
    const [{ runDrill }, { lossText }] = await Promise.all([
      import("../../backup/drill.ts"),
      import("../../backup/restore.ts"),
    ]);
    const vault = await openVaultFor(flags, project, { given });
    const bar = createProgressBar("drill");
    const at = flags.at === undefined ? {} : { at: flags.at };
    const of = { vault, store, path: project.top, progress: bar.update, ...at };
    const report = await interruptible((signal) => runDrill({ ...of, signal }))
      .catch((error: unknown) => {
        if (isHoldfastError(error, "disk")) return { unjudged: error.message };
        throw error;
      })
      .finally(bar.end);
    if (!report) return INTERRUPTED;
    sayStrays(vault);
    if ("unjudged" in report) {
      process.stderr.write(`holdfast: ${printable(report.unjudged)}\n`);
      return UNJUDGED;
    }
    if (flags.json) print(report);
    else {
      const { restored, same, removedSince, differences, missing, absent } = report;
      const { shown } = vault.place;
      if (missing !== undefined)
        say(
          `missing: backup ${missing}, the last that was made from here, is not in ${shown} any more, nor a newer one`,
        );
      if (absent.length > 0)
        say(`missing: ${counted(absent.length, "ledger")} of here that should be in it: ${namesOf(absent)}`);
      for (const loss of restored.losses) say(`lost: ${lossText(loss)}`);
      for (const { id, why } of restored.passedOver) say(`backup ${id} cannot be read: ${why}`);
      for (const { ledger, seq, what } of differences) say(`differs: ${ledger} at event ${seq}: ${what}`);
      const gone = removedSince.length > 0 ? `, ${removedSince.length} removed here since` : "";
      const isWhole = [restored.losses, restored.passedOver, differences].every((one) => one.length === 0);
      const wanting = report.ok ? "" : ", but is not all that there was";
      const verdict = isWhole ? `can be restored${wanting}` : "cannot be restored whole";
      say(
        `Backup ${restored.manifest} ${verdict}: ${counted(same, "ledger")} the same as here${gone}; ${counted(restored.events, "event")}`,
      );
      if (!report.ok) say(`A whole one is made with: ${commandLine([...nowWords(flags, shown), "--anew"], flags)}`);
    }
    return report.ok ? 0 : 1;
  });

const namesOf = (names: readonly string[]): string =>
  names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");

export const pruneOld = (
  flags: Flags & { keep?: string | undefined; dryRun: boolean; force: boolean },
  given: string | undefined,
): Promise<number> =>
  withState(flags, async ({ store, project }) => {
    const { prune } = await import("../../backup/prune.ts");
    const settings = await backupSettings(flags, project);
    const vault = await openVaultFor(flags, project, { given, settings });
    const keepMs = timeFlag("keep", flags.keep) ?? settings.keepMs ?? DEFAULT_KEEP_MS;
    const report = await prune({ vault, store, keepMs, dryRun: flags.dryRun, force: flags.force });
    sayStrays(vault);
    if (flags.json) print(report);
    else {
      const done = flags.dryRun ? "would go" : "removed";
      for (const id of report.removed) say(`${done}  ${id}`);
      say(
        `${done}: ${counted(report.removed.length, "backup")}, ${counted(report.objects, "object")}, ${sizeText(report.bytes)}; ${counted(report.kept, "backup")} kept`,
      );
      for (const id of report.held)
        say(`stays    ${id}: the last that has ledgers that vanished from the store; --force lets it go`);
      if (report.doubt !== undefined) process.stderr.write(`holdfast: ${printable(report.doubt)}\n`);
    }
    return 0;
  });

const DEFAULT_KEEP_MS = 30 * 86_400_000;
export const DEFAULT_EVERY_MS = 10_000;

export const follow = (
  flags: Flags & { every?: string | undefined; keep?: string | undefined; quiet: boolean },
  given: string | undefined,
): Promise<number> =>
  withState(
    flags,
    async (state) => {
      const { keepBackedUp } = await import("../../backup/keep-backed-up.ts");
      const settings = await backupSettings(flags, state.project);
      const vault = await openVaultFor(flags, state.project, { given, write: true, settings });
      const keepMs = timeFlag("keep", flags.keep) ?? settings.keepMs;
      const show = (report: BackupReport) => {
        if (flags.json) print({ place: vault.place.shown, ...report });
        else if (!flags.quiet) say(backupText(report, vault.place.shown));
        for (const line of doubts(report)) process.stderr.write(`holdfast: ${printable(line)}\n`);
      };
      const going = keepBackedUp({
        ...{ store: state.store, vault, path: state.project.top, filesDir: filesDirOf(state) },
        everyMs: timeFlag("every", flags.every) ?? settings.everyMs ?? DEFAULT_EVERY_MS,
        ...(keepMs !== undefined && { keepMs }),
        onBackup: show,
        onProblem: (line) => process.stderr.write(`holdfast: ${printable(line)}\n`),
      });
      await askedToEnd();
      await going.stop();
      return 0;
    },
    { patient: true },
  );

const INTERRUPTED = 130;
/** A drill that could not be made says nothing of the backup: 1 is "not whole". */
const UNJUDGED = 2;
const SIGNALS: NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Ctrl-C ends it cleanly, so that nothing temporary is left; twice leaves at once. Undefined: it was interrupted. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const over = new AbortController();
  const end = () => (over.signal.aborted ? process.exit(INTERRUPTED) : over.abort());
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work(over.signal);
  } catch (error) {
    if (!over.signal.aborted) throw error;
    process.stderr.write("Interrupted: the same command goes on.\n");
    return undefined;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
  }
}

async function askedToEnd(): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const end = () => asked.resolve();
  for (const signal of SIGNALS) process.on(signal, end);
  // Neither a handler of signals nor a store that is watched keeps a process: without this it would end here, silently.
  const stay = setInterval(() => undefined, 60_000);
  await asked.promise;
  clearInterval(stay);
  for (const signal of SIGNALS) process.off(signal, end);
}

export const nowWords = ({ keyFile }: BackupFlags, place: string): string[] => [
  ...["backup", "now", place],
  ...(keyFile === undefined ? [] : ["--key-file", resolve(keyFile)]),
];
