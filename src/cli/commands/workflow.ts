// `holdfast workflow run|ls|show|retry|input`: phases of agents over one context, each finished phase for good.
import { resolve } from "node:path";
import type { Context } from "../../contexts/context.ts";
import type { ContextInfo } from "../../contexts/listing.ts";
import { type Contexts, openContexts } from "../../contexts/open.ts";
import { commandLine } from "../../front/presentation/command-line.ts";
import { oneLine } from "../../front/presentation/printable.ts";
import { createScreen, isLiveTerminal } from "../../front/text/screen.ts";
import { HoldfastError } from "../../ledger/error.ts";
import type { Workflow } from "../../workflow/definition.ts";
import { drawWorkflow } from "../../workflow/draw.ts";
import { readWorkflow } from "../../workflow/parse.ts";
import { reportOf } from "../../workflow/report.ts";
import { type WorkflowRun, workflowStatus } from "../../workflow/status.ts";
import { giveInput } from "../../workflow/wait.ts";
import type { JsonToo, PlaceFlags, WorkFlags } from "../flags.ts";
import { WAIT_MS } from "../going-on.ts";
import { findContext, type OpenState, withState } from "../open.ts";
import { drawWidth, executeWorkflow, fromRoot, specOf } from "../run-workflow.ts";

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

async function goOn(running: Omit<Running, "spec"> & { context: Context }, status: WorkflowRun): Promise<number> {
  return runSpec({ ...running, spec: await specOf(running.state, status) });
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

async function runSpec({ flags, ...running }: Running): Promise<number> {
  const screen = createScreen({ isLive: isLiveTerminal() });
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal).on("SIGHUP", onSignal);
  try {
    const wait = AbortSignal.any([stop.signal, AbortSignal.timeout(WAIT_MS)]);
    const done = await executeWorkflow({
      ...{ ...running, flags, screen, signal: stop.signal, wait },
      ...(flags.input?.length ? { inputs: pairs(flags.input) } : {}),
      ...(flags.repeat ? { repeat: flags.repeat.split(",") } : {}),
      ...(flags.quiet ? {} : { onBegun: (id: string) => void process.stderr.write(`${id}\n`) }),
    });
    if (flags.json) process.stdout.write(`${JSON.stringify(done)}\n`);
    else process.stdout.write(`${drawWorkflow(done, { width: drawWidth() })}\n\n${reportOf(done).markdown}\n`);
    if (done.state !== "done") process.stderr.write(`Go on with: ${retryLine(done.context, flags)}\n`);
    return stop.signal.aborted ? 130 : (EXIT[done.state] ?? 1);
  } finally {
    process.removeListener("SIGINT", onSignal).removeListener("SIGTERM", onSignal).removeListener("SIGHUP", onSignal);
    screen.close();
  }
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
  else process.stdout.write(`${drawWorkflow(status, { width: drawWidth() })}\n\n${reportOf(status).markdown}\n`);
  return 0;
}

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
