// `holdfast contexts show CONTEXT --at SEQ`: the context as it was when that event had just happened, as the monitor shows it.
import type { ContextInfo } from "../../contexts/listing.ts";
import { readContextAt } from "../../front/past/context-past.ts";
import { pastFold } from "../../front/past/past-fold.ts";
import { atLines } from "../../front/past/text.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { oneLine } from "../../front/presentation/printable.ts";
import { pastOf } from "../../front/text/past-output.ts";
import { mechanismsOf } from "../../harness.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { Seq, Store } from "../../ledger/store.ts";
import { readers } from "../../loop/host.ts";
import type { JsonToo, PlaceFlags } from "../flags.ts";

/** Of the transcript: the whole is what `contexts show` prints. */
const LAST_LINES = 20;

interface Shown {
  store: Store;
  info: ContextInfo;
  root: string;
  jobsDir: string;
}

export async function showAt(
  flags: PlaceFlags & JsonToo & { at: string },
  { store, info: { id }, root, jobsDir }: Shown,
): Promise<number> {
  const seq = seqIn(flags.at, { id, head: await store.head(id) });
  const mechanisms = mechanismsOf({ root, jobsDir });
  const { codec } = readers(mechanisms);
  const then = await readContextAt({ store, id, codec, fold: pastFold(mechanisms) }, seq);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(then)}\n`);
    return 0;
  }
  const transcript: string[] = [];
  for await (const line of pastOf(store, { name: id, state: { seq } }, codec)) transcript.push(line);
  const fork = commandLine(["contexts", "fork", id, String(seq)], flags);
  const lines = [`${id} at event ${seq} of ${then.head}`, ...atLines(then, { fork }), "", "transcript up to then:"];
  process.stdout.write(`${[...lines, ...transcript.slice(-LAST_LINES)].join("\n")}\n`);
  return 0;
}

function seqIn(given: string, { id, head }: { id: string; head: Seq }): Seq {
  const seq = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (seq >= 1 && seq <= head) return seq;
  throw new HoldfastError(
    "invalid",
    `--at takes the number of an event of ${id}, 1 to ${head}, not "${oneLine(given, 30)}"`,
  );
}
