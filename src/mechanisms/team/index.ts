// The mechanism `team`: durable teammates with an inbox, who wake for what concerns them and otherwise cost nothing.

import { newId } from "../../ledger/id.ts";
import { LEAD } from "../../loop/agent.ts";
import type { Outstanding } from "../../loop/outstanding.ts";
import { type AgentView, defineMechanism, type Mechanism, type Note, type Tool, type Turn } from "../../loop/seams.ts";
import { fireHook } from "../hooks/port.ts";
import { type Autonomy, hasTask, type TeamBoard, takeTask } from "./autonomy.ts";
import { teamEvents } from "./events.ts";
import { createLeadTools, type LeadToolsOptions } from "./lead-tools.ts";
import { createMateTools, type MateToolsOptions } from "./mate-tools.ts";
import { closedTo, identityOf, rosterOf, statusOf } from "./roster.ts";
import { activeMates, pendingPlan, pendingPlans, TEAM_SLICE, type Teammate, teamSlice } from "./state.ts";
import { deliver, inboxOf, teamState, teamWake } from "./talk.ts";

const MOST_TEAMMATES = 50;
const MOST_AGENTS = 64;

export interface TeamOptions {
  /** The lead is offered a team; one that has a team is always. */
  offer?: boolean;
  /** Opened when a teammate first looks for work. */
  board?: () => Promise<TeamBoard>;
  place?: Autonomy["place"];
  isElsewhere?: Autonomy["isElsewhere"];
  define?: LeadToolsOptions["define"];
  mostTeammates?: number;
  /** Agents of a context in all (default 64). */
  mostAgents?: number;
  /** What else ends with a teammate that shuts down, in the same append. */
  leaving?: MateToolsOptions["leaving"];
}

/** A hook that keeps a teammate at work is believed so often in a row. */
const MOST_HELD = 8;

export function createTeam(opts: TeamOptions = {}): Mechanism {
  const { board, place, isElsewhere } = opts;
  const autonomy: Autonomy | undefined = board && {
    board,
    ...(place && { place }),
    ...(isElsewhere && { isElsewhere }),
  };
  let leadTools: Tool[] | undefined;
  let mateTools: Tool[] | undefined;

  return defineMechanism({
    name: "team",
    carry: async (turn, how) => (await import("./carry.ts")).carryTeam(turn, how),
    settings: () => ({ offer: opts.offer, mostTeammates: opts.mostTeammates, mostAgents: opts.mostAgents }),
    outside: {
      notes: [`${TEAM_SLICE}/task`], // by the board
      facts: ["team.unplaced", "team.over", "team.held", "team.idled"],
    },
    events: teamEvents,
    fold: teamSlice,
    tools(turn) {
      if (mateOf(turn)) {
        mateTools ??= createMateTools({ releaseTasks: releasing(board), leaving: opts.leaving });
        return mateTools;
      }
      if (turn.agent !== LEAD || !(opts.offer || Object.keys(teamState(turn).mates).length > 0)) return [];
      leadTools ??= createLeadTools({
        define: opts.define,
        mostTeammates: opts.mostTeammates ?? MOST_TEAMMATES,
        mostAgents: opts.mostAgents ?? MOST_AGENTS,
      });
      return leadTools;
    },
    seams: {
      system: (turn) => {
        const mate = mateOf(turn);
        if (mate) return identityOf(mate, teamState(turn));
        return turn.agent === LEAD ? rosterOf(teamState(turn), { isTakenIn: turn.state.turn?.isTakenIn === true }) : "";
      },
      async intake(turn) {
        const notes = deliver(turn);
        if (notes.length > 0) return turn.agent === LEAD ? [...notes, ...status(turn)] : notes;
        const mate = mateOf(turn);
        const free = mate?.status === "active" && mate.gate === "open" && turn.state.turn === undefined;
        return free && autonomy ? takeTask(mate, turn, autonomy) : [];
      },
      gate: {
        judge({ turn, tool }) {
          // Whoever works for a teammate may do no more than it.
          const reason = closedTo(teamState(turn).mates[turn.agent.replace(/\..*/s, "")], tool);
          return reason === undefined ? { decision: "allow" } : { decision: "deny", code: "team", reason };
        },
      },
    },
    outstanding: outstandingOf,
    async wants(agent) {
      if (inboxOf(agent).length > 0 || isOver(agent)) return true;
      const mate = mateOf(agent);
      if (mate?.status !== "active") return false;
      if (mate.unreported.length > 0) return true;
      return mate.gate === "open" && autonomy !== undefined && (await hasTask(mate, agent, autonomy));
    },
    idle: reportIdle,
    wake: (turn, signal) => turn.until(() => inboxOf(turn).length > 0, signal).catch(() => undefined),
  });
}

