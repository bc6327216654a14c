// The configuration of hooks as it comes here: checked by settings, or given by the embedding program; and matchers.

import { type HookGroup as Group, type HookEvent, ruleOf } from "../../claude-code/hook-events.ts";
import { HoldfastError, messageOf } from "../../ledger/error.ts";

export const isToolEvent = (event: HookEvent): boolean => ruleOf(event).matches === "tool";

const DEFAULT_TIMEOUT = 600;
export const timeoutMs = (event: HookEvent, seconds: number | undefined): number =>
  Math.min((seconds ?? ruleOf(event).timeout ?? DEFAULT_TIMEOUT) * 1000, 2 ** 31 - 1);

export interface HookGroup extends Group {
  /** Where it was configured, for people: a file, `user`. */
  source?: string;
}

export type HookConfig = Partial<Record<HookEvent, HookGroup[]>>;

const LIST = /^[A-Za-z0-9_\- ,|]*$/;

/** Empty or `*`: all. Names and separators only: exactly these names. Anything else: an unanchored regular expression. */
export function compileMatcher(matcher: string | undefined, source: string): (names: readonly string[]) => boolean {
  const text = matcher?.trim() ?? "";
  if (text === "" || text === "*") return () => true;
  if (LIST.test(text)) {
    const listed = new Set(text.split(/[|,]/).map((name) => name.trim()));
    return (names) => names.some((name) => listed.has(name));
  }
  try {
    const pattern = new RegExp(text);
    return (names) => names.some((name) => pattern.test(name));
  } catch (error) {
    throw new HoldfastError(
      "invalid",
      `a hook of ${source} has a matcher that is no regular expression: ${messageOf(error)}`,
    );
  }
}
