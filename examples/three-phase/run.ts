// npm run example:three-phase: runs the workflow, kills it in phase 2 (kill -9), resumes it, does the same from scratch, compares.
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Contexts, openContexts } from "../../src/contexts/index.ts";
import { drawWorkflow } from "../../src/workflow/draw.ts";
import { readWorkflow } from "../../src/workflow/parse.ts";
import { comparisonTable, type Recovery, reportOf } from "../../src/workflow/report.ts";
import { runWorkflow } from "../../src/workflow/run.ts";
import { workflowStatus } from "../../src/workflow/status.ts";
import { openRunner } from "./runner.ts";

const HERE = import.meta.dirname;
/** Killed when this one has been asked for. */
const KILL_AT = { agent: "generate.1", round: 2 };

interface Line {
  at: number;
  what: "asked" | "answered" | "ended";
  agent: string;
  round: number;
  /** Highest memory of the process so far, in bytes. */
  peakRss: number;
}

/** A file beside the project, or the server that $HOLDFAST_STATE names (`redis://…`). */
function ledgersIn(state: string): { file: string } | { cwd: string; state: string } {
  const { HOLDFAST_STATE } = process.env;
  if (!HOLDFAST_STATE) return { file: path.join(state, "ledger.db") };
  const cwd = path.join(state, "project");
  fs.mkdirSync(cwd, { recursive: true });
  return { cwd, state: HOLDFAST_STATE };
}

/** One process: runs the workflow in a context, or goes on with it. */
async function work(state: string, id: string, log: string): Promise<void> {
  const write = (what: Line["what"], agent = "", round = 0): void => {
    const peakRss = process.resourceUsage().maxRSS * 1024;
    fs.appendFileSync(log, `${JSON.stringify({ at: Date.now(), what, agent, round, peakRss } satisfies Line)}\n`);
  };
  const contexts = await openContexts(ledgersIn(state));
  const watcher = {
    asked: (agent: string, round: number) => write("asked", agent, round),
    answered: (agent: string, round: number) => write("answered", agent, round),
  };
  const run = await runWorkflow({
    workflow: readWorkflow(path.join(HERE, "workflow.yaml")),
    context: await contexts.get(id),
    runner: openRunner({ contexts, root: path.join(state, "project"), watcher }),
    fenced: (lease) => contexts.get(id, { lease }),
  });
  write("ended");
  await contexts.close();
  if (run.state !== "done") throw new Error(`the workflow is ${run.state}`);
}

function startWorker(state: string, id: string, log: string): { child: ChildProcess; exit: Promise<number | string> } {
  const child = spawn(process.execPath, [import.meta.filename, "--worker", state, id, log], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const exit = new Promise<number | string>((resolve) =>
    child.on("close", (code, signal) => resolve(signal ?? code ?? 1)),
  );
  return { child, exit };
}

function readLog(log: string): Line[] {
  if (!fs.existsSync(log)) return [];
  const lines = fs.readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

const named = ({ agent, round }: Pick<Line, "agent" | "round">): string => `${agent}/${round}`;

/** What a process did after the kill, seen from what was known before it. */
function recoveryOf(killedAt: number, known: Set<string>, after: Line[]): Recovery {
  const asked = after.filter((one) => one.what === "asked");
  const first = asked.find((one) => !known.has(named(one)));
  if (!first) throw new Error("nothing new was asked for after the kill");
  return {
    recoveryMs: first.at - killedAt,
    peakRss: Math.max(...after.map((one) => one.peakRss)),
    duplicated: asked.filter((one) => known.has(named(one))).length,
  };
}

async function newContext(contexts: Contexts, state: string): Promise<string> {
  const root = path.join(state, "project");
  fs.mkdirSync(root, { recursive: true });
  return (await contexts.create({ task: "three phases", root })).id;
}

async function main(): Promise<void> {
  const state = fs.mkdtempSync(path.join(os.tmpdir(), "three-phase-"));
  const contexts = await openContexts(ledgersIn(state));
  const log = (name: string): string => path.join(state, `${name}.log`);
  const id = await newContext(contexts, state);

  const first = startWorker(state, id, log("killed"));
  while (!readLog(log("killed")).some((one) => one.what === "asked" && named(one) === named(KILL_AT))) {
    if (first.child.exitCode !== null) throw new Error("the first process ended before it could be killed");
    await sleep(2);
  }
  first.child.kill("SIGKILL");
  const killedAt = Date.now();
  await first.exit;
  const known = new Set(
    readLog(log("killed"))
      .filter((one) => one.what === "answered")
      .map(named),
  );
  const [status] = (await contexts.resumable()).filter((one) => one.id === id);
  const interrupted = (await workflowStatus(await contexts.get(id), { status: status!.status }))!;

  const second = startWorker(state, id, log("resumed"));
  if ((await second.exit) !== 0) throw new Error("the resumed run failed");
  const kept = recoveryOf(killedAt, known, readLog(log("resumed")));

  const other = await newContext(contexts, state);
  const againAt = Date.now();
  const third = startWorker(state, other, log("scratch"));
  if ((await third.exit) !== 0) throw new Error("the run from scratch failed");
  const lost = recoveryOf(againAt, known, readLog(log("scratch")));

  const context = await contexts.get(id);
  const run = (await workflowStatus(context))!;
  const same =
    JSON.stringify(await context.read("code")) === JSON.stringify(await (await contexts.get(other)).read("code"));
  const firstPhase = readLog(log("resumed")).filter((one) => one.agent.startsWith("collect")).length;

  console.log(`# Three phases, killed in the second (kill -9), resumed\n`);
  console.log(`When it was killed (last checkpoint: ${status!.checkpoint?.name}):\n`);
  console.log(`\`\`\`\n${drawWorkflow(interrupted)}\`\`\`\n`);
  console.log(`After the resume:\n`);
  console.log(`\`\`\`\n${drawWorkflow(run)}\`\`\`\n`);
  console.log(
    `${reportOf(run).markdown}\nThe time of a phase is that of the process that finished it; its memory is the peak of that process.\n`,
  );
  console.log(comparisonTable(kept, lost));
  console.log(
    `Recovery: from the kill to the first model request that had not been answered before it. Without persistence everything`,
  );
  console.log(
    `that was answered (${known.size} requests) is asked again. Phase 1 made ${firstPhase} requests after the resume; the code is ${same ? "the same" : "NOT the same"}.`,
  );
  await contexts.close();
  if (process.argv.includes("--keep")) console.log(`\nState: ${state}`);
  else fs.rmSync(state, { recursive: true });
  if (!same || firstPhase > 0 || kept.duplicated > 0) process.exitCode = 1;
}

const [, , mode, ...rest] = process.argv;
if (mode === "--worker") await work(...(rest as [string, string, string]));
else await main();
