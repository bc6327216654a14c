// The gate and the tools together, by effect: what is outside or protected stays as it is, and nothing secret is said.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { works } from "../jobs/sandboxed.ts";
import { scratch } from "../turn.ts";
import { attempt } from "./gated.ts";
import type { GatedCase } from "./gated-case.ts";
import { gatedCases } from "./gated-cases.ts";
import { BASE_SETUP, filled, prepare, snapshot } from "./world.ts";

const SAID = /CANARY-(?:OUT|DIR|EVIL|KEY|SECRET|RULE)|root:x:|(?:^|\n)PATH=/;
const GUARDED = /\/\.(?:git|claude|holdfast|vscode|husky|mcp\.json|npmrc|envrc|env)(?:\/|$)/i;

async function judge(one: GatedCase): Promise<void> {
  for (const mode of one.modes) {
    const base = join(scratch(onTestFinished), "w");
    mkdirSync(base);
    const home = process.env.HOME;
    process.env.HOME = join(base, "home");
    try {
      prepare({ setup: [...BASE_SETUP, ...one.setup] }, base);
      await judgeOnce(one, base, mode);
    } finally {
      process.env.HOME = home;
    }
  }
}

async function judgeOnce(one: GatedCase, base: string, mode: GatedCase["modes"][number]): Promise<void> {
  const keeps = one.keeps.map((name) => join(base, "proj", name));
  const own = [join(base, "proj"), ...(one.add ?? []).map((dir) => filled(dir, base))];
  const mayChange = (path: string) =>
    own.some((dir) => path.startsWith(`${dir}/`)) && !GUARDED.test(path) && !keeps.includes(path);
  const mayChangeExcept = (path: string) => mayChange(path) && !keeps.some((kept) => kept.startsWith(`${path}/`));
  const before = snapshot(base, mayChangeExcept);
  const project = snapshot(join(base, "proj"));
  const { decision, refused, text } = await attempt({ ...one, mode }, base);
  const said = `${mode}, ${decision}: ${text}`;
  if (one.expect === "yes") expect([refused, said]).toEqual([false, said]);
  if (one.expect === "no") expect([refused, said]).toEqual([true, said]);
  expect(snapshot(base, mayChangeExcept)).toEqual(before);
  if (refused && one.tool !== "bash") expect(snapshot(join(base, "proj"))).toEqual(project);
  if (!one.approved) expect(text).not.toMatch(SAID);
  for (const part of one.says) expect(text).toContain(part);
  if (decision === "allow") for (const part of one.lacks) expect(text).not.toContain(part);
}

const kinds = [...new Set(gatedCases.map((one) => one.kind))];
describe.each(kinds)("%s", (kind) => {
  for (const one of gatedCases.filter((c) => c.kind === kind)) {
    const title = `${one.tool} ${JSON.stringify(one.path.slice(0, 60))} ${one.expect}: ${one.why}`;
    test.runIf(works || one.tool !== "bash")(title, () => judge(one));
  }
});
