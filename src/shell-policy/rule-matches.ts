// Whether a rule speaks of a call, for whoever filters by rules (the `if` of a hook). It decides nothing.
import { homedir } from "node:os";
import { resolve } from "node:path";
import { realPath } from "../file-access/paths.ts";
import { type CompiledRule, findBashRule, findPathRule, parseRule } from "./rules.ts";
import type { World } from "./types.ts";

const READERS = new Set(["Read", "Glob", "Grep", "LS"]);
const OPERATORS = /&&|\|\||[;|&\n]/;

/** Under Claude's names. Contract: a rule that cannot be read speaks of nothing; a command is looked at whole and part by part. */
export function fitsRule(text: string, root: string, { name, input }: { name: string; input: unknown }): boolean {
  const rules: CompiledRule[] = [];
  try {
    rules.push({ rule: parseRule(text), base: root, text });
  } catch {
    return false;
  }
  const { rule } = rules[0]!;
  const { command, file_path, path } = (input ?? {}) as Record<string, unknown>;
  if (rule.kind === "tool") return rule.name === name || rule.name === "*";
  if (rule.kind === "bash") {
    if (name !== "Bash" || typeof command !== "string") return false;
    const parts = [command, ...command.split(OPERATORS)].map((part) => part.trim().replace(/[ \t]+/g, " "));
    return findBashRule(rules, parts) !== undefined;
  }
  const named = file_path ?? path;
  if (rule.kind !== "path" || typeof named !== "string") return false;
  const lexical = resolve(root, named);
  const access = READERS.has(name) ? "read" : "edit";
  if (access !== rule.access) return false;
  const world = { home: homedir(), realPath } as World;
  return findPathRule(rules, { access, lexical, real: realPath(lexical), cwd: root }, world, false) !== undefined;
}
