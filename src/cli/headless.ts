// Owns `holdfast -p`: one turn until the agent stops, or one for each line of stream-json input; then exit.

import { createInterface } from "node:readline";
import type { ContextInfo } from "../contexts/index.ts";
import { countsOf, type Harness, type Run, type RunResult, resultOf, titleOf } from "../harness.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { contextState, LEAD } from "../loop/agent.ts";
import { contextRoot } from "../loop/transcript.ts";
import { schedulesOf } from "../mechanisms/cron/index.ts";
import { runningJobs, sweepJobs } from "../mechanisms/jobs/index.ts";
import type { PermissionMode } from "../mechanisms/permissions/index.ts";
import { unfinishedSubtasks } from "../mechanisms/subagents/index.ts";
import { activeMates, type TeamState } from "../mechanisms/team/index.ts";
import type { Content } from "../models/model.ts";
import type { Flags } from "./args.ts";
import { commandLine, resumeLine } from "./command-line.ts";
import { openHarness } from "./harness.ts";
import { chosenContext, type OpenState, openState, stateAt } from "./open.ts";
import { printable } from "./printable.ts";
import { interruptOnSignals } from "./signals.ts";
import { type Started, startOf } from "./start.ts";
import { createJsonOutput } from "./stream-json.ts";
import { createTextOutput, type Output } from "./text-output.ts";

/** How long the output of a job that has ended can still be looked at. */
const KEEP_JOBS_MS = 7 * 86_400_000;
const EXIT: Record<RunResult["reason"], number> = { done: 0, failed: 1, limit: 3, blocked: 4, interrupted: 130 };

export async function headless(flags: Flags): Promise<number> {
  const resuming = flags.continue || flags.resume !== undefined;
  const prompt = await promptOf(flags, resuming);
  const opened = await openState(flags);
  const { store, jobsDir } = opened;
  try {
    const context = await chosenContext(store, flags);
    const state = stateAt(opened, flags, context);
    const started = await startOf(flags, state, context);
    const { harness, model, settings, modelSpec } = await openHarness(started.flags, state);
    const mode = settings.permissions.policy?.mode ?? "default";
    for (const line of [...settings.says, ...started.says(mode)])
      process.stderr.write(`holdfast: ${printable(line)}\n`);
    const output =
      flags.outputFormat === "text"
        ? createTextOutput(flags)
        : createJsonOutput({ stream: flags.outputFormat === "stream-json" });
    try {
      return await work({
        flags,
        harness,
        output,
        prompt,
        context,
        modelId: model.id,
        mode,
        state,
        record: started.record({ settings, ...(modelSpec && { modelSpec }) }),
      });
    } finally {
      await harness.close();
      sweepJobs(jobsDir, KEEP_JOBS_MS);
    }
  } finally {
    await store.close();
  }
}

interface Work {
  flags: Flags;
  harness: Harness;
  output: Output;
  prompt: string | undefined;
  context: ContextInfo | undefined;
  modelId: string;
  mode: PermissionMode;
  state: OpenState;
  /** How it was started, where the ledger does not know that yet. */
  record: ReturnType<Started["record"]>;
}

async function work(work: Work): Promise<number> {
  const signals = interruptOnSignals();
  try {
    return await workOn(work, signals);
  } finally {
    signals.leave();
  }
}

async function workOn(work: Work, signals: ReturnType<typeof interruptOnSignals>): Promise<number> {
  const { flags, harness, output, prompt, modelId, mode, state, record } = work;
  if (flags.agent !== undefined && work.context)
    throw new HoldfastError("invalid", "the type of a lead is chosen when its context begins: leave --agent out");
  const context = work.context?.id ?? (await begin(work));
  let recording: Promise<unknown> = Promise.resolve();
  const run = await harness.run(prompt, {
    context,
    wait: AbortSignal.timeout(60_000),
    takeOverInteractive: true,
    onEvent: (event) => output.event(event),
    onOpen: (id, turn) => {
      // Held, and before anything happens in it: whoever comes after a kill goes on with what was typed here.
      if (work.context && record)
        recording = state.store.append([{ ledger: id, events: [harness.host.codec.encode(record(id))] }]);
      recording.catch(() => undefined); // awaited below
      if (!work.context && flags.outputFormat !== "stream-json" && !flags.quiet)
        process.stderr.write(
          `${id}: should it be interrupted, go on with: ${resumeLine({ id, root: turn.root }, flags)}\n`,
        );
      output.init({
        context: id,
        model: modelId,
        cwd: turn.cwd,
        tools: harness.toolNames(turn),
        permissionMode: mode,
      });
    },
  });
  signals.of(run);
  try {
    await recording;
  } catch (error) {
    run.interrupt();
    await run.result.catch(() => undefined);
    throw error;
  }
  const first = await run.result;
  const results = flags.inputFormat === "text" || prompt !== undefined || first.rounds > 0 ? [first] : [];
  if (prompt === undefined && first.rounds === 0 && first.reason === "done" && results.length > 0) {
    process.stderr.write(`Nothing is left to take up in ${run.context}; its last answer:\n`);
  }
  for (const result of results) output.result(result);
  let interrupted = false;
  if (flags.stay) {
    const { stay } = await import("./stay.ts");
    const stayed = await stay({ harness, run, output });
    results.push(...stayed.results);
    interrupted = stayed.interrupted;
  }
  if (flags.inputFormat === "stream-json") results.push(...(await converse(run, output)));
  return farewell(results.at(-1), run, { flags, interrupted });
}

