// The fold of a team: teammates, what waits in each inbox, plans and shutdowns as they stand.

import type { Fact } from "../../ledger/events.ts";
import { knownFact } from "../../ledger/guards.ts";
import { own, ownOr } from "../../ledger/own.ts";
import { LEAD } from "../../loop/agent.ts";
import type { loopEvents } from "../../loop/events.ts";
import type { MechanismSlice } from "../../loop/timelines.ts";
import { teamEvents } from "./events.ts";
import * as say from "./texts.ts";

export interface Teammate {
  name: string;
  role: string;
  type?: string;
  joinedAt: number;
  joinedSeq: number;
  status: "active" | "left";
  /** Closed: it may look and talk, not act. */
  gate: "open" | "closed";
  /** How often it was given each task. */
  assigned: Record<string, number>;
  /** What its turns came to, and the lead does not know yet. */
  unreported: string[];
  /** How often in a row a hook kept it from being idle. */
  held?: number;
}

/** Something for an agent, until it is shown to it. */
export interface InboxEntry {
  id: string;
  from: string;
  /** Of what the runtime says: whatever is decided by it is decided by this. */
  kind?: "plan_wanted" | "plan" | "plan_approved" | "plan_rejected" | "shutdown" | "idle";
  text: string;
}

export interface TeammatePlan {
  requestId: string;
  by: string;
  plan: string;
  at: number;
  /** Withdrawn: its author left before it was answered. */
  status: "pending" | "approved" | "rejected" | "withdrawn";
  reviewedBy?: string;
  feedback?: string;
}

interface Shutdown {
  requestId: string;
  name: string;
  by: string;
  reason: string;
  at: number;
  status: "pending" | "approved" | "refused";
  answer?: string;
}

export interface TeamState {
  mates: Record<string, Teammate>;
  inboxes: Record<string, InboxEntry[]>;
  plans: Record<string, TeammatePlan>;
  shutdowns: Record<string, Shutdown>;
  /** Nobody is left, and the lead knows. */
  over?: boolean;
  /** In a fork that goes on: who was there. Its first request says so, as the one that it repeats did. */
  copied?: string[];
}

export const USER = "user";
/** What the runtime itself says. */
export const TEAM_SLICE = "team";

export const activeMates = (state: TeamState): Teammate[] =>
  Object.values(state.mates).filter((mate) => mate.status === "active");

export const pendingPlan = (state: TeamState, name: string): TeammatePlan | undefined =>
  Object.values(state.plans).findLast((plan) => plan.by === name && plan.status === "pending");

/** Plans that somebody may still answer, from elsewhere too. Who is asked to shut down answers in a turn of its own, or not at all. */
export const pendingPlans = (state: TeamState): TeammatePlan[] =>
  Object.values(state.plans).filter((plan) => plan.status === "pending");

type Known = Fact<typeof teamEvents & typeof loopEvents>;
type DataOf<T extends Known["type"]> = Extract<Known, { type: T }>["data"];

export const teamSlice: MechanismSlice<TeamState> = {
  version: 4,
  types: [...Object.keys(teamEvents), "turn.ended"],
  timelines: {
    restored: (state, { to }) => backTo(state, to),
    // The team goes on in the original.
    copied(state, _, goesOn) {
      const names = activeMates(state).map(({ name }) => name);
      return { ...backTo(state, 0), ...(goesOn !== undefined && { copied: names }) };
    },
  },
  initial: () => ({ mates: {}, inboxes: {}, plans: {}, shutdowns: {} }),
  apply(state, event) {
    apply(state, knownFact<typeof teamEvents & typeof loopEvents>(event));
    return state;
  },
};

/** Who joined later was never there; what was asked of the others, and by them, is over. */
function backTo(state: TeamState, to: number): TeamState {
  for (const mate of Object.values(state.mates)) {
    if (mate.joinedSeq > to) mate.status = "left";
    Object.assign(mate, { unreported: [], held: 0 });
  }
  for (const plan of Object.values(state.plans))
    if (plan.status === "pending") Object.assign(plan, { status: "withdrawn", reviewedBy: TEAM_SLICE });
  for (const shutdown of Object.values(state.shutdowns))
    if (shutdown.status === "pending") Object.assign(shutdown, { status: "refused", answer: "withdrawn" });
  return { ...state, inboxes: {} };
}

function apply(state: TeamState, event: Known): void {
  const { actor, type, data } = event;
  switch (type) {
    case "team.joined":
      join(state, data, event);
      break;
    case "message.sent":
      send(state, actor, data);
      break;
    case "inbox.delivered": {
      const seen = new Set(data.ids);
      state.inboxes[actor] = (own(state.inboxes, actor) ?? []).filter((entry) => !seen.has(entry.id));
      break;
    }
    case "plan.wanted": {
      const mate = own(state.mates, data.name);
      if (!mate) break;
      mate.gate = "closed";
      put(state, data.name, { id: event.id, from: TEAM_SLICE, kind: "plan_wanted", text: say.planWanted(data.about) });
      break;
    }
    case "plan.submitted":
      submit(state, actor, data, event.at);
      break;
    case "plan.reviewed":
      review(state, actor, data);
      break;
    case "shutdown.requested":
      requestShutdown(state, actor, data, event.at);
      break;
    case "shutdown.answered":
      answer(state, actor, data);
      break;
    case "team.assigned": {
      const mate = own(state.mates, actor);
      if (mate) mate.assigned[data.taskId] = (own(mate.assigned, data.taskId) ?? 0) + 1;
      break;
    }
    case "team.unplaced":
      unplace(state, actor, data, event.id);
      break;
    case "turn.ended": {
      if (data.reason === "interrupted") break; // its next host goes on with it
      const text = data.reason === "done" ? data.text : `(${data.reason}) ${data.error ?? data.text}`;
      own(state.mates, actor)?.unreported.push(text);
      break;
    }
    case "team.held": {
      const mate = own(state.mates, actor);
      if (mate) mate.held = (mate.held ?? 0) + 1;
      break;
    }
    case "team.over":
      state.over = true;
      break;
    case "team.idled":
      rest(state, actor, data.text, event.id);
      break;
  }
}

