// `holdfast workflow run|ls|show|retry|input`: phases of agents over one context, each finished phase for good.

import { isAbsolute, relative, resolve } from "node:path";
import type { Context } from "../../contexts/context.ts";
import type { ContextInfo } from "../../contexts/listing.ts";
import { type Contexts, openContexts } from "../../contexts/open.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { oneLine, outputColumns, printable } from "../../front/presentation/printable.ts";
import { createScreen, isLiveTerminal } from "../../front/text/screen.ts";
import { createHub } from "../../hub/hub.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { Workflow } from "../../workflow/definition.ts";
import { drawWorkflow } from "../../workflow/draw.ts";
import { readWorkflow } from "../../workflow/parse.ts";
import { reportOf } from "../../workflow/report.ts";
import { runWorkflow } from "../../workflow/run.ts";
import type { WorkflowProgress as Progress } from "../../workflow/session.ts";
import { type WorkflowRun, workflowStatus } from "../../workflow/status.ts";
import { giveInput } from "../../workflow/wait.ts";
import type { JsonToo, PlaceFlags, WorkFlags } from "../flags.ts";
import { findContext, type OpenState, stateAt, withState } from "../open.ts";
import { openHarness } from "../open-harness.ts";
import { offlineNews, playsScripts } from "../phase-scripts.ts";
import { begunWith, startOf } from "../start.ts";

const EXIT: Partial<Record<WorkflowRun["state"], number>> = { done: 0, waiting: 0, failed: 1 };

type Look = PlaceFlags & JsonToo;
/** `-p -r` goes on with one without these. */
type RunFlags = WorkFlags & Partial<JsonToo> & { input?: string[]; repeat?: string };

const withContexts = <F extends PlaceFlags>(
  flags: F,
  work: (contexts: Contexts, state: OpenState) => Promise<number>,
): Promise<number> => withState(flags, async (state) => work(await openContexts({ store: state.store }), state));

export const ls = (flags: Look): Promise<number> => withContexts(flags, (contexts) => list(contexts, flags));

export const run = (flags: RunFlags, file: string): Promise<number> =>
  withContexts(flags, async (contexts, state) => {
    const spec = fromRoot(readWorkflow(resolve(flags.cwd, file)), state.project.root);
    pairs(flags.input ?? []); // wrong ones are said before anything is recorded
    return runSpec({ flags, state, contexts, spec });
  });

export const show = (flags: Look, id: string): Promise<number> =>
  withContexts(flags, async (contexts, state) => draw((await named(contexts, state, { id, flags })).status, flags));

export const retry = (flags: RunFlags, id: string): Promise<number> =>
  withContexts(flags, async (contexts, state) => {
    const { info, context, status } = await named(contexts, state, { id, flags });
    return goOn({ flags, state, contexts, context, info }, status);
  });

export const input = (flags: Look, id: string, given: string[]): Promise<number> =>
  withContexts(flags, async (contexts, state) => {
    const { info, context } = await named(contexts, state, { id, flags });
    await giveInput(context, pairs(given));
    if (flags.json) process.stdout.write(`${JSON.stringify({ context: info.id, given: Object.keys(pairs(given)) })}\n`);
    else process.stdout.write(`Given. Go on with: ${retryLine(info.id, flags)}\n`);
    return 0;
  });

async function named(contexts: Contexts, state: OpenState, { id, flags }: { id: string; flags: PlaceFlags }) {
  const info = await findContext(state.store, id, flags);
  const context = await contexts.get(info.id);
  const status = await workflowStatus(context, { status: info.status });
  if (!status) throw new HoldfastError("not_found", `${info.id} runs no workflow: see \`holdfast workflow ls\``);
  return { info, context, status };
}

/** Goes on with the workflow of a context, as `-r` means it. Contract: undefined when it runs none, or none that is unfinished. */
export async function resumeWorkflow(
  flags: RunFlags,
  state: OpenState,
  info: ContextInfo,
): Promise<number | undefined> {
  const contexts = await openContexts({ store: state.store });
  const context = await contexts.get(info.id);
  const status = await workflowStatus(context, { status: info.status });
  return !status || status.state === "done" ? undefined : goOn({ flags, state, contexts, context, info }, status);
}

async function goOn(
  running: Omit<Running, "spec"> & { context: Context },
  { file, context }: WorkflowRun,
): Promise<number> {
  const { store, project } = running.state;
  const { root } = project;
  // A file of this project, where the context came in with an import: another machine's path may be anything here.
  if ((await store.version(context, "ctx:import")) > 0 && relative(root, resolve(root, file)).startsWith(".."))
    throw new HoldfastError(
      "refused",
      `${context} was imported, and names a workflow file outside this project (${file}): run one of this project's with \`holdfast workflow run FILE\``,
    );
  return runSpec({ ...running, spec: fromRoot(readWorkflow(resolve(root, file)), root) });
}

