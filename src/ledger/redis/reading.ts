// Reading: pages of events, each checked against the one before it; ledgers by name; who is due.
import { isWake } from "../draft.ts";
import type { LedgerSummary, ListOptions, Seq, Store, StoredEvent, Wake } from "../store.ts";
import { summaryFrom } from "./append.ts";
import { chainHolds, damagedHere, type Entry, eventOf, streamEntry } from "./entries.ts";
import type { RedisLink } from "./link.ts";

const EVENTS_AT_ONCE = 256;
const LEDGERS_AT_ONCE = 500;

interface Page {
  head: Seq;
  /** What the first event is chained to: another one when the ledger was removed and begun again. */
  origin: string;
  sum: string;
  /** What the first event of the page is chained to; empty: that event is missing. */
  previous: string;
  entries: (Entry | undefined)[];
}

async function readPage(
  link: RedisLink,
  ledger: string,
  { after, upTo }: { after: Seq; upTo?: Seq | undefined },
): Promise<Page | undefined> {
  const args = [link.prefix, ledger, String(after), upTo === undefined ? "+" : String(upTo), String(EVENTS_AT_ONCE)];
  const answer = await link.step("read", args);
  if (!Array.isArray(answer)) return undefined;
  const [head, origin, sum, previous, entries] = answer;
  return {
    head: Number(head),
    origin: String(origin),
    sum: String(sum),
    previous: String(previous),
    entries: Array.isArray(entries) ? entries.map(streamEntry) : [],
  };
}

/** Contract: throws `damaged` with the seq of the first event that is missing or does not follow from its predecessor. */
export async function* readEntries(
  link: RedisLink,
  ledger: string,
  range: { after?: Seq | undefined; upTo?: Seq | undefined } = {},
): AsyncGenerator<Entry> {
  let at = range.after ?? 0;
  let before: { sum: string; origin: string } | undefined;
  let to: number | undefined;
  while (to === undefined || at < to) {
    if (range.upTo !== undefined && at >= range.upTo) return;
    const page = await readPage(link, ledger, { after: at, upTo: to ?? range.upTo });
    if (!page || (before && before.origin !== page.origin)) return; // removed meanwhile
    to ??= Math.min(range.upTo ?? page.head, page.head);
    if (at >= to) return;
    const broken = (seq: Seq, what: string) => damagedHere({ ledger, seq, what });
    let previous = before?.sum ?? page.previous;
    if (previous === "") throw broken(at, "the event is missing");
    if (page.entries.length === 0) throw broken(at + 1, "the event is missing");
    for (const one of page.entries) {
      if (at >= to) return;
      if (one?.seq !== at + 1) throw broken(at + 1, "the event is missing");
      if (!chainHolds(previous, one)) throw broken(one.seq, "the event fails its checksum");
      if (one.seq === page.head && one.sum !== page.sum)
        throw broken(one.seq, "it is not the event that the ledger ends with");
      previous = one.sum;
      at = one.seq;
      yield one;
    }
    before = { sum: previous, origin: page.origin };
  }
}

type ReadOptions = NonNullable<Parameters<Store["read"]>[1]>;

export async function* readLedger(
  link: RedisLink,
  ledger: string,
  opts: ReadOptions = {},
): AsyncGenerator<StoredEvent> {
  const { actor, types } = opts;
  for await (const entry of readEntries(link, ledger, opts)) {
    if (actor !== undefined && entry.actor !== actor) continue;
    if (types !== undefined && !types.includes(entry.type)) continue;
    yield eventOf(ledger, entry);
  }
}

export async function findEvent(link: RedisLink, ledger: string, id: string): Promise<StoredEvent | undefined> {
  const answer = await link.step("find", [link.prefix, ledger, id]);
  if (!Array.isArray(answer)) return undefined;
  const entry = streamEntry(answer);
  if (!entry)
    throw damagedHere({
      ledger,
      seq: Number.parseInt(String(answer[0]), 10),
      what: "an event that is known by its id is missing",
    });
  return eventOf(ledger, entry);
}

export async function* listLedgers(
  link: RedisLink,
  { prefix = "", after = "", limit = Number.POSITIVE_INFINITY }: ListOptions = {},
): AsyncGenerator<LedgerSummary> {
  let from = Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0 && after !== "" ? `(${after}` : `[${prefix}`;
  for (let left = limit; left > 0; ) {
    const most = Math.min(left, LEDGERS_AT_ONCE);
    const answer = await link.step("list", [link.prefix, from, String(most)]);
    const page = Array.isArray(answer) ? answer.map(listed) : [];
    for (const one of page) {
      if (!one.ledger.startsWith(prefix)) return; // those with the prefix stand together
      yield one;
    }
    const last = page.at(-1);
    if (!last || page.length < most) return;
    from = `(${last.ledger}`;
    left -= page.length;
  }
}

function listed(row: unknown): LedgerSummary {
  const [ledger, head, createdAt, updatedAt, said] = Array.isArray(row) ? row : [];
  return {
    ledger: String(ledger),
    head: Number(head),
    createdAt: Number(createdAt),
    updatedAt: Number(updatedAt),
    summary: summaryFrom(Array.isArray(said) ? said.map(String) : []),
  };
}

export async function wakesDue(link: RedisLink, now: number): Promise<Wake[]> {
  const answer = await link.command(["ZRANGEBYSCORE", `${link.prefix}wakes`, "-inf", String(now), "WITHSCORES"]);
  const texts: string[] = Array.isArray(answer) ? answer.map(String) : [];
  const wakes: Wake[] = [];
  for (let i = 0; i + 1 < texts.length; i += 2) {
    const wake = wakeFrom(texts[i] ?? "", Number(texts[i + 1]));
    if (wake) wakes.push(wake);
    else link.passedOver("a row that says who is due cannot be read");
  }
  return wakes;
}

/** Contract: undefined where it is none that an append would have written. */
function wakeFrom(member: string, dueAt: number): Wake | undefined {
  try {
    const [context, agent, by, ...more]: unknown[] = JSON.parse(member);
    if (typeof context !== "string" || typeof by !== "string" || (agent !== null && typeof agent !== "string"))
      return undefined;
    return more.length === 0 && isWake({ context, agent, by, dueAt }) ? { context, agent, by, dueAt } : undefined;
  } catch {
    return undefined;
  }
}

/** The rows of who is due that cannot be read, as they stand there. */
export async function unreadWakes(link: RedisLink): Promise<string[]> {
  const answer = await link.command(["ZRANGE", `${link.prefix}wakes`, "0", "-1", "WITHSCORES"]);
  const texts: string[] = Array.isArray(answer) ? answer.map(String) : [];
  return texts.filter((text, i) => i % 2 === 0 && !wakeFrom(text, Number(texts[i + 1])));
}

/** Of `HGETALL`. */
export function fieldsOf(answer: unknown): Record<string, string> {
  const texts: string[] = Array.isArray(answer) ? answer.map(String) : [];
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < texts.length; i += 2) pairs.push([texts[i] ?? "", texts[i + 1] ?? ""]);
  return Object.fromEntries(pairs);
}
