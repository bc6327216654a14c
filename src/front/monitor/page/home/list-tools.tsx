// What narrows the list of contexts: statuses, a project, words.
import type { ProjectRow, RowStatus } from "../../api.ts";
import { lookOf } from "../components/status.tsx";
import { headingOf } from "./columns.ts";
import { firstDirection, type ListQuery, type Sort, STATUSES } from "./list-order.ts";

interface ToolsProps {
  query: ListQuery;
  /** How many there are of each, before the statuses are looked at. */
  counts: ReadonlyMap<RowStatus, number>;
  projects: readonly ProjectRow[];
  /** Without headings the order is chosen here. */
  sorts: readonly Sort[] | undefined;
  onChange(query: ListQuery): void;
}

export function ListTools({ query, counts, projects, sorts, onChange }: ToolsProps) {
  return (
    <div class="list-tools">
      <input
        type="search"
        id="find"
        aria-label="Find by title, id or folder"
        placeholder="Find by title, id, folder"
        value={query.words}
        onInput={(event) => onChange({ ...query, words: event.currentTarget.value })}
      />
      {projects.length > 1 && (
        <select
          aria-label="Project"
          value={query.project ?? ""}
          onChange={(event) => onChange({ ...query, project: event.currentTarget.value || undefined })}
        >
          <option value="">all projects</option>
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {sorts && (
        <select
          aria-label="Sort by"
          value={query.sort}
          onChange={(event) => {
            const sort = sorts.find((one) => one === event.currentTarget.value);
            if (sort) onChange({ ...query, sort, direction: firstDirection(sort) });
          }}
        >
          {sorts.map((sort) => (
            <option key={sort} value={sort}>
              by {headingOf(sort).toLowerCase()}
            </option>
          ))}
        </select>
      )}
      <Chips query={query} counts={counts} onChange={onChange} />
    </div>
  );
}

function Chips({ query, counts, onChange }: Pick<ToolsProps, "query" | "counts" | "onChange">) {
  const shown = STATUSES.filter((status) => counts.has(status) || query.statuses.includes(status));
  const toggle = (status: RowStatus) => {
    const others = query.statuses.filter((one) => one !== status);
    onChange({ ...query, statuses: others.length < query.statuses.length ? others : [...others, status] });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a frame of its own
    <div class="chips" role="group" aria-label="Status">
      {shown.map((status) => {
        const { sign, says, tone } = lookOf(status);
        return (
          <button
            key={status}
            type="button"
            class={`chip small tone-${tone}`}
            aria-pressed={query.statuses.includes(status)}
            onClick={() => toggle(status)}
          >
            <span class="sign" aria-hidden="true">
              {sign}
            </span>
            {says} <span class="count">{(counts.get(status) ?? 0).toLocaleString("en-US")}</span>
          </button>
        );
      })}
    </div>
  );
}
