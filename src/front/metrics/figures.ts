// The figures of the list: agents, tokens, cost and shared data of a context, from what was counted of it.
import { costUsd } from "../../models/catalogue.ts";
import { addUsage, noUsage } from "../../models/model.ts";
import { damagedText, type Figures, type FiguresSource } from "../monitor/listed-context.ts";
import type { MonitoredProject } from "../monitor/monitored-project.ts";
import type { CountedContexts } from "./count-contexts.ts";
import { type ContextCounts, dataBytes } from "./counts.ts";

export const figuresOf = (counts: CountedContexts): FiguresSource => ({
  of(context, events) {
    counts.wants(context, events);
    const known = counts.of(context);
    const damage = counts.damageOf(context);
    return known && { ...figuresIn(known), ...(damage !== undefined && { damaged: damagedText(damage) }) };
  },
  onKnown: counts.onKnown,
});

function figuresIn(counts: ContextCounts): Figures {
  const models = Object.entries(counts.models);
  const prices = models.map(([model, { usage, replies, asides }]) => ({
    usd: costUsd(model, usage),
    calls: replies + asides,
  }));
  return {
    agents: counts.agents,
    tokens: models.reduce((sum, [, { usage }]) => addUsage(sum, usage), noUsage()),
    cost: {
      usd: prices.reduce((sum, { usd }) => sum + (usd ?? 0), 0),
      unpriced: prices.reduce((sum, { usd, calls }) => sum + (usd === undefined ? calls : 0), 0),
    },
    dataBytes: dataBytes(counts),
  };
}

/** One for each project: the list and the metrics read its contexts once. */
export function keepCounts(begin: (project: MonitoredProject) => CountedContexts): {
  of(project: MonitoredProject): CountedContexts;
} {
  const all = new Map<string, CountedContexts>();
  return {
    of(project) {
      const found = all.get(project.row.id) ?? begin(project);
      all.set(project.row.id, found);
      return found;
    },
  };
}
