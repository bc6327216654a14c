// A process that takes a context and lets its schedules fire, to be killed: FILE.db ROOT CONTEXT NOW MODEL_URL. Prints what it did.
import path from "node:path";
import { createHarness } from "../../src/harness.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { openModel } from "../../src/models/open-model.ts";
import { KEYS } from "../environment.ts";
import { fakeClock, withCron } from "./world.ts";

const [file, root, context, now, url] = process.argv.slice(2) as [string, string, string, string, string];
const store = await openSqliteStore(file);
const model = await openModel("openai-compatible/mock", {
  env: { OPENAI_BASE_URL: url, OPENAI_API_KEY: KEYS.OPENAI_API_KEY },
});
const harness = createHarness({
  model,
  store,
  root,
  jobsDir: path.join(path.dirname(file), "jobs"),
  ...withCron({ clock: fakeClock(Number(now)), zone: "Europe/Berlin" }),
});
try {
  const { agent } = await harness.host.take(context);
  let turns = 0;
  while (await agent.oneTurn()) turns++;
  process.stdout.write(`${turns} turns\n`);
} catch (error) {
  if (!isHoldfastError(error, "held")) throw error;
  process.stdout.write("held\n");
}
await harness.close();
await store.close();
