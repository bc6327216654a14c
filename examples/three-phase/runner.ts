// Owns who runs the agents of the example: the hub, with the offline rehearsal model playing one script for each phase.
import path from "node:path";
import type { Contexts } from "../../src/contexts/index.ts";
import { type AgentRunner, createHub } from "../../src/hub.ts";
import { createHarness, createRehearsal, type Model } from "../../src/index.ts";

export interface Watcher {
  /** Before each model request, and when its answer is durable. `round` counts from 0 for each agent. */
  asked(agent: string, round: number): void;
  answered(agent: string, round: number): void;
}

/** The script that the rehearsal model plays for an agent: `collect.1` plays rehearsal/collect.yaml. */
const scriptOf = (agent: string): string => path.join(import.meta.dirname, "rehearsal", `${agent.split(".")[0]}.yaml`);

export function openRunner(opts: { contexts: Contexts; root: string; watcher: Watcher }): AgentRunner {
  const { contexts, root, watcher } = opts;
  return {
    async run(task) {
      const model = watched(createRehearsal({ script: scriptOf(task.agent) }), task.agent, watcher);
      const jobsDir = path.join(root, "../jobs");
      const harness = createHarness({ model, store: contexts.store, root, jobsDir, permissionMode: "acceptEdits" });
      try {
        return await createHub({ host: harness.host, contexts }).run(task);
      } finally {
        model.settle();
        await harness.close();
      }
    },
  };
}

/** What was answered is durable before the next request goes out. */
function watched(model: Model, agent: string, watcher: Watcher): Model & { settle(): void } {
  let open: number | undefined;
  const settle = () => {
    if (open !== undefined) watcher.answered(agent, open);
    open = undefined;
  };
  return {
    ...model,
    settle,
    async reply(request, opts) {
      settle();
      const round = request.items.filter((item) => item.kind === "reply").length;
      watcher.asked(agent, round);
      const reply = await model.reply(request, opts);
      open = round;
      return reply;
    },
  };
}
