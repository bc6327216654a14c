// What each model was asked, exactly: the requests of an agent, the bytes of one, and how it differs from the one before.
import { useMemo, useState } from "preact/hooks";
import type { ContextKey } from "../../../api.ts";
import type { AgentRow, RequestRow, RequestView } from "../../../context-api.ts";
import { contextPath } from "../../client.ts";
import { Cost } from "../../components/figures.tsx";
import { Problem } from "../../components/problem.tsx";
import { SectionView } from "../../components/section-view.tsx";
import { byteCount, counted, tokens } from "../../format.ts";
import { useAnswer, useKeys, useParts } from "../../parts.tsx";
import { VirtualList } from "../../virtual-list.tsx";
import { saveAs } from "../save-as.ts";
import type { TabProps } from "../tab.ts";
import { patchLines } from "./diff-lines.ts";
import { cachedShare, inputOf } from "./flame.ts";
import { AsOf, AtTime, ChoiceRow, DiffSize, DiffTable, Hint, ListAndDetail, percent } from "./pieces.tsx";

const ROW_HEIGHT = 44;

export function RequestsTab({ project, context, seq, at, page, round, goTo }: TabProps) {
  const { client } = useParts();
  const agents = ((seq === undefined ? undefined : at?.agents) ?? page.agents).filter(({ rounds }) => rounds > 0);
  const [chosen, setChosen] = useState<{ agent: string; n?: number } | undefined>(undefined);
  const named = chosen ?? round;
  const agent = agents.find(({ name }) => name === named?.agent) ?? agents[0];
  const base = `${contextPath({ project, context })}/requests`;
  const path = agent && `${base}?agent=${encodeURIComponent(agent.name)}`;
  const fetchWindow = useMemo(
    () => (from: number, count: number, signal: AbortSignal) =>
      client.get<RequestRow[]>(`${path}&upTo=${from + count}&count=${count}`, signal),
    [client, path],
  );
  if (!agent) return <Hint>No model was asked yet.</Hint>;
  const total = agent.rounds;
  const n = Math.min(named?.n ?? total, total);
  const choose = (position: number) => setChosen({ agent: agent.name, n: position + 1 });
  const list = (
    <VirtualList
      label={`Requests of ${agent.name}`}
      total={total}
      rowHeight={ROW_HEIGHT}
      fetchWindow={fetchWindow}
      version={path ?? ""}
      keyOf={(row) => String(row.n)}
      renderRow={(row) => <RequestLine row={row} />}
      selected={n - 1}
      onSelect={choose}
      onOpen={() => document.getElementById(REQUEST_TITLE)?.focus()}
      reveal={n - 1}
      followsEnd={named?.n === undefined}
      isMain
    />
  );
  return (
    <div class="view">
      <div class="view-bar">
        <AgentChoice agents={agents} value={agent.name} onChoose={(name) => setChosen({ agent: name })} />
        <span class="quiet-ink">{counted(total, "request")}</span>
        <AsOf seq={seq} what="Those" />
      </div>
      <ListAndDetail
        label="One request"
        list={list}
        detail={
          <Request {...{ project, context, agent: agent.name, n, total }} onStep={(to) => choose(to - 1)} onGo={goTo} />
        }
      />
    </div>
  );
}

interface AgentChoiceProps {
  agents: readonly AgentRow[];
  value: string;
  onChoose(name: string): void;
}

const AgentChoice = ({ agents, value, onChoose }: AgentChoiceProps) => (
  <label class="field">
    Agent{" "}
    <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
      {agents.map(({ name, rounds }) => (
        <option key={name} value={name}>
          {`${name} (${rounds})`}
        </option>
      ))}
    </select>
  </label>
);

function RequestLine({ row: { n, at, model, tokens: used, usd } }: { row: RequestRow }) {
  return (
    <div class="two-lines">
      <div class="row-line">
        <b>r{n}</b> <span class="others cut quiet-ink">{model}</span>
        <span class="grow" />
        <span class="quiet-ink tiny">
          <AtTime at={at} />
        </span>
      </div>
      <div class="row-line tiny">
        <span class="meter" aria-hidden="true">
          <i style={{ width: `${100 * cachedShare(used)}%` }} />
        </span>
        <span class="cut">
          {tokens(inputOf(used))} in, {percent(cachedShare(used))} cached, {tokens(used.output)} out
        </span>
        <span class="grow" />
        <Cost usd={usd} />
      </div>
    </div>
  );
}

