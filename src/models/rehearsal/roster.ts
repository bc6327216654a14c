// What a lead knows of its team, read from its whole transcript: who was spawned, which plans wait for an answer.
import type { Item } from "../model.ts";
import { callsOf, heardByLead, outcomesOf, type Recorded } from "./situation.ts";
import { readTeamNote } from "./team-notes.ts";
import type { PlanRequest } from "./words-team.ts";

export interface Roster {
  mates: string[];
  /** The latest of each teammate that waits for an answer and that the user can have meant. */
  plans: PlanRequest[];
}

/**
 * Contract: a plan that came after the user's last words is not among them: nobody can have decided on it yet. One that a call of
 * the request in hand (`made`) has answered still is, and no later one takes its place: the request is about that one.
 */
export function readRoster(items: readonly Item[], made: readonly Recorded[]): Roster {
  const results = outcomesOf(items);
  const inHand = new Set(made.filter((one) => one.name === "review_plan").map((one) => requestId(one)));
  const lastWords = items.findLastIndex((item) => item.kind === "user" && heardByLead(item.content).words !== "");
  const mates = new Set<string>();
  const plans = new Map<string, PlanRequest>();
  for (const [at, item] of items.entries()) {
    if (item.kind === "user" && at <= lastWords) {
      for (const note of heardByLead(item.content).notes) {
        const said = readTeamNote(note);
        const kept = said?.kind === "asks" && inHand.has(plans.get(said.name)?.id);
        if (said?.kind === "asks" && !kept) plans.set(said.name, { name: said.name, id: said.id, plan: said.plan });
      }
    } else if (item.kind === "reply") {
      for (const one of callsOf(item, results) ?? []) {
        if (one.outcome.isError) continue;
        const { name } = one.input as { name?: string };
        if (one.name === "spawn_teammate" && name) mates.add(name);
        if (one.name !== "review_plan" || inHand.has(requestId(one))) continue;
        for (const plan of plans.values()) if (plan.id === requestId(one)) plans.delete(plan.name);
      }
    }
  }
  return { mates: [...mates], plans: [...plans.values()] };
}

const requestId = ({ input }: Recorded): string | undefined => (input as { request_id?: string }).request_id;
