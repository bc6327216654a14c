// Files that changed between two checkpoints, with their diffs; and edits that no checkpoint holds yet.
import { useMemo, useState } from "preact/hooks";
import type { CheckpointRow, FilesChanged } from "../../../context-api.ts";
import { contextPath } from "../../client.ts";
import { Problem } from "../../components/problem.tsx";
import { counted, moment } from "../../format.ts";
import { useNow } from "../../parts.tsx";
import { VirtualList } from "../../virtual-list.tsx";
import type { TabProps } from "../tab.ts";
import { type ComparedFiles, takeCompared } from "./compared-files.ts";
import { patchLines } from "./diff-lines.ts";
import { ChoiceRow, DiffSize, DiffTable, Hint, ListAndDetail } from "./pieces.tsx";
import { useFresh } from "./use-fresh.ts";

const ROW_HEIGHT = 30;
const SIGNS = { added: "A", deleted: "D", changed: "M" } as const;
const SHOWS = { moment: "As of then", between: "Between checkpoints" } as const;
/** Of a list to choose from: the newest, and the first. */
const MOST_CHOICES = 200;

export function FilesTab(props: TabProps) {
  const { project, context, seq, live, goTo } = props;
  const base = contextPath({ project, context });
  const change = Math.max(live.last.checkpoint ?? 0, live.last.result ?? 0);
  const { value: all } = useFresh<CheckpointRow[]>(`${base}/checkpoints`, live.last.checkpoint ?? 0);
  const [chosen, setChosen] = useState(() => takeCompared({ project, context }));
  const [shows, setShows] = useState<keyof typeof SHOWS>(chosen ? "between" : "moment");
  const withFiles = useMemo(() => (all ?? []).filter(({ files }) => files !== undefined), [all]);
  const first = withFiles[0]?.seq;
  const compared = chosen ?? (first === undefined ? undefined : { from: first });
  const isThen = seq !== undefined && shows === "moment";
  const asked = isThen
    ? `${base}/files?at=${seq}`
    : compared && `${base}/files?from=${compared.from}${compared.to === undefined ? "" : `&to=${compared.to}`}`;
  const { value, problem, again, isLoading } = useFresh<FilesChanged>(asked, change);
  return (
    <div class="view">
      <div class="view-bar">
        {seq !== undefined && <ChoiceRow label="Which files" value={shows} of={SHOWS} onChoose={setShows} />}
        {isThen ? (
          <span class="as-of">
            {value?.to
              ? `Files as of ${value.to.name} (event ${value.to.seq}), the last checkpoint before`
              : "Files before"}{" "}
            event {seq.toLocaleString("en-US")}; edits recorded since are listed
          </span>
        ) : (
          compared && <Between checkpoints={withFiles} compared={compared} onChoose={setChosen} />
        )}
        {value && <span class="quiet-ink">{counted(value.total, "file")}</span>}
        {problem !== undefined && <Problem says={problem} again={again} />}
      </div>
      {all && first === undefined && !isThen ? (
        <Hint>No checkpoint of this context holds files.</Hint>
      ) : value ? (
        <Changed key={`${value.from.seq} ${value.to?.seq}`} changed={value} onGo={goTo} />
      ) : (
        <Hint>{isLoading ? "…" : ""}</Hint>
      )}
    </div>
  );
}

interface BetweenProps {
  checkpoints: readonly CheckpointRow[];
  compared: ComparedFiles;
  onChoose(compared: ComparedFiles): void;
}

