// What the offline model does in a workflow: it plays the scripts that lie beside the file, one for each phase.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "../ledger/error.ts";
import { defineMechanism, type Mechanism } from "../loop/seams.ts";
import type { Model } from "../models/model.ts";
import { createRehearsal } from "../models/rehearsal/index.ts";
import type { Workflow } from "../workflow/definition.ts";

/** The planner stands in where no model was chosen: it understands requests, not the prompts of a workflow. */
const PLANNER = "rehearsal/planner";

const folderOf = ({ file }: Workflow, root: string): string => join(dirname(resolve(root, file)), "rehearsal");
const scriptIn = (folder: string, phase: string): string => join(folder, `${phase}.yaml`);

/** Agents of a phase are named after it: `collect.1` plays `rehearsal/collect.yaml`. */
export function playsScripts(workflow: Workflow, root: string): Mechanism {
  const folder = folderOf(workflow, root);
  const players = new Map<string, Model>();
  return defineMechanism({
    name: "phase-scripts",
    seams: {
      model(call, next) {
        const { turn } = call;
        const script = scriptIn(folder, turn.agent.replace(/\..*$/s, ""));
        if (turn.model.id !== PLANNER || !existsSync(script)) return next(call);
        const model = players.get(script) ?? createRehearsal({ script });
        players.set(script, model);
        return next({ ...call, model });
      },
    },
  });
}

/** One line on what is played; undefined with a real model. Contract: throws `invalid` when a phase has to give data and nothing says what. */
export function offlineNews(workflow: Workflow, root: string, model: Model): string | undefined {
  if (model.id !== PLANNER) return undefined;
  const folder = folderOf(workflow, root);
  const silent = workflow.phases.filter(
    (phase) => Object.keys(phase.exports).length > 0 && !phase.wait && !existsSync(scriptIn(folder, phase.id)),
  );
  const [first] = silent;
  if (!first) return `the offline model plays the scripts in ${folder}`;
  throw new HoldfastError(
    "invalid",
    `the offline rehearsal model cannot make up what ${silent.map(({ id }) => id).join(", ")} must export: give --model, or set ANTHROPIC_API_KEY or OPENAI_API_KEY (or put ${first.id}.yaml into ${folder}: docs/rehearsal.md)`,
  );
}
