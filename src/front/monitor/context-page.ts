// The head of one context on the page: its agents and what each does, budget, problems, how to go on with it.
import { type Ledger, sliceOf } from "../../ledger/ledger.ts";
import { contextState, LEAD } from "../../loop/agent.ts";
import { spentIn } from "../../mechanisms/budget/account.ts";
import type { BudgetState } from "../../mechanisms/budget/events.ts";
import type { TeamState } from "../../mechanisms/team/state.ts";
import { agentRow } from "../past/agent-row.ts";
import { resumeLine } from "../presentation/command-line.ts";
import { money, tokens } from "../presentation/format.ts";
import { oneLine, printable } from "../presentation/printable.ts";
import type { ContextRow, Need } from "./api.ts";
import type { ContextPage } from "./context-api.ts";
import type { MonitoredProject } from "./monitored-project.ts";

const MOST_AGENTS = 200;

export function contextPage(
  project: MonitoredProject,
  ledger: Ledger,
  { row, needs }: { row: ContextRow; needs: readonly Need[] },
): ContextPage {
  const { agents, root, title } = contextState(ledger);
  const team = sliceOf<TeamState | undefined>(ledger, "team");
  const all = Object.values(agents);
  const model = Object.keys(agents[LEAD]?.usageByModel ?? {}).at(-1);
  return {
    ...{ row, head: ledger.state.seq, task: oneLine(title, 400), needs: [...needs] },
    ...(model !== undefined && { model: oneLine(model, 80) }),
    agents: all
      .slice(-MOST_AGENTS)
      .map((agent) => agentRow(agent, team, { isInterrupted: row.status === "interrupted" })),
    budget: budgetLines(sliceOf<BudgetState | undefined>(ledger, "budget")),
    problems: ledger.problems
      .slice(0, 20)
      .map(({ seq, kind, reason: why }) => oneLine(`event ${seq}: ${kind}: ${why}`, 300)),
    ...(ledger.readOnly && { readOnly: printable(ledger.readOnly.message) }),
    resume: resumeLine({ id: ledger.name, root }, project.place),
  };
}

/** What may be spent, and what was, a line each. */
function budgetLines(state: BudgetState | undefined): string[] {
  if (!state) return [];
  const spent = spentIn(state);
  const { tokens: most, usd, rounds } = state.limits;
  return [
    ...(most === undefined ? [] : [`${tokens(spent.tokens)} of ${tokens(most)} tokens`]),
    ...(usd === undefined ? [] : [`${money(spent.usd)} of ${money(usd)}`]),
    ...(rounds === undefined ? [] : [`${spent.rounds} of ${rounds} rounds`]),
  ];
}
