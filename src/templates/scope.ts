// What a path means: names given by loops and <let>, then the values; and the text of an expression.
import { isRecord } from "../ledger/guards.ts";
import type { Condition } from "./control.ts";
import { type Expression, type Filter, type Path, pathName } from "./expression.ts";
import { isList, type JsonFault, kindOf, ownValue, stableJson, stepInto } from "./json.ts";
import { didYouMean, problem, quotedSource, type Source } from "./source.ts";

export interface TemplateScope {
  names: Map<string, unknown>;
  above?: TemplateScope;
  values: object;
}

export const inner = (above: TemplateScope): TemplateScope => ({ names: new Map(), above, values: above.values });

type Fallback = Extract<Filter, { text: string }>;
type Found = { value: unknown } | { missing: number; holder: unknown };

function find(path: Path, scope: TemplateScope): Found {
  const root = String(path.keys[0]);
  let value: unknown;
  let at: TemplateScope | undefined = scope;
  while (at && !at.names.has(root)) at = at.above;
  value = at ? at.names.get(root) : ownValue(scope.values, root);
  if (value === undefined) return { missing: 0, holder: scope };
  for (let i = 1; i < path.keys.length; i++) {
    const key = path.keys[i]!;
    const holder = value;
    value = stepInto(holder, key);
    if (value === undefined) return { missing: i, holder };
  }
  return { value };
}

/** The value at a path, undefined when there is none. */
function look(path: Path, scope: TemplateScope): unknown {
  const found = find(path, scope);
  return "value" in found ? found.value : undefined;
}

/** The value at a path that has to be there. */
export function need(source: Source, path: Path, scope: TemplateScope, at = path.at): unknown {
  const found = find(path, scope);
  if ("value" in found) return found.value;
  const key = path.keys[found.missing]!;
  const above = path.keys.slice(0, found.missing);
  const holds = isList(found.holder) ? ` with ${found.holder.length} entries` : "";
  const guess = typeof key === "string" ? didYouMean(key, namesOf(found.holder, scope, found.missing)) : "";
  const why =
    found.missing === 0 || (isRecord(found.holder) && typeof key === "string")
      ? guess
      : ` (${pathName(above)} is ${kindOf(found.holder)}${holds})`;
  const what = `there is no variable ${path.name}${why}`;
  const advice = `Give it among the values, or a default: {{ ${path.name} | default: "…" }}.`;
  throw problem(source, at, what, advice, { detail: { variable: path.name } });
}

function* namesOf(holder: unknown, scope: TemplateScope, depth: number): Generator<string> {
  if (depth > 0) {
    if (isRecord(holder)) yield* Object.keys(holder);
    return;
  }
  for (let at: TemplateScope | undefined = scope; at; at = at.above) yield* at.names.keys();
  yield* Object.keys(scope.values);
}

/** A missing value, null, false, 0, "" and what is empty do not hold. */
export function holds(condition: Condition, scope: TemplateScope): boolean {
  const value = look(condition.path, scope);
  if (condition.equals !== undefined) {
    return ["string", "number", "boolean"].includes(typeof value) && String(value) === condition.equals;
  }
  const empty = isList(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
  return (Boolean(value) && !empty) !== condition.not;
}

/** The value of an expression, before it becomes text. */
export function templateValue(source: Source, expression: Expression, scope: TemplateScope, limit: number): unknown {
  const { path, filters } = expression;
  let value = look(path, scope);
  const fallback = filters.find((filter): filter is Fallback => filter.name === "default");
  if ((value === undefined || value === null) && fallback) return fallback.text;
  if (value === undefined) value = need(source, path, scope, expression.at);
  for (const filter of filters) {
    if (filter.name === "json") value = stableJson(value, limit, faultAt(source, expression));
    if (filter.name !== "join") continue;
    if (!isList(value)) {
      throw problem(
        source,
        expression.at,
        `${path.name} is ${kindOf(value)}, and join takes a list`,
        "Leave the filter out.",
      );
    }
    const texts: string[] = [];
    let left = limit;
    for (let i = 0; i < value.length; i++) {
      const text = expressionText(source, expression, ownValue(value, i), left);
      left -= text.length + filter.text.length;
      if (left < -filter.text.length) faultAt(source, expression)("limit", "its text is too long");
      texts.push(text);
    }
    value = texts.join(filter.text);
  }
  return value;
}

/** Text as it is, everything else as JSON. */
export function expressionText(source: Source, expression: Expression, value: unknown, limit: number): string {
  return typeof value === "string" ? value : stableJson(value, limit, faultAt(source, expression));
}

function faultAt(source: Source, { at, path }: Expression): JsonFault {
  return (code, what) => {
    throw problem(source, at, `${path.name} cannot be written: ${what}`, "Give smaller, plain JSON.", { code });
  };
}

export function checkedValues(source: Source, values: unknown): object {
  if (isRecord(values)) return values;
  throw problem(
    source,
    0,
    `the values are ${kindOf(values)}`,
    `Give an object, such as ${quotedSource("topic")} and its text.`,
  );
}