function Between({ checkpoints, compared: { from, to }, onChoose }: BetweenProps) {
  const now = useNow();
  const listed = checkpoints.filter(
    ({ seq }, i) => i === 0 || i >= checkpoints.length - MOST_CHOICES || seq === from || seq === to,
  );
  const options = listed.toReversed().map(({ seq, name, at, current }) => (
    <option key={seq} value={seq}>
      {`${name} · ${moment(at, now)}${current ? "" : " · left"}`}
    </option>
  ));
  return (
    <>
      <label class="field">
        From{" "}
        <select
          value={from}
          onChange={(event) => onChoose({ from: Number(event.currentTarget.value), ...(to !== undefined && { to }) })}
        >
          {options}
        </select>
      </label>
      <label class="field">
        to{" "}
        <select
          value={to ?? ""}
          onChange={({ currentTarget: { value } }) => onChoose({ from, ...(value !== "" && { to: Number(value) }) })}
        >
          <option value="">now</option>
          {options}
        </select>
      </label>
    </>
  );
}

type ChangedFile = FilesChanged["files"][number];

function Changed({ changed, onGo }: { changed: FilesChanged; onGo(seq: number): void }) {
  const { files, total, problem } = changed;
  const [path, setPath] = useState(files[0]?.path);
  const place = files.findIndex((file) => file.path === path);
  const file = files[place];
  const list = (
    <>
      {problem !== undefined && <Hint>{problem}</Hint>}
      <div class="fills">
        <VirtualList
          label="Changed files"
          total={files.length}
          rowHeight={ROW_HEIGHT}
          fetchWindow={(from, count) => files.slice(from, from + count)}
          version={files.map(({ path: name, diff }) => `${name}${diff?.length}`).join(" ")}
          keyOf={(one) => one.path}
          renderRow={(one) => <FileLine file={one} />}
          selected={place < 0 ? undefined : place}
          onSelect={(_, one) => one && setPath(one.path)}
          isMain
        >
          {problem === undefined && <Hint>No file differs.</Hint>}
        </VirtualList>
      </div>
      {total > files.length && <Hint>{counted(total - files.length, "more file")} changed and are not listed.</Hint>}
      <Edits changed={changed} onGo={onGo} />
    </>
  );
  return (
    <ListAndDetail
      label="One file"
      list={list}
      detail={file ? <FileDiff key={file.path} file={file} /> : <Hint>Choose a file to see what changed in it.</Hint>}
    />
  );
}

const FileLine = ({ file: { path, status } }: { file: ChangedFile }) => (
  <div class="file-line">
    <span class={`file-status is-${status}`} title={status}>
      <span aria-hidden="true">{SIGNS[status]}</span>
      <span class="unseen">{status}</span>
    </span>
    <span class="others code path-cut">
      <bdi>{path}</bdi>
    </span>
  </div>
);

function FileDiff({ file: { path, status, diff, cut } }: { file: ChangedFile }) {
  const lines = useMemo(() => patchLines(diff ?? ""), [diff]);
  return (
    <>
      <header class="detail-head">
        <h2 class="others code">{path}</h2>
        <span class="quiet-ink">{status}</span> {diff !== undefined && <DiffSize lines={lines} />}
      </header>
      {diff === undefined ? <Hint>Its diff is not shown.</Hint> : <DiffTable lines={lines} label={path} />}
      {cut && <Hint>Cut here: the diff is longer.</Hint>}
    </>
  );
}

const EDITS_SHOWN = 50;

/** Up to a checkpoint they came behind what is shown; up to now they are part of it. */
function Edits({ changed: { edits, from, to }, onGo }: { changed: FilesChanged; onGo(seq: number): void }) {
  if (edits.length === 0) return null;
  return (
    <section class="edits" aria-label="Recorded edits">
      <h2 class="others">
        {counted(edits.length, "edit")} recorded since {to ? `${to.name}, not in these files` : from.name}
        {edits.length > EDITS_SHOWN && `; the last ${EDITS_SHOWN}`}
      </h2>
      <ul>
        {edits.slice(-EDITS_SHOWN).map(({ seq, path, agent, tool }) => (
          <li key={seq}>
            <button type="button" class="quiet small" onClick={() => onGo(seq)}>
              event {seq}
            </button>{" "}
            <code>{path}</code> <span class="quiet-ink others">{`${tool} by ${agent}`}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
