// Running an agent for the hub: prompt from the standard template, exports back into the context, one correction, continued after a crash.

import { existsSync } from "node:fs";
import type { Context } from "../contexts/context.ts";
import type { Contexts } from "../contexts/open.ts";
import { runtimeOf } from "../contexts/runtime.ts";
import { type ErrorCode, HoldfastError, isHoldfastError, messageOf } from "../ledger/error.ts";
import { isRecord } from "../ledger/guards.ts";
import { isInherited, own } from "../ledger/own.ts";
import { contextState } from "../loop/agent.ts";
import { drive } from "../loop/drive.ts";
import type { Host, Taken, TakeOptions } from "../loop/host.ts";
import { interruptedBy } from "../loop/interrupt.ts";
import { RUNTIME_ORIGINS } from "../loop/marks.ts";
import type { AgentCatalogue, AgentFacts } from "../mechanisms/agents/port.ts";
import { type HubState, wantedOf } from "./events.ts";
import { exportsInText, exportValues } from "./exports.ts";
import { INJECTION_BYTES, injectShared } from "./injection.ts";
import type { AgentAnswer, AgentTask } from "./port.ts";
import { questionOf, refuseOther } from "./question.ts";
import { resultEntry } from "./results.ts";

export interface HubTask extends Omit<AgentTask, "signal"> {
  /** Keys of the shared data that go into the prompt, within the budget. */
  reads?: readonly string[] | "all";
  injectionBytes?: number;
  /** Where it begins; default: the context's root. */
  cwd?: string;
  /** The agent that it works for, which may read its conversation; default: it is the program's. */
  startedBy?: string;
  /** The prompt goes to an agent that has worked before; the same name says it once. */
  followUp?: string;
  /** `exports`: its answer is added to `accumulated_results` only when it exported something (default: always). */
  results?: "all" | "exports";
  /** Recorded with the creation of the agent. */
  facts?: AgentFacts;
  /** Agents that the context may have in all. */
  most?: number;
  signal?: AbortSignal;
  onProgress?: TakeOptions["onProgress"];
}

export type HubResult = AgentAnswer;

export interface HubOptions {
  host: Host;
  contexts: Contexts;
  /** The types there are (`harness.agents`); without it a type is only a name. */
  agents?: AgentCatalogue;
}

export interface Hub {
  /** Only creates the agent, with the definition of its type. Contract: nothing when it is there already. */
  create(task: HubTask): Promise<void>;
  /**
   * Contract: a task that another process began goes on where it stopped; one that was finished answers without a model call. Another
   * question under the same name is a `conflict`. Throws when it failed for good, and the error is in the context too.
   */
  run(task: HubTask): Promise<HubResult>;
}

const MAX_CORRECTIONS = 1;
const CODES: Record<string, ErrorCode> = { limit: "limit", blocked: "refused" };

export function createHub(opts: HubOptions): Hub {
  const { host, contexts } = opts;

  return {
    create: (task) => createAgent(task, opts),
    run: (task) => logged(contexts, task, () => run(task)),
  };

  async function run(task: HubTask): Promise<HubResult> {
    const startedAt = Date.now();
    await createAgent(task, opts);
    const taken = await host.take(task.context, {
      agent: task.agent,
      wait: AbortSignal.timeout(60_000),
      onProgress: task.onProgress,
    });
    const stop = () => taken.agent.interrupt(task.signal && interruptedBy(task.signal));
    task.signal?.addEventListener("abort", stop, { once: true });
    const unsubscribe = taken.ledger.subscribe(({ type, actor }) => {
      if (type === "reply.received" && actor === task.agent && overLimit(taken, task) !== undefined) stop();
    });
    try {
      const before = taken.agent.turn.state.rounds;
      const assigned = hubState(taken, task.agent);
      if (assigned) refuseOther(assigned, task);
      const resumed = assigned !== undefined;
      if (!resumed) await assign(taken, task, opts);
      else if (task.followUp === undefined) await taken.agent.reopen();
      else await taken.agent.turn.append([inputFor(task, task.prompt, task.followUp)]);
      await advance(taken, task, contexts);
      const { state } = taken.agent.turn;
      const { usage, rounds } = state;
      const text = state.lastTurn?.text ?? "";
      const exports = await exported(contexts, task);
      if (task.phase === undefined) await addResult(contexts, taken, task, text);
      return {
        text,
        exports,
        rounds,
        requests: rounds - before,
        tokens: usage.input + usage.output,
        durationMs: Date.now() - startedAt,
        resumed,
      };
    } finally {
      unsubscribe();
      task.signal?.removeEventListener("abort", stop);
      await taken.release();
    }
  }
}

