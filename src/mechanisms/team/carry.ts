// How the team stands, and what waits for this agent's word: names and roles are in the system prompt, messages in the conversation.
import { LEAD } from "../../loop/agent.ts";
import type { Carrying } from "../../loop/carry.ts";
import type { Turn } from "../../loop/seams.ts";
import { fittingTexts } from "../../text/fitting.ts";
import { visible } from "../../text/visible.ts";
import { statusOf } from "./roster.ts";
import { pendingPlans, type Teammate, type TeammatePlan, type TeamState } from "./state.ts";
import { teamState } from "./talk.ts";
import { shutdownAsked } from "./texts.ts";

/** Of the window. */
const SHARE = 0.04;

interface Text {
  whole: string;
  short: string;
}

export function carryTeam(turn: Pick<Turn, "agent" | "slice">, { room }: Pick<Carrying, "room">): string {
  const state = teamState(turn);
  const mate = state.mates[turn.agent];
  const texts = mate ? ofMate(mate, state) : turn.agent === LEAD ? ofLead(turn, state) : [];
  return fittingTexts(texts, room(SHARE), (count) => `and ${count} more`).join("\n");
}

const same = (text: string): Text => ({ whole: text, short: text });

function ofLead(turn: Pick<Turn, "slice">, state: TeamState): Text[] {
  if (Object.keys(state.mates).length === 0) return [];
  const asked = Object.values(state.shutdowns).filter(({ status }) => status === "pending");
  return [
    same(statusOf(turn)),
    ...asked.map(({ name, requestId }) => same(`${name} was asked to shut down (${requestId}) and has not answered.`)),
    ...pendingPlans(state).map(({ by, requestId, plan }) =>
      withPlan(`${by} waits for your review (review_plan, request_id ${requestId}) of a plan`, plan),
    ),
  ];
}

function ofMate(mate: Teammate, state: TeamState): Text[] {
  const plan = Object.values(state.plans).findLast(({ by }) => by === mate.name);
  const asked = Object.values(state.shutdowns).filter(({ name, status }) => name === mate.name && status === "pending");
  const owes = mate.gate === "closed" && plan?.status !== "pending";
  return [
    ...asked.map(({ by, requestId, reason }) => same(shutdownAsked(by, requestId, reason))),
    ...(owes ? [same("A plan is wanted of you (submit_plan): until one is approved you may only look.")] : []),
    ...(plan ? [planText(plan)] : []),
  ];
}

function planText({ requestId, plan, status, reviewedBy, feedback = "" }: TeammatePlan): Text {
  const how = status === "pending" ? "waits for its review" : `was ${status} by ${reviewedBy}`;
  return withPlan(`Your plan ${requestId} ${how}${feedback === "" ? "" : ` (${visible(feedback)})`}`, plan);
}

const withPlan = (head: string, plan: string): Text => ({
  whole: `${head}:\n  | ${plan.replaceAll("\n", "\n  | ")}`,
  short: `${head}.`,
});