type RequestProps = ContextKey & {
  agent: string;
  n: number;
  total: number;
  onStep(to: number): void;
  onGo(seq: number): void;
};

const REQUEST_TITLE = "request-title";

const SHOWS = { body: "Body", diff: "Against the one before" } as const;

function Request({ project, context, agent, n, total, onStep, onGo }: RequestProps) {
  const { client } = useParts();
  const base = `${contextPath({ project, context })}/requests`;
  const path = `${base}/${encodeURIComponent(agent)}/${n}`;
  const { value, of, problem, again } = useAnswer<RequestView>(path);
  const row = useAnswer<RequestRow[]>(`${base}?agent=${encodeURIComponent(agent)}&upTo=${n}&count=1`).value?.[0];
  const [shows, setShows] = useState<keyof typeof SHOWS>("body");
  const [saved, setSaved] = useState<string | undefined>(undefined);
  const step = (by: number) => n + by >= 1 && n + by <= total && onStep(n + by);
  useKeys([
    { keys: "p", says: "the request before", run: () => step(-1) },
    { keys: "n", says: "the next request", run: () => step(1) },
  ]);
  const save = async () => {
    const name = `request-${agent}-r${n}.json`.replaceAll(/[^\p{L}\p{N}.-]/gu, "_");
    try {
      const bytes = await client.bytes(`${path}/body`);
      setSaved(`${saveAs(bytes, name)}: ${counted(bytes.size, "byte")}`);
    } catch (error) {
      setSaved(error instanceof Error ? error.message : String(error));
    }
  };
  const isThis = value !== undefined && of === path;
  return (
    <>
      <header class="detail-head">
        <h2 id={REQUEST_TITLE} tabIndex={-1}>
          <span class="others">{agent}</span> r{n}
        </h2>
        <button type="button" aria-label="The request before" disabled={n <= 1} onClick={() => step(-1)}>
          ‹
        </button>
        <button type="button" aria-label="The next request" disabled={n >= total} onClick={() => step(1)}>
          ›
        </button>
        {isThis && <span class="quiet-ink">{byteCount(value.bytes)}</span>}
        <span class="grow" />
        {row && row.n === n && (
          <button type="button" onClick={() => onGo(row.seq)}>
            Go to its reply
          </button>
        )}
        <button type="button" onClick={save} title="The body as it was sent, byte for byte">
          Save exact bytes
        </button>
      </header>
      {saved !== undefined && (
        <p role="status" class="quiet-ink">
          {saved}
        </p>
      )}
      {problem !== undefined && <Problem says={problem} again={again} />}
      {!isThis ? (
        problem === undefined && <Hint>…</Hint>
      ) : (
        <>
          <p class={value.doubt === undefined ? "good-ink" : "warn-ink"}>
            {value.doubt ?? `Exactly what was sent, made again from the ledger: ${counted(value.bytes, "byte")}.`}
          </p>
          <ChoiceRow label="What is shown" value={shows} of={SHOWS} onChoose={setShows} />
          {shows === "body" ? <SectionView key={path} section={value.body} /> : <Differs key={path} view={value} />}
        </>
      )}
    </>
  );
}

function Differs({ view: { differs, diff, n } }: { view: RequestView }) {
  const lines = useMemo(() => patchLines(diff?.text ?? ""), [diff]);
  if (n === 1) return <Hint>It is the first: there is none before it.</Hint>;
  return (
    <>
      <ul class="differs">
        {differs.map((line) => (
          <li key={line} class="others">
            {line}
          </li>
        ))}
      </ul>
      {diff ? (
        <>
          <DiffSize lines={lines} />
          <DiffTable lines={lines} label={`r${n - 1} to r${n}`} />
          {diff.bytes !== undefined && <Hint>Cut here: the diff is {byteCount(diff.bytes)} long.</Hint>}
        </>
      ) : (
        <Hint>They are too long to be compared line by line.</Hint>
      )}
    </>
  );
}
