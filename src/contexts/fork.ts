// Forks: a second ledger that begins as a copy of the first up to a checkpoint, or to the place before any event from which its lead can go on. Values are shared as blobs; neither needs the other to live.
import { HoldfastError } from "../ledger/error.ts";
import { newId } from "../ledger/id.ts";
import type { EventInput, Seq, StoredEvent, Write } from "../ledger/store.ts";
import { authorize, type Writer } from "./authority.ts";
import { checkpointEvent, findCheckpoint } from "./checkpoints.ts";
import { type ContextLedger, openContextLedger } from "./context-ledger.ts";
import type { FoldState } from "./fold.ts";
import { forkPlaceAt } from "./fork-place.ts";
import { type ForkOrigin, LEAD_AGENT, type Summary } from "./listing.ts";
import { CONFIG } from "./new-context.ts";
import type { Checker } from "./schemas.ts";
import { removedEvent, sharedEvent, withQuota } from "./shared-data.ts";
import { encodeValue } from "./values.ts";

export interface ForkOptions {
  title?: string;
  author?: string;
}

/** `null` removes a key. */
export type ForkChanges = Record<string, unknown>;

/** Contract: one transaction; the parent is as it was, but for the checkpoint made when none is named. */
export async function forkContext(
  ledger: ContextLedger,
  checker: Checker,
  opts: { checkpoint?: string | Seq; changes?: ForkChanges; title?: string; author: string; writer: Writer },
): Promise<string> {
  const { author, changes = {} } = opts;
  let wanted = opts.checkpoint;
  if (wanted === undefined) {
    const [made] = await ledger.decide(() => ({
      events: [checkpointEvent({ name: "before a fork", auto: true }, author)],
    }));
    wanted = made!.seq;
  }
  const state = await ledger.catchUp();
  const { from, guard } = await placeIn(ledger, state, wanted);
  const { checkpoint, goesOn } = from;
  const title = opts.title ?? `${state.title || state.config.task} (fork at ${checkpoint})`;

  const copies: EventInput[] = [];
  for await (const event of ledger.store.read(ledger.id, { upTo: from.seq })) copies.push(copyOf(event));
  if (copies.length !== from.seq)
    throw new HoldfastError("not_found", `${ledger.id} is gone: there is nothing to fork`);
  const { state: then } = await openContextLedger(ledger.store, ledger.id, { upTo: from.seq });
  const forked: EventInput = {
    type: "context.forked",
    actor: author,
    touches: [CONFIG],
    data: { ...from, title },
  };
  // The folder may have moved since the checkpoint: the fork works where it is now.
  const data = { from: then.root, to: state.root };
  const moved = then.root === state.root ? [] : [{ type: "context.moved", actor: author, touches: [CONFIG], data }];
  const { edits, blobs } = await editsOf(changes, { then, checker, author, writer: opts.writer });
  const id = newId("ctx");
  const open = goesOn ? { open: true, busy: [LEAD_AGENT] } : { open: false };
  const summary: Summary = { title, root: state.root, ...open, reason: null, forkOf: from, rounds: 0 };
  const child: Write = {
    ledger: id,
    events: [...copies, forked, ...moved, ...edits],
    summary: { ...summary, ...(then.config.ttlMs !== undefined && { ttlMs: then.config.ttlMs }) },
  };
  // Only guards: while the parent stands, nothing that its events name can have been collected.
  const parent: Write = { ledger: ledger.id, events: [], expect: guard };
  await ledger.store.append([parent, child], { blobs });
  return id;
}

/** `guard`: what stands as long as the context does. */
async function placeIn(
  ledger: ContextLedger,
  state: FoldState,
  wanted: string | Seq,
): Promise<{ from: ForkOrigin; guard: Record<string, Seq> }> {
  if (typeof wanted === "string" || state.checkpoints.some((one) => one.seq === wanted)) {
    const { name, seq } = findCheckpoint(state, wanted);
    const newest = findCheckpoint(state, name);
    return { from: { context: ledger.id, checkpoint: name, seq }, guard: { [`checkpoint:${name}`]: newest.seq } };
  }
  const guard = { [CONFIG]: await ledger.store.version(ledger.id, CONFIG) };
  const { seq, round } = await forkPlaceAt(ledger.store, ledger.id, wanted);
  const goesOn = round === undefined ? {} : { goesOn: true as const };
  return { from: { context: ledger.id, checkpoint: `event ${seq}`, seq, ...goesOn }, guard };
}

/** Contract: refused as a write to the context at that checkpoint would be. */
async function editsOf(
  changes: ForkChanges,
  { then, checker, author, writer }: { then: FoldState; checker: Checker; author: string; writer: Writer },
): Promise<{ edits: EventInput[]; blobs: Uint8Array[] }> {
  const edits: EventInput[] = [];
  const blobs: Uint8Array[] = [];
  for (const [key, value] of Object.entries(changes)) {
    authorize(then, writer, key, value === null ? "remove" : "set");
    if (value === null) {
      checker.removal(then, key);
      edits.push(removedEvent(key, { author }));
      continue;
    }
    const { facts, blob } = encodeValue(key, value);
    await checker.value(then, key, value);
    const edit = sharedEvent(key, facts, { author });
    withQuota(then, [{ key, bytes: facts.bytes, replaces: true }], { events: [edit] });
    edits.push(edit);
    if (blob) blobs.push(blob);
  }
  return { edits, blobs };
}

function copyOf({ id, type, v, actor, touches, data, at }: StoredEvent): EventInput {
  return { id, type, v, actor, touches, data, at };
}
