// What would have allowed a call that was refused because nobody could be asked, where no single rule does: found by asking the engine, not by guessing.

import { dirname } from "node:path";
import { isReader, isSearch } from "../../file-access/file-tools.ts";
import { resolvePath } from "../../file-access/paths.ts";
import { type PermissionOptions, worldOf } from "../../mechanisms/permissions/index.ts";
import { decideCall } from "../../shell-policy/engine.ts";
import type { Policy, ToolCall } from "../../shell-policy/types.ts";
import { shellWord } from "./command-line.ts";
import { quotedLines } from "./results.ts";

export interface RefusedCall {
  tool: string;
  input: unknown;
  cwd: string;
}

const effectOf = (tool: string): ToolCall["effect"] | undefined =>
  tool === "bash" ? "job" : isReader(tool) ? "read" : undefined;

/** As they are typed; none where only a person can allow it. Contract: with them the engine allows the call as it stands. */
export async function flagsFor(
  { tool, input, cwd }: RefusedCall,
  options: PermissionOptions,
  root: string,
): Promise<string[]> {
  const effect = effectOf(tool);
  if (effect === undefined) return [];
  const call = { tool, effect, input };
  const policy: Policy = { mode: "default", allow: [], ask: [], deny: [], ...options.policy };
  const under = (more: Partial<Policy>, also: Partial<PermissionOptions> = {}) =>
    decideCall({ ...policy, ...more }, call, worldOf({ root, cwd }, { ...options, ...also }));
  const { decision, firm, parts } = await under({});
  if (decision !== "ask" || firm) return [];
  const { path }: { path?: unknown } = input ?? {};
  if (tool !== "bash") {
    if (typeof path !== "string") return [];
    const at = resolvePath(cwd, path);
    for (const dir of isSearch(tool) ? [at, dirname(at)] : [dirname(at)]) {
      const also = { additionalDirectories: [...(options.additionalDirectories ?? []), dir] };
      if (dir !== "/" && (await under({}, also)).decision === "allow") return [`--add-dir ${shellWord(dir)}`];
    }
    return [];
  }
  const asked = parts.filter((part) => part.decision !== "allow").map(({ text }) => text.trim());
  const rules = [...new Set(asked)].map((text) => `Bash(${text})`);
  if (rules.length > 0 && rules.every((rule) => IS_RULE.test(rule))) {
    const allow = [...policy.allow, ...rules.map((text) => ({ text, source: "advice", base: root }))];
    if ((await under({ allow })).decision === "allow") return [`--allowedTools ${quotedLines(rules.join(", "))}`];
  }
  return (await under({ mode: "auto" })).decision === "allow" ? ["--permission-mode auto"] : [];
}

/** What a rule says is one line, and its stars match anything. */
const IS_RULE = /^Bash\([^*\0-\x1f\x7f]{1,200}(?<!:)\)$/;
