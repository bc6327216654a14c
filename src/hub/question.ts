// What makes two tasks of one agent the same question: an old answer is never given to another one.
import { createHash } from "node:crypto";
import { HoldfastError } from "../ledger/error.ts";
import { stableJson } from "../templates/json.ts";
import type { Assignment } from "./events.ts";

interface Asked {
  agent: string;
  type: string;
  prompt: string;
  exports?: Record<string, unknown>;
  phase?: string;
  item?: number;
  followUp?: string;
}

/** A workflow's prompt is filled from data that may have changed since: there the phase and the name, which is never used twice, are the question. */
export function questionOf({ type, prompt, exports = {}, phase, item }: Asked): string {
  const asked = phase === undefined ? { prompt } : { phase, item: item ?? null };
  return createHash("sha256")
    .update(plainJson({ type, exports, ...asked }))
    .digest("hex")
    .slice(0, 32);
}

/** Contract: throws `conflict` when the agent was asked something else. */
export function refuseOther(assigned: Assignment, task: Asked): void {
  if (isSame(assigned, task)) return;
  throw new HoldfastError(
    "conflict",
    `${task.agent} was asked something else in this context before: give another agent name, or the same prompt, type and exports`,
    { detail: { agent: task.agent, type: assigned.type, exports: Object.keys(assigned.exports) } },
  );
}

function isSame(assigned: Assignment, task: Asked): boolean {
  const { type, exports = {}, followUp } = task;
  if (followUp !== undefined)
    return assigned.type === type && Object.keys(exports).every((key) => Object.hasOwn(assigned.exports, key));
  if (assigned.question !== undefined) return assigned.question === questionOf(task);
  // Asked by an older Holdfast, which recorded no more.
  return assigned.type === type && plainJson(assigned.exports) === plainJson(exports);
}

function plainJson(value: unknown): string {
  return stableJson(value, Number.MAX_SAFE_INTEGER, (_, what) => {
    throw new HoldfastError("invalid", `what is asked cannot be recorded: ${what}: give exports as plain JSON Schema`);
  });
}
