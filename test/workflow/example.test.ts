import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Watcher } from "../../examples/three-phase/runner.ts";
import { readWorkflow } from "../../src/workflow/parse.ts";

const EXAMPLE = path.join(import.meta.dirname, "../../examples/three-phase");

describe("the three-phase example", () => {
  it("is a valid workflow: collect → generate → review", () => {
    const { phases } = readWorkflow(path.join(EXAMPLE, "workflow.yaml"));
    expect(phases.map(({ id, agent, needs }) => [id, agent, needs])).toEqual([
      ["collect", "general-purpose", []],
      ["generate", "general-purpose", ["collect"]],
      ["review", "code-reviewer", ["generate"]],
    ]);
    expect({} as Partial<Watcher>).toEqual({}); // its types are checked with the tests
  });

  it("is killed in phase 2, resumed without repeating anything, and prints the two tables", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [path.join(EXAMPLE, "run.ts")]);
    expect(stdout).toContain("When it was killed (last checkpoint: collect):");
    expect(stdout).toMatch(/└─ ↯ generate \(Generate code\) interrupted/);
    expect(stdout).toMatch(/^\| 1\. Collect data \| general-purpose \| [\d.]+ m?s \| 191 B \| [\d.]+ MB \| 3 \|$/m);
    expect(stdout).toMatch(/^\| 2\. Generate code \| general-purpose \| [\d.]+ m?s \| 185 B \| [\d.]+ MB \| 4 \|$/m);
    expect(stdout).toMatch(/^\| 3\. Check quality \| code-reviewer \| [\d.]+ m?s \| 31 B \| [\d.]+ MB \| 2 \|$/m);
    expect(stdout).toMatch(/^\| \*\*Total\*\* \| – \| [\d.]+ m?s \| 407 B \| [\d.]+ MB \| 9 \|$/m);
    expect(stdout).toMatch(/^\| Recovery time \| [\d.]+ m?s \| [\d.]+ m?s \| (?:[−+]\d+ %|same) \|$/m); // which is shorter is the machine's
    expect(stdout).toMatch(/^\| Duplicated model requests \| 0 \| 5 \| −100 % \|$/m);
    expect(stdout).toContain("Phase 1 made 0 requests after the resume; the code is the same.");
  });
});
