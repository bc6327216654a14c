// `holdfast replay`: runs the loop of this build over what was recorded, and says where it would do otherwise. Nothing is written.
import { existsSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { type ContextInfo, listContexts } from "../../contexts/listing.ts";
import { oneLine, printable } from "../../front/presentation/printable.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { openStore } from "../../ledger/open-store.ts";
import { own } from "../../ledger/own.ts";
import type { Store } from "../../ledger/store.ts";
import {
  againstExpected,
  differenceText,
  expectedBeside,
  goneText,
  houseOf,
  type Replayed,
  readExpected,
  readRecording,
  recordedFixture,
  replayEvents,
  replayFixture,
} from "../../replay/index.ts";
import { counted } from "../../text/counted.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";
import { findContext, projectOf } from "../open.ts";

type Flags = PlaceFlags & JsonToo & { all: boolean; since: string | undefined };

/** Contract: 0 where all is the same, 1 where something differs. */
export async function replay(flags: Flags, id: string | undefined): Promise<number> {
  if ((id === undefined) !== flags.all)
    throw new HoldfastError(
      "invalid",
      "replay needs a CONTEXT, a FILE, or --all: use: holdfast replay [CONTEXT|FILE] [--all]",
    );
  const since = sinceOf(flags);
  if (id !== undefined && isRecordingFile(id)) return replayFile(flags, id);
  return reading(flags, async (store) => {
    const which = id === undefined ? await newer(store, since) : [await findContext(store, id, flags)];
    const all: Replayed[] = [];
    for (const { id: context } of which) all.push(await replayed(store, context));
    if (flags.json) process.stdout.write(`${JSON.stringify(all)}\n`);
    else for (const one of all) process.stdout.write(reportOf(one));
    if (flags.all && !flags.json) process.stdout.write(`${totalOf(all)}\n`);
    return all.some(({ differences }) => differences.length > 0) ? 1 : 0;
  });
}

const isRecordingFile = (given: string): boolean =>
  given.endsWith(".jsonl") || (statSync(given, { throwIfNoEntry: false })?.isFile() ?? false);

/** A recording for tests, as `replays` of holdfast/testing runs it: what is listed beside it as expected is no difference. */
async function replayFile({ json }: JsonToo, file: string): Promise<number> {
  const { differences, ...replayed } = await replayFixture(file);
  const { unexpected, gone } = againstExpected(differences, await readExpected(file));
  const done = { file, ...replayed, differences: unexpected, gone };
  const more = gone.map((one) => `${goneText(one, expectedBeside(file))}\n`).join("");
  process.stdout.write(
    json ? `${JSON.stringify([done])}\n` : `${reportOf(done, oneLine(file, 200))}${printable(more)}`,
  );
  return unexpected.length + gone.length > 0 ? 1 : 0;
}

/** `holdfast contexts export CONTEXT FILE --as-test`. */
export async function exportAsTest(flags: PlaceFlags & JsonToo, id: string, file: string): Promise<number> {
  return reading(flags, async (store) => {
    const { id: context } = await findContext(store, id, flags);
    const { text, events } = await recordedFixture(store, context);
    await writeFile(file, text, { flag: "wx" }).catch((error: unknown) => {
      throw new HoldfastError("invalid", `${file} cannot be written, or is there already: give another name`, {
        cause: error,
      });
    });
    const done = { context, file, events, bytes: Buffer.byteLength(text) };
    process.stdout.write(
      flags.json ? `${JSON.stringify(done)}\n` : `${file}: ${counted(events, "event")}, ${done.bytes} bytes\n`,
    );
    return 0;
  });
}

async function reading<T>(flags: PlaceFlags, work: (store: Store) => Promise<T>): Promise<T> {
  const { ledgers } = await projectOf(flags);
  if ("file" in ledgers && !existsSync(ledgers.file))
    throw new HoldfastError("not_found", "there is no context here yet");
  const store = await openStore(ledgers, { readOnly: true });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function replayed(store: Store, context: string): Promise<Replayed> {
  const events = await readRecording(store, houseOf().codec, context);
  return replayEvents(context, events, { blob: (hash) => store.blob(hash) });
}

async function newer(store: Store, since: number): Promise<ContextInfo[]> {
  return (await listContexts(store)).filter(({ updatedAt }) => updatedAt >= since);
}

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

function sinceOf({ since, all }: Pick<Flags, "since" | "all">): number {
  if (since === undefined) return 0;
  if (!all) throw new HoldfastError("invalid", "--since goes with --all: it says which contexts");
  const [, amount, unit = ""] = /^(\d+)([mhdw])$/.exec(since) ?? [];
  const ms = Number(amount) * (own(UNITS, unit) ?? Number.NaN);
  if (Number.isNaN(ms))
    throw new HoldfastError("invalid", `--since ${oneLine(since, 30)}: give a time such as 30d or 12h`);
  return Date.now() - ms;
}

function reportOf({ context, events, compared, differences, unknown }: Replayed, of = context): string {
  const head = `${of}: ${counted(events, "event")}, ${compared} compared, ${counted(differences.length, "difference")}`;
  const why =
    unknown.length > 0
      ? [`  not compared: ${unknown.join(", ")} (recorded before Holdfast kept what decisions rest on)`]
      : [];
  return printable(`${[head, ...why, ...differences.map((one) => differenceText(one))].join("\n")}\n`);
}

function totalOf(all: readonly Replayed[]): string {
  const unlike = all.filter(({ differences }) => differences.length > 0).length;
  return `${counted(all.length, "context")} replayed, ${unlike} with differences`;
}
