// A phase over a list: one agent an item, each on its own; what is finished is not done again when others fail.

import type { AgentAnswer } from "../hub/port.ts";
import { HoldfastError, isHoldfastError, messageOf } from "../ledger/error.ts";
import { createSlots } from "../ledger/slots.ts";
import { callAgent } from "./agents.ts";
import { rootOf, valueAt } from "./condition.ts";
import type { Phase } from "./definition.ts";
import { type ItemsRecord, type PhaseRecord, saveRecord, settleItem } from "./records.ts";
import { causeOf, MOST_RENAMED, type Session } from "./session.ts";

/** How often other processes learn how far it is. */
const SAVE_EVERY_MS = 500;

/** Contract: `record.items` says how far it is also when this throws; throws when an item failed for good. */
export async function runItems(session: Session, phase: Phase, record: PhaseRecord): Promise<AgentAnswer> {
  const { context } = session;
  const { list, items } = await listOf(session, phase, record);
  items.done = 0;
  items.errors = {};
  await saveRecord(context, phase.id, record);
  const answers: AgentAnswer[] = [];
  const ownSlots = createSlots(phase.concurrency ?? Math.max(1, list.length));
  let savedAt = session.now();
  const saveSometimes = async (): Promise<void> => {
    if (session.now() - savedAt < SAVE_EVERY_MS) return;
    savedAt = session.now();
    await saveRecord(context, phase.id, record);
  };
  const work = list.map((item, index) =>
    ownSlots.run(() =>
      session.slots.run(async () => {
        if (session.signal.aborted) return;
        const answer = await runItem(session, phase, { record, items, item, index });
        if (!answer) return;
        answers[index] = answer;
        items.done++;
        await saveSometimes();
      }),
    ),
  );
  const settled = await Promise.allSettled(work);
  session.signal.throwIfAborted();
  const broken = settled.find((one) => one.status === "rejected");
  if (broken) throw broken.reason;
  const failed = Object.entries(items.errors);
  const [first] = failed;
  if (first) {
    const [index, why] = first;
    throw new HoldfastError(
      "invalid",
      `${failed.length} of ${list.length} items failed, the first is item ${index}: ${why}`,
    );
  }
  return joined(phase, answers);
}

async function runItem(
  session: Session,
  phase: Phase,
  { record, items, item, index }: { record: PhaseRecord; items: ItemsRecord; item: unknown; index: number },
): Promise<AgentAnswer | undefined> {
  const told = { kind: "item", phase: phase.id, index, total: items.total } as const;
  for (let left = phase.retry, renamed = 0; ; left--) {
    const agent = agentOf(phase.id, record.run, index, items);
    session.tell({ ...told, at: session.now(), state: "running", agent });
    try {
      const answer = await callAgent(session, phase, { agent, item: { item, index }, shares: items.total });
      await session.settling.run(() =>
        settleItem(session.context, phase, { agent, run: record.run, index, at: session.now() }, answer),
      );
      session.tell({ ...told, at: session.now(), state: "done", agent });
      return answer;
    } catch (error) {
      if (session.signal.aborted) return undefined;
      // The failed name is spent: durable before the next one begins.
      items.tries[index] = (items.tries[index] ?? 0) + 1;
      if (isHoldfastError(causeOf(error), "conflict") && renamed++ < MOST_RENAMED) {
        await saveRecord(session.context, phase.id, record);
        left++; // as for a phase: no try was made
        continue;
      }
      const why = messageOf(error);
      if (left <= 0) items.errors[index] = why;
      await saveRecord(session.context, phase.id, record);
      await session.context.logError({
        agent,
        message: `item ${index} of ${phase.id}: ${why}`,
        cause: causeOf(error) ?? error,
      });
      if (left > 0) {
        session.tell({ kind: "retry", at: session.now(), phase: phase.id, agent, error: why });
        continue;
      }
      session.tell({ ...told, at: session.now(), state: "failed", agent, error: why });
      return undefined;
    }
  }
}

/** `review.2.5`: run 2, item 5; `review.2.5.3`: its third try. */
function agentOf(id: string, run: number, index: number, items: ItemsRecord): string {
  const tries = items.tries[index] ?? 0;
  return `${id}.${run}.${index}${tries > 0 ? `.${tries + 1}` : ""}`;
}

/** The list as it was when the run began: an item's number means the same item after a crash. */
async function listOf(
  session: Session,
  phase: Phase,
  record: PhaseRecord,
): Promise<{ list: unknown[]; items: ItemsRecord }> {
  const { path, text } = phase.foreach!;
  const root = rootOf(path);
  const { context } = session;
  const version = record.items?.version ?? (await context.list()).find((one) => one.key === root)?.version ?? 0;
  const value = await context.read(root, undefined, { version });
  const list = value === undefined ? undefined : valueAt(path, { [root]: value });
  if (!Array.isArray(list))
    throw new HoldfastError(
      "invalid",
      `foreach of ${phase.id}: ${text} is ${list === undefined ? "not there" : "not a list"}: see what ${root} holds`,
    );
  const items = record.items ?? { total: list.length, done: 0, version, tries: {}, errors: {} };
  record.items = items;
  return { list, items };
}

function joined(phase: Phase, answers: AgentAnswer[]): AgentAnswer {
  const sum = (of: (one: AgentAnswer) => number): number => answers.reduce((all, one) => all + of(one), 0);
  return {
    text: "",
    exports: Object.fromEntries(Object.keys(phase.exports).map((key) => [key, answers.map((one) => one.exports[key])])),
    rounds: sum((one) => one.rounds),
    requests: sum((one) => one.requests),
    tokens: sum((one) => one.tokens),
    durationMs: 0,
    resumed: answers.some((one) => one.resumed),
  };
}
