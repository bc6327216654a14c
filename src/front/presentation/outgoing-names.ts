// Names that leave the machine as labels: a model can write anything where a name stands, so only names that somebody else gave, or plain ones, go out.
import { hash } from "node:crypto";
import { isOurTool } from "../../claude-code/tool-names.ts";
import type { Fact } from "../../ledger/events.ts";
import type { loopEvents } from "../../loop/events.ts";

type Finished = Extract<Fact<typeof loopEvents>, { type: "tool.finished" }>["data"];

/** Stands for every name that no tool has. */
export const UNKNOWN_TOOL = "unknown";

const PLAIN = /^[A-Za-z0-9_.-]{1,60}$/;

export const isPlainName = (name: string): boolean => PLAIN.test(name);

/** Such as `agent-3f9a02c4`. Contract: in one context the same for the same name. */
export const outgoingName = (kind: string, context: string, name: string): string =>
  isPlainName(name) ? name : `${kind}-${hash("sha256", `${context} ${name}`, "hex").slice(0, 8)}`;

/**
 * Whether the house or a server has the tool of that call. Only a tool that is there begins, is judged by a gate, or answers without an
 * error. `hasBegun`: this call, or one of the same name before it.
 */
export const isKnownTool = (
  { name, isError, denied }: Pick<Finished, "name" | "isError" | "denied">,
  hasBegun: boolean,
): boolean => hasBegun || denied !== undefined || !isError || isOurTool(name);
