// One workflow in one process, begun or taken up again: for the command, and for a worker that found it interrupted.
import { isAbsolute, relative, resolve } from "node:path";
import type { Context } from "../contexts/context.ts";
import type { ContextInfo } from "../contexts/listing.ts";
import type { Contexts } from "../contexts/open.ts";
import { oneLine, outputColumns, printable } from "../front/presentation/printable.ts";
import type { Screen } from "../front/text/screen.ts";
import { createHub } from "../hub/hub.ts";
import { HoldfastError } from "../ledger/error.ts";
import type { HeldBy } from "../ledger/store.ts";
import type { Workflow } from "../workflow/definition.ts";
import { readWorkflow } from "../workflow/parse.ts";
import { runWorkflow, type WorkflowRunOptions } from "../workflow/run.ts";
import type { WorkflowProgress as Progress } from "../workflow/session.ts";
import type { WorkflowRun } from "../workflow/status.ts";
import type { WorkFlags } from "./flags.ts";
import { waitText } from "./going-on.ts";
import { type OpenState, stateAt } from "./open.ts";
import { openHarness } from "./open-harness.ts";
import { offlineNews, playsScripts } from "./phase-scripts.ts";
import { begunWith, startOf, type WorkerRule } from "./start.ts";

export interface WorkflowExecution extends Pick<WorkflowRunOptions, "inputs" | "repeat" | "whenStopped" | "wait"> {
  flags: WorkFlags;
  state: OpenState;
  contexts: Contexts;
  /** Undefined: a new one. */
  context?: Context;
  spec: Workflow;
  /** Of one that is taken up again. */
  info?: ContextInfo;
  screen: Screen;
  signal: AbortSignal;
  onBegun?: (context: string) => void;
  /** No person has told it to go on. */
  worker?: WorkerRule;
  /** Around each of its agents: where several works share the room of a process. */
  placed?: <T>(context: string, work: () => Promise<T>) => Promise<T>;
}

export async function executeWorkflow(of: WorkflowExecution): Promise<WorkflowRun> {
  const { flags, contexts, context: given, spec, info, screen } = of;
  const state = stateAt(of.state, flags, info);
  const { root } = state.project;
  const started = await startOf(flags, state, info, of.worker);
  const mechanisms = [playsScripts(spec, root)];
  const { harness, model, settings, modelSpec } = await openHarness(started.flags, state, { screen, mechanisms }).catch(
    (error) => begunWith(error, info, flags),
  );
  const waitsFor = (by: HeldBy, id: string) =>
    void process.stderr.write(`holdfast: ${printable(waitText(by, { id, ends: "Ctrl-C ends it" }))}\n`);
  try {
    const news = given ? undefined : offlineNews(spec, root, model);
    if (news && !flags.quiet) process.stderr.write(`holdfast: ${printable(news)}\n`);
    // Nothing is recorded before everything it needs is there.
    const context = given ?? (await contexts.create({ task: spec.name, title: spec.name, root }));
    const mode = settings.permissions.policy?.mode ?? "default";
    for (const line of [...settings.says, ...started.says(mode)])
      process.stderr.write(`holdfast: ${printable(line)}\n`);
    const record = started.record({ settings, ...(modelSpec && { modelSpec }) });
    if (record)
      await state.store.append([{ ledger: context.id, events: [harness.host.codec.encode(record(context.id))] }]);
    const hub = createHub({ host: harness.host, contexts, agents: harness.agents });
    of.onBegun?.(context.id);
    const { placed = (_, work) => work() } = of;
    return await runWorkflow({
      workflow: spec,
      context,
      runner: { run: (task) => placed(context.id, () => hub.run(task)) },
      ...(of.inputs && { inputs: of.inputs }),
      ...(of.repeat && { repeat: of.repeat }),
      ...(flags.quiet ? {} : { onProgress: (progress: Progress) => screen.print(linesOf(progress)) }),
      ...(of.whenStopped && { whenStopped: of.whenStopped }),
      ...(of.wait && { wait: of.wait, onWait: (by) => waitsFor(by, context.id) }),
      signal: of.signal,
      fenced: (lease) => contexts.get(context.id, { lease }),
    });
  } finally {
    await harness.close();
  }
}

/** The workflow that a context runs, as its file says it now. */
export async function specOf({ store, project }: OpenState, { file, context }: WorkflowRun): Promise<Workflow> {
  const { root } = project;
  // A file of this project, where the context came in with an import: another machine's path may be anything here.
  if ((await store.version(context, "ctx:import")) > 0 && relative(root, resolve(root, file)).startsWith(".."))
    throw new HoldfastError(
      "refused",
      `${context} was imported, and names a workflow file outside this project (${file}): run one of this project's with \`holdfast workflow run FILE\``,
    );
  return fromRoot(readWorkflow(resolve(root, file)), root);
}

/** A file of the project is recorded by its place in it: the project may be moved before the workflow is gone on with. */
export function fromRoot(spec: Workflow, root: string): Workflow {
  const place = relative(root, spec.file);
  return place.startsWith("..") || isAbsolute(place) ? spec : { ...spec, file: place };
}

function linesOf(progress: Progress): string[] {
  if (progress.kind !== "phase") return [];
  const { phase, state, error = "" } = progress;
  return [`· ${oneLine(`${phase} ${state} ${error}`, drawWidth())}`];
}

export const drawWidth = (): number => Math.min(120, outputColumns() ?? 100);