/** A new context, with how it was started from its first moment. */
async function begin({ flags, harness, prompt, state, record }: Work): Promise<string> {
  const facts = flags.agent === undefined ? [] : await harness.agents.define(LEAD, flags.agent);
  const said = (id: string) => (record ? [record(id)] : []);
  return harness.host.create({ root: state.project.root, title: titleOf(prompt), facts, said });
}

/** Each line of stdin is a user message; one that comes while a turn runs steers it. Finished jobs wake the idle agent. */
async function converse(run: Run, output: Output): Promise<RunResult[]> {
  const { agent } = run.taken;
  const results: RunResult[] = [];
  const idle = new AbortController();
  let open = true;
  let arrived: () => void = () => undefined;
  const lines = createInterface({ input: process.stdin });
  const reading = (async () => {
    try {
      for await (const line of lines) {
        if (line.trim() === "") continue;
        await agent.send(messageIn(line));
        arrived();
      }
    } finally {
      open = false;
      arrived();
    }
  })();
  reading.catch(() => undefined);
  while (open || agent.hasWork()) {
    const before = countsOf(run.taken);
    const startedAt = Date.now();
    const reason = await agent.oneTurn();
    if (reason) {
      const result = resultOf({
        context: run.context,
        taken: run.taken,
        reason,
        before,
        durationMs: Date.now() - startedAt,
      });
      results.push(result);
      output.result(result);
      continue;
    }
    if (!open) break;
    await agent.idle();
    await Promise.race([
      new Promise<void>((resolve) => {
        arrived = resolve;
      }),
      agent.untilWoken(idle.signal),
    ]);
  }
  idle.abort();
  await reading;
  return results;
}

function messageIn(line: string): Content[] {
  let parsed: { type?: string; message?: { content?: string | { type: string; text?: string }[] } };
  try {
    parsed = JSON.parse(line);
  } catch (error) {
    throw new HoldfastError(
      "invalid",
      `stdin: not a line of JSON (${messageOf(error)}): send {"type":"user","message":{"role":"user","content":"…"}}`,
    );
  }
  const content = parsed.message?.content;
  if (parsed.type !== "user" || content === undefined) {
    throw new HoldfastError("invalid", 'stdin: expected {"type":"user","message":{"role":"user","content":"…"}}');
  }
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((c) => ({ type: "text", text: c.text ?? "" }));
}

/** `interrupted`: it stayed, and was told to end before everyone had. */
function farewell(
  result: RunResult | undefined,
  run: Run,
  { flags, interrupted }: { flags: Flags; interrupted: boolean },
): number {
  if (!result) return 0;
  const context = { id: run.context, root: contextRoot(run.taken.agent.turn) };
  const reason = result.reason === "done" && interrupted ? "interrupted" : result.reason;
  if (reason !== "done") {
    const why = result.error ?? reason;
    process.stderr.write(`${why.replace(/\s+/g, " ")}\nTake it up again with: ${resumeLine(context, flags)}\n`);
  }
  const jobs = runningJobs(run.taken.agent.turn);
  if (jobs > 0)
    process.stderr.write(
      `${jobs} background ${jobs === 1 ? "job is" : "jobs are"} still running: see \`holdfast jobs ls\`\n`,
    );
  const subtasks = unfinishedSubtasks(run.taken.agent.turn);
  if (subtasks > 0)
    process.stderr.write(
      `${subtasks} background ${subtasks === 1 ? "subtask is" : "subtasks are"} unfinished: go on with ${resumeLine(context, { ...flags, stay: true })}\n`,
    );
  const left = flags.stay && !interrupted ? [] : leftBehind(run);
  if (left.length > 0)
    process.stderr.write(
      `Left: ${left.join(", ")}. Nothing of it runs while no host does; keep one with: ${commandLine(["worker"], flags, context.root)}\n`,
    );
  return EXIT[reason];
}

/** What would go on by itself if a host were there. */
function leftBehind({ taken: { agent, ledger } }: Run): string[] {
  const { slice } = agent.turn;
  const mates = activeMates(slice<TeamState>("team")).length;
  const schedules = Object.keys(contextState(ledger).agents).flatMap((one) =>
    schedulesOf({ agent: one, slice }),
  ).length;
  const count = (n: number, what: string) => (n === 0 ? [] : [`${n} ${what}${n === 1 ? "" : "s"}`]);
  return [...count(mates, "teammate"), ...count(schedules, "schedule")];
}

async function promptOf(flags: Flags, resuming: boolean): Promise<string | undefined> {
  const words = flags.words.join(" ").trim();
  if (words !== "") return words;
  if (resuming || flags.inputFormat === "stream-json") return undefined;
  if (process.stdin.isTTY)
    throw new HoldfastError("invalid", 'give a prompt: holdfast -p "what to do" (or pipe it in)');
  let piped = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) piped += chunk;
  if (piped.trim() === "")
    throw new HoldfastError("invalid", 'the prompt is empty: holdfast -p "what to do" (or pipe it in)');
  return piped.trim();
}