async function createAgent(task: HubTask, { host, agents }: HubOptions): Promise<void> {
  checkTask(task);
  const { ledger, leave } = await host.follow(task.context);
  try {
    if (own(contextState(ledger).agents, task.agent)) return;
    const { root } = contextState(ledger);
    if (root !== "" && task.cwd === undefined && !existsSync(root))
      throw new HoldfastError(
        "not_found",
        `the folder ${root} of ${task.context} is not there: bring it back, or give cwd`,
      );
    const defined = (await agents?.define(task.agent, task.type)) ?? [];
    const { agent: name, startedBy, cwd, most, facts = [] } = task;
    await host.addAgent(task.context, { name, startedBy, cwd, most, events: [...defined, ...facts] });
  } finally {
    leave();
  }
}

/** Seed 001: what goes wrong is in the context, and raised. Not that somebody stopped it, or that another process has it: it goes on. */
async function logged<T>(contexts: Contexts, task: HubTask, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const goesOn =
      isStopped(error) ||
      task.signal?.aborted ||
      (["held", "fenced", "disk", "damaged"] as const).some((code) => isHoldfastError(error, code));
    if (task.phase === undefined && !goesOn) {
      const entry = { agent: task.agent, message: messageOf(error), cause: error };
      await contexts
        .get(task.context)
        .then((context) => context.logError(entry))
        .catch(() => undefined); // the first error is the one to be told
    }
    throw error;
  }
}

/** Once for each task: a repetition after a crash adds nothing. */
async function addResult(contexts: Contexts, taken: Taken, task: HubTask, text: string): Promise<void> {
  const { agent, type } = task;
  const given = hubState(taken, agent)?.exported ?? [];
  if (task.results === "exports" && given.length === 0) return;
  const context = await contexts.get(task.context);
  const exports = await ownExports(context, agent, given);
  const { result, values } = resultEntry({ agent, type, at: Date.now(), text, exports });
  await runtimeOf(context).write({ author: agent, call: `hub:${task.followUp ?? agent}`, result, values });
}

/** What the program and the runtime write is theirs by these names. */
const OTHERS = new Set(RUNTIME_ORIGINS);

/** Private keys are `agent/NAME/…`: a slash in a name would let one agent into another's. */
function checkTask({ context, agent, type, prompt, exports = {} }: HubTask): void {
  for (const [name, value] of Object.entries({ context, agent, type, prompt }))
    if (typeof value !== "string" || value === "")
      throw new HoldfastError(
        "invalid",
        `hub.run needs ${name}, a text, not ${value === "" ? "an empty one" : typeof value}`,
      );
  if (OTHERS.has(agent) || isInherited(agent))
    throw new HoldfastError("invalid", `${agent} is not the name of an agent here: choose another`);
  // Values are handed on in plain objects, by key: this one would be no entry there.
  if (Object.hasOwn(exports, "__proto__"))
    throw new HoldfastError("invalid", "__proto__ cannot be exported: choose another key");
  if (/[/\0-\x1f]/.test(agent) || agent.length > 200)
    throw new HoldfastError(
      "invalid",
      `an agent's name has up to 200 characters on one line and no slash: choose another`,
    );
}

const hubState = (taken: Taken, agent: string) => taken.agent.turn.slice<HubState>("hub")[agent];

/** One append: the agent never has the task without its prompt. */
async function assign(taken: Taken, task: HubTask, opts: HubOptions): Promise<void> {
  const prompt = await promptOf(task, opts);
  const data = { type: task.type, exports: task.exports ?? {}, question: questionOf(task) };
  // Whose the exported keys are decides who may write them: every write of shared data guards the configuration.
  const asked = { type: "hub.asked", touches: ["ctx:config"], data };
  await taken.agent.turn.append([asked, inputFor(task, prompt, task.agent)]);
}

const inputFor = ({ context, agent }: HubTask, text: string, name: string) => ({
  id: `inp-${context}-${name}`,
  type: "input.received",
  data: { inputId: `inp_${name}`, agent, content: [{ type: "text", text }], origin: "hub" },
});

