// The calls of one reply: prepare (gates, in order) → execute → finalize. Exactly one result for each call, whatever fails.
import { RESERVED_EVENTS } from "../contexts/events.ts";
import { crashPoint } from "../ledger/crash-point.ts";
import { messageOf } from "../ledger/error.ts";
import { explain, SELDOM } from "../ledger/events.ts";
import type { EventInput, WakeInput } from "../ledger/store.ts";
import type { Content } from "../models/model.ts";
import { interruptedBy, leaseIsOver } from "./interrupt.ts";
import type { Agent } from "./loop.ts";
import { noteText, unmarked } from "./marks.ts";
import { resultOfError } from "./next-step.ts";
import type { EffectOutcome, Grants, Looked, Tool, ToolOutput, ToolRun } from "./seams.ts";
import { schemaOf } from "./tool-specs.ts";
import type { PendingCall } from "./transcript.ts";
import { type WhyRefused, whyRefused } from "./why-refused.ts";

type Facts = Omit<EventInput, "actor">[];

/** A call that passed its gates, with what an earlier host recorded of it. */
interface Ready {
  pending: PendingCall;
  tool: Tool;
  input: unknown;
  grants: Grants;
  /** The tree it was judged in, and the directory. */
  root: string;
  cwd: string;
  looked?: Looked;
}

/** What is durable with the next append. */
interface Outbox {
  facts: Facts;
  blobs: Uint8Array[];
  wake: WakeInput[];
  after: (() => void)[];
  /** Since when this process holds the agent. */
  heldSince: number;
  /** Of the turn. */
  signal: AbortSignal;
}

const newOutbox = ({ heldSince, turn: { signal } }: Agent): Outbox => ({
  facts: [],
  blobs: [],
  wake: [],
  after: [],
  heldSince,
  signal,
});

const UNKNOWN_OUTCOME =
  "Interrupted: the harness stopped while this call ran, and its outcome is unknown. Look before you repeat it.";

export async function runCalls(agent: Agent): Promise<void> {
  const outbox = newOutbox(agent);
  const ready: Ready[] = [];
  for (const pending of [...agent.turn.state.pending]) {
    const prepared = await prepare(agent, pending);
    if ("tool" in prepared) ready.push(prepared);
    else finalizeRefused(outbox, pending, prepared);
  }
  for (const group of groups(ready)) {
    if (outbox.facts.some(({ type }) => type === "agent.moved")) await flush(agent, outbox);
    if (isElsewhere(agent, group[0]))
      for (const { pending } of group) finalize(outbox, pending, unrun(MOVED), { at: Date.now() });
    else await runGroup(agent, await judgedHere(agent, group, outbox), outbox);
  }
  await flush(agent, outbox);
}

/** Contract: that of `Turn.runInside`. */
export async function runInside(agent: Agent, name: string, input: unknown, id: string): Promise<ToolOutput> {
  const prepared = await prepare(agent, { call: { type: "call", id, name, input } });
  if (!("tool" in prepared)) return prepared.refused;
  const run = (intent?: unknown) => toRun(agent, prepared, intent, false);
  try {
    if (!["internal", "read"].includes(prepared.tool.effect)) await agent.seams.beforeEffect(run());
    const whole = run(await prepared.tool.intend?.(run()));
    const output = await attempt(agent, whole, (inner) => inner.tool.execute(inner));
    output.after?.();
    return output;
  } catch (error) {
    return resultOfError(error);
  }
}

/**
 * A turn ends: every call that is open gets its result at once. Nothing is begun; what an intent says is looked at. Contract: throws `fenced`
 * when its lease is over: the next holder looks.
 */
export async function closeCalls(agent: Agent, why: string): Promise<void> {
  const { context, agent: name, signal } = agent.turn;
  if (interruptedBy(signal) === "lease") throw leaseIsOver(context, name, signal.reason);
  const outbox = newOutbox(agent);
  for (const pending of [...agent.turn.state.pending]) {
    const at = pending.started?.at ?? Date.now();
    const { output, resumed } = await closed(agent, pending, why);
    finalize(outbox, pending, output, { at, resumed });
  }
  await flush(agent, outbox);
}

