// What a shell knows while it runs: variables, the current directory, functions.
import { only } from "../../ledger/only.ts";
import { anything, type Field, field, holeField, isSameWord } from "./field.ts";
import type { FunctionNode } from "./parse.ts";

/** Where the shell may be: several after a condition, undefined when it cannot be told. */
type Cwds = string[] | undefined;

export interface ShellScope {
  vars: Map<string, Field[]>;
  cwds: Cwds;
  before: Cwds;
  functions: Map<string, Defined>;
  aliases: Set<string>;
  /** Functions being run, against recursion. */
  calling: string[];
  /** As it was where a loop or a function was left early; shared by all copies. */
  left: ShellScope[];
}

/** Shared by all copies of a scope, so that one call anywhere counts. */
interface Defined {
  node: FunctionNode;
  source: string;
  isCalled: boolean;
}

const MAX_CWDS = 4;

/** The names under which the arguments of the script or the function stand. */
export const POSITIONAL = ["@", "*"];
export const isPositional = (name: string): boolean => POSITIONAL.includes(name);
export const positional = ({ vars }: ShellScope): Field[] => vars.get("@") ?? [anything()];

export function openScope(cwd: string, home: string): ShellScope {
  const vars = new Map<string, Field[]>([
    ["HOME", [field(home)]],
    ["IFS", [field(" \t\n")]],
    ["@", []],
    ["*", []],
  ]);
  return { vars, cwds: [cwd], before: undefined, functions: new Map(), aliases: new Set(), calling: [], left: [] };
}

export function copyScope(scope: ShellScope): ShellScope {
  return {
    ...scope,
    vars: new Map(scope.vars),
    functions: new Map(scope.functions),
    aliases: new Set(scope.aliases),
    calling: [...scope.calling],
  };
}

export function adoptScope(scope: ShellScope, from: ShellScope): undefined {
  Object.assign(scope, from);
}

/** The end of a loop or a function: also what was known where it was left early. */
export function rejoin(scope: ShellScope): undefined {
  for (const way of scope.left.splice(0)) adoptScope(scope, mergeScopes(way, scope));
}

/** What is known when either may have happened. */
export function mergeScopes(a: ShellScope, b: ShellScope): ShellScope {
  const merged = copyScope(a);
  for (const name of new Set([...a.vars.keys(), ...b.vars.keys()])) {
    const [left, right] = [a.vars.get(name), b.vars.get(name)];
    if (!same(left, right)) merged.vars.set(name, [guess(left, right)]);
  }
  merged.cwds = mergeCwds(a.cwds, b.cwds);
  merged.before = mergeCwds(a.before, b.before);
  for (const [name, made] of b.functions) merged.functions.set(name, made);
  for (const name of b.aliases) merged.aliases.add(name);
  return merged;
}

export function isSameScope(a: ShellScope, b: ShellScope): boolean {
  if (a.vars.size !== b.vars.size || String(a.cwds) !== String(b.cwds)) return false;
  return [...a.vars].every(([name, value]) => same(value, b.vars.get(name)));
}

/** Keeps the later value in sight, so that a hostile one is still recognised. */
function guess(left: Field[] | undefined, right: Field[] | undefined): Field {
  const later = only(right) ?? only(left) ?? holeField();
  return { ...later, guessed: true, splits: true };
}

function same(a: Field[] | undefined, b: Field[] | undefined): boolean {
  if (a === b) return true;
  if (!a || !b || a.length !== b.length) return false;
  return a.every((f, i) => {
    const g = b[i];
    if (f === g) return true;
    return g && isSameWord(f, g) && f.glob === g.glob && f.guessed === g.guessed && f.splits === g.splits;
  });
}

function mergeCwds(a: Cwds, b: Cwds): Cwds {
  if (!a || !b) return undefined;
  const all = [...new Set([...a, ...b])];
  return all.length > MAX_CWDS ? undefined : all;
}
