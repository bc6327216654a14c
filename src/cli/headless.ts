// Owns `holdfast -p`: one turn until the agent stops, or one for each line of stream-json input; then exit.

import { createInterface } from "node:readline";
import { driveRun, type Harness, type Run, type RunResult } from "../harness.ts";
import { HoldfastError, messageOf } from "../ledger/error.ts";
import { contextState } from "../loop/agent.ts";
import type { PermissionMode } from "../mechanisms/permissions/index.ts";
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
    const context = await chosenContext(state, flags);
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
    return farewell(results.at(-1), run, { harness, stay: flags.stay, interrupted });
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
  await driveRun(run, {
    onResult(result) {
      results.push(result);
      output.result(result);
    },
    goesOn: () => open || agent.hasWork(),
    async wait() {
      if (!open) return false;
      const more = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      await Promise.race([more, agent.untilWoken(idle.signal)]);
      return true;
    },
  });
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
  { harness, stay, interrupted }: { harness: Harness; stay: boolean; interrupted: boolean },
): number {
  if (!result) return 0;
  const reason = result.reason === "done" && interrupted ? "interrupted" : result.reason;
  if (reason !== "done") {
    const why = result.error ?? reason;
    const again = `holdfast -p -r ${run.context}${stay ? " --stay" : ""}`;
    process.stderr.write(`${why.replace(/\s+/g, " ")}\nTake it up again with: ${again}\n`);
  }
  for (const line of leftBehind(run, harness, { stayed: stay && !interrupted })) process.stderr.write(`${line}\n`);
  return EXIT[reason];
}

/** What is not over when the process ends, and how to go on with it. */
function leftBehind(
  { taken: { agent, ledger }, context }: Run,
  { host }: Harness,
  { stayed }: { stayed: boolean },
): string[] {
  const agents = Object.keys(contextState(ledger).agents);
  const own = host.outstanding(ledger, agent.turn.agent).filter(({ count }) => count > 0);
  const all = agents.flatMap((one) => host.outstanding(ledger, one)).filter(({ count }) => count > 0);
  const lines: string[] = [];
  for (const { what, count, seenBy, hosts } of own) {
    const many = `${counted(count, what)} ${count === 1 ? "is" : "are"}`;
    if (seenBy !== undefined) lines.push(`${many} still running: see \`${seenBy}\``);
    else if (hosts === undefined) lines.push(`${many} unfinished: go on with holdfast -p -r ${context} --stay`);
  }
  const hosted = new Map<string, number>();
  for (const { what, count, hosts } of all) if (hosts) hosted.set(what, (hosted.get(what) ?? 0) + count);
  if (hosted.size > 0 && !stayed) {
    const left = [...hosted].map(([what, count]) => counted(count, what)).join(", ");
    lines.push(`Left: ${left}. Nothing of it runs while no host does; keep one with: holdfast worker`);
  }
  return lines;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

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
