// A process that runs a workflow with the fake runner, to be killed: FILE.db CONTEXT DIR. Prints how it ended.
import { openContexts } from "../../src/contexts/index.ts";
import { runWorkflow } from "../../src/workflow/run.ts";
import { crashFlow, playCrash } from "./crash.ts";
import { fakeRunner } from "./fake.ts";

const [file, id, dir, delay] = process.argv.slice(2) as [string, string, string, string];
const contexts = await openContexts({ file });
const context = await contexts.get(id);
const { runner } = fakeRunner(dir, (task) => ({ ...playCrash(task), delayMs: Number(delay ?? 0) }));
const run = await runWorkflow({
  workflow: crashFlow(),
  context,
  runner,
  fenced: (lease) => contexts.get(id, { lease }),
});
await contexts.close();
process.stdout.write(`${run.state}\n`);
