// Whether a rule speaks of a call, for whoever filters by rules (the `if` of a hook). It decides nothing.
import { homedir } from "node:os";
import { resolve } from "node:path";
import { realPath } from "../file-access/paths.ts";
import { isRecord } from "../ledger/guards.ts";
import { type CompiledRule, findBashRule, findPathRule, parseRule } from "./rules.ts";

const READERS = new Set(["Read", "Glob", "Grep", "LS"]);
const OPERATORS = /&&|\|\||[;|&\n]/;

/** Under Claude's names. Contract: a rule that cannot be read speaks of nothing; a command is looked at whole and part by part. */
export function fitsRule(text: string, root: string, { name, input }: { name: string; input: unknown }): boolean {
  const rule = readRule(text);
  if (!rule) return false;
  const rules: CompiledRule[] = [{ rule, base: root, text }];
  const { command, file_path, path }: Record<string, unknown> = isRecord(input) ? input : {};
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
  const world = { home: homedir(), realPath };
  return findPathRule(rules, { access, lexical, real: realPath(lexical), cwd: root }, world, false) !== undefined;
}

function readRule(text: string): CompiledRule["rule"] | undefined {
  try {
    return parseRule(text);
  } catch {
    return undefined;
  }
}
