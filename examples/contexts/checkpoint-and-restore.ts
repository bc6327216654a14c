// Going back, taking that back, and trying something else beside.
import { openContexts } from "../../src/contexts/index.ts";

export async function checkpointAndRestore(state: string) {
  const contexts = await openContexts({ state });
  const context = await contexts.create({ task: "Write the report" });
  await context.share("draft", "first");
  await context.checkpoint("phase 1"); // one event, whatever the size

  await context.share("draft", "second");
  const diff = await context.diff("phase 1"); // { added, changed, removed } with sizes
  await context.restore("phase 1", { data: true });
  const back = await context.read("draft");
  await context.undo();
  const again = await context.read("draft");

  const fork = await context.fork("phase 1"); // a second timeline
  const edited = await context.updateState("phase 1", { draft: "by hand" }); // the same, with other data
  const beside = [await fork.read("draft"), await edited.read("draft")];
  await contexts.close();
  return { changed: diff.changed.map((one) => one.key), back, again, beside };
}
