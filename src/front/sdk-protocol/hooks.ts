// What stream-json says of hooks: what one tells the person, and that one could not do its work. In json the same goes to stderr.

import { callIdOf } from "../../claude-code/call-shape.ts";
import type { Fact } from "../../ledger/events.ts";
import type { hookEvents } from "../../mechanisms/hooks/events.ts";
import { oneLine } from "../presentation/printable.ts";

export type HookRan = Extract<Fact<typeof hookEvents>, { type: "hook.ran" }>;

const nameOf = ({ data: { event, subject } }: HookRan): string =>
  subject === undefined ? event : `${event}:${subject}`;

const hasFailed = ({ data: { outcome } }: HookRan): boolean => outcome === "error" || outcome === "timeout";

/** Each with its subtype; in the published shapes. */
export function hookLines(ran: HookRan): { subtype: string; fields: object }[] {
  const { id, actor, data } = ran;
  const { says, callId, event, reason = "", exitCode, outcome } = data;
  const name = nameOf(ran);
  const lines: { subtype: string; fields: object }[] = [];
  if (says !== undefined) {
    const call = callId === undefined ? {} : { tool_use_id: callIdOf(actor, callId) };
    lines.push({ subtype: "informational", fields: { level: "notice", content: `${name} says: ${says}`, ...call } });
  }
  if (hasFailed(ran)) {
    const told = { hook_id: id, hook_name: name, hook_event: event, output: reason, stdout: "", stderr: reason };
    const code = exitCode === undefined ? {} : { exit_code: exitCode };
    const published = outcome === "timeout" ? "cancelled" : "error";
    lines.push({ subtype: "hook_response", fields: { ...told, ...code, outcome: published } });
  }
  return lines;
}

/** The same for people who read only a result. */
export function hookTexts(ran: HookRan): string[] {
  const { says, reason = "", command } = ran.data;
  return [
    ...(says === undefined ? [] : [`${nameOf(ran)} hook says: ${oneLine(says, 500)}`]),
    ...(hasFailed(ran) ? [`${nameOf(ran)} hook ${oneLine(command, 80)}: ${oneLine(reason, 300)}`] : []),
  ];
}
