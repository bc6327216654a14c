// Where workflows are run in tests: a context and agents that do as they are told.
import path from "node:path";
import { afterEach } from "vitest";
import { type Context, type Contexts, openContexts } from "../../src/contexts/index.ts";
import type { AgentTask } from "../../src/hub/port.ts";
import type { PhaseSpec, WorkflowSpec } from "../../src/workflow/definition.ts";
import { defineWorkflow } from "../../src/workflow/parse.ts";
import { tempDir } from "../house.ts";
import { type Fake, fakeRunner, type Play } from "./fake.ts";

const open: Contexts[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface Desk {
  contexts: Contexts;
  context: Context;
  fake(play: (task: AgentTask) => Play): Fake;
}

export async function openDesk(): Promise<Desk> {
  const dir = tempDir("workflow");
  const contexts = await openContexts({ file: path.join(dir, "ledger.db") });
  open.push(contexts);
  const context = await contexts.create({ task: "test" });
  return { contexts, context, fake: (play) => fakeRunner(path.join(dir, "agents"), play) };
}

export const flow = (phases: PhaseSpec[], more: Partial<WorkflowSpec> = {}) =>
  defineWorkflow({ name: "test", phases, ...more });
export const phase = (id: string, more: Partial<PhaseSpec> = {}): PhaseSpec => ({ id, prompt: `Do ${id}.`, ...more });
export const text = { type: "string" };
export const states = (run: { phases: { id: string; state: string }[] }) =>
  run.phases.map((one) => `${one.id} ${one.state}`);
