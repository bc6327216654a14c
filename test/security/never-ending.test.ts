// A cloned repository can bring links and pipes: what is named as a file and would never end is refused at once, in one line.
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { readScript } from "../../src/models/rehearsal/script.ts";
import { readWorkflow } from "../../src/workflow/parse.ts";
import { runCli } from "../cli/cli.ts";
import { scratch } from "../turn.ts";

test("a workflow, a template, a script or an exported context that is a pipe or a device is refused at once", async () => {
  const cwd = scratch(onTestFinished);
  const opts = { cwd, state: scratch(onTestFinished) };
  const at = (name: string) => join(cwd, name);
  symlinkSync("/dev/zero", at("zero.yaml"));
  execFileSync("bash", ["-c", 'mkfifo "$@"', "bash", at("pipe.yaml"), at("pipe.md")]);
  writeFileSync(at("flow.yaml"), "name: f\nphases:\n  - id: a\n    template: pipe.md\n");
  const refused = [2, expect.stringMatching(/^holdfast: .*cannot be read: it is a pipe or a device, not a file.*\n$/)];
  const runs = [
    ["workflow", "run", "zero.yaml"],
    ["workflow", "run", "pipe.yaml"],
    ["-p", "go", "--model", "rehearsal:pipe.yaml"],
  ].map((args) => runCli(args, opts));
  expect((await Promise.all(runs)).map(({ code, stderr }) => [code, stderr])).toEqual([refused, refused, refused]);
  expect(() => readWorkflow(at("flow.yaml"))).toThrow("pipe.md: it is a pipe or a device, not a file");
  await expect(readScript(at("zero.yaml"))).rejects.toThrow("it is a pipe or a device, not a file");
  const store = await openSqliteStore(join(opts.state, "ledger.db"));
  onTestFinished(() => store.close());
  await expect((await openContexts({ store })).import(at("zero.yaml"))).rejects.toThrow("is a device");
});
