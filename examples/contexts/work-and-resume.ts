// Work that survives its process: whoever begins holds the context; a killed process leaves it to be taken up.
import { openContexts } from "../../src/contexts/index.ts";

export async function workAndResume(state: string) {
  const contexts = await openContexts({ state });
  const context = await contexts.create({ task: "Three phases" });
  const work = await context.begin();
  try {
    await context.share("phase 1", { rows: 100 });
    await context.checkpoint("phase 1");
    throw new Error("the network is gone");
  } catch (error) {
    await context.logError({ agent: work.agent, tool: "fetch", message: String(error) });
    await work.end("paused");
  }

  // Later, here or in another process: what can be taken up, and from where?
  const [found] = await contexts.resumable(); // a context whose process was killed is here at once
  const resumed = await contexts.get(found!.id);
  const again = await resumed.begin();
  const done = (await resumed.list()).map((one) => one.key);
  await again.end("done");

  const status = (await contexts.list())[0]!.status;
  const errors = (await resumed.errors()).map((one) => one.message);
  await contexts.close();
  return { checkpoint: found!.checkpoint?.name, done, status, errors };
}
