// Owns `holdfast -p`: one turn until the agent stops, or one for each line of stream-json input; then exit.

import { createInterface } from "node:readline";
import { countsOf, type Harness, type Run, type RunResult, resultOf } from "../harness.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { contextState } from "../loop/agent.ts";
import { schedulesOf } from "../mechanisms/cron/index.ts";
import { runningJobs } from "../mechanisms/jobs/index.ts";
import type { PermissionMode } from "../mechanisms/permissions/index.ts";
import { unfinishedSubtasks } from "../mechanisms/subagents/index.ts";
import { activeMates, type TeamState } from "../mechanisms/team/index.ts";
import type { Content } from "../models/model.ts";
import type { Flags } from "./args.ts";
import { openHarness } from "./harness.ts";
import { chosenContext, openState } from "./open.ts";
import { printable } from "./printable.ts";
import { createJsonOutput } from "./stream-json.ts";
import { createTextOutput, type Output } from "./text-output.ts";

const EXIT: Record<RunResult["reason"], number> = { done: 0, failed: 1, limit: 3, blocked: 4, interrupted: 130 };

export async function headless(flags: Flags): Promise<number> {
  const resuming = flags.continue || flags.resume !== undefined;
  const prompt = await promptOf(flags, resuming);
  const state = await openState(flags);
  const { store } = state;
  try {
    const context = await chosenContext(store, flags);
    const { harness, model, settings } = await openHarness(flags, state);
    for (const line of settings.says) process.stderr.write(`holdfast: ${printable(line)}\n`);
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
        mode: settings.permissions.policy?.mode ?? "default",
      });
    } finally {
      await harness.close();
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
  context: string | undefined;
  modelId: string;
  mode: PermissionMode;
}

async function work({ flags, harness, output, prompt, context, modelId, mode }: Work): Promise<number> {
  const run = await harness.run(prompt, {
    context,
    agentType: flags.agent,
    wait: AbortSignal.timeout(60_000),
    takeOverInteractive: true,
    onEvent: (event) => output.event(event),
    onOpen: (id, turn) =>
      output.init({
        context: id,
        model: modelId,
        cwd: turn.cwd,
        tools: harness.toolNames(turn),
        permissionMode: mode,
      }),
  });
  const stop = interruptOn("SIGINT", run);
  const term = interruptOn("SIGTERM", run);
  try {
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
    return farewell(results.at(-1), run, { stay: flags.stay, interrupted });
  } finally {
    stop();
    term();
  }
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

/** Once interrupts the turn cleanly; a second time leaves at once. */
function interruptOn(signal: "SIGINT" | "SIGTERM", run: Run): () => void {
  let times = 0;
  const onSignal = () => {
    if (++times > 1) process.exit(130);
    process.stderr.write("\nInterrupting; once more to leave at once.\n");
    run.interrupt();
  };
  process.on(signal, onSignal);
  return () => process.removeListener(signal, onSignal);
}

/** `interrupted`: it stayed, and was told to end before everyone had. */
function farewell(
  result: RunResult | undefined,
  run: Run,
  { stay, interrupted }: { stay: boolean; interrupted: boolean },
): number {
  if (!result) return 0;
  const reason = result.reason === "done" && interrupted ? "interrupted" : result.reason;
  if (reason !== "done") {
    const why = result.error ?? reason;
    const again = `holdfast -p -r ${run.context}${stay ? " --stay" : ""}`;
    process.stderr.write(`${why.replace(/\s+/g, " ")}\nTake it up again with: ${again}\n`);
  }
  const jobs = runningJobs(run.taken.agent.turn);
  if (jobs > 0)
    process.stderr.write(
      `${jobs} background ${jobs === 1 ? "job is" : "jobs are"} still running: see \`holdfast jobs ls\`\n`,
    );
  const subtasks = unfinishedSubtasks(run.taken.agent.turn);
  if (subtasks > 0)
    process.stderr.write(
      `${subtasks} background ${subtasks === 1 ? "subtask is" : "subtasks are"} unfinished: go on with holdfast -p -r ${run.context} --stay\n`,
    );
  const left = stay && !interrupted ? [] : leftBehind(run);
  if (left.length > 0)
    process.stderr.write(
      `Left: ${left.join(", ")}. Nothing of it runs while no host does; keep one with: holdfast worker\n`,
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
