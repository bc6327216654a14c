// Hooks around one call: asked once before it, for the input and the decision; told after it, about the result.

import type { HookEvent } from "../../claude-code/hook-events.ts";
import { fromClaude, toClaude } from "../../claude-code/tool-names.ts";
import { HoldfastError, isHoldfastError } from "../../ledger/error.ts";
import { explain, SELDOM } from "../../ledger/events.ts";
import { resultOfError } from "../../loop/next-step.ts";
import type { GateCall, Mechanism, Seams, ToolOutput, ToolRun, Turn, VerdictCode } from "../../loop/seams.ts";
import { schemaOf } from "../../loop/tool-specs.ts";
import { turnHooks } from "./events.ts";
import { type Fired, NOTHING_SAID } from "./fired.ts";
import { callPayload, type Payload, resultPayload } from "./payload.ts";
import { addNotes, replacedText } from "./result-text.ts";

export type FireEvent = (event: HookEvent, payload: Payload, turn: Turn) => Promise<Fired>;
export type HasHook = (...events: HookEvent[]) => boolean;

/** Contract: always all three; where no hook is there for a call, it goes by as it is. */
export function callSeams(fire: FireEvent, has: HasHook, now: () => number): Pick<Seams, "gate" | "ask" | "tool"> {
  const asked = new WeakMap<GateCall["call"], { cwd: string; root: string; fired: Promise<Fired> }>();

  /** Once for each call and directory, whoever asks first: what a hook said of one directory does not hold in another. */
  function beforeCall({ call, tool, input, turn }: GateCall): Promise<Fired> {
    const { cwd, root } = turn;
    if (!has("PreToolUse")) return Promise.resolve(NOTHING_SAID);
    const known = asked.get(call);
    if (known && known.cwd === cwd && known.root === root) return known.fired;
    if (turnHooks(turn).stop !== undefined) return Promise.resolve(NOTHING_SAID); // refused anyway
    const fired = advised(call.id, fire("PreToolUse", callPayload(call, tool, input, turn), turn), turn);
    asked.set(call, { cwd, root, fired });
    return fired;
  }

  return {
    gate: {
      async rewrite(call) {
        const { updatedInput, decision } = await beforeCall(call);
        return updatedInput && decision !== "deny" ? rewritten(call, updatedInput) : call.input;
      },
      async judge(call) {
        const { decision, reason } = await beforeCall(call);
        const { stop } = turnHooks(call.turn);
        if (stop !== undefined) return { decision: "deny", code: "hook", reason: `a hook ended the turn: ${stop}` };
        if (decision === "deny") return { decision, code: "hook", reason: `blocked by a PreToolUse hook: ${reason}` };
        if (decision === "ask") return { decision, code: "hook", reason: `a PreToolUse hook asks: ${reason}` };
        return { decision: "allow" };
      },
    },
    async ask(call, { firm }) {
      if (!firm && (await asked.get(call.call)?.fired)?.decision === "allow") return { decision: "allow" };
      if (!has("PermissionRequest")) return undefined;
      const payload = callPayload(call.call, call.tool, call.input, call.turn);
      const { decision, reason, stop } = await fire("PermissionRequest", payload, call.turn);
      if (stop !== undefined) return { decision: "deny", code: "hook", reason: `a hook ended the turn: ${stop}` };
      if (decision === "deny")
        return { decision, code: "hook", reason: `denied by a PermissionRequest hook: ${reason}` };
      return decision === "allow" && !firm ? { decision } : undefined;
    },
    tool: toldAfter(fire, has, now),
  };
}

const toldAfter =
  (fire: FireEvent, has: HasHook, now: () => number): Seams["tool"] =>
  async (run, next) => {
    const { stop } = turnHooks(run.turn);
    if (stop !== undefined && !run.resumed)
      return { content: `Not run: a hook ended the turn: ${stop}`, isError: true, notRun: true };
    const advice = turnHooks(run.turn).advice?.[run.call.id] ?? [];
    if (advice.length === 0 && !has("PostToolUse", "PostToolUseFailure")) return next(run);
    const startedAt = now();
    const output = await outputOf(run, next);
    if (run.signal.aborted) return output;
    const event = output.isError ? "PostToolUseFailure" : "PostToolUse";
    const payload = resultPayload(
      callPayload(run.call, run.tool, run.input, { agent: run.turn.agent, cwd: run.cwd }),
      output,
      Math.max(0, now() - startedAt),
    );
    const after = has(event) ? await fire(event, payload, run.turn) : NOTHING_SAID;
    const feedback = after.decision === "deny" ? [`${event} hook: ${after.reason}`] : [];
    return addNotes(replacedText(output, after.updatedToolOutput), [...advice, ...after.context, ...feedback]);
  };

/** Whose no needs no telling: a rule the user wrote, a hook, a person, the team, the program around. */
const SAID_BY_SOMEONE: VerdictCode[] = ["rule", "hook", "person", "team", "program"];

/** PermissionDenied: what the mode or the policy refused, or nobody was there to allow. */
export function refusals(fire: FireEvent, has: HasHook): NonNullable<Mechanism["refused"]> {
  return async ({ call, tool, input, turn }, { code, reason }) => {
    if (!has("PermissionDenied") || SAID_BY_SOMEONE.includes(code)) return [];
    const payload = { ...callPayload(call, tool, input, turn), reason };
    const { context, retry } = await fire("PermissionDenied", payload, turn);
    const texts = [...context, ...(retry ? ["A PermissionDenied hook says that this call may be tried again."] : [])];
    return texts.map((text) => ({ origin: "hook", text }));
  };
}

/** Durable with the intent: a resume does not ask the hook again. */
async function advised(callId: string, firing: Promise<Fired>, turn: Turn): Promise<Fired> {
  const fired = await firing;
  const { context } = fired;
  if (context.length > 0)
    await turn.append([{ type: "hook.advised", data: { callId, context } }], { durability: "deferred" });
  return fired;
}

/** Contract: what a hook made of the input must be one that the tool takes, or the call is refused. */
function rewritten({ tool }: GateCall, updatedInput: Record<string, unknown>): unknown {
  const ours = fromClaude(toClaude(tool.name, undefined).name, updatedInput).input;
  const parsed = schemaOf(tool).safeParse(ours, SELDOM);
  if (parsed.success) return parsed.data;
  throw new HoldfastError("invalid", `a hook's updatedInput is none for ${tool.name}: ${explain(parsed.error)}`);
}

async function outputOf(run: ToolRun, next: (run: ToolRun) => Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await next(run);
  } catch (error) {
    if (isHoldfastError(error, "fenced") || isHoldfastError(error, "disk")) throw error;
    return resultOfError(error);
  }
}
