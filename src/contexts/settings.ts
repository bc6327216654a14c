// What options of contexts may be: programs without types, and settings that come from JSON, get one line instead of a surprise later.

import { statSync } from "node:fs";
import { HoldfastError } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";

const HANDLE = ["author", "agent", "reducers", "lists", "files", "lease", "onProblem"];
const SETTINGS = ["task", "metadata", "budget", "ttlMs", "quotas", "schema", "schemas", "lists"];
const QUOTAS = ["valueBytes", "contextBytes", "keys"];
const PLACES = ["store", "file", "cwd", "state", "ttlMs"];

const invalid = (what: string): HoldfastError => new HoldfastError("invalid", what);

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  return typeof value === "object" && value !== null ? (Array.isArray(value) ? "a list" : "an object") : String(value);
}

/** Contract: like all here, throws `invalid` with what is wrong and what is allowed. */
function known(what: string, value: unknown, names: readonly string[]): Record<string, unknown> {
  if (!isRecord(value)) throw invalid(`${what} takes an object of options, not ${shown(value)}`);
  for (const name of Object.keys(value))
    if (!names.includes(name)) throw invalid(`${what} knows no option ${name}: it takes ${names.join(", ")}`);
  return value;
}

function text(what: string, value: unknown): asserts value is string {
  if (typeof value !== "string" || value === "") throw invalid(`${what} is a text, not ${shown(value)}`);
}

function texts(what: string, value: unknown): void {
  if (!Array.isArray(value)) throw invalid(`${what} is a list of keys, not ${shown(value)}`);
  for (const one of value) text(`each of ${what}`, one);
}

/** A time span: `"7d"` or a negative one would decide when data is removed. */
export function checkTtl(value: unknown, name = "ttlMs"): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
    throw invalid(`${name} is a number of milliseconds from 0 on, not ${shown(value)}`);
}

function yesOrNo(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "boolean") throw invalid(`${name} is true or false, not ${shown(value)}`);
}

/** Options that decide what is removed or overwritten: a misspelt one is not as good as none. */
export function checkGc(opts: unknown): void {
  const { dryRun, ...times } = known("gc", opts, ["dryRun", "now", "defaultTtlMs"]);
  yesOrNo("dryRun", dryRun);
  for (const [name, value] of Object.entries(times)) if (value !== undefined) checkTtl(value, name);
}

const RESTORE = ["conversation", "data", "files", "force", "keepChanged"];

export function checkRestore(opts: unknown, what: "restore" | "undo"): void {
  const { author, ...chosen } = known(what, opts, [
    ...(what === "undo" ? ["force", "keepChanged"] : RESTORE),
    "author",
  ]);
  if (author !== undefined) text("author", author);
  for (const [name, value] of Object.entries(chosen)) yesOrNo(name, value);
}

function checkQuotas(value: unknown): void {
  for (const [name, limit] of Object.entries(known("quotas", value, QUOTAS)))
    if (limit !== undefined && (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit < 0))
      throw invalid(`quotas.${name} is a whole number from 0 on, not ${shown(limit)}`);
}

export function checkHandle(opts: unknown, what = "contexts.get"): void {
  const { author, agent, lists } = known(what, opts, HANDLE);
  if (author !== undefined) text("author", author);
  if (agent !== undefined) text("agent", agent);
  if (lists !== undefined) texts("lists", lists);
}

/** Contract: gives them back, so that whoever allows more can look at that. */
export function checkContextSettings(
  settings: unknown,
  what = "configure",
  more: readonly string[] = [],
): Record<string, unknown> {
  const said = known(what, settings, [...SETTINGS, ...more]);
  const { task, metadata, budget, ttlMs, quotas, schemas, lists } = said;
  if (task !== undefined) text("task", task);
  for (const [name, value] of Object.entries({ metadata, budget, schemas }))
    if (value !== undefined && !isRecord(value)) throw invalid(`${name} is an object, not ${shown(value)}`);
  if (ttlMs !== undefined && ttlMs !== null) checkTtl(ttlMs);
  if (quotas !== undefined) checkQuotas(quotas);
  if (lists !== undefined) texts("lists", lists);
  return said;
}

export function checkCreate(opts: unknown): void {
  const { task, root, title } = checkContextSettings(opts, "contexts.create", ["root", "title", ...HANDLE]);
  if (task === undefined) throw invalid("contexts.create needs a task: what this piece of work is about");
  if (title !== undefined && typeof title !== "string") throw invalid(`title is a text, not ${shown(title)}`);
  checkRoot(root);
}

export function checkImport(opts: unknown): void {
  checkRoot(known("import", opts, ["root"]).root);
}

function checkRoot(root: unknown): void {
  if (root === undefined) return;
  text("root", root);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw invalid(`root ${root} is no folder: give one that is there, or leave it out to work in the harness's root`);
}

export function checkPlace(where: unknown): void {
  const { store, file, cwd, state, ttlMs } = known("openContexts", where, PLACES);
  if (ttlMs !== undefined) checkTtl(ttlMs);
  if (ttlMs !== undefined && store !== undefined)
    throw invalid("ttlMs is for a store that openContexts opens: whoever opened this one sweeps it (sweepExpired)");
  if (store !== undefined && !(isRecord(store) && typeof store.append === "function"))
    throw invalid(`store is an open store, not ${shown(store)}: give { file } or { cwd } to have one opened`);
  for (const [name, value] of Object.entries({ file, cwd, state })) if (value !== undefined) text(name, value);
  if (typeof file === "string" && statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw invalid(`${file} is a folder: give the file of the store in it`);
}

export function checkId(id: unknown): void {
  if (typeof id !== "string") throw invalid(`the id of a context is a text that begins with ctx_, not ${shown(id)}`);
}
