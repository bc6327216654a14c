// Which rows of a context are asked for: kinds, an agent, a text, up to a moment. As a part of an address of the server.
import type { RowKind } from "../../context-api.ts";

export interface RowFilter {
  /** Empty: all. */
  kinds: readonly RowKind[];
  agent: string;
  text: string;
}

export const NO_FILTER: RowFilter = { kinds: [], agent: "", text: "" };

/** Every event is a row then, and its position its seq − 1. */
export const isPlain = ({ kinds, agent, text }: RowFilter): boolean =>
  kinds.length === 0 && agent === "" && text === "";

/** Of the same rows always the same text. */
export function filterQuery({ kinds, agent, text }: RowFilter): string {
  const asked = new URLSearchParams();
  if (kinds.length > 0) asked.set("kinds", kinds.toSorted().join(","));
  if (agent !== "") asked.set("agent", agent);
  if (text !== "") asked.set("text", text);
  return asked.size > 0 ? `&${asked}` : "";
}

export const withKind = (filter: RowFilter, kind: RowKind): RowFilter => ({
  ...filter,
  kinds: filter.kinds.includes(kind) ? filter.kinds.filter((one) => one !== kind) : [...filter.kinds, kind],
});
