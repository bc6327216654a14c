// Rules in Claude's grammar: reading one, and whether it matches a command, a path, a tool.

import { isAbsolute, join, relative } from "node:path";
import { toClaude } from "../claude-code/tool-names.ts";
import { fileTools, isReader, isWriter } from "../file-access/file-tools.ts";
import { isInside } from "../file-access/paths.ts";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { own } from "../ledger/own.ts";
import { matchesComponents, matchesStars } from "../text/glob.ts";
import type { Policy, RuleText, World } from "./types.ts";

type Access = "read" | "edit";

type Rule =
  | { kind: "tool"; name: string }
  | { kind: "bash"; pattern: string; hasWildcard: boolean }
  | { kind: "path"; access: Access; pattern: string }
  | { kind: "web"; domain: string }
  | { kind: "param"; name: string; param: string; value: string };

/** The names that rules with a path may use. */
const PATH_TOOLS: Record<string, Access> = {
  Read: "read",
  Glob: "read",
  Grep: "read",
  LS: "read",
  Edit: "edit",
  Write: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  ...Object.fromEntries(fileTools(isReader).map((name) => [name, "read" as const])),
  ...Object.fromEntries(fileTools(isWriter).map((name) => [name, "edit" as const])),
};

/** Throws a `HoldfastError` that says what is wrong with the rule. */
export function parseRule(text: string): Rule {
  const rule = text.trim();
  const open = rule.indexOf("(");
  const wrong = (why: string) => new HoldfastError("invalid", `the rule ${JSON.stringify(text)} ${why}`);
  if (rule === "") throw wrong("is empty: write a tool name, or Tool(specifier)");
  const name = open < 0 ? rule : rule.slice(0, open);
  if (!/^[A-Za-z_*][\w*.:-]*$/.test(name)) throw wrong("does not begin with a tool name, such as Bash or Read");
  if (open < 0) return { kind: "tool", name };
  if (!rule.endsWith(")")) throw wrong("has no closing parenthesis at its end");
  const specifier = rule.slice(open + 1, -1).trim();
  if (specifier === "") throw wrong(`says nothing between the parentheses: write ${name} to mean every use`);
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(specifier)) throw wrong("contains control characters");
  if (name.startsWith("mcp__")) throw wrong("names an MCP tool: it takes no parentheses");
  if (name === "Bash" || name === "bash") return bashRule(specifier);
  const access = own(PATH_TOOLS, name);
  if (access) return { kind: "path", access, pattern: specifier };
  const colon = specifier.indexOf(":");
  if (name === "WebFetch" || name === "web_fetch") {
    const domain = specifier
      .slice(colon + 1)
      .trim()
      .toLowerCase();
    if (!specifier.startsWith("domain:") || domain === "") throw wrong("needs the form WebFetch(domain:example.org)");
    return { kind: "web", domain };
  }
  if (colon <= 0) throw wrong(`is not understood: ${name} takes no specifier other than parameter:value`);
  return { kind: "param", name, param: specifier.slice(0, colon).trim(), value: specifier.slice(colon + 1).trim() };
}

function bashRule(specifier: string): Rule {
  const pattern = specifier.endsWith(":*") ? `${specifier.slice(0, -2)} *` : specifier;
  return { kind: "bash", pattern: pattern.replace(/[ \t]+/g, " "), hasWildcard: pattern.includes("*") };
}

export interface CompiledRule {
  rule: Rule;
  base: string;
  /** As written. */
  text: string;
}

export interface RuleSet {
  allow: CompiledRule[];
  ask: CompiledRule[];
  deny: CompiledRule[];
  /** Deny and ask rules that cannot be read: nothing is allowed past them. */
  broken: string[];
}

const compiled = new WeakMap<RuleText, CompiledRule | undefined>();

function compile(text: RuleText): CompiledRule | undefined {
  if (!compiled.has(text)) {
    let rule: CompiledRule | undefined;
    try {
      rule = { rule: parseRule(text.text), base: text.base, text: text.text };
    } catch {
      rule = undefined;
    }
    compiled.set(text, rule);
  }
  return compiled.get(text);
}

