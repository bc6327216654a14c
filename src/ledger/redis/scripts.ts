// The named atomic steps, each a .lua file: read at first use. scripts/build.mjs puts the text in place of each call.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Contract: called with `import.meta.url` and the name of the file, both written out: the build looks for exactly that. */
const luaText = (from: string, file: string): string => readFileSync(new URL(file, from), "utf8");

const TEXTS = {
  append: () => luaText(import.meta.url, "./append.lua"),
  blob: () => luaText(import.meta.url, "./blob.lua"),
  changeLease: () => luaText(import.meta.url, "./change-lease.lua"),
  enter: () => luaText(import.meta.url, "./enter.lua"),
  find: () => luaText(import.meta.url, "./find.lua"),
  leases: () => luaText(import.meta.url, "./leases.lua"),
  list: () => luaText(import.meta.url, "./list.lua"),
  putBlob: () => luaText(import.meta.url, "./put-blob.lua"),
  read: () => luaText(import.meta.url, "./read.lua"),
  remove: () => luaText(import.meta.url, "./remove.lua"),
  saveSnapshots: () => luaText(import.meta.url, "./save-snapshots.lua"),
  sweep: () => luaText(import.meta.url, "./sweep.lua"),
};

export type StepName = keyof typeof TEXTS;

export interface LuaStep {
  text: string;
  /** By which a server that has seen it knows it. */
  sha: string;
}

export function createSteps(): (name: StepName) => LuaStep {
  const known = new Map<StepName, LuaStep>();
  return (name) => {
    const before = known.get(name);
    if (before) return before;
    const text = TEXTS[name]();
    const step = { text, sha: createHash("sha1").update(text).digest("hex") };
    known.set(name, step);
    return step;
  };
}
