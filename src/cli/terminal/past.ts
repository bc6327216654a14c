// What was before: the last lines of a context that is gone on with, the prompts that were typed, and all of it to scroll through.
import { type ContextInfo, listContexts } from "../../contexts/listing.ts";
import { createLineRenderer } from "../../front/presentation/lines.ts";
import { createPresenter } from "../../front/presentation/presenter.ts";
import { printable } from "../../front/presentation/printable.ts";
import type { Style } from "../../front/presentation/style.ts";
import { pastOf } from "../../front/text/past-output.ts";
import { isRecord } from "../../ledger/guards.ts";
import { openLedger } from "../../ledger/ledger.ts";
import { unspill } from "../../ledger/spill.ts";
import type { Seq } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import { counted } from "../../text/counted.ts";
import { ledgerReaders } from "../ledger-readers.ts";
import type { OpenState } from "../open.ts";

/** Of a context that is gone on with: so many lines, made of at most so many events. */
const SHOWN_LINES = 30;
const READ_EVENTS = 300;
const MOST_CONTEXTS = 20;
const MOST_PROMPTS = 200;

const readersOf = ({ project, jobsDir }: OpenState) => ledgerReaders({ root: project.root, jobsDir });

/** All that happened in it, as `contexts show` prints it. */
export async function wholePast(state: OpenState, context: string): Promise<string[]> {
  const { codec, fold } = await readersOf(state);
  const ledger = await openLedger({ store: state.store, name: context, codec, fold });
  const lines: string[] = [];
  for await (const line of pastOf(state.store, ledger, codec)) lines.push(line);
  return lines;
}

/** Its end, however long it is. */
export async function recentPast(state: OpenState, { id }: ContextInfo, style: Style): Promise<string[]> {
  const head = await state.store.head(id);
  const after: Seq = Math.max(0, head - READ_EVENTS);
  const { codec } = await readersOf(state);
  const presenter = createPresenter();
  const renderer = createLineRenderer({ style, lead: LEAD, past: true });
  let lines: string[] = [];
  let dropped = false;
  for await (const raw of state.store.read(id, { after })) {
    const { data } = await unspill(raw.data, state.store.blob);
    const decoded = codec.decode({ ...raw, data });
    if (!decoded.ok) continue;
    for (const block of presenter.fact(decoded.event)) if (block.kind !== "note") lines.push(...renderer.render(block));
    if (lines.length > 4 * SHOWN_LINES) {
      lines = lines.slice(-SHOWN_LINES);
      dropped = true;
    }
  }
  const isCut = dropped || after > 0 || lines.length > SHOWN_LINES;
  const above = isCut ? [style.dim(`▲ earlier (${counted(head, "event")} in all): /transcript`)] : [];
  return [...above, ...lines.slice(-SHOWN_LINES)];
}

/** What people typed in this project, the newest last, each once. */
export async function pastPrompts({ store }: OpenState): Promise<string[]> {
  const found: string[] = [];
  const contexts = (await listContexts(store)).filter(({ aside }) => !aside).slice(0, MOST_CONTEXTS);
  for (const { id } of contexts) {
    const here: string[] = [];
    for await (const { data, actor } of store.read(id, { types: ["input.received"] })) {
      const text = actor === "user" ? wordsOf(data) : "";
      if (text !== "") here.push(text);
    }
    found.unshift(...here);
    if (found.length > MOST_PROMPTS) break;
  }
  return [...new Set(found.toReversed())].toReversed().slice(-MOST_PROMPTS);
}

/** The words themselves, without what came with them. */
function wordsOf(data: unknown): string {
  const [first]: unknown[] = isRecord(data) && Array.isArray(data.content) ? data.content : [];
  return isRecord(first) && typeof first.text === "string" ? printable(first.text).trim() : "";
}
