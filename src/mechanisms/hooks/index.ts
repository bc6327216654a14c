// Owns hooks: the user's commands and the embedding program's functions, at the seams of the loop. Without hooks all goes by as it is.
import path from "node:path";
import { HoldfastError } from "../../ledger/error.ts";
import { LEAD } from "../../loop/host.ts";
import { harmless, noteText } from "../../loop/marks.ts";
import { defineMechanism, type Mechanism, type Seams, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { callSeams } from "./call-seams.ts";
import type { HookEvent } from "./config.ts";
import { hookEvents, hooksSlice, turnHooks } from "./events.ts";
import { createFiring, type MatchesRule, NOTHING_SAID } from "./firing.ts";
import { type HandlerOptions, handlersOf } from "./handlers.ts";
import type { Payload } from "./payload.ts";

export type { HookOutput } from "./answer.ts";
export type { CommandHook, HookConfig, HookEvent, HookGroup } from "./config.ts";
export type { InProcessHook } from "./handlers.ts";
export type { HookInput } from "./payload.ts";

export interface HooksOptions extends HandlerOptions {
  /** Texts of hooks over 10,000 characters are kept below it, in `hooks/CONTEXT/`. */
  stateDir: string;
  /** As hooks are told it. */
  permissionMode?: () => string;
  /** The type of an agent other than the lead, as hooks are told it and match it; default: its name. */
  agentType?: (turn: Turn) => string | undefined;
  /** Reads the `if` of a hook. */
  matchesRule?: MatchesRule;
  now?: () => number;
  /** Where other mechanisms find `fire`. */
  port?: HookPort;
}

/** Empty until hooks are there. */
export interface HookPort {
  fire?: FireHook;
}

/** How other mechanisms fire an event of theirs. Contract: `blocked` where a hook refused; nothing said without hooks. */
type FireHook = (
  event: HookEvent,
  payload: Record<string, unknown>,
  turn: Turn,
) => Promise<{ blocked?: string; context: string[] }>;

export interface Hooks extends Mechanism {
  fire: FireHook;
}

const MAX_CONTINUATIONS = 8;

export function createHooks(opts: HooksOptions): Hooks {
  const handlers = handlersOf(opts);
  const facts = { name: "hooks", events: hookEvents, fold: hooksSlice }; // a past with hooks stays readable without them
  const { permissionMode = () => "default", now = Date.now, matchesRule, stateDir } = opts;
  const firing = createFiring({
    handlers,
    dir: path.join(stateDir, "hooks"),
    permissionMode,
    agentType: opts.agentType,
    now,
    ...(matchesRule ? { matchesRule } : {}),
  });
  const has = (...events: HookEvent[]) => handlers.some((h) => events.includes(h.event));
  const fire = async (event: HookEvent, payload: Payload, turn: Turn) =>
    has(event) ? firing.fire(event, payload, turn, turn.signal) : NOTHING_SAID;
  const seams: Partial<Seams> = {
    ...callSeams(fire, has, now),
    model(call, next) {
      const { stop } = turnHooks(call.turn);
      if (stop !== undefined) throw new HoldfastError("refused", `a hook ended the turn: ${stop}`);
      return next(call);
    },
    async input(input, turn) {
      if (input.origin !== "user" || !has("UserPromptSubmit")) return input;
      const fired = await fire("UserPromptSubmit", { prompt: textOf(input.content) }, turn);
      if (fired.stop !== undefined) return { block: harmless(fired.stop) };
      if (fired.decision === "deny") return { block: `blocked by a UserPromptSubmit hook: ${fired.reason}` };
      if (fired.context.length === 0) return input;
      return {
        ...input,
        content: [...input.content, { type: "text", text: noteText("hook", fired.context.join("\n")) }],
      };
    },
    async stop(turn, reply) {
      const event = turn.agent === LEAD ? "Stop" : "SubagentStop";
      if (reply.finish === "length" || !has(event)) return []; // cut off, not finished
      const { continued } = turnHooks(turn);
      const payload = { stop_hook_active: continued > 0, last_assistant_message: textOf(reply.parts) };
      const fired = await fire(event, payload, turn);
      if (fired.decision !== "deny" || fired.stop !== undefined) return [];
      if (continued >= MAX_CONTINUATIONS) {
        turn.emit({ type: "status", text: `a stop hook continued the turn ${continued} times: it ends now` });
        return [];
      }
      const events = [{ type: "hook.continued", data: { count: continued + 1 } }];
      return [{ origin: "hook", text: harmless(fired.reason ?? ""), events }];
    },
    intake: (turn) => firing.late(turn).map((text) => ({ origin: "hook", text: harmless(text) })),
  };

  const hooks: Hooks = {
    ...defineMechanism({
      ...facts,
      seams,
      async start(turn) {
        if (handlers.length === 0) return [];
        const first = turn.state.items.length === 0;
        if (turn.agent !== LEAD && !first) return [];
        const { context } =
          turn.agent === LEAD
            ? await fire("SessionStart", { source: first ? "startup" : "resume", model: turn.model.id }, turn)
            : await fire("SubagentStart", {}, turn);
        return context.map((text) => ({ origin: "hook", text: harmless(text) }));
      },
      async end(turn, reason) {
        if (handlers.length === 0) return;
        await firing.end(turn);
        // Without the turn's signal: whether or not the last turn was interrupted.
        if (turn.agent === LEAD) await firing.fire("SessionEnd", { reason }, turn);
        await turn.append([]); // the lease goes next: what waits becomes durable now
      },
    }),
    async fire(event, payload, turn) {
      const { decision, reason = "", context, stop } = await fire(event, payload, turn);
      const blocked = stop ?? (decision === "deny" ? reason : undefined);
      return { ...(blocked === undefined ? {} : { blocked: harmless(blocked) }), context: context.map(harmless) };
    },
  };
  if (opts.port) opts.port.fire = hooks.fire;
  return hooks;
}
