// What a context cost: by agent, turn and round as a flame graph, each break of the cached prefix with its price, and sums.
import { useMemo, useState } from "preact/hooks";
import type { CostBreak, Costs } from "../../../context-api.ts";
import { contextPath } from "../../client.ts";
import { Cost } from "../../components/figures.tsx";
import { Problem } from "../../components/problem.tsx";
import { counted, duration, money, tokens } from "../../format.ts";
import type { TabProps } from "../tab.ts";
import { type CostMeasure, cachedShare, inputOf } from "./flame.ts";
import { FlameGraph } from "./flame-graph.tsx";
import { AtTime, ChoiceRow, FiguresTable, Hint, percent } from "./pieces.tsx";
import { useFresh } from "./use-fresh.ts";

const MEASURES: Record<CostMeasure, string> = { usd: "Money", tokens: "Tokens", ms: "Time" };

export function CostsTab({ project, context, seq, live, open }: TabProps) {
  const change = live.last.reply ?? 0;
  const { value, problem, again } = useFresh<Costs>(`${contextPath({ project, context })}/costs`, change);
  const [chosen, setMeasure] = useState<CostMeasure | undefined>(undefined);
  if (!value || value.tree.children.length === 0)
    return (
      <div class="view">
        {problem !== undefined && <Problem says={problem} again={again} />}
        <Hint>{value ? "No model was asked yet." : "…"}</Hint>
        {value && <Copied costs={value} />}
      </div>
    );
  const { tree, unpriced } = value;
  const measure = chosen ?? (tree.usd > 0 ? "usd" : "tokens");
  const toEvent = (seq: number) => open({ view: "transcript", seq });
  return (
    <div class="view scrolls">
      <div class="view-bar">
        <ChoiceRow label="As wide as" value={measure} of={MEASURES} onChoose={setMeasure} />
        <span>
          <b>
            <Cost usd={tree.usd} unpriced={unpriced} />
          </b>{" "}
          <span class="quiet-ink">
            {tokens(inputOf(tree.tokens))} in, {percent(cachedShare(tree.tokens))} of it cached ·{" "}
            {tokens(tree.tokens.output)} out · models took {duration(tree.ms)}
          </span>
        </span>
        {seq !== undefined && <span class="as-of">All of it, until now</span>}
        {problem !== undefined && <Problem says={problem} again={again} />}
      </div>
      <Copied costs={value} />
      <FlameGraph costs={value} measure={measure} onOpen={toEvent} />
      <div class="tables">
        <AgentSums costs={value} />
        <Breaks breaks={value.breaks} onOpen={toEvent} />
        <Epochs epochs={value.epochs} onOpen={toEvent} />
      </div>
    </div>
  );
}

function Copied({ costs: { copied } }: { costs: Costs }) {
  if (!copied) return null;
  const all = inputOf(copied.tokens) + copied.tokens.output;
  return (
    <Hint>
      Up to event {copied.seq.toLocaleString("en-US")} this context is a copy. What that cost was paid for there (
      {money(copied.usd)}, {tokens(all)} tokens), and is not counted here.
    </Hint>
  );
}

function AgentSums({ costs: { tree, breaks } }: { costs: Costs }) {
  const broken = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { agent } of breaks) counts.set(agent, (counts.get(agent) ?? 0) + 1);
    return counts;
  }, [breaks]);
  const rows = tree.children.toSorted((a, b) => b.usd - a.usd || inputOf(b.tokens) - inputOf(a.tokens)).slice(0, 100);
  return (
    <FiguresTable label="Sums by agent">
      <table class="figures">
        <caption>By agent</caption>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col" class="number">
              Cost
            </th>
            <th scope="col" class="number">
              In
            </th>
            <th scope="col" class="number">
              Cached
            </th>
            <th scope="col" class="number">
              Out
            </th>
            <th scope="col" class="number">
              Time
            </th>
            <th scope="col" class="number">
              Breaks
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, usd, tokens: used, ms }) => (
            <tr key={name}>
              <th scope="row" class="others">
                {name}
              </th>
              <td class="number">{money(usd)}</td>
              <td class="number">{tokens(inputOf(used))}</td>
              <td class="number">{percent(cachedShare(used))}</td>
              <td class="number">{tokens(used.output)}</td>
              <td class="number">{duration(ms)}</td>
              <td class="number">{broken.get(name) ?? 0}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </FiguresTable>
  );
}

const BREAKS_SHOWN = 50;

function Breaks({ breaks, onOpen }: { breaks: readonly CostBreak[]; onOpen(seq: number): void }) {
  const [shown, setShown] = useState(BREAKS_SHOWN);
  const sum = breaks.reduce((all, { usd }) => all + (usd ?? 0), 0);
  const anew = breaks.reduce((all, { tokensAnew }) => all + tokensAnew, 0);
  if (breaks.length === 0) return <Hint>No request broke the prefix that the provider keeps.</Hint>;
  return (
    <FiguresTable label="Breaks of the cached prefix">
      <table class="figures">
        <caption>
          {counted(breaks.length, "request")} broke the cached prefix: {tokens(anew)} tokens anew, {money(sum)} more
        </caption>
        <thead>
          <tr>
            <th scope="col">Round</th>
            <th scope="col">When</th>
            <th scope="col">Why</th>
            <th scope="col" class="number">
              Sent anew
            </th>
            <th scope="col" class="number">
              Cost of it
            </th>
          </tr>
        </thead>
        <tbody>
          {breaks
            .toReversed()
            .slice(0, shown)
            .map(({ agent, n, seq, at, cause, tokensAnew, usd }) => (
              <tr key={seq}>
                <th scope="row">
                  <button type="button" class="quiet small others" onClick={() => onOpen(seq)}>
                    {agent} r{n}
                  </button>
                </th>
                <td>
                  <AtTime at={at} />
                </td>
                <td class="others">{cause}</td>
                <td class="number">{tokens(tokensAnew)}</td>
                <td class="number">{money(usd)}</td>
              </tr>
            ))}
        </tbody>
      </table>
      {breaks.length > shown && (
        <button type="button" onClick={() => setShown(shown + BREAKS_SHOWN)}>
          show older ones
        </button>
      )}
    </FiguresTable>
  );
}

const EPOCHS_SHOWN = 30;

function Epochs({ epochs, onOpen }: { epochs: Costs["epochs"]; onOpen(seq: number): void }) {
  if (epochs.length === 0) return null;
  return (
    <FiguresTable label="Epochs">
      <table class="figures">
        <caption>{counted(epochs.length, "epoch")} began: the conversation was made smaller</caption>
        <tbody>
          {epochs
            .toReversed()
            .slice(0, EPOCHS_SHOWN)
            .map(({ agent, seq, at, says }) => (
              <tr key={seq}>
                <th scope="row">
                  <button type="button" class="quiet small others" onClick={() => onOpen(seq)}>
                    {agent}, event {seq}
                  </button>
                </th>
                <td>
                  <AtTime at={at} />
                </td>
                <td>{says}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </FiguresTable>
  );
}
