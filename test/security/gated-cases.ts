// The cases of the gate and the tools together, by kind.
import type { PermissionMode } from "../../src/claude-code/permission-modes.ts";
import type { GatedTool } from "./gated.ts";
import { ADDED } from "./gated-added.ts";
import type { GatedCase, Outcome } from "./gated-case.ts";
import { NAMES } from "./gated-names.ts";
import { PLACES } from "./gated-places.ts";
import { RULES } from "./gated-rules.ts";

const LINES = { ...NAMES, ...PLACES, ...RULES, ...ADDED };

const READS = new Set<string>(["read", "glob", "grep"]);

/** What bypass lets pass by design (reading outside) is tried in the other modes; of commands the mode in which edits need no question. */
function modesOf(tool: string, expect: Outcome): PermissionMode[] {
  if (READS.has(tool)) return ["default"];
  return tool === "bash" || expect === "yes" ? ["acceptEdits"] : ["acceptEdits", "bypass"];
}

export const gatedCases: GatedCase[] = Object.entries(LINES).flatMap(([kind, lines]) =>
  lines.flatMap(([tools, path, expect, why, more = {}]) =>
    tools.split(" ").map((tool) => ({
      setup: [],
      keeps: [],
      says: [],
      lacks: [],
      modes: modesOf(tool, expect),
      ...more,
      kind,
      tool: tool as GatedTool,
      path,
      expect,
      why,
    })),
  ),
);
