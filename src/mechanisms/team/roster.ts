// How a team stands: who a teammate is, whom the lead leads, how far everyone is, and what a closed gate holds back.
import type { Tool, Turn } from "../../loop/seams.ts";
import { activeMates, pendingPlan, type Teammate, type TeamState } from "./state.ts";
import { teamState } from "./talk.ts";

const MOST_LISTED = 40;
const MOST_ROLE_CHARS = 100;

const short = (text: string): string =>
  (text.length > MOST_ROLE_CHARS ? `${text.slice(0, MOST_ROLE_CHARS - 1)}…` : text).replace(/\s+/g, " ");

/** Part of every request of a teammate, so that no compaction takes it away. */
export function identityOf(mate: Teammate, state: TeamState): string {
  const others = activeMates(state).filter((one) => one.name !== mate.name);
  const names = others.slice(0, MOST_LISTED).map((one) => one.name);
  return [
    `You are ${mate.name}, a teammate. Your role: ${mate.role}. The lead is lead${names.length > 0 ? `; the others: ${names.join(", ")}` : ""}.`,
    "You work by yourself: tasks of the board come to you when you are free, one at a time; complete_task when one is done.",
    "What others should know goes by send_message; your final answer of a turn goes to the lead. Nobody answers within your turn: end it, the answer wakes you.",
    "When a plan is wanted of you, you may only look until submit_plan was approved.",
  ].join("\n");
}

/** Names and roles only: what changes often comes at the tail. */
export function rosterOf(state: TeamState, { isTakenIn = false }: { isTakenIn?: boolean } = {}): string {
  const mates = isTakenIn ? (state.copied ?? []).flatMap((name) => state.mates[name] ?? []) : activeMates(state);
  if (mates.length === 0) return "";
  const lines = mates.slice(0, MOST_LISTED).map((mate) => `- ${mate.name}: ${short(mate.role)}`);
  const more = mates.length > MOST_LISTED ? [`- and ${mates.length - MOST_LISTED} more`] : [];
  return ["Your team:", ...lines, ...more].join("\n");
}

export function statusOf(turn: Pick<Turn, "slice">): string {
  const state = teamState(turn);
  const { agents } = turn.slice<{ agents: Record<string, Turn["state"]> }>("transcript");
  const mates = activeMates(state);
  const lines = mates.slice(0, MOST_LISTED).map((mate) => `${mate.name}: ${doing(mate, state, agents[mate.name])}`);
  const more = mates.length > MOST_LISTED ? [`and ${mates.length - MOST_LISTED} more`] : [];
  return mates.length === 0 ? "Team: nobody is left." : `Team now: ${[...lines, ...more].join("; ")}`;
}

export function doing(mate: Teammate, state: TeamState, agent: Turn["state"] | undefined): string {
  const plan = pendingPlan(state, mate.name);
  if (plan) return `waits for the review of ${plan.requestId}`;
  if (agent?.turn) return "working";
  if (agent?.lastTurn?.reason === "interrupted") return "about to go on: its last host has ended";
  if ((state.inboxes[mate.name] ?? []).length > 0 || (agent?.queue.length ?? 0) > 0) return "about to work";
  return mate.gate === "closed" ? "idle, owes a plan" : "idle";
}

/** Of what is not a read, this is only talk. */
const TALK = new Set(["send_message", "submit_plan", "answer_shutdown", "todo_write"]);

/** Contract: why it may not, or undefined. */
export function closedTo(mate: Teammate | undefined, tool: Pick<Tool, "name" | "effect">): string | undefined {
  if (!mate) return undefined;
  if (mate.status === "left") return `${mate.name} has shut down: end your turn`;
  if (mate.gate === "open" || tool.effect === "read" || TALK.has(tool.name)) return undefined;
  return `${mate.name} has no approved plan yet: only looking and talking are open. Hand in a plan with submit_plan, then end your turn`;
}
