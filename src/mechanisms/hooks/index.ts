// Hooks: the user's commands and the embedding program's functions, at the seams of the loop. Without hooks all goes by as it is.

import { type HookEvent, isHookEvent, ruleOf } from "../../claude-code/hook-events.ts";
import { LEAD } from "../../loop/agent.ts";
import type { Carrying } from "../../loop/carry.ts";
import { harmless, noteInside } from "../../loop/marks.ts";
import { defineMechanism, type Heard, type Mechanism, type Note, type Seams, type Turn } from "../../loop/seams.ts";
import { textOf } from "../../models/model.ts";
import { fittingTexts } from "../../text/fitting.ts";
import { betweenRounds } from "./between-rounds.ts";
import { callSeams, type FireEvent, refusals } from "./call-seams.ts";
import { hookEvents, hooksSlice } from "./events.ts";
import { type Fired, NOTHING_SAID } from "./fired.ts";
import { createFiring, type MatchesRule } from "./firing.ts";
import { type HandlerOptions, handlersOf } from "./handlers.ts";
import { forgetTranscript, longTextDir, transcriptPaths } from "./transcript-places.ts";
import type { TranscriptOptions, Transcripts } from "./transcripts.ts";
import { turnSeams } from "./turn-seams.ts";

export interface HooksOptions extends HandlerOptions {
  /** Texts of hooks over 10,000 characters are kept below it, in `hooks/CONTEXT/`; transcripts in `transcripts/`. */
  stateDir: string;
  /** How the conversation is read for hooks that want its transcript; default: there is none. */
  transcripts?: TranscriptOptions;
  /** How long the lead waits for a person before a Notification says so. */
  idleAfterMs?: number;
  /** As hooks are told it. */
  permissionMode?: () => string;
  /** The type of an agent other than the lead, as hooks are told it and match it; default: its name. */
  agentType?: (turn: Turn) => string | undefined;
  /** Reads the `if` of a hook. */
  matchesRule?: MatchesRule;
  now?: () => number;
}

const ORIGIN = "hook";
const hookNote = (text: string): Note => ({ origin: ORIGIN, text: harmless(text) });

const neverText = (event: HookEvent): string[] => {
  const { never } = ruleOf(event);
  return never === undefined ? [] : [`hooks for ${event} are not run: ${never}`];
};

/** The published word for a process that leaves: nobody cleared it, logged out, or typed an exit. */
const SESSION_END = "other";
const IDLE_AFTER_MS = 60_000;

export function createHooks(opts: HooksOptions): Mechanism {
  const handlers = handlersOf(opts);
  const facts = { name: "hooks", events: hookEvents, fold: hooksSlice }; // a past with hooks stays readable without them
  const { permissionMode = () => "default", now = Date.now, idleAfterMs = IDLE_AFTER_MS, matchesRule, stateDir } = opts;
  const firing = createFiring({
    handlers,
    dir: longTextDir(stateDir),
    permissionMode,
    agentType: opts.agentType,
    now,
    ...(matchesRule ? { matchesRule } : {}),
    ...(opts.transcripts ? { transcripts: transcriptsIn(stateDir, opts.transcripts) } : {}),
  });
  const has = (...events: HookEvent[]) => handlers.some((h) => events.includes(h.event));
  const fire: FireEvent = async (event, payload, turn) =>
    has(event) ? firing.fire(event, payload, turn, turn.signal) : NOTHING_SAID;
  /** Settings leave such hooks out by themselves, with their place. */
  const silent = new Set(handlers.flatMap(({ event }) => neverText(event)));
  const between = betweenRounds({ fire, has, idleAfterMs });
  const seams: Partial<Seams> = {
    ...callSeams(fire, has, now),
    ...turnSeams(fire, has),
    intake: async (turn) => [...(await between.intake(turn)), ...firing.late(turn).map(hookNote)],
  };

  return defineMechanism({
    ...facts,
    carry: carryFirst,
    outside: {
      at: ["input", "intake", "gate", "ask", "tool", "stop", "start", "refused", "announced"],
      notes: ["hook"],
      facts: ["hook.ran", "hook.advised", "hook.stopped"],
    },
    seams,
    async start(turn) {
      if (handlers.length === 0) {
        if (turn.agent === LEAD) forgetTranscript(stateDir, turn.context); // no hook wants it any more
        return [];
      }
      between.begin(turn);
      for (const says of turn.agent === LEAD ? silent : []) turn.emit({ type: "status", text: says });
      const context = await toldOfStart(turn, fire);
      return context.map(hookNote);
    },
    async end(turn) {
      if (handlers.length === 0) return;
      between.end(turn);
      await firing.end(turn);
      // Without the turn's signal: whether or not the last turn was interrupted.
      if (turn.agent === LEAD) await firing.fire("SessionEnd", { reason: SESSION_END }, turn);
      await turn.append([]); // the lease goes next: what waits becomes durable now
    },
    refused: refusals(fire, has),
    async idle(turn) {
      between.idle(turn);
    },
    announced: async (event, payload, turn) =>
      isHookEvent(event) ? heardOf(await fire(event, payload, turn)) : UNHEARD,
    wake: (turn, signal) => firing.untilSaid(turn, signal),
  });
}

/** Of the window. */
const SHARE = 0.04;

/** What hooks said before the agent began: later ones spoke of a moment. */
function carryFirst({ state: { items } }: Pick<Turn, "state">, { room, shows }: Carrying): string {
  const begun = items.findIndex(({ kind }) => kind === "reply");
  const texts = items.slice(0, Math.max(0, begun)).flatMap((item) => {
    if (item.kind !== "user" || !item.note || item.from !== ORIGIN || shows(`u${item.n}`)) return [];
    return [{ whole: noteInside(textOf(item.content)), short: `A hook said more: recall u${item.n}` }];
  });
  return fittingTexts(texts, room(SHARE), (count) => `and ${count} more`).join("\n\n");
}

const UNHEARD: Heard = { context: [] };

/** What hooks say to an event that another mechanism fires. */
function heardOf({ decision, reason = "", context, stop }: Fired): Heard {
  const blocked = stop ?? (decision === "deny" ? reason : undefined);
  return { ...(blocked === undefined ? {} : { blocked: harmless(blocked) }), context: context.map(harmless) };
}

/** What hooks say to the start of an agent: of the lead in every process, of others once. */
async function toldOfStart(turn: Turn, fire: FireEvent): Promise<string[]> {
  const first = turn.state.items.length === 0;
  if (turn.agent !== LEAD) return first ? (await fire("SubagentStart", {}, turn)).context : [];
  return (await fire("SessionStart", { source: first ? "startup" : "resume", model: turn.model.id }, turn)).context;
}

/** Loaded when the first hook starts. */
function transcriptsIn(stateDir: string, opts: TranscriptOptions) {
  let opened: Promise<Transcripts> | undefined;
  return {
    pathsOf: (turn: Turn) => transcriptPaths(stateDir, turn),
    async update(turn: Turn) {
      opened ??= import("./transcripts.ts").then(({ createTranscripts }) => createTranscripts(stateDir, opts));
      return (await opened).update(turn);
    },
  };
}
