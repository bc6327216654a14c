// Shared data: what is there, and for one key each of its versions, with what changed in it.
import { useMemo, useState } from "preact/hooks";
import type { ContextKey } from "../../../api.ts";
import type { DataHistory, DataRow } from "../../../context-api.ts";
import { contextPath } from "../../client.ts";
import { Problem } from "../../components/problem.tsx";
import { SectionView } from "../../components/section-view.tsx";
import { byteCount, counted } from "../../format.ts";
import { useAnswer } from "../../parts.tsx";
import { VirtualList } from "../../virtual-list.tsx";
import type { TabProps } from "../tab.ts";
import { type DataOrder, sortedData } from "./data-order.ts";
import { comparedLines } from "./diff-lines.ts";
import { AsOf, AtTime, ChoiceRow, DiffTable, Hint, ListAndDetail } from "./pieces.tsx";
import { useFresh } from "./use-fresh.ts";

const ROW_HEIGHT = 44;

const COLUMNS: readonly [DataOrder["by"], string][] = [
  ["key", "Key"],
  ["at", "Changed"],
  ["bytes", "Size"],
  ["by", "By"],
];

export function DataTab({ project, context, seq, at, live, goTo }: TabProps) {
  const path = `${contextPath({ project, context })}/data`;
  const change = live.last.data ?? 0;
  const { value, problem, again } = useFresh<DataRow[]>(seq === undefined ? path : undefined, change);
  const [order, setOrder] = useState<DataOrder>({ by: "key", isDown: false });
  const [filter, setFilter] = useState("");
  const [key, setKey] = useState<string | undefined>(undefined);
  const given = seq === undefined ? value : at?.data;
  const rows = useMemo(() => sortedData(given ?? [], order, filter), [given, order, filter]);
  const place = rows.findIndex((row) => row.key === key);
  const sortBy = (by: DataOrder["by"]) =>
    setOrder({ by, isDown: order.by === by ? !order.isDown : by === "at" || by === "bytes" });
  const bytes = (given ?? []).reduce((sum, row) => sum + row.bytes, 0);
  const list = (
    <>
      <fieldset class="columns">
        <legend class="unseen">Order</legend>
        {COLUMNS.map(([by, says]) => (
          <button key={by} type="button" class="quiet" aria-pressed={order.by === by} onClick={() => sortBy(by)}>
            {says}
            {order.by === by && <Direction isDown={order.isDown} />}
          </button>
        ))}
      </fieldset>
      <div class="fills">
        <VirtualList
          label="Shared data"
          total={rows.length}
          rowHeight={ROW_HEIGHT}
          fetchWindow={(from, count) => rows.slice(from, from + count)}
          version={`${seq} ${change} ${filter} ${order.by} ${order.isDown} ${rows.map((row) => row.version).join(" ")}`}
          keyOf={(row) => row.key}
          renderRow={(row) => <KeyRow row={row} />}
          selected={place < 0 ? undefined : place}
          onSelect={(_, row) => row && setKey(row.key)}
          isMain
        >
          <Hint>{given === undefined ? "…" : filter === "" ? "Nothing is shared." : "No key has that."}</Hint>
        </VirtualList>
      </div>
    </>
  );
  return (
    <div class="view">
      <div class="view-bar">
        <input
          type="search"
          aria-label="Filter by key, value or author"
          placeholder="Filter"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <span class="quiet-ink">
          {counted(given?.length ?? 0, "key")}, {byteCount(bytes)}
        </span>
        <AsOf seq={seq} what="Values" />
        {problem !== undefined && <Problem says={problem} again={again} />}
      </div>
      <ListAndDetail
        label="One key"
        list={list}
        detail={
          key === undefined ? (
            <Hint>Choose a key to see its versions.</Hint>
          ) : (
            <History key={key} {...{ project, context, upTo: seq, change, onGo: goTo }} of={key} />
          )
        }
      />
    </div>
  );
}

const Direction = ({ isDown }: { isDown: boolean }) => (
  <>
    <span aria-hidden="true">{isDown ? " ↓" : " ↑"}</span>
    <span class="unseen">{isDown ? ", the largest first" : ", the smallest first"}</span>
  </>
);