/** A malformed allow rule allows nothing; a malformed deny or ask rule is reported in `broken`. */
export function compileRules(policy: Policy): RuleSet {
  const read = (texts: RuleText[]) => texts.map(compile).filter((rule) => rule !== undefined);
  const broken = [...policy.deny, ...policy.ask].filter((text) => !compile(text)).map((text) => text.text);
  return { allow: read(policy.allow), ask: read(policy.ask), deny: read(policy.deny), broken };
}

/** `commands` are the ways to write the command; `which`: only rules that name the subcommand too, only those without wildcards. */
export function findBashRule(
  rules: CompiledRule[],
  commands: string[],
  which: "any" | "named" | "exact" = "any",
): CompiledRule | undefined {
  return rules.find(({ rule }) => {
    if (rule.kind === "tool")
      return which === "any" && (rule.name === "Bash" || rule.name === "bash" || rule.name === "*");
    if (rule.kind !== "bash" || (which === "exact" && rule.hasWildcard)) return false;
    if (which === "named" && !/^[^*\s]+ [^*\s]/.test(rule.pattern)) return false;
    return commands.some((command) => matchesCommand(rule.pattern, command));
  });
}

/** Whether one of those rules that match has that very word. */
export const namesWord = (rules: CompiledRule[], commands: string[], word: string): boolean =>
  rules.some(
    ({ rule }) =>
      rule.kind === "bash" &&
      rule.pattern.split(" ").includes(word) &&
      commands.some((command) => matchesCommand(rule.pattern, command)),
  );

/** A trailing ` *` enforces a word boundary, and matches the bare command too. */
function matchesCommand(pattern: string, command: string): boolean {
  if (!pattern.includes("*")) return pattern === command;
  if (pattern.endsWith(" *") && matchesStars(pattern.slice(0, -2), command)) return true;
  // A server that is named means what it serves.
  if (/\shttps?:\/\/[\w.-]+(?::\d+)? \*$/.test(pattern) && matchesStars(`${pattern.slice(0, -2)}/*`, command))
    return true;
  return matchesStars(pattern, command);
}

export interface PathQuestion {
  access: Access;
  /** As written, made absolute. */
  lexical: string;
  real: string;
  cwd: string;
}

/** Deny and ask rules match the path as written or the real one; allow rules (`mustBeReal`) the real one. */
export function findPathRule(
  rules: CompiledRule[],
  q: PathQuestion,
  world: Pick<World, "home" | "realPath">,
  mustBeReal: boolean,
): CompiledRule | undefined {
  return rules.find(({ rule, base }) => {
    if (rule.kind === "tool") {
      if (rule.name === "Read") return q.access === "read";
      if (rule.name === "Edit") return q.access === "edit" || mustBeReal;
      return rule.name === "Write" && q.access === "edit" && !mustBeReal;
    }
    if (rule.kind !== "path") return false;
    // Who may edit may read; a file that may not be read is not edited either.
    if (rule.access !== q.access && !(mustBeReal ? rule.access === "edit" : rule.access === "read")) return false;
    // What is denied does not cease to be when the agent goes to another directory.
    return [q.cwd, ...(mustBeReal ? [] : [base])].some((here) => {
      const [from, pattern] = anchor(rule.pattern, base, here, world.home);
      if (matchesBelow(realOrGiven(world, from), q.real, pattern)) return true;
      return !mustBeReal && matchesBelow(from, q.lexical, pattern);
    });
  });
}

