// What is going on right now, in one line: how long, what runs and its last line, tokens and cost.

import { fitted } from "../../text/columns.ts";
import { counted } from "../../text/counted.ts";
import type { FactBlock, LiveBlock } from "./blocks.ts";
import { elapsed } from "./format.ts";

export interface Activity {
  /** Contract: told of everything, in order. */
  fact(block: FactBlock): void;
  live(block: LiveBlock): void;
  turnStarted(agent: string, at: number): void;
  turnEnded(agent: string): void;
  /** Undefined: nobody is at work. */
  line(now: { at: number; columns: number; spent: string }): string | undefined;
}

interface Running {
  about: string;
  tail?: string;
}

export function createActivity(): Activity {
  const turns = new Map<string, number>();
  const running = new Map<string, Running>();
  const asked = new Map<string, string>();
  let model = "waiting for the model";

  const keyOf = ({ agent, callId }: { agent: string; callId: string }): string => `${agent} ${callId}`;

  return {
    turnStarted: (agent, at) => void turns.set(agent, turns.get(agent) ?? at),
    turnEnded: (agent) => void turns.delete(agent),
    fact(block) {
      if (block.kind === "begun") running.set(keyOf(block.call), { about: `${block.call.tool} ${block.call.title}` });
      else if (block.kind === "ended") running.delete(keyOf(block.call));
      else if (block.kind === "subtask") {
        const one = running.get(keyOf(block.call));
        if (one) one.tail = counted(block.calls, "call");
      } else if (block.kind === "asked") asked.set(block.requestId, block.title);
      else if (block.kind === "answered") asked.delete(block.requestId);
      else if (block.kind === "reply") model = "waiting for the model";
    },
    live(block) {
      if (block.kind === "tail") {
        const found = [...running].find(([key]) => key.endsWith(` ${block.callId}`));
        if (found) found[1].tail = block.line;
      } else if (block.kind === "thinking") model = "thinking";
      else if (block.kind === "saying") model = "answering";
      else if (block.kind === "calling") model = `preparing ${block.tool}`;
      else if (block.kind === "again") model = "asking again";
    },
    line({ at, columns, spent }) {
      if (turns.size === 0) return undefined;
      const since = Math.min(...turns.values());
      const [last] = [...running.values()].slice(-1);
      const [waits] = [...asked.values()].slice(-1);
      const others = running.size > 1 ? ` (and ${running.size - 1} more)` : "";
      const what = last ? `${last.about}${others}` : waits === undefined ? model : `waits for approval: ${waits}`;
      const end = spent === "" ? "" : ` · ${spent}`;
      const start = `${elapsed(at - since)} · `;
      const room = columns - start.length - end.length;
      const about = fitted(what, last?.tail === undefined ? room : Math.max(12, Math.floor(room / 2)));
      const tail = last?.tail === undefined ? "" : ` │ ${last.tail}`;
      return fitted(`${start}${fitted(`${about}${tail}`, Math.max(10, room))}${end}`, columns);
    },
  };
}