async function closed(
  agent: Agent,
  pending: PendingCall,
  why: string,
): Promise<{ output: ToolOutput; resumed?: Settled["kind"] }> {
  const notRun = { output: unrun(`${why}.`) };
  if (!pending.started || ["internal", "read"].includes(pending.started.effect)) return notRun;
  const call = await prepare(agent, pending);
  if (!("tool" in call)) return { output: call.refused };
  const run = toRun(agent, call, pending.started.intent, true);
  const outcome = await resumeEffect(run, pending);
  if (outcome.kind === "undone") return notRun;
  // Whoever interrupts a command ends it; otherwise nobody waits for it here.
  const looked: Settled = outcome.kind === "adopted" && !run.signal.aborted ? { kind: "unknown" } : outcome;
  const output = await attempt(agent, run, (inner) => resultOf(looked, inner));
  return { output, ...(pending.started.at < agent.heldSince && { resumed: looked.kind }) };
}

async function runGroup(agent: Agent, group: Ready[], outbox: Outbox): Promise<void> {
  const [first] = group;
  if (first?.tool.effect === "read") await runReads(agent, group, outbox);
  else if (group.length > 1) await runTogether(agent, group, outbox);
  else if (first) await runEffect(agent, first, outbox);
}

/** An earlier call of the reply may have changed the directory: what was judged in another one is judged, and asked, again. */
async function judgedHere(agent: Agent, group: Ready[], outbox: Outbox): Promise<Ready[]> {
  const out: Ready[] = [];
  for (const call of group) {
    const hasBegun = call.pending.started !== undefined && mayHaveBegun(call.tool);
    const isHere = hasBegun || call.tool.effect === "internal" || call.cwd === agent.turn.cwd;
    const prepared = isHere ? call : await prepare(agent, call.pending);
    if ("tool" in prepared) out.push(prepared);
    else finalizeRefused(outbox, call.pending, prepared);
  }
  return out;
}

function finalizeRefused(outbox: Outbox, pending: PendingCall, { refused, denied, refusal }: Refusal): void {
  finalize(outbox, pending, refused, { at: Date.now(), denied, refusal });
}

const unrun = (why: string): ToolOutput => ({ content: `Not run: ${why}`, isError: true, notRun: true });
const INTERRUPTED = "the turn was interrupted.";
const MOVED = "an earlier call of this reply took you to another tree. Look where you are, then send it again.";

/** What was judged in one tree is not done in another. */
const isElsewhere = ({ turn }: Agent, { tool, root }: Ready): boolean =>
  tool.effect !== "internal" && root !== turn.root;

/** Neighbouring reads run together, and so do neighbours that are `parallel`; everything else alone, in source order. */
function groups(ready: Ready[]): [Ready, ...Ready[]][] {
  const out: [Ready, ...Ready[]][] = [];
  for (const call of ready) {
    const last = out.at(-1);
    const kind = together(call);
    if (last && kind !== undefined && together(last[0]) === kind) last.push(call);
    else out.push([call]);
  }
  return out;
}

const together = ({ tool }: Ready): "read" | "parallel" | undefined =>
  tool.effect === "read" ? "read" : tool.parallel ? "parallel" : undefined;

type Refusal = { refused: ToolOutput; denied?: string; refusal?: WhyRefused };

async function prepare(agent: Agent, pending: PendingCall): Promise<Ready | Refusal> {
  const { turn, seams } = agent;
  const { call, started } = pending;
  const refuse = (text: string): Refusal => ({ refused: { content: text, isError: true } });
  if (turn.signal.aborted && !started) return { refused: unrun(INTERRUPTED) };
  if (call.broken !== undefined) {
    const why = `the call arrived incomplete (${call.broken}). Send it again, whole; in smaller parts if it is long.`;
    return { refused: unrun(why) };
  }
  const pool = seams.tools(turn);
  const tool = pool.find((t) => t.name === call.name);
  if (!tool && started) return refuse(UNKNOWN_OUTCOME);
  if (!tool) return refuse(`There is no tool named ${call.name}. Tools: ${pool.map((t) => t.name).join(", ")}.`);
  const { root, cwd } = turn;
  if (started && mayHaveBegun(tool)) {
    const { input, grants = {}, cwd: then = cwd } = started;
    return { pending, tool, input, grants, root, cwd: then };
  }
  const parsed = schemaOf(tool).safeParse(call.input, SELDOM);
  if (!parsed.success) return refuse(`Invalid arguments for ${call.name}: ${explain(parsed.error)}`);
  const { verdict, input } = await seams.gate({ call, tool, input: parsed.data, turn });
  const answer = verdict.decision === "ask" ? await seams.ask({ call, tool, input, turn }, verdict) : verdict;
  if (turn.signal.aborted) return { refused: unrun(INTERRUPTED) }; // nobody has said no
  if (answer.decision === "deny") {
    const { reason, code = "program" } = answer;
    const notes = await seams.refused({ call, tool, input, turn }, { code, reason });
    const beside = notes.map(({ origin, text }) => `\n${noteText(origin, text)}`).join("");
    const refusal = verdict.decision === "allow" ? undefined : whyRefused(verdict, answer);
    return { ...refuse(`Refused: ${reason}${beside}`), denied: reason, refusal };
  }
  const grants = (verdict.decision !== "deny" && verdict.grants) || {};
  return { pending, tool, input, grants, root, cwd, ...(verdict.looked && { looked: verdict.looked }) };
}

