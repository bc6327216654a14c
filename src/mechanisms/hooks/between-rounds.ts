// What hooks are told between two model calls, and while nothing happens: a batch of calls is over, the directory is another, the lead waits.

import type { HookEvent } from "../../claude-code/hook-events.ts";
import { LEAD } from "../../loop/agent.ts";
import { harmless } from "../../loop/marks.ts";
import type { Note, Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import type { Fired } from "./fired.ts";
import { callPayload, type Payload } from "./payload.ts";

interface Firing {
  fire: (event: HookEvent, payload: Payload, turn: Turn) => Promise<Fired>;
  has: (...events: HookEvent[]) => boolean;
  /** How long the lead waits before somebody is told. */
  idleAfterMs: number;
}

export interface BetweenRounds {
  /** Contract: this process has just taken the agent. */
  begin(turn: Turn): void;
  /** Contract: before each model call, after what the calls before it did is durable. */
  intake(turn: Turn): Promise<Note[]>;
  /** Contract: the agent has nothing to do. */
  idle(turn: Turn): void;
  end(turn: Turn): void;
}

const note = (text: string): Note => ({ origin: "hook", text: harmless(text) });

export function betweenRounds({ fire, has, idleAfterMs }: Firing): BetweenRounds {
  const places = new Map<string, string>();
  const waiting = new Map<string, { turnId?: string; timer: NodeJS.Timeout }>();
  const keyOf = ({ context, agent }: Turn) => `${context}/${agent}`;

  async function moved(turn: Turn): Promise<void> {
    const from = places.get(keyOf(turn)) ?? turn.cwd;
    places.set(keyOf(turn), turn.cwd);
    if (from !== turn.cwd) await fire("CwdChanged", { old_cwd: from, new_cwd: turn.cwd }, turn);
  }

  async function batch(turn: Turn): Promise<Note[]> {
    const calls = has("PostToolBatch") ? lastBatch(turn) : [];
    if (calls.length === 0) return [];
    const { decision, reason = "", stop, context } = await fire("PostToolBatch", { tool_calls: calls }, turn);
    if (decision === "deny" && stop === undefined)
      await turn.append([{ type: "hook.stopped", data: { event: "PostToolBatch", reason } }], {
        durability: "deferred",
      });
    return context.map(note);
  }

  function wake(turn: Turn): void {
    clearTimeout(waiting.get(keyOf(turn))?.timer);
    waiting.delete(keyOf(turn));
  }

  return {
    begin: (turn) => void places.set(keyOf(turn), turn.cwd),
    async intake(turn) {
      if (turn.state.turn) wake(turn);
      if (has("CwdChanged")) await moved(turn);
      return batch(turn);
    },
    idle(turn) {
      const turnId = turn.state.lastTurn?.turnId;
      if (turn.agent !== LEAD || !has("Notification") || waiting.get(keyOf(turn))?.turnId === turnId) return;
      wake(turn);
      const message = "Holdfast is waiting for your input";
      const timer = setTimeout(() => {
        fire("Notification", { message, notification_type: "idle_prompt" }, turn).catch(() => undefined);
      }, idleAfterMs);
      timer.unref();
      waiting.set(keyOf(turn), { timer, ...(turnId !== undefined && { turnId }) });
    },
    end(turn) {
      wake(turn);
      places.delete(keyOf(turn));
    },
  };
}

/** The calls of this turn's last reply, each with its result. */
function lastBatch({ state: { items, turn }, agent, cwd }: Turn): Payload[] {
  const at = items.findLastIndex((item) => item.kind === "reply");
  const reply = items[at];
  if (reply?.kind !== "reply" || at < (turn?.from ?? items.length)) return [];
  const results = items.slice(at + 1).flatMap((item) => (item.kind === "result" ? [item] : []));
  return reply.parts.flatMap((part) => {
    const result = part.type === "call" && results.find(({ callId }) => callId === part.id);
    if (!result) return [];
    return [{ ...callPayload(part, part, part.input, { agent, cwd }), tool_response: textOf(result.content) }];
  });
}
