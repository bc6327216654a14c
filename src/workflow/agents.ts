// One agent's work for a phase: its prompt, its time and budget, and that it gave what was asked for.

import type { AgentAnswer } from "../hub/port.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import type { Phase } from "./definition.ts";
import { fillTemplate, type ItemValues } from "./prompt.ts";
import type { Session } from "./session.ts";

/** How long a runner has to stop when it is told to; then the work counts as stopped all the same. */
const GRACE_MS = 5_000;

/** Contract: throws when the agent failed, took too long or did not give what was asked for; HoldfastErrors are the workflow's own. */
export async function callAgent(
  session: Session,
  phase: Phase,
  { agent, item, shares = 1 }: { agent: string; item?: ItemValues; shares?: number },
): Promise<AgentAnswer> {
  const { context, runner, compose } = session;
  const budgetTokens = tokensFor(session, phase, shares);
  const text = await fillTemplate(context, phase, item);
  const prompt = await compose({ context, phase: { id: phase.id, agent: phase.agent }, text, reads: phase.reads });
  const schemas = Object.fromEntries(Object.entries(phase.exports).map(([key, { schema }]) => [key, schema]));
  const answer = await withTimeout(session.signal, phase, (signal) =>
    runner.run({
      ...{ context: context.id, agent, type: phase.agent, prompt, signal },
      ...{ phase: phase.id, ...(item && { item: item.index }) },
      ...(Object.keys(schemas).length > 0 && { exports: schemas }),
      ...(phase.budget.rounds !== undefined && { maxRounds: phase.budget.rounds }),
      ...(budgetTokens !== undefined && { budgetTokens }),
    }),
  );
  session.tokens.used += answer.tokens;
  return { ...answer, exports: givenBy(agent, phase, answer.exports) };
}

/** What is declared and fits; what is not declared is left out. */
function givenBy(agent: string, phase: Phase, exports: Record<string, unknown>): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const [key, { check }] of Object.entries(phase.exports)) {
    const value = Object.hasOwn(exports, key) ? exports[key] : undefined;
    const wrong = value === undefined ? "it is missing" : check(value);
    if (wrong)
      throw new HoldfastError(
        "invalid",
        `${agent} did not export ${key} as ${phase.id} asks for: ${wrong}; retry the phase`,
        {
          detail: { agent, key, reason: wrong },
        },
      );
    given[key] = value;
  }
  return given;
}

/** Items share the budget of their phase evenly; nobody gets more than the workflow has left. */
function tokensFor({ workflow, tokens }: Session, { id, budget }: Phase, shares: number): number | undefined {
  const own = budget.tokens === undefined ? undefined : Math.max(1, Math.floor(budget.tokens / shares));
  if (workflow.budget.tokens === undefined) return own;
  const left = workflow.budget.tokens - tokens.used;
  if (left <= 0)
    throw new HoldfastError(
      "limit",
      `the workflow has used ${tokens.used} of its ${workflow.budget.tokens} tokens before ${id}: raise its budget and retry`,
    );
  return own === undefined ? left : Math.min(own, left);
}

async function withTimeout<T>(outer: AbortSignal, phase: Phase, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  outer.throwIfAborted();
  const { timeoutMs } = phase;
  const own = new AbortController();
  const signal = AbortSignal.any([outer, own.signal]);
  const timers: NodeJS.Timeout[] = [];
  const late = new HoldfastError(
    "limit",
    `${phase.id} took longer than its timeout of ${timeoutMs} ms: raise it, or retry`,
  );
  if (timeoutMs !== undefined) timers.push(setTimeout(() => own.abort(late), timeoutMs));
  let deaf: () => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    deaf = () => timers.push(setTimeout(() => reject(own.signal.aborted ? late : outer.reason), GRACE_MS));
    signal.addEventListener("abort", deaf, { once: true });
  });
  try {
    // What goes wrong for an agent says nothing about this run's own store and lease.
    const running = work(signal).catch((cause: unknown) => {
      throw new Error(messageOf(cause), { cause });
    });
    running.catch(() => {}); // it may end after nobody waits for it
    return await Promise.race([running, stopped]);
  } catch (error) {
    throw own.signal.aborted && !outer.aborted ? late : error;
  } finally {
    signal.removeEventListener("abort", deaf);
    for (const timer of timers) clearTimeout(timer);
  }
}
