// Firing: which hooks an event concerns, all of them at once, every run recorded, the strictest answer first.
import { type HookEvent, ruleOf } from "../../claude-code/hook-events.ts";
import { claudeNames, fromClaude } from "../../claude-code/tool-names.ts";
import { LEAD } from "../../loop/agent.ts";
import type { Turn } from "../../loop/seams.ts";
import { answerOf } from "./answer.ts";
import { createBeside, type Ran } from "./beside.ts";
import type { HookEnd } from "./command.ts";
import { isToolEvent } from "./config.ts";
import { bounded, type Fired, factOf, merge, NOTHING_SAID } from "./fired.ts";
import type { Handler } from "./handlers.ts";
import { type HookInput, hookInput, type Payload } from "./payload.ts";
import { longTextsOf, type TranscriptPaths } from "./transcript-places.ts";
import type { Transcripts } from "./transcripts.ts";

/** Whether a call fits a permission rule such as `Bash(git *)`; both name and input as scripts know them; `root`: the agent's tree. */
export type MatchesRule = (rule: string, toolName: string, input: unknown, root: string) => boolean;

export interface FiringOptions {
  handlers: readonly Handler[];
  /** Long texts go here. */
  dir: string;
  permissionMode: () => string;
  agentType?: (turn: Turn) => string | undefined;
  now: () => number;
  matchesRule?: MatchesRule;
  transcripts?: Transcripts & { pathsOf(turn: Turn): TranscriptPaths };
}

export interface Firing {
  fire(event: HookEvent, payload: Payload, turn: Turn, signal?: AbortSignal): Promise<Fired>;
  /** What hooks that nobody waited for said since the last time. */
  late(turn: Turn): string[];
  /** Contract: resolves when one of them that may wake the idle agent has said something, or with the signal. */
  untilSaid(turn: Turn, signal: AbortSignal): Promise<void>;
  /** Ends what still runs for that agent. */
  end(turn: Turn): Promise<void>;
}

/** `unsure`: its `if` could not be read, so that it may tighten and nothing else. */
type Chosen = { handler: Handler; unsure: boolean };

/** Nobody waits for it. */
const isBeside = ({ handler }: Chosen): boolean => handler.async ?? ruleOf(handler.event).inBackground ?? false;