/** An intent of these is looked at first. Everything else is done anew, and so judged anew: a read, and what is recorded together with its end. */
const mayHaveBegun = ({ effect, parallel }: Tool): boolean =>
  effect === "internal" ? parallel === true : effect !== "read";

async function runReads(agent: Agent, group: Ready[], outbox: Outbox): Promise<void> {
  const outputs = await Promise.all(
    group.map(async (call) => {
      const at = Date.now();
      return {
        call,
        at,
        output: await attempt(agent, toRun(agent, call, undefined, false), (run) => run.tool.execute(run)),
      };
    }),
  );
  for (const { call, at, output } of outputs) {
    if (!call.pending.started) outbox.facts.push(started(agent, call, undefined));
    finalize(outbox, call.pending, output, { at });
  }
}

/** Each result becomes durable when it is there: what took long is not lost with its neighbours. */
async function runTogether(agent: Agent, group: Ready[], outbox: Outbox): Promise<void> {
  await flush(agent, outbox);
  await Promise.all(
    group.map(async (call) => {
      const own = newOutbox(agent);
      await runEffect(agent, call, own);
      await flush(agent, own);
    }),
  );
}

async function runEffect(agent: Agent, call: Ready, outbox: Outbox): Promise<void> {
  const at = call.pending.started?.at ?? Date.now();
  if (call.pending.started && call.tool.effect !== "internal") {
    const run = toRun(agent, call, call.pending.started.intent, true);
    const outcome = await resumeEffect(run, call.pending);
    if (outcome.kind !== "undone") {
      const output = await attempt(agent, run, (inner) => resultOf(outcome, inner));
      return finalize(outbox, call.pending, output, { at, resumed: outcome.kind });
    }
    // It is done now, so what holds now decides: not what was granted then, by whoever wrote that.
    const { started: _, ...asMade } = call.pending;
    const anew = await prepare(agent, asMade);
    if (!("tool" in anew)) return finalizeRefused(outbox, call.pending, anew);
    return begin(agent, { ...anew, pending: call.pending }, outbox);
  }
  return begin(agent, call, outbox);
}

async function begin(agent: Agent, call: Ready, outbox: Outbox): Promise<void> {
  const at = call.pending.started?.at ?? Date.now();
  if (agent.turn.signal.aborted) {
    return finalize(outbox, call.pending, unrun(INTERRUPTED), { at });
  }
  await flush(agent, outbox); // what the calls before it did is in the state when it looks
  if (call.tool.effect !== "internal") await agent.seams.beforeEffect(toRun(agent, call, undefined, false));
  let intent: unknown;
  try {
    intent = await call.tool.intend?.(toRun(agent, call, undefined, false));
  } catch (error) {
    return finalize(outbox, call.pending, resultOfError(error), { at });
  }
  outbox.facts.push(started(agent, call, intent));
  if (call.tool.effect !== "internal" || call.tool.parallel) {
    crashPoint("intent.before");
    await flush(agent, outbox);
    crashPoint("intent.durable");
  }
  const output = await attempt(agent, toRun(agent, call, intent, false), (run) => run.tool.execute(run));
  crashPoint("effect.done");
  finalize(outbox, call.pending, output, { at });
}

const OTHER_MACHINE =
  "Interrupted: another machine ran this call, and what it did there cannot be seen from here: its outcome is unknown. Look before you repeat it.";

