// Checkpoints as a tree: the timeline of now, and the branches that restores left; what can be done from each.
import { useMemo, useState } from "preact/hooks";
import type { CheckpointRow } from "../../../context-api.ts";
import { contextPath } from "../../client.ts";
import { Problem } from "../../components/problem.tsx";
import { counted } from "../../format.ts";
import type { Known } from "../../overview.ts";
import { addressOf } from "../../router.ts";
import { VirtualList } from "../../virtual-list.tsx";
import { useWatching } from "../../watching.tsx";
import type { TabProps } from "../tab.ts";
import { type PlacedCheckpoint, placeCheckpoints } from "./checkpoint-tree.ts";
import { compareNext } from "./compared-files.ts";
import { GoBack } from "./go-back.tsx";
import { AtTime, ChoiceRow, Hint, ListAndDetail } from "./pieces.tsx";
import { useFresh } from "./use-fresh.ts";

const ROW_HEIGHT = 44;
/** Deeper branches stand where these do: a narrow window has no more room. */
const DEEPEST = 6;
const ORDERS = { newest: "Newest first", oldest: "Oldest first" } as const;

export function CheckpointsTab(props: TabProps) {
  const { project, context, seq, live } = props;
  const { known } = useWatching();
  const forks = useMemo(() => forksOf(known, context), [known, context]);
  const change = `${live.last.checkpoint} ${forks}`;
  const { value, problem, again } = useFresh<CheckpointRow[]>(
    `${contextPath({ project, context })}/checkpoints`,
    change,
  );
  const [order, setOrder] = useState<keyof typeof ORDERS>("newest");
  const [chosen, setChosen] = useState<number | undefined>(undefined);
  const placed = useMemo(() => placeCheckpoints(value ?? []), [value]);
  const rows = useMemo(() => (order === "newest" ? placed.toReversed() : placed), [placed, order]);
  // The last one up to the moment that is looked at, until another is chosen.
  const standing = placed.findLast(({ row }) => seq === undefined || row.seq <= seq)?.row.seq;
  const place = rows.findIndex(({ row }) => row.seq === (chosen ?? standing));
  const shown = rows[place];
  const branches = placed.filter(({ branchOf }) => branchOf).length;
  const list = (
    <VirtualList
      label="Checkpoints"
      total={rows.length}
      rowHeight={ROW_HEIGHT}
      fetchWindow={(from, count) => rows.slice(from, from + count)}
      version={`${order} ${rows.map(({ row, level }) => `${row.seq}.${level}${row.forks.length}`).join(" ")}`}
      keyOf={({ row }) => String(row.seq)}
      positionOf={(key) => rows.findIndex(({ row }) => String(row.seq) === key)}
      renderRow={(one) => <CheckpointLine placed={one} isMoment={one.row.seq === standing && seq !== undefined} />}
      classOf={({ row }) => (row.current ? "" : "is-left")}
      selected={place < 0 ? undefined : place}
      onSelect={(_, one) => one && setChosen(one.row.seq)}
      onOpen={(_, one) => one && props.goTo(one.row.seq)}
      reveal={place < 0 ? undefined : place}
      isMain
    >
      <Hint>{value ? "No checkpoint yet: one is made at each prompt." : "…"}</Hint>
    </VirtualList>
  );
  return (
    <div class="view">
      <div class="view-bar">
        <ChoiceRow label="Order" value={order} of={ORDERS} onChoose={setOrder} />
        <span class="quiet-ink">
          {counted(rows.length, "checkpoint")}
          {branches > 0 && `, ${counted(branches, "branch", "branches")} left by a restore`}
        </span>
        {problem !== undefined && <Problem says={problem} again={again} />}
      </div>
      <ListAndDetail
        label="One checkpoint"
        list={list}
        detail={shown ? <Detail key={shown.row.seq} {...props} placed={shown} all={value ?? []} /> : <Hint>…</Hint>}
      />
    </div>
  );
}

/** A fork is recorded in the new one alone. */
const forksOf = (known: Known | undefined, context: string): number =>
  [...(known?.contexts.values() ?? [])].filter(({ forkOf }) => forkOf?.context === context).length;

function CheckpointLine({
  placed: { row, level, branchOf },
  isMoment,
}: {
  placed: PlacedCheckpoint;
  isMoment: boolean;
}) {
  const { name, note, auto, at, files, current, forks } = row;
  return (
    <div class="checkpoint-line">
      <span class={`lane level-${Math.min(level, DEEPEST)}`} aria-hidden="true">
        {Array.from({ length: Math.min(level, DEEPEST) + 1 }, (_, i) => (
          <span key={i} class={branchOf && i === level ? "rail begins" : "rail"} />
        ))}
      </span>
      <div class="two-lines">
        <div class="row-line">
          <b class="others cut">{name}</b>
          {level > 0 && <span class="unseen">, level {level + 1}, left by a restore</span>}
          {isMoment && <span class="badge">looked at</span>}
          {!current && <span class="badge quiet-ink others">{branchOf ? `left, from ${branchOf.name}` : "left"}</span>}
          {forks.length > 0 && <span class="badge">{counted(forks.length, "fork")}</span>}
          <span class="grow" />
          <span class="quiet-ink tiny">
            {auto ? "auto" : "by hand"}
            {files !== undefined && ` · ${counted(files, "file")}`} · <AtTime at={at} />
          </span>
        </div>
        <div class="others cut quiet-ink">{note}</div>
      </div>
    </div>
  );
}

function Detail(props: TabProps & { placed: PlacedCheckpoint; all: readonly CheckpointRow[] }) {
  const { project, context, goTo, open, page, placed, all } = props;
  const { row, branchOf } = placed;
  const before = all.find(({ seq }) => seq === row.parent);
  const compare = (from: number, to?: number) => {
    compareNext({ project, context }, { from, ...(to !== undefined && { to }) });
    open({ view: "files" });
  };
  return (
    <>
      <header class="detail-head">
        <h2 class="others">{row.name}</h2>
        <span class="quiet-ink">
          event {row.seq.toLocaleString("en-US")} · <AtTime at={row.at} />
        </span>
      </header>
      {row.note !== undefined && <p class="others">{row.note}</p>}
      <p class="quiet-ink">
        {row.auto ? "Made by itself" : "Made by hand"},{" "}
        {row.files === undefined ? "holds no files" : `holds ${counted(row.files, "file")}`},{" "}
        {row.current ? "on the timeline of now" : "left: a restore went back behind it"}.
        {branchOf && ` A branch begins here, from ${branchOf.name}.`}
      </p>
      <div class="buttons">
        <button type="button" onClick={() => goTo(row.seq)}>
          Go to this moment
        </button>
        {before && before.files !== undefined && row.files !== undefined && (
          <button type="button" onClick={() => compare(before.seq, row.seq)}>
            Files since {before.name.length > 24 ? "the one before" : before.name}
          </button>
        )}
        {row.files !== undefined && (
          <button type="button" onClick={() => compare(row.seq)}>
            Files until now
          </button>
        )}
      </div>
      {row.forks.length > 0 && (
        <p>
          Forks:{" "}
          {row.forks.map((id) => (
            <a key={id} class="others" href={addressOf({ kind: "context", project, context: id, view: "transcript" })}>
              {id}{" "}
            </a>
          ))}
        </p>
      )}
      {page.readOnly === undefined && (
        <GoBack {...{ project, context }} to={row} folder={page.row.folder} onBack={() => goTo(undefined)} />
      )}
    </>
  );
}