const SHOWN_CHARS = 80;
const NO_TURN_TO_END = new Set<HookEvent>([
  ...(["UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "SessionEnd"] as const),
]);

export function createFiring(opts: FiringOptions): Firing {
  const { handlers, dir, permissionMode, agentType, now, matchesRule, transcripts } = opts;
  const told = new Set<string>();
  const done = new Map<string, Set<Handler>>();
  const beside = createBeside();

  function choose(event: HookEvent, input: HookInput, turn: Turn): Chosen[] {
    const names = subjects(event, input);
    const onces = done.get(turn.context);
    const chosen = new Map<unknown, Chosen>();
    for (const handler of handlers) {
      if (handler.event !== event || chosen.has(handler.key) || onces?.has(handler)) continue;
      if (names && !handler.matches(names)) continue;
      const fits = fitsRule(handler, input, turn.root, matchesRule);
      if (fits === false) continue;
      chosen.set(handler.key, { handler, unsure: fits === undefined });
    }
    return [...chosen.values()];
  }

  /** Undefined: it goes on by itself, and nobody waits for it. */
  async function run(chosen: Chosen, input: HookInput, turn: Turn, signal?: AbortSignal): Promise<Ran | undefined> {
    const { handler } = chosen;
    const startedAt = now();
    const known = handler.says?.();
    if (known !== undefined) tellOnce(known, turn);
    if (handler.statusMessage) turn.emit({ type: "status", text: handler.statusMessage });
    const place = { cwd: input.cwd, background: handler.async ?? false, ...(signal ? { signal } : {}) };
    const end = await handler.start(input, place);
    if (end.kind !== "goes on") return ended(chosen, input, turn, { end, startedAt, beside: isBeside(chosen) });
    const later = end.end.then((e) => ended(chosen, input, turn, { end: e, startedAt, beside: true }));
    beside.add(handler, later, turn, end.abort);
    return undefined;
  }

  async function ended(
    { handler, unsure }: Chosen,
    input: HookInput,
    turn: Turn,
    { end, startedAt, beside }: { end: HookEnd; startedAt: number; beside: boolean },
  ): Promise<Ran> {
    const answer = await bounded(answerOf(handler.event, end), longTextsOf(dir, turn.context));
    if (unsure) {
      delete answer.updatedInput;
      if (answer.decision === "allow") delete answer.decision;
    }
    if (answer.message) turn.emit({ type: "status", text: `hook: ${answer.message}` });
    if (answer.outcome === "error" || answer.outcome === "timeout") {
      turn.emit({ type: "status", text: `${handler.event} hook ${shortOf(handler.command)}: ${answer.reason}` });
    }
    const durationMs = Math.max(0, now() - startedAt);
    return { answer, fact: factOf(handler, input, answer, { durationMs, beside, subject: subjectOf(input) }) };
  }

  function tellOnce(text: string, turn: Turn): void {
    if (told.has(text)) return;
    told.add(text);
    turn.emit({ type: "status", text });
  }

  return {
    async fire(event, payload, turn, signal) {
      const input = hookInput(event, payload, turn, {
        permissionMode: permissionMode(),
        agentType: agentType?.(turn),
        ...transcripts?.pathsOf(turn),
      });
      const chosen = choose(event, input, turn);
      if (chosen.length === 0) return NOTHING_SAID;
      await turn.durable(); // a hook acts outside: on nothing that a kill could take back
      const failed = await transcripts?.update(turn);
      if (failed !== undefined) tellOnce(failed, turn);
      const onces = chosen.filter((c) => c.handler.once).map((c) => c.handler);
      if (onces.length > 0) done.set(turn.context, new Set([...(done.get(turn.context) ?? []), ...onces]));
      for (const c of chosen) {
        if (!isBeside(c)) continue;
        const abort = new AbortController();
        beside.add(c.handler, run(c, input, turn, abort.signal), turn, () => abort.abort());
      }
      const waited = chosen.filter((c) => !isBeside(c)).map((c) => run(c, input, turn, signal));
      const runs = (await Promise.all(waited)).filter((r) => r !== undefined);
      const fired = merge(runs.map((r) => r.answer));
      const facts = runs.map((r) => r.fact);
      if (fired.stop !== undefined && !NO_TURN_TO_END.has(event)) {
        facts.push({ type: "hook.stopped", data: { event, reason: fired.stop } });
      }
      if (facts.length > 0) await turn.append(facts, { durability: "deferred" });
      return fired;
    },
    late: beside.late,
    untilSaid: beside.untilSaid,
    async end(turn) {
      await beside.end(turn);
      if (turn.agent === LEAD) done.delete(turn.context);
    },
  };
}

/** Undefined: nobody can say, and the hook may refuse something. */
function fitsRule(
  { event, if: rule }: Handler,
  input: HookInput,
  root: string,
  matchesRule: MatchesRule | undefined,
): boolean | undefined {
  if (rule === undefined) return true;
  if (!isToolEvent(event)) return false;
  try {
    if (matchesRule) return matchesRule(rule, input.tool_name ?? "", input.tool_input, root);
  } catch {
    // as good as unknown
  }
  return event === "PreToolUse" ? undefined : false;
}

/** The first line that says something: many commands in settings are whole scripts. */
function shortOf(command: string): string {
  const line = command.split("\n").find((text) => !/^\s*(?:#|$)/.test(text)) ?? command;
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line;
}

/** What people call it by, beside the event. */
function subjectOf(input: HookInput): string | undefined {
  const { matches } = ruleOf(input.hook_event_name);
  const value = matches === "tool" ? input.tool_name : matches && input[matches];
  return typeof value === "string" ? value : undefined;
}

/** What a matcher is compared with; undefined: the event has none. */
function subjects(event: HookEvent, input: HookInput): string[] | undefined {
  const { matches } = ruleOf(event);
  if (matches === undefined) return undefined;
  if (matches === "tool") return claudeNames(fromClaude(input.tool_name ?? "", undefined).name);
  return typeof input[matches] === "string" ? [input[matches]] : undefined;
}
