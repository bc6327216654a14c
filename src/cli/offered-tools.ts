// `--tools`: only these are offered to agents of this run, by Claude's names or ours; none where the list is empty.
import { defineMechanism, type Mechanism } from "../loop/seams.ts";
import { isUnknownTool, leaves } from "../mechanisms/agents/tool-list.ts";

export interface OfferedTools {
  mechanism: Mechanism;
  /** Names that no tool has here. */
  unknown: string[];
}

/** Contract: undefined where all are meant. */
export function offeredTools(given: string | undefined): OfferedTools | undefined {
  const tools = given?.split(/[\s,]+/).filter(Boolean);
  if (tools === undefined || tools.includes("default")) return undefined;
  return {
    mechanism: defineMechanism({ name: "offered-tools", offers: ({ name }) => leaves({ tools }, name, []) }),
    unknown: tools.filter(isUnknownTool),
  };
}
