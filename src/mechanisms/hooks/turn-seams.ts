// Hooks around a whole turn: what a prompt becomes, and whether the turn may end.
import { HoldfastError } from "../../ledger/error.ts";
import { LEAD } from "../../loop/agent.ts";
import { harmless, noteText } from "../../loop/marks.ts";
import type { Seams } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import type { FireEvent, HasHook } from "./call-seams.ts";
import { turnHooks } from "./events.ts";

const MAX_CONTINUATIONS = 8;

export function turnSeams(fire: FireEvent, has: HasHook): Pick<Seams, "model" | "input" | "stop"> {
  const maxContinuations = Number(process.env.CLAUDE_CODE_STOP_HOOK_BLOCK_CAP) || MAX_CONTINUATIONS;
  return {
    model(call, next) {
      const { stop } = turnHooks(call.turn);
      if (stop !== undefined) throw new HoldfastError("refused", `a hook ended the turn: ${stop}`);
      return next(call);
    },
    async input(input, turn) {
      if (input.origin !== "user" || !has("UserPromptSubmit")) return input;
      const fired = await fire("UserPromptSubmit", { prompt: textOf(input.content) }, turn);
      // Nobody has said no to it: it waits for the next turn.
      if (turn.signal.aborted) throw new HoldfastError("refused", "interrupted before its hooks had answered");
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
      if (continued >= maxContinuations) {
        turn.emit({ type: "status", text: `a stop hook continued the turn ${continued} times: it ends now` });
        return [];
      }
      const events = [{ type: "hook.continued", data: { count: continued + 1 } }];
      return [{ origin: "hook", text: harmless(fired.reason ?? ""), events }];
    },
  };
}
