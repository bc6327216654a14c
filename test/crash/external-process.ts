// A program of an embedder's own: the harness with one `external` tool, behind the same words as the command line.
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import * as z from "zod";
import { openProject } from "../../src/contexts/index.ts";
import { createHarness } from "../../src/harness.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import { defineTool } from "../../src/loop/seams.ts";
import { openModel } from "../../src/models/open-model.ts";
import { harmlessHooks, sandboxFor } from "../environment.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { p: { type: "boolean", short: "p" }, r: { type: "string", short: "r" } },
});
const project = openProject({ cwd: process.cwd(), env: process.env });
const store = await openStore(project.ledgers);
const harness = createHarness({
  model: await openModel("openai-compatible/mock", { env: process.env }),
  store,
  root: project.root,
  jobsDir: path.join(project.stateDir, "jobs"),
  permissionMode: "bypass",
  hooks: harmlessHooks(["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]),
  sandbox: sandboxFor(project.stateDir, project.root),
  tools: [
    defineTool({
      name: "post_letter",
      description: "Posts a letter; no one can ask whether it went out.",
      schema: () => z.strictObject({ line: z.string() }),
      effect: "external",
      async execute({ input, cwd }) {
        fs.appendFileSync(path.join(cwd, "effects.log"), `${input.line}\n`);
        return { content: "posted" };
      },
    }),
  ],
});
const run = await harness.run(positionals[0], values.r === undefined ? {} : { context: values.r });
const { reason } = await run.result;
await harness.close();
await store.close();
process.exitCode = reason === "done" ? 0 : 1;
