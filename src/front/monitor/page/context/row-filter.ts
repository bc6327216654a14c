// Which rows of a context are asked for: kinds, an agent, a text, up to a moment. As a part of an address of the server.
import type { RowKind } from "../../context-api.ts";
import { ALL_KINDS } from "./kinds.ts";

export interface RowFilter {
  /** Empty: all but `other`. */
  kinds: readonly RowKind[];
  /** Rows that say little to a person are there too. */
  withOther: boolean;
  agent: string;
  text: string;
}

export const NO_FILTER: RowFilter = { kinds: [], withOther: false, agent: "", text: "" };

/** Every event is a row then, and its position its seq − 1. */
export const isPlain = ({ kinds, withOther, agent, text }: RowFilter): boolean =>
  kinds.length === 0 && withOther && agent === "" && text === "";

/** Only by kind: what comes in can be counted without asking. */
export const isByKind = ({ agent, text }: RowFilter): boolean => agent === "" && text === "";

/** Undefined: all. */
export function kindsOf({ kinds, withOther }: RowFilter): readonly RowKind[] | undefined {
  if (kinds.length > 0) return withOther ? [...kinds, "other"] : kinds;
  return withOther ? undefined : ALL_KINDS.filter((kind) => kind !== "other");
}

/** Of the same rows always the same text. */
export function filterQuery(filter: RowFilter): string {
  const { agent, text } = filter;
  const kinds = kindsOf(filter);
  const asked = new URLSearchParams();
  if (kinds) asked.set("kinds", kinds.toSorted().join(","));
  if (agent !== "") asked.set("agent", agent);
  if (text !== "") asked.set("text", text);
  return asked.size > 0 ? `&${asked}` : "";
}

/** Contract: `other` comes and goes beside the rest; of the rest only the named are shown, once one is. */
export const withKind = (filter: RowFilter, kind: RowKind): RowFilter => ({
  ...filter,
  ...(kind === "other" ? { withOther: !filter.withOther } : { kinds: withOrWithout(filter.kinds, kind) }),
});

const withOrWithout = (kinds: readonly RowKind[], kind: RowKind): RowKind[] =>
  kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind];
