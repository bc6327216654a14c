// A house with a hub and a context, and how a refusal reads.
import { onTestFinished } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { createHub } from "../../src/hub/hub.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import type { Script } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";

/** Closed when the test is over. */
export async function setUp(script: Script) {
  const house = await openHouse(script);
  onTestFinished(() => house.close());
  const contexts = await openContexts({ store: house.store });
  const context = await contexts.create({ task: "t", root: house.root });
  const hub = createHub({ host: house.harness.host, contexts });
  return { house, contexts, context, hub };
}

export async function refusal(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await work.then(
    () => new Error("not refused"),
    (one: unknown) => one as Error,
  );
  return { code: isHoldfastError(error) ? error.code : "none", message: error.message };
}