/** What a teammate that shuts down leaves is anybody's again. */
const releasing =
  (board: TeamOptions["board"]): MateToolsOptions["releaseTasks"] =>
  async ({ context, agent }, note) => {
    const released = (await (await board?.())?.releaseAll(`${context}/${agent}`, { context, agent }, note)) ?? [];
    return released.map((task) => task.id);
  };

function outstandingOf(agent: AgentView): Outstanding[] {
  const state = teamState(agent);
  const mate = mateOf(agent);
  // Teammates, and those that have shut down and not ended their turn.
  if (mate) {
    const works = mate.status === "active" || agent.state.turn !== undefined;
    return works ? [{ what: "part of a team", count: 0, keepsProcess: false, hosts: "every turn" }] : [];
  }
  if (agent.agent !== LEAD || Object.keys(state.mates).length === 0) return [];
  const plans = pendingPlans(state).length;
  return [
    { what: "teammate", count: activeMates(state).length, keepsProcess: false, hosts: "woken turns" },
    ...(plans > 0 ? [{ what: "unreviewed plan", count: plans, keepsProcess: true }] : []),
  ];
}

/** What an idle teammate did is told to the lead, unless a hook keeps it at work; and the lead, that nobody is left. */
async function reportIdle(turn: Turn): Promise<void> {
  if (isOver(turn))
    await turn.append([{ type: "team.over", data: {} }], {
      wake: [teamWake(turn.context, null)],
    });
  const mate = mateOf(turn);
  if (mate?.status !== "active" || mate.unreported.length === 0) return;
  const { context, agent: name } = turn;
  const { blocked } = await fireHook(turn, "TeammateIdle", { teammate_name: name, team_name: context });
  if (blocked !== undefined && (mate.held ?? 0) < MOST_HELD) {
    const content = [{ type: "text", text: blocked }];
    const input = { inputId: newId("inp"), agent: name, content, origin: "hook" };
    await turn.append([
      { type: "team.held", data: { reason: blocked } },
      { type: "input.received", data: input },
    ]);
    return;
  }
  // A plan that waits says more than the words that went with it.
  const known = pendingPlan(teamState(turn), mate.name) !== undefined && turn.state.lastTurn?.reason === "done";
  const text = known ? mate.unreported.slice(0, -1) : mate.unreported;
  await turn.append([{ type: "team.idled", data: { text: text.filter((one) => one !== "").join("\n") } }]);
}

type OfAgent = Pick<AgentView, "agent" | "slice">;

const mateOf = (agent: OfAgent): Teammate | undefined => teamState(agent).mates[agent.agent];

/** Only the lead decides it, who alone may spawn: no host forgets somebody new. */
function isOver({ agent, slice }: OfAgent): boolean {
  const { mates, inboxes, over = false } = teamState({ slice });
  const { agents } = slice<{ agents: Record<string, Turn["state"]> }>("transcript");
  const all = Object.values(mates);
  const gone = ({ name, status }: Teammate) => status === "left" && !agents[name]?.turn;
  return agent === LEAD && !over && all.length > 0 && all.every(gone) && (inboxes[LEAD] ?? []).length === 0;
}

const status = (turn: Turn): Note[] => [{ origin: TEAM_SLICE, kind: "status", text: statusOf(turn) }];
