// What a prompt's process says where it cannot begin or go on: nothing is left, it ended early, another process has it, its type of agent is not used.
import type { ContextInfo } from "../contexts/listing.ts";
import { commandLine, resumeLine } from "../front/presentation/command-line.ts";
import { oneLine } from "../front/presentation/printable.ts";
import type { Run } from "../harness.ts";
import { HoldfastError, isHoldfastError, messageOf } from "../ledger/error.ts";
import { holderText } from "../ledger/holder.ts";
import type { HeldBy, Store } from "../ledger/store.ts";
import { contextState } from "../loop/agent.ts";
import { contextRoot } from "../loop/transcript.ts";
import type { RunResult } from "../run-result.ts";
import { withheldAgents } from "./agent-places.ts";
import type { PlaceFlags } from "./flags.ts";
import type { OpenState } from "./open.ts";

type Flags = PlaceFlags & { stay?: boolean };

/** Nothing was said, and nothing is to be gone on with. */
export function nothingLeft(run: Run, flags: Flags): string {
  const others = busyBeside(run);
  const { turn } = run.taken.agent;
  const context = { id: run.context, root: contextRoot(turn) };
  if (others.length > 0 && !flags.stay)
    return `The lead has nothing left to do; ${others.join(", ")} ${others.length === 1 ? "has" : "have"}. Go on with: ${resumeLine(context, { ...flags, stay: true })}`;
  const { lastTurn } = turn.state;
  const none = `Nothing is left to take up in ${run.context}`;
  if (lastTurn?.reason === "done") return `${none}; its last answer:`;
  const why = lastTurn?.error === undefined ? "it has no answer yet" : oneLine(lastTurn.error, 300);
  return `${none}: ${why}. Say what is to be done: ${resumeLine(context, flags)} "…"`;
}

/** Agents of the context, beside the one that runs here, that have an open turn or something to begin one with. */
const busyBeside = ({ taken: { agent, ledger } }: Run): string[] =>
  Object.values(contextState(ledger).agents)
    .filter((one) => one.name !== agent.turn.agent && (one.turn || one.queue.length > 0))
    .map((one) => one.name);

/** What was refused is over: only other words lead on. A limit that is remembered would stop it again. */
export function howToGoOn(
  { reason, limit }: RunResult,
  { taken }: Run,
  { flags, context }: { flags: Flags; context: { id: string; root: string } },
): string {
  if (reason === "blocked") return `Go on with other words: ${resumeLine(context, flags)} "…"`;
  const rounds = taken.agent.turn.state.lastTurn?.rounds ?? 0;
  const higher = limit === "rounds" ? ["--max-rounds", String(2 * rounds)] : [];
  return `Take it up again with: ${resumeLine(context, flags, higher)}`;
}

/** Another process has it: how to work on a copy, and, where that one waits for a person, perhaps for this one, how to answer. */
export function sayHeld(
  error: unknown,
  { context, flags }: { context: ContextInfo | undefined; flags: PlaceFlags },
): never {
  if (!isHoldfastError(error, "held") || !context) throw error;
  const waits =
    context.status === "waiting"
      ? `; it waits for an answer: ${commandLine(["approve", "ls"], flags, context.root)}`
      : "";
  const copy = resumeLine(context, flags, ["--fork-session"]);
  throw new HoldfastError("held", `${error.message}${waits}; or work on a copy of it: ${copy}`, { cause: error });
}

/** So long one that is at work elsewhere, or stopped, is waited for. */
export const WAIT_MS = 60_000;

/** Said while another process has it: who, how long that is waited for, and what to do instead. */
export function waitText(by: HeldBy, { id, ends }: { id: string; ends: string }): string {
  return `${holderText(by)} is at work in ${id}: waiting until that lets it go or is gone, for ${WAIT_MS / 1_000} s at most; ${ends}`;
}

/** Of a context that is gone on with. */
export const insteadOfWaiting = (context: ContextInfo, flags: PlaceFlags): string =>
  `Ctrl-C ends the waiting, and a copy of it can be worked on at once: ${resumeLine(context, flags, ["--fork-session"])}`;

/** A person's terminal that was ended for this. */
export function takenOver({ context, taken: { lease } }: Run, { reach }: Pick<Store, "reach">): string[] {
  if (!lease.tookOver || !lease.takenFrom?.interactive) return [];
  const what = reach === "machine" ? "that one was ended for this" : "that one can record nothing any more";
  return [`${context} was open in a stopped terminal (process ${lease.takenFrom.pid}): ${what}`];
}

/** A type of agent that is not there may be one of a repository that is not trusted. */
export function sayWithheld(error: unknown, { state, trusted }: { state: OpenState; trusted: boolean }): never {
  const folders = trusted ? [] : withheldAgents(state.project.root);
  if (!isHoldfastError(error, "not_found") || folders.length === 0) throw error;
  const why = `${messageOf(error)}; ${folders.join(", ")} is not used: this repository is not trusted (\`holdfast trust add\`)`;
  throw new HoldfastError("not_found", why, { cause: error });
}
