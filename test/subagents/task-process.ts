// A process of its own that can be killed: runs a prompt, or takes up the context it is given.
import path from "node:path";
import { createHarness } from "../../src/harness.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { openModel } from "../../src/models/open-model.ts";

const [state, root, url, context] = process.argv.slice(2) as [string, string, string, string | undefined];
const store = await openSqliteStore(path.join(state, "ledger.db"));
const model = await openModel("openai-compatible/mock", { env: { OPENAI_BASE_URL: url } });
const harness = createHarness({ model, store, root, jobsDir: path.join(state, "jobs"), permissionMode: "bypass" });
const run = await harness.run(context ? undefined : "Go", {
  ...(context ? { context } : {}),
  wait: AbortSignal.timeout(20_000),
});
const { text, reason } = await run.result;
process.stdout.write(JSON.stringify({ text, reason }));
await harness.close();
await store.close();
