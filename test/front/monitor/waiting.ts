// Contexts that wait for a person: approvals that were asked and plans that were handed in, as real events.
import { onTestFinished } from "vitest";
import { agentLease } from "../../../src/contexts/listing.ts";
import { newId } from "../../../src/ledger/id.ts";
import type { EventInput, Store } from "../../../src/ledger/store.ts";

interface WaitingOptions {
  root: string;
  title: string;
  /** A command each. */
  commands?: readonly string[];
  /** Their texts, of one teammate each. */
  plans?: readonly string[];
}

export interface Waiting {
  context: string;
  requests: string[];
}

/** Contract: this process holds it and does nothing: what it asks stays until it is answered. */
export async function makeWaiting(store: Store, opts: WaitingOptions): Promise<Waiting> {
  const { root, title, commands = [], plans = [] } = opts;
  const context = newId("ctx");
  const requests = commands.map(() => newId("apr"));
  const created = (name: string): EventInput => ({
    ...{ type: "agent.created", actor: name, touches: [`agent:${name}`], data: { name, cwd: root } },
  });
  const calls = commands.map((command, i) => ({ type: "call", id: `c${i}`, name: "bash", input: { command } }));
  const events: EventInput[] = [
    { type: "context.created", actor: "user", data: { root, title, version: "0.1.0" } },
    created("lead"),
    {
      type: "input.received",
      actor: "user",
      data: { inputId: "in-1", agent: "lead", content: [{ type: "text", text: title }], origin: "user" },
    },
    { type: "turn.started", actor: "lead", data: { turnId: "turn-1", cause: "input" } },
    { type: "input.taken", actor: "lead", data: { inputId: "in-1" } },
    {
      type: "reply.received",
      actor: "lead",
      data: {
        ...{ model: "anthropic/claude-sonnet-5-5", finish: "calls", parts: calls },
        usage: { input: 900, output: 120, cacheRead: 20_000, cacheWrite: 300 },
      },
    },
    ...commands.map(
      (command, i): EventInput => ({
        type: "approval.asked",
        actor: "lead",
        data: {
          ...{ requestId: requests[i], callId: `c${i}`, tool: "bash", input: { command }, cwd: root, root },
          ...{ code: "ask", reason: "it may change files", firm: false, rules: [`Bash(${command.split(" ")[0]}:*)`] },
        },
      }),
    ),
    ...plans.flatMap((plan, i): EventInput[] => {
      const name = `mate${i}`;
      return [
        created(name),
        { type: "team.joined", actor: "lead", data: { name, role: "engineer", requirePlan: true } },
        { type: "plan.submitted", actor: name, data: { requestId: `plan_${name}_${context.slice(-4)}`, plan } },
      ];
    }),
  ];
  const lease = await store.leases.acquire(agentLease(context, "lead"));
  if ("held" in lease) throw new Error("somebody has it");
  const stop = lease.keep(() => undefined);
  onTestFinished(async () => {
    stop();
    await lease.release();
  });
  await store.append([{ ledger: context, events, summary: { title, root, open: true } }]);
  return { context, requests };
}