/** What these rules keep from being read, as real paths and patterns of them, for whoever searches a tree. */
export function coveredBy(rules: CompiledRule[], world: World): string[] {
  const covered = rules.flatMap(({ rule, base }) => {
    if (rule.kind !== "path" || rule.access !== "read") return [];
    return [world.cwd, base].map((here) => {
      const [from, pattern] = anchor(rule.pattern, base, here, world.home);
      const parts = partsOf(pattern);
      while (parts.at(-1) === "**") parts.pop(); // a name covers what is below it
      const tree = realOrGiven(world, from).replace(/\/$/, "");
      if (!parts.some((part) => /[*?[{\\]/.test(part))) return [tree, ...parts].join("/") || "/";
      return [tree.replace(/[*?[\]{}\\]/g, "\\$&"), ...parts.map((part) => part.replace(/[{}]/g, "\\$&"))].join("/");
    });
  });
  return [...new Set(covered)];
}

/** Of what cannot be resolved, the path itself. */
export function realOrGiven(world: Pick<World, "realPath">, path: string): string {
  try {
    return world.realPath(path);
  } catch {
    return path;
  }
}

function anchor(pattern: string, base: string, cwd: string, home: string): [from: string, pattern: string] {
  if (pattern.startsWith("//")) return ["/", pattern.slice(1)];
  if (pattern === "~" || pattern.startsWith("~/")) return [home, pattern.slice(1) || "/**"];
  if (pattern.startsWith("/")) return [base, pattern];
  if (pattern.startsWith("./")) return [cwd, pattern.slice(1)];
  if (pattern.startsWith("../")) return [join(cwd, ".."), pattern.slice(2)];
  return [cwd, pattern];
}

/** Gitignore: without a slash at any depth, and a directory that matches covers everything below it. */
function matchesBelow(from: string, path: string, pattern: string): boolean {
  if (!isInside(from, path)) return false;
  const way = relative(from, path);
  if (isAbsolute(way)) return false;
  const names = way === "" ? [] : way.split("/");
  const parts = partsOf(pattern);
  if (parts.length === 0) return true;
  // `dir/**` names what is below `dir`; anything else also covers what is below what it names.
  if (parts.at(-1) === "**") return matchesComponents(parts, names) || matchesComponents(parts.slice(0, -1), names);
  return matchesComponents(parts, names) || matchesComponents([...parts, "**"], names);
}

function partsOf(pattern: string): string[] {
  const trimmed = pattern.replace(/\/+$/, "");
  const parts = trimmed.split("/").filter((part) => part !== "" && part !== ".");
  return trimmed.includes("/") ? parts : ["**", ...parts];
}

export function findToolRule(
  rules: CompiledRule[],
  tool: string,
  input: unknown,
  mayGuess: boolean,
): CompiledRule | undefined {
  const theirs = toClaude(tool, input);
  return rules.find(({ rule }) => {
    if (rule.kind === "tool") return namesTool(rule.name, tool, theirs.name, mayGuess);
    if (rule.kind === "web") return isWeb(tool) && onDomain(rule.domain, input);
    if (rule.kind !== "param" || !mayGuess) return false;
    if (!namesTool(rule.name, tool, theirs.name, mayGuess)) return false;
    const values = [input, theirs.input].map((of) => (of as Record<string, unknown> | null)?.[rule.param]);
    return values.some((value) => value !== undefined && matchesStars(rule.value, String(value)));
  });
}

const isWeb = (tool: string): boolean => tool === "web_fetch" || tool === "WebFetch";

function namesTool(name: string, tool: string, theirs: string, mayGuess: boolean): boolean {
  if (name === tool || name === theirs) return true;
  if (name === "Read" && isReader(tool)) return true;
  if (name === "Edit" && isWriter(tool)) return true;
  if (name.startsWith("mcp__") && tool.startsWith(`${name}__`)) return true;
  if (!name.includes("*")) return false;
  // An allow with a wildcard has to name the server.
  return (mayGuess || /^mcp__[^*]+?__/.test(name)) && matchesStars(name, tool);
}

function onDomain(domain: string, input: unknown): boolean {
  try {
    const host = new URL(String(isRecord(input) ? input.url : undefined)).hostname.toLowerCase().replace(/\.$/, "");
    if (domain.startsWith("*.")) return host.endsWith(domain.slice(1));
    return host === domain;
  } catch {
    return false;
  }
}