/** A file of the project is recorded by its place in it: the project may be moved before the workflow is gone on with. */
function fromRoot(spec: Workflow, root: string): Workflow {
  const place = relative(root, spec.file);
  return place.startsWith("..") || isAbsolute(place) ? spec : { ...spec, file: place };
}

interface Running {
  flags: RunFlags;
  state: OpenState;
  contexts: Contexts;
  /** Undefined: a new one. */
  context?: Context;
  spec: Workflow;
  /** Of one that is taken up again. */
  info?: ContextInfo;
}

const retryLine = (id: string, flags: PlaceFlags): string => commandLine(["workflow", "retry", id], flags);

async function runSpec({ flags, state: opened, contexts, context: given, spec, info }: Running): Promise<number> {
  const state = stateAt(opened, flags, info);
  const { root } = state.project;
  const started = await startOf(flags, state, info);
  const screen = createScreen({ isLive: isLiveTerminal() });
  const mechanisms = [playsScripts(spec, root)];
  const { harness, model, settings, modelSpec } = await openHarness(started.flags, state, { screen, mechanisms }).catch(
    (error) => begunWith(error, info, flags),
  );
  const news = given ? undefined : offlineNews(spec, root, model);
  if (news && !flags.quiet) process.stderr.write(`holdfast: ${printable(news)}\n`);
  // Nothing is recorded before everything it needs is there.
  const context = given ?? (await contexts.create({ task: spec.name, title: spec.name, root }));
  const mode = settings.permissions.policy?.mode ?? "default";
  for (const line of [...settings.says, ...started.says(mode)]) process.stderr.write(`holdfast: ${printable(line)}\n`);
  const record = started.record({ settings, ...(modelSpec && { modelSpec }) });
  if (record)
    await state.store.append([{ ledger: context.id, events: [harness.host.codec.encode(record(context.id))] }]);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal).on("SIGHUP", onSignal);
  try {
    const hub = createHub({ host: harness.host, contexts, agents: harness.agents });
    if (!flags.quiet) process.stderr.write(`${context.id}\n`);
    const done = await runWorkflow({
      workflow: spec,
      context,
      runner: { run: (task) => hub.run(task) },
      ...(flags.input?.length ? { inputs: pairs(flags.input) } : {}),
      ...(flags.repeat ? { repeat: flags.repeat.split(",") } : {}),
      ...(flags.quiet ? {} : { onProgress: (progress: Progress) => screen.print(linesOf(progress)) }),
      signal: stop.signal,
      wait: AbortSignal.timeout(60_000),
      fenced: (lease) => contexts.get(context.id, { lease }),
    });
    if (flags.json) process.stdout.write(`${JSON.stringify(done)}\n`);
    else process.stdout.write(`${drawWorkflow(done, { width: width() })}\n\n${reportOf(done).markdown}\n`);
    if (done.state !== "done") process.stderr.write(`Go on with: ${retryLine(context.id, flags)}\n`);
    return stop.signal.aborted ? 130 : (EXIT[done.state] ?? 1);
  } finally {
    process.removeListener("SIGINT", onSignal).removeListener("SIGTERM", onSignal).removeListener("SIGHUP", onSignal);
    screen.close();
    await harness.close();
  }
}

function linesOf(progress: Progress): string[] {
  if (progress.kind !== "phase") return [];
  const { phase, state, error = "" } = progress;
  return [`· ${oneLine(`${phase} ${state} ${error}`, width())}`];
}

async function list(contexts: Contexts, flags: Look): Promise<number> {
  const found: WorkflowRun[] = [];
  for (const info of await contexts.list()) {
    const status = await workflowStatus(await contexts.get(info.id), { status: info.status });
    if (status) found.push(status);
  }
  if (flags.json) process.stdout.write(`${JSON.stringify(found)}\n`);
  else if (found.length === 0) process.stderr.write("No workflows yet: start one with holdfast workflow run FILE\n");
  else {
    for (const one of found) {
      const done = one.phases.filter((p) => p.state === "done" || p.state === "skipped").length;
      process.stdout.write(
        `${one.context}  ${one.state.padEnd(8)} ${done}/${one.phases.length} phases  ${oneLine(one.name, 50)}\n`,
      );
    }
  }
  return 0;
}

function draw(status: WorkflowRun, flags: Look): number {
  if (flags.json) process.stdout.write(`${JSON.stringify(status)}\n`);
  else process.stdout.write(`${drawWorkflow(status, { width: width() })}\n\n${reportOf(status).markdown}\n`);
  return 0;
}

const width = (): number => Math.min(120, outputColumns() ?? 100);

/** JSON where it is JSON, else the text itself. */
function pairs(words: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=");
      if (at <= 0) throw new HoldfastError("invalid", `"${word}" is not KEY=VALUE`);
      const text = word.slice(at + 1);
      try {
        return [word.slice(0, at), JSON.parse(text)];
      } catch {
        return [word.slice(0, at), text];
      }
    }),
  );
}
