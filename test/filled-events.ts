// Events of every type there is, with one text wherever a text may stand: what somebody else's ledger may hold.
import { contextEvents } from "../src/contexts/events.ts";
import { mechanismsOf } from "../src/harness.ts";
import type { FactSchema } from "../src/ledger/event-schema.ts";
import type { EventDefs } from "../src/ledger/events.ts";
import { loopEvents } from "../src/loop/events.ts";

/** A property of its own, whatever its name. */
const withKey = <T>(key: string, value: T): Record<string, T> => Object.fromEntries([[key, value]]);

/** Data that fits, with the text wherever one may stand. Of an enumeration `pick` chooses. */
export function filled({ kind }: FactSchema<unknown>, text: string, pick = 0): unknown {
  switch (kind.is) {
    case "string":
      return text;
    case "number":
      return 1;
    case "boolean":
      return true;
    case "unknown":
      return { ...withKey(text, text), command: text, path: text, content: text, todos: [{ content: text }] };
    case "literal":
      return kind.value;
    case "enum":
      return kind.values[pick % kind.values.length];
    case "array":
      return kind.of.kind.is === "union"
        ? kind.of.kind.options.map((one) => filled(one, text, pick))
        : [filled(kind.of, text, pick)];
    case "record":
      return withKey(text, filled(kind.of, text, pick));
    case "object":
      return Object.fromEntries(Object.entries(kind.shape).map(([key, value]) => [key, filled(value, text, pick)]));
    case "union":
      return filled(kind.options[pick % kind.options.length]!, text, pick);
  }
}

/** Every type of event of a context. */
export function everyEvent(text: string, pick = 0): { type: string; v: number; data: unknown }[] {
  const mechanisms = mechanismsOf({ root: "/", jobsDir: "/" });
  const groups: EventDefs[] = [contextEvents, loopEvents, ...mechanisms.map((one) => one.events ?? {})];
  return groups.flatMap(Object.entries<EventDefs[string]>).map(([type, { v, schema }]) => {
    const built = schema();
    return { type, v, data: "kind" in built ? filled(built as FactSchema<unknown>, text, pick) : {} };
  });
}
