// What may happen in a team: a command becomes facts, or is refused with the reason. Pure; the same for agents and for the user.
import { HoldfastError } from "../../ledger/error.ts";
import { newId } from "../../ledger/id.ts";
import { isInherited, own } from "../../ledger/own.ts";
import type { EventInput } from "../../ledger/store.ts";
import { LEAD } from "../../loop/agent.ts";
import { RUNTIME_ORIGINS } from "../../loop/marks.ts";
import { activeMates, pendingPlan, type Teammate, type TeammatePlan, type TeamState, USER } from "./state.ts";
import { planWanted } from "./texts.ts";

export type TeamFacts = Omit<EventInput, "actor">[];

const NAME = /^[a-z][a-z0-9_-]{0,31}$/i;
const RESERVED = new Set([LEAD, USER, ...RUNTIME_ORIGINS, "all"]);
const LONGEST = 200_000;

const refuse = (why: string) => new HoldfastError("refused", why);

const named = (state: TeamState): string =>
  activeMates(state)
    .map((mate) => mate.name)
    .join(", ") || "nobody";

/** `plan_alice_x1y2`: readable, and never given twice by two processes. */
const requestId = (kind: string, name: string): string => `${kind}_${name}_${newId("r").slice(-4).toLowerCase()}`;

function mateNamed(state: TeamState, name: string): Teammate {
  const mate = own(state.mates, name);
  if (!mate) throw refuse(`there is no teammate ${name}: the team is ${named(state)}`);
  if (mate.status === "left") throw refuse(`${name} has shut down`);
  return mate;
}

export interface NewMate {
  name: string;
  role: string;
  prompt: string;
  requirePlan: boolean;
  type?: string;
}

/** Contract: `taken` are the names of all agents of the context. */
export function joining(
  state: TeamState,
  mate: NewMate,
  scene: { taken: string[]; cwd: string; most: number; mostAgents: number },
): [joined: TeamFacts[number], ...TeamFacts] {
  const { name, role, prompt, requirePlan, type } = mate;
  if (!NAME.test(name))
    throw refuse(
      `a teammate's name is a letter, then up to 31 letters, digits, - or _: not ${JSON.stringify(name.slice(0, 60))}`,
    );
  if (RESERVED.has(name.toLowerCase()) || isInherited(name))
    throw refuse(`the name ${name} is reserved: choose another`);
  const same = scene.taken.find((one) => one.toLowerCase() === name.toLowerCase());
  if (same !== undefined)
    throw refuse(
      state.mates[same]?.status === "active"
        ? `${same} is in the team already: send_message reaches it`
        : `the name ${same} was used before: choose another`,
    );
  if (activeMates(state).length >= scene.most)
    throw refuse(`the team has ${scene.most} teammates already, its limit: shut one down first`);
  if (scene.taken.length >= scene.mostAgents)
    throw refuse(`this context has ${scene.taken.length} agents, its limit: go on with those there are`);
  const wanted = requirePlan ? `\n\n${planWanted("")}` : "";
  const content = [{ type: "text", text: `${prompt}${wanted}` }];
  return [
    { type: "agent.created", touches: ["ctx:agents"], data: { name, cwd: scene.cwd } },
    { type: "team.joined", data: { name, role, requirePlan, ...(type && { type }) } },
    { type: "input.received", data: { inputId: newId("inp"), agent: name, content, origin: LEAD } },
  ];
}

/** Contract: `*` is everyone but the sender. */
export function sending(state: TeamState, from: string, { to, content }: { to: string; content: string }): TeamFacts {
  if (content.trim() === "") throw refuse("the message is empty");
  if (content.length > LONGEST)
    throw refuse(`the message has ${content.length} characters, at most ${LONGEST} fit: write a file and name it`);
  if (to === from) throw refuse("that is you");
  if (to === "*" && from === LEAD && activeMates(state).length === 0) throw refuse("there is nobody in the team");
  if (to !== LEAD && to !== USER && to !== "*") mateNamed(state, to);
  return [{ type: "message.sent", data: { messageId: newId("msg"), to, content } }];
}

export function wantingPlan(state: TeamState, name: string, about: string): TeamFacts {
  mateNamed(state, name);
  return [{ type: "plan.wanted", data: { name, about } }];
}

export function submitting(state: TeamState, by: string, plan: string): { facts: TeamFacts; requestId: string } {
  mateNamed(state, by);
  if (plan.trim() === "") throw refuse("the plan is empty");
  const open = pendingPlan(state, by);
  if (open)
    throw refuse(`your plan ${open.requestId} still waits for its review: end your turn, you are woken by the answer`);
  const id = requestId("plan", by);
  return { facts: [{ type: "plan.submitted", data: { requestId: id, plan } }], requestId: id };
}

export interface Review {
  requestId: string;
  approve: boolean;
  feedback: string;
}

/** `requestId` may be the teammate's name: then its plan that waits. */
export function planNamed(state: TeamState, given: string): TeammatePlan {
  const plan = own(state.plans, given) ?? pendingPlan(state, given);
  if (plan) return plan;
  const waiting = Object.values(state.plans).filter((one) => one.status === "pending");
  throw refuse(`no plan ${given} waits for a review: ${waiting.map((one) => one.requestId).join(", ") || "none does"}`);
}

export function reviewing(state: TeamState, { requestId: given, approve, feedback }: Review): TeamFacts {
  const plan = planNamed(state, given);
  if (plan.status !== "pending")
    throw refuse(`${plan.requestId} was already ${plan.status} by ${plan.reviewedBy}: it is answered once`);
  return [{ type: "plan.reviewed", data: { requestId: plan.requestId, approve, feedback } }];
}

export function shuttingDown(state: TeamState, name: string, reason: string): { facts: TeamFacts; requestId: string } {
  mateNamed(state, name);
  const open = Object.values(state.shutdowns).find((one) => one.name === name && one.status === "pending");
  if (open) throw refuse(`${name} was asked to shut down already: request ${open.requestId} waits for its answer`);
  const id = requestId("shutdown", name);
  return { facts: [{ type: "shutdown.requested", data: { requestId: id, name, reason } }], requestId: id };
}

export function answering(
  state: TeamState,
  by: string,
  answer: { requestId: string; approve: boolean; reason: string },
): TeamFacts {
  const shutdown = own(state.shutdowns, answer.requestId);
  if (!shutdown || shutdown.name !== by) throw refuse(`there is no shutdown request ${answer.requestId} to you`);
  if (shutdown.status !== "pending")
    throw refuse(`${answer.requestId} was already ${shutdown.status}: it is answered once`);
  return [{ type: "shutdown.answered", data: answer }];
}