/** An intent without a result: the tool looks at the world and says what became of it. No seam comes between. */
async function resumeEffect(run: ToolRun, { started }: PendingCall): Promise<EffectOutcome> {
  if (started?.isElsewhere) return { kind: "unknown", why: OTHER_MACHINE };
  if (!run.tool.reconcile) return { kind: "unknown" };
  try {
    return await run.tool.reconcile(run);
  } catch (error) {
    return { kind: "unknown", why: `${UNKNOWN_OUTCOME} (${messageOf(error)})` };
  }
}

type Settled = Exclude<EffectOutcome, { kind: "undone" }>;

/** What the layers of seam `tool` then bound, redact and tell of, as they do with every result. */
async function resultOf(outcome: Settled, run: ToolRun): Promise<ToolOutput> {
  switch (outcome.kind) {
    case "finished":
      return outcome.output;
    case "adopted":
      return outcome.follow(run);
    case "unknown":
      return { content: outcome.why ?? UNKNOWN_OUTCOME, isError: true };
  }
}

/** Seam tool around the work; whatever it throws becomes an error result. */
async function attempt(agent: Agent, run: ToolRun, work: (run: ToolRun) => Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await agent.seams.tool(run, async (inner) => permitted(unmarked(await work(inner))));
  } catch (error) {
    return resultOfError(error);
  }
}

/** Who may say what is decided where it is written: a tool's own facts are those of its mechanism. */
function permitted(output: ToolOutput): ToolOutput {
  const forbidden = output.events?.find(({ type }) => RESERVED_EVENTS.has(type));
  if (!forbidden) return output;
  return {
    content: `Not recorded: a tool may not say ${forbidden.type}. Its effect, if any, has happened.`,
    isError: true,
  };
}

function toRun(agent: Agent, { pending, tool, input, grants, cwd }: Ready, intent: unknown, resumed: boolean): ToolRun {
  const { turn, heldSince } = agent;
  const { askedAt } = pending;
  return {
    call: pending.call,
    tool,
    input,
    cwd,
    root: turn.root,
    turn,
    signal: turn.signal,
    intent,
    grants,
    resumed,
    ...(askedAt !== undefined && askedAt < heldSince && { askedAt }),
  };
}

function started({ turn }: Agent, { pending, tool, input, grants, looked }: Ready, intent: unknown): Facts[number] {
  const data: Record<string, unknown> = {
    callId: pending.call.id,
    name: tool.name,
    input,
    effect: tool.effect,
    cwd: turn.cwd,
  };
  if (Object.keys(grants).length > 0) data.grants = grants;
  if (looked) data.looked = looked;
  if (intent !== undefined) data.intent = intent;
  return { type: "tool.started", data };
}

function finalize(
  outbox: Outbox,
  { call, started }: PendingCall,
  output: ToolOutput,
  info: { at: number; denied?: string; refusal?: WhyRefused; resumed?: Settled["kind"] },
): void {
  const content: Content[] =
    typeof output.content === "string" ? [{ type: "text", text: output.content }] : output.content;
  const { denied, refusal, resumed } = info;
  const { display, ran, lines, whole } = output;
  const resumedAt = started && started.at < outbox.heldSince ? outbox.heldSince : undefined;
  const ended = output.isError && (outbox.signal.aborted || resumed === "unknown");
  const stopped = output.notRun ? "before" : ended ? "during" : undefined;
  const more = { display, denied, refusal, stopped, resumed, resumedAt, ran, lines, whole };
  const finished = {
    callId: call.id,
    name: call.name,
    content,
    isError: output.isError ?? false,
    durationMs: Math.max(0, Date.now() - info.at),
    ...Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)),
  };
  outbox.facts.push({ type: "tool.finished", data: finished }, ...(output.events ?? []));
  outbox.blobs.push(...(output.blobs ?? []));
  outbox.wake.push(...(output.wake ?? []));
  if (output.after) outbox.after.push(output.after);
}

async function flush({ turn }: Agent, outbox: Outbox): Promise<void> {
  if (outbox.facts.length === 0) return;
  const { facts, blobs, wake, after } = outbox;
  Object.assign(outbox, { facts: [], blobs: [], wake: [], after: [] });
  crashPoint("results.before");
  await turn.append(facts, { blobs, wake });
  crashPoint("results.durable");
  for (const clean of after) clean();
}
