// Running a subagent through the hub, for the tool task: however it ends there is an answer, and what it exported is kept.
import type { Contexts } from "../contexts/open.ts";
import { isHoldfastError, messageOf } from "../ledger/error.ts";
import { contextState } from "../loop/agent.ts";
import type { Host } from "../loop/host.ts";
import type { AgentCatalogue } from "../mechanisms/agents/port.ts";
import type { SubagentEnd, SubagentRunner, SubagentTask } from "../mechanisms/subagents/port.ts";
import type { HubState } from "./events.ts";
import { createHub, type HubTask } from "./hub.ts";

export function createSubagentRunner(opts: { host: Host; contexts: Contexts; agents: AgentCatalogue }): SubagentRunner {
  const { host } = opts;
  const hub = createHub(opts);

  async function standing({
    context,
    agent,
  }: SubagentTask): Promise<Pick<SubagentEnd, "text" | "exported" | "denials">> {
    const { ledger, leave } = await host.follow(context);
    try {
      const state = contextState(ledger).agents[agent];
      return {
        text: state?.lastTurn?.text ?? "",
        exported: (ledger.state.slices.hub as HubState)[agent]?.exported ?? [],
        denials: (state?.denials ?? []).map(({ name, reason }) => ({ name, reason })),
      };
    } finally {
      leave();
    }
  }

  return {
    create: (task) => hub.create(asHubTask(task)),
    async run(task) {
      try {
        await hub.run(asHubTask(task));
        return { ok: true, interrupted: false, ...(await standing(task)) };
      } catch (error) {
        if (isHoldfastError(error, "disk") || isHoldfastError(error, "damaged")) throw error;
        const interrupted = task.signal.aborted || isHoldfastError(error, "fenced") || isHoldfastError(error, "held");
        return { ok: false, error: messageOf(error), interrupted, ...(await standing(task)) };
      }
    },
    isHeld: host.isHeld,
    async record(context, agent, fact) {
      const { ledger, leave } = await host.follow(context);
      try {
        await ledger.append([{ ...fact, actor: agent }]);
      } catch (error) {
        if (!isHoldfastError(error, "id_reused")) throw error; // another process has said it, in other words
      } finally {
        leave();
      }
    },
  };
}

const asHubTask = ({ onStatus, ...task }: SubagentTask): HubTask => ({
  ...task,
  results: "exports",
  onProgress: (progress) => progress.type === "status" && !progress.recorded && onStatus?.(progress.text),
});