function join(state: TeamState, mate: DataOf<"team.joined">, { at, seq }: Pick<Known, "at" | "seq">): void {
  const { name, role, type, requirePlan } = mate;
  state.over = false;
  state.mates[name] = {
    name,
    role,
    ...(type && { type }),
    joinedAt: at,
    joinedSeq: seq,
    status: "active",
    gate: requirePlan ? "closed" : "open",
    assigned: {},
    unreported: [],
  };
}

function send(state: TeamState, from: string, { messageId, to, content }: DataOf<"message.sent">): void {
  const entry = { id: messageId, from, text: content };
  for (const name of recipients(state, from, to))
    if (own(state.mates, name)?.status === "left") bounce(state, name, entry);
    else put(state, name, entry);
}

function submit(state: TeamState, by: string, { requestId, plan }: DataOf<"plan.submitted">, at: number): void {
  state.plans[requestId] = { requestId, by, plan, at, status: "pending" };
  put(state, LEAD, { id: requestId, from: TEAM_SLICE, kind: "plan", text: say.planAsked(by, requestId, plan) });
}

function requestShutdown(state: TeamState, by: string, asked: DataOf<"shutdown.requested">, at: number): void {
  const { requestId, name, reason } = asked;
  state.shutdowns[requestId] = { requestId, name, by, reason, at, status: "pending" };
  put(state, name, {
    id: requestId,
    from: TEAM_SLICE,
    kind: "shutdown",
    text: say.shutdownAsked(by, requestId, reason),
  });
}

/** A task that cannot be worked on: it is not given to this one again. */
function unplace(state: TeamState, name: string, { taskId, reason }: DataOf<"team.unplaced">, id: string): void {
  const mate = own(state.mates, name);
  if (mate) mate.assigned[taskId] = Number.MAX_SAFE_INTEGER;
  put(state, LEAD, { id, from: TEAM_SLICE, text: say.unplaced(name, taskId, reason) });
}

/** It has nothing to do: the lead hears what it did. */
function rest(state: TeamState, name: string, text: string, id: string): void {
  const mate = own(state.mates, name);
  if (!mate) return;
  mate.unreported = [];
  mate.held = 0;
  if (text !== "") put(state, LEAD, { id, from: name, kind: "idle", text: `[idle] ${text}` });
}

/** A second answer to one request never counts. */
function review(state: TeamState, by: string, { requestId, approve, feedback }: DataOf<"plan.reviewed">): void {
  const plan = own(state.plans, requestId);
  if (plan?.status !== "pending") return;
  Object.assign(plan, { status: approve ? "approved" : "rejected", reviewedBy: by, feedback });
  const mate = own(state.mates, plan.by);
  if (mate && approve) mate.gate = "open";
  put(state, plan.by, {
    id: `${requestId}/review`,
    from: TEAM_SLICE,
    kind: approve ? "plan_approved" : "plan_rejected",
    text: say.planReviewed({ requestId, by, approve, feedback }),
  });
}

function answer(state: TeamState, by: string, { requestId, approve, reason }: DataOf<"shutdown.answered">): void {
  const shutdown = own(state.shutdowns, requestId);
  if (shutdown?.status !== "pending" || shutdown.name !== by) return;
  Object.assign(shutdown, { status: approve ? "approved" : "refused", answer: reason });
  if (approve) leave(state, by);
  if (shutdown.by !== USER || approve)
    put(state, LEAD, {
      id: `${requestId}/answer`,
      from: TEAM_SLICE,
      text: say.shutdownAnswered({ requestId, name: by, approve, reason }),
    });
}

function leave(state: TeamState, name: string): void {
  const mate = own(state.mates, name);
  if (mate) mate.status = "left";
  const plan = pendingPlan(state, name);
  if (plan) Object.assign(plan, { status: "withdrawn", reviewedBy: name });
  for (const entry of own(state.inboxes, name) ?? []) bounce(state, name, entry);
  delete state.inboxes[name];
}

/** What was said to someone who left without seeing it goes back to who said it; the user looks for himself. */
function bounce(state: TeamState, to: string, { id, from, text }: InboxEntry): void {
  if (from !== LEAD && own(state.mates, from)?.status !== "active") return;
  put(state, from, { id: `${id}/returned`, from: TEAM_SLICE, text: say.returned(to, text) });
}

function recipients(state: TeamState, from: string, to: string): string[] {
  if (to === USER) return [];
  const names = to === "*" ? [LEAD, ...activeMates(state).map((mate) => mate.name)] : [to];
  return names.filter((name) => name !== from);
}

function put(state: TeamState, to: string, entry: InboxEntry): void {
  ownOr(state.inboxes, to, () => []).push(entry);
}
