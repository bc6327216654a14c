// Partial reads: a small, safe part of JSONPath (names, indices, `*`, slices). It selects; it never evaluates.

import { HoldfastError } from "../ledger/error.ts";
import { own } from "../ledger/own.ts";
import type { Json } from "./values.ts";

type Step =
  | { kind: "name"; name: string }
  | { kind: "index"; index: number }
  | { kind: "all" }
  | { kind: "slice"; from: number | undefined; to: number | undefined; by: number };

const NAME = /^\.?([\p{L}_$][\p{L}\p{N}_$-]*)/u;
const QUOTED = /^\[\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*\]/;
const INDEX = /^\[\s*(-?\d+)\s*\]/;
const SLICE = /^\[\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d*)\s*)?\]/;
const ALL = /^(?:\[\s*\*\s*\]|\.\*)/;

/** Contract: one value, or undefined, for a path that names one place; a list of all matches when it holds `*` or a slice. */
export function select(value: Json, path: string): Json | undefined {
  const steps = parsePath(path);
  let found: Json[] = [value];
  for (const step of steps) found = found.flatMap((one) => take(one, step));
  const definite = steps.every((step) => step.kind === "name" || step.kind === "index");
  return definite ? found[0] : found;
}

function parsePath(path: string): Step[] {
  const steps: Step[] = [];
  let at = path.startsWith("$") ? 1 : 0;
  while (at < path.length) {
    const rest = path.slice(at);
    const [step, length] = stepAt(rest, at === 0) ?? [];
    if (!step || !length)
      throw new HoldfastError(
        "invalid",
        `path ${path}: cannot read ${JSON.stringify(rest.slice(0, 20))} at character ${at + 1}: write $.name, $['any name'], [0], [-1], [*], [1:3]`,
        { detail: { path, at } },
      );
    steps.push(step);
    at += length;
  }
  return steps;
}

function stepAt(rest: string, first: boolean): [Step, number] | undefined {
  const all = ALL.exec(rest);
  if (all) return [{ kind: "all" }, all[0].length];
  const name = first || rest.startsWith(".") ? NAME.exec(rest) : null;
  if (name) {
    const [whole, said = ""] = name;
    return [{ kind: "name", name: said }, whole.length];
  }
  const quoted = QUOTED.exec(rest);
  if (quoted) {
    const [whole, said = ""] = quoted;
    return [{ kind: "name", name: said.slice(1, -1).replace(/\\(.)/g, "$1") }, whole.length];
  }
  const index = INDEX.exec(rest);
  if (index) return [{ kind: "index", index: Number(index[1]) }, index[0].length];
  const slice = SLICE.exec(rest);
  if (!slice || slice[3] === "0") return undefined;
  const number = (text: string | undefined) => (text ? Number(text) : undefined);
  return [{ kind: "slice", from: number(slice[1]), to: number(slice[2]), by: number(slice[3]) ?? 1 }, slice[0].length];
}

function take(value: Json, step: Step): Json[] {
  if (value === null || typeof value !== "object") return [];
  if (step.kind === "all") return Object.values(value);
  if (step.kind === "name") {
    const one = Array.isArray(value) ? undefined : own(value, step.name);
    return one === undefined ? [] : [one];
  }
  if (!Array.isArray(value)) return [];
  if (step.kind === "slice") return sliceOf(value, step);
  const one = value.at(step.index);
  return one === undefined ? [] : [one];
}

function sliceOf(list: Json[], { from, to, by }: Extract<Step, { kind: "slice" }>): Json[] {
  const n = list.length;
  const place = (at: number) => (at < 0 ? n + at : at);
  const found: Json[] = [];
  if (by > 0) {
    for (let i = Math.max(0, place(from ?? 0)); i < Math.min(n, place(to ?? n)); i += by) found.push(list[i]!);
  } else {
    const end = to === undefined ? -1 : Math.max(-1, place(to));
    for (let i = Math.min(n - 1, place(from ?? n - 1)); i > end; i += by) found.push(list[i]!);
  }
  return found;
}