function KeyRow({ row: { key, version, by, at, bytes, preview } }: { row: DataRow }) {
  return (
    <div class="two-lines">
      <div class="row-line">
        <b class="others cut">{key}</b>
        <span class="grow" />
        <span class="quiet-ink tiny">
          {byteCount(bytes)} · <span class="others">{by}</span> · <AtTime at={at} />
          <span class="wide"> · event {version}</span>
        </span>
      </div>
      <code class="cut quiet-ink">{preview}</code>
    </div>
  );
}

type HistoryProps = ContextKey & {
  of: string;
  upTo: number | undefined;
  change: number;
  onGo(seq: number): void;
};

const OPS = { set: "set", append: "added to", remove: "removed" } as const;
const SHOWS = { value: "Value", changes: "Changes" } as const;

function History({ project, context, of: key, upTo, change, onGo }: HistoryProps) {
  const path = `${contextPath({ project, context })}/data/${encodeURIComponent(key)}`;
  const { value: all, problem } = useFresh<DataHistory>(path, change);
  const [version, setVersion] = useState<number | undefined>(undefined);
  const [shows, setShows] = useState<keyof typeof SHOWS>("value");
  if (!all) return <Hint>{problem ?? "…"}</Hint>;
  const versions = all.versions.filter(({ seq }) => upTo === undefined || seq <= upTo);
  const place = version === undefined ? -1 : versions.findIndex(({ seq }) => seq === version);
  const shown = versions[place] ?? versions.at(-1);
  const before = shown && versions[versions.indexOf(shown) - 1];
  return (
    <>
      <header class="detail-head">
        <h2 class="others">{key}</h2>
        <span class="quiet-ink">{counted(versions.length, "version")}</span>
        <span class="grow" />
        {shown && (
          <button type="button" onClick={() => onGo(shown.seq)}>
            Go to this moment
          </button>
        )}
      </header>
      <label class="field">
        Version{" "}
        <select value={shown?.seq} onChange={(event) => setVersion(Number(event.currentTarget.value))}>
          {versions.toReversed().map(({ seq, by, op, bytes, at }) => (
            <option key={seq} value={seq}>
              {`event ${seq} · ${OPS[op]} by ${by} · ${byteCount(bytes)} · ${new Date(at).toLocaleString("sv-SE")}`}
            </option>
          ))}
        </select>
      </label>
      {before && <ChoiceRow label="What is shown" value={shows} of={SHOWS} onChoose={setShows} />}
      {shown && (
        <Version
          path={path}
          version={shown.seq}
          before={shows === "changes" && before ? before.seq : undefined}
          isRemoved={shown.op === "remove"}
        />
      )}
    </>
  );
}

interface VersionProps {
  path: string;
  version: number;
  /** The one to compare it with. */
  before: number | undefined;
  isRemoved: boolean;
}

function Version({ path, version, before, isRemoved }: VersionProps) {
  const asked = `${path}?seq=${version}`;
  const now = useAnswer<DataHistory>(asked);
  const past = useAnswer<DataHistory>(before === undefined ? undefined : `${path}?seq=${before}`);
  const lines = useMemo(
    () => comparedLines(past.value?.value?.text ?? "", now.value?.value?.text ?? ""),
    [past.value, now.value],
  );
  if (now.of !== asked) return <Hint>{now.problem ?? "…"}</Hint>;
  const value = now.value?.value;
  if (before === undefined)
    return value ? <SectionView section={value} /> : <Hint>{isRemoved ? "It was removed here." : "No value."}</Hint>;
  if (!past.value) return <Hint>{past.problem ?? "…"}</Hint>;
  const isCut = (past.value.value?.bytes ?? value?.bytes) !== undefined;
  return (
    <>
      {lines.length === 0 ? (
        <Hint>Nothing changed from event {before}.</Hint>
      ) : (
        <DiffTable lines={lines} label={`from event ${before} to ${version}`} />
      )}
      {isCut && <Hint>These values are long: only their beginnings are compared.</Hint>}
    </>
  );
}
