// What a context shows in each column of the list, and as two lines where there is no room for columns.
import type { ContextRow } from "../../api.ts";
import { Ago, Cost, Tokens, Unknown } from "../components/figures.tsx";
import { Status } from "../components/status.tsx";
import { ago, byteCount, counted, moment } from "../format.ts";
import { useNow } from "../parts.tsx";
import { addressOf } from "../router.ts";
import type { Column } from "./columns.ts";
import { type Sort, ttlEndOf } from "./list-order.ts";

interface CellProps {
  row: ContextRow;
  projectName: string;
}

export function ContextCells({ columns, ...cell }: CellProps & { columns: readonly Column[] }) {
  return (
    <div class="context-cells" role="presentation">
      {columns.map(({ sort, isNumber }) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus and names the active row
        // biome-ignore lint/a11y/useSemanticElements: rows of a list that is not whole in the document are no table
        <div key={sort} role="gridcell" class={isNumber ? `number cell-${sort}` : `cell-${sort}`}>
          <Cell sort={sort} {...cell} />
        </div>
      ))}
    </div>
  );
}

function Cell({ sort, row, projectName }: CellProps & { sort: Sort }) {
  switch (sort) {
    case "status":
      return <Status status={row.status} />;
    case "title":
      return <Title row={row} />;
    case "project":
      return <ProjectLink id={row.project} name={projectName} />;
    case "updated":
      return <Ago at={row.updatedAt} />;
    case "events":
      return <Count n={row.events} />;
    case "data":
      return <DataSize bytes={row.dataBytes} />;
    case "rounds":
      return <Count n={row.rounds} />;
    case "tokens":
      return <Tokens counts={row.tokens} />;
    case "cost":
      return <Cost usd={row.cost?.usd} unpriced={row.cost?.unpriced} />;
    case "ttl":
      return <TtlLeft row={row} />;
    case "host":
      return <Host row={row} />;
    case "backup":
      return <Backup row={row} />;
  }
}

function Count({ n }: { n: number | undefined }) {
  return n === undefined ? <Unknown /> : <span>{n.toLocaleString("en-US")}</span>;
}

function DataSize({ bytes }: { bytes: number | undefined }) {
  if (bytes === undefined) return <Unknown />;
  return bytes === 0 ? <span class="quiet-ink">0</span> : <span>{byteCount(bytes)}</span>;
}

function Title({ row }: { row: ContextRow }) {
  const { why, forkOf, context } = row;
  return (
    <>
      <ContextLink row={row} />
      <span class={`others second-line${why === undefined ? "" : " why"}`}>
        {why ?? (forkOf ? `${context}, a fork of ${forkOf.context} at event ${forkOf.seq}` : context)}
      </span>
    </>
  );
}

function ContextLink({ row }: { row: ContextRow }) {
  const { project, context, title, folder } = row;
  const address = addressOf({ kind: "context", project, context, view: "transcript" });
  return (
    <a class="others context-title" href={address} tabIndex={-1} title={`${title}\n${context}\n${folder}`}>
      {title || context}
    </a>
  );
}

function ProjectLink({ id, name }: { id: string; name: string }) {
  return (
    <a
      class="others"
      href={addressOf({ kind: "project", project: id })}
      tabIndex={-1}
      onClick={(e) => e.stopPropagation()}
    >
      {name}
    </a>
  );
}

function TtlLeft({ row }: { row: ContextRow }) {
  const now = useNow();
  const end = ttlEndOf(row);
  if (end === undefined) return null;
  return <span title={`may be removed ${moment(end, now)}`}>{end > now ? ago(end - now) : "over"}</span>;
}

function Host({ row: { host } }: { row: ContextRow }) {
  if (!host) return null;
  const name = `${host.here ? "here" : host.machine}:${host.pid}`;
  const gone = host.alive ? "" : " gone";
  return (
    <span class={host.alive ? "others" : "others gone"} title={`process ${host.pid} on ${host.machine}${gone}`}>
      {name}
      {gone}
    </span>
  );
}

function Backup({ row: { backup } }: { row: ContextRow }) {
  const now = useNow();
  if (!backup) return null;
  const { lag, at, place } = backup;
  const title = `${lag === 0 ? "all of it is" : `${counted(lag, "event")} not yet`} in ${place}, ${ago(now - at)} ago`;
  return <span title={title}>{lag === 0 ? "✓ all" : `−${lag.toLocaleString("en-US")}`}</span>;
}

export function ContextLines({ row, projectName }: CellProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus and names the active row
    // biome-ignore lint/a11y/useSemanticElements: rows of a list that is not whole in the document are no table
    <div class="context-lines" role="gridcell">
      <div class="first">
        <Status status={row.status} />
        <ContextLink row={row} />
        <Ago at={row.updatedAt} />
      </div>
      <div class="second">
        <span class={`others second-line${row.why === undefined ? "" : " why"}`}>{row.why ?? projectName}</span>
        <span class="quiet-ink">
          {counted(row.events, "event")}
          {row.tokens && (
            <>
              {" · "}
              <Tokens counts={row.tokens} /> · <Cost usd={row.cost?.usd} unpriced={row.cost?.unpriced} />
            </>
          )}
        </span>
      </div>
    </div>
  );
}
