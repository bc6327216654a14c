// A child that runs one turn with the task tools: node agent.ts <file> <root> <jobs>; with HOLDFAST_CRASH_AT it dies on the way.
import { createHarness } from "../../../src/harness.ts";
import { openSqliteStore } from "../../../src/ledger/sqlite/index.ts";
import { openModel } from "../../../src/models/open-model.ts";

const [file, root, jobsDir, context] = process.argv.slice(2) as [string, string, string, string?];
const store = await openSqliteStore(file);
const model = await openModel("openai-compatible/mock", { env: process.env });
const harness = createHarness({
  model,
  store,
  root,
  jobsDir,
  permissionMode: "bypass",
});
const run = await harness.run(context ? undefined : "plan the work", context ? { context } : {});
const result = await run.result;
console.log(JSON.stringify({ reason: result.reason, text: result.text }));
await harness.close();
await store.close();
