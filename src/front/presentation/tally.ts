// What a run has cost so far, from the replies that were recorded in it.
import { costUsd } from "../../models/catalogue.ts";
import { addUsage, noUsage, type Usage } from "../../models/model.ts";
import { money, tokens } from "./format.ts";

export interface Tally {
  add(model: string, usage: Usage): void;
  /** `12.3k tokens in (80 % from cache), 678 out · $0.0123`; "" before the first reply. */
  text(): string;
  /** The same in few characters. */
  short(): string;
}

export function createTally(): Tally {
  const byModel = new Map<string, Usage>();

  function total() {
    const usage = [...byModel.values()].reduce(addUsage, noUsage());
    const costs = [...byModel].map(([model, used]) => costUsd(model, used));
    const known = costs.filter((cost) => cost !== undefined);
    const usd = known.length < costs.length ? undefined : known.reduce((sum, cost) => sum + cost, 0);
    return { all: usage.input + usage.cacheRead + usage.cacheWrite, usage, usd };
  }

  return {
    add(model, usage) {
      if (model !== "") byModel.set(model, addUsage(byModel.get(model) ?? noUsage(), usage));
    },
    text() {
      if (byModel.size === 0) return "";
      const { all, usage, usd } = total();
      const cached = usage.cacheRead === 0 ? "" : ` (${Math.round((100 * usage.cacheRead) / all)} % from cache)`;
      return `${tokens(all)} tokens in${cached}, ${tokens(usage.output)} out · ${money(usd)}`;
    },
    short() {
      if (byModel.size === 0) return "";
      const { all, usage, usd } = total();
      return `${tokens(all + usage.output)} tokens · ${money(usd)}`;
    },
  };
}