async function promptOf(task: HubTask, { contexts, agents }: HubOptions): Promise<string> {
  const shared = task.reads
    ? await injectShared(await contexts.get(task.context), task.reads, task.injectionBytes ?? INJECTION_BYTES)
    : "";
  const wanted = Object.entries(task.exports ?? {});
  // Its instructions stand in the system prompt, as they were recorded; here only what it was chosen for.
  const about = await agents?.about(task.type).catch(() => undefined);
  const parts = [`# Role\n\n${task.type}${about ? `: ${about.description}` : ""}`, `# Instruction\n\n${task.prompt}`];
  if (shared !== "") parts.push(`# Shared context\n\n${shared}`);
  if (wanted.length > 0) {
    const schemas = wanted.map(([key, schema]) => `- ${key}: ${JSON.stringify(schema)}`).join("\n");
    parts.push(`# Export\n\nWhen you are done, call export_to_context with these keys (JSON Schema each):\n${schemas}`);
  }
  if (wanted.length === 0)
    parts.push("# Result\n\nOnly your last message goes back to whoever asked: put all they need into it.");
  return parts.join("\n\n");
}

/** Until everything that was asked for is there; told once what is wrong with it. */
async function advance(taken: Taken, task: HubTask, contexts: Contexts): Promise<void> {
  for (;;) {
    if (task.signal?.aborted) throw interruptedError(task);
    const reason = await drive(taken.agent, { takes: "inputs" });
    const last = taken.agent.turn.state.lastTurn;
    const limit = overLimit(taken, task);
    if (reason === "interrupted" && limit !== undefined) throw new HoldfastError("limit", `${task.agent}: ${limit}`);
    if (reason === "interrupted" || task.signal?.aborted) throw interruptedError(task);
    if (last && last.reason !== "done") {
      throw new HoldfastError(CODES[last.reason] ?? "model", `${task.agent}: ${last.error ?? last.reason}`);
    }
    const problem = await takeExports(taken, task, contexts);
    if (problem === undefined) return;
    if (hubState(taken, task.agent)!.corrections >= MAX_CORRECTIONS)
      throw new HoldfastError("invalid", `${task.agent}: ${problem}`);
    await taken.agent.turn.append([{ type: "hub.corrected", data: { reason: problem } }]);
    await taken.agent.send(`Your export was not accepted: ${problem}. Call export_to_context once more.`, {
      origin: "hub",
    });
  }
}

/** Stopped from outside: it can go on, and is no failure to be logged. */
const interruptedError = ({ agent }: HubTask): HoldfastError =>
  new HoldfastError("refused", `${agent} was interrupted`, { detail: { interrupted: true } satisfies Stopped });

interface Stopped {
  interrupted: true;
}

const isStopped = (error: unknown): boolean =>
  isHoldfastError(error) && isRecord(error.detail) && error.detail.interrupted === true;

/** Why it may not go on. A reply that asks for nothing more is not held against it. */
function overLimit(taken: Taken, { maxRounds, budgetTokens }: HubTask): string | undefined {
  const { rounds, usage, pending } = taken.agent.turn.state;
  if (pending.length === 0) return undefined;
  if (maxRounds !== undefined && rounds >= maxRounds) return `its limit of ${maxRounds} rounds is reached`;
  const tokens = usage.input + usage.output;
  if (budgetTokens !== undefined && tokens >= budgetTokens) return `its budget of ${budgetTokens} tokens is spent`;
  return undefined;
}

/** Undefined when nothing is wanted any more. */
async function takeExports(taken: Taken, task: HubTask, contexts: Contexts): Promise<string | undefined> {
  const { turn } = taken.agent;
  if (wantedOf(hubState(taken, task.agent)).length === 0) return undefined;
  const inText = exportsInText(turn.state.lastTurn?.text ?? "");
  if (inText) {
    const context = await contexts.get(task.context, { agent: task.agent });
    try {
      const call = `text-${turn.state.lastTurn?.turnId ?? ""}`;
      const keys = await exportValues(context, hubState(taken, task.agent)!, inText, { agent: task.agent, call });
      await turn.append([{ type: "hub.exported", data: { keys } }]);
    } catch (error) {
      return messageOf(error);
    }
  }
  const missing = wantedOf(hubState(taken, task.agent));
  return missing.length === 0 ? undefined : `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing`;
}

/** Contract: every key that was asked for, never undefined. */
async function exported(contexts: Contexts, task: HubTask): Promise<Record<string, unknown>> {
  const keys = Object.keys(task.exports ?? {});
  const values = keys.length > 0 ? await ownExports(await contexts.get(task.context), task.agent, keys) : {};
  for (const key of keys)
    if (values[key] === undefined)
      throw new HoldfastError("invalid", `${task.agent}: ${key} is missing: ask another agent for it`);
  return values;
}

/** Others may export the same key: what this agent gave is what counts. */
async function ownExports(context: Context, agent: string, keys: string[]): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const key of keys) {
    const own = (await context.history(key)).findLast((entry) => entry.author === agent && entry.op === "set");
    if (own) values[key] = await context.read(key, undefined, { version: own.version });
  }
  return values;
}
