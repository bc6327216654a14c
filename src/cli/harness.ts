// Owns opening a harness from flags and settings: the same for a prompt and for a workflow.
import { createHarness, type Harness } from "../harness.ts";
import type { ApprovalsOptions } from "../mechanisms/approvals/index.ts";
import type { Model } from "../models/model.ts";
import type { Flags } from "./args.ts";
import { type OpenState, openChosenModel } from "./open.ts";
import { type OpenSettings, openSettings } from "./settings.ts";

export async function openHarness(
  flags: Flags,
  { project, store, jobsDir }: OpenState,
): Promise<{ harness: Harness; model: Model; settings: OpenSettings }> {
  const settings = await openSettings(flags, project);
  const { modelEnv: env, settings: chosen } = settings;
  const model = await openChosenModel(flags.model ?? chosen.model, env);
  const fallbacks = flags.fallbackModels.length > 0 ? flags.fallbackModels : (chosen.fallbackModels ?? []);
  const harness = createHarness({
    model,
    store,
    root: project.root,
    jobsDir,
    permissions: settings.permissions,
    hooks: chosen.hooks,
    sandbox: settings.sandbox,
    env: chosen.env,
    files: async () => {
      const { projectFiles } = await import("../contexts/project-files.ts");
      return projectFiles({ root: project.root, dir: `${project.stateDir}/files` });
    },
    approvals: approvalsOf(flags),
    team: { offer: flags.stay },
    maxRounds: flags.maxRounds ?? chosen.maxRounds,
    appendSystemPrompt: flags.appendSystemPrompt,
    fallbackModels: fallbacks.map((spec) => () => openChosenModel(spec, env)),
  });
  return { harness, model, settings };
}

/** Whoever is there answers; without a terminal nobody is, unless --approvals wait says that somebody will. */
function approvalsOf({ approvals, outputFormat }: Flags): ApprovalsOptions {
  const terminal = process.stdin.isTTY && process.stderr.isTTY && outputFormat === "text";
  const way = approvals ?? (terminal ? "terminal" : "deny");
  if (way === "deny") return {};
  if (way === "wait") return { wait: true };
  return {
    wait: true,
    onAsk: async (request, signal) => (await import("./terminal-approval.ts")).askAtTerminal(request, signal),
  };
}
