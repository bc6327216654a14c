// What adapters remember of the wire: each item, tool list and system prompt is serialised once, however many rounds send it again.
import type { Content, Item, Limits, ToolSpec } from "./model.ts";

/** Items never change, so their JSON is kept as long as they live. */
export function rememberItems<T>(render: (item: Item) => T): (item: Item) => T {
  const known = new WeakMap<Item, T>();
  return (item) => {
    const seen = known.get(item);
    if (seen !== undefined) return seen;
    const made = render(item);
    known.set(item, made);
    return made;
  };
}

export function rememberTools(
  render: (tool: ToolSpec) => string,
  join: (tools: string[]) => string,
): (tools: readonly ToolSpec[]) => string {
  const lists = new WeakMap<readonly ToolSpec[], string>();
  const single = new WeakMap<ToolSpec, string>();
  return (tools) => {
    let list = lists.get(tools);
    if (list === undefined) {
      // The pool may be assembled anew each round out of the same tools.
      list = join(
        tools.map((tool) => {
          let one = single.get(tool);
          if (one === undefined) {
            one = render(tool);
            single.set(tool, one);
          }
          return one;
        }),
      );
      lists.set(tools, list);
    }
    return list;
  };
}

const SYSTEMS_KEPT = 8;

/** By value, because the loop collects the system prompt anew each round. Several are kept: agents share a model. */
export function rememberSystem(render: (system: readonly string[]) => string): (system: readonly string[]) => string {
  const known: { system: readonly string[]; json: string }[] = [];
  return (system) => {
    for (const entry of known) {
      if (entry.system.length === system.length && entry.system.every((part, i) => part === system[i]))
        return entry.json;
    }
    const json = render(system);
    known.unshift({ system: [...system], json });
    if (known.length > SYSTEMS_KEPT) known.pop();
    return json;
  };
}

/** What a model that does not take this content reads instead. */
export function replaced(content: Exclude<Content, { type: "text" }>): string {
  const size = `${Math.max(1, Math.round((content.data.length * 3) / 4096))} kB`;
  const what = content.type === "image" ? `image ${content.mediaType}` : `document ${content.name}`;
  return `[${what}, ${size}: left out, this model does not take it]`;
}

export const takes = (limits: Limits, content: Content): boolean =>
  content.type === "text" || (content.type === "image" ? limits.images : limits.documents);

/** What of a model's limits a request looks otherwise by. */
export const takenBy = ({ images, documents }: Limits): Pick<Limits, "images" | "documents"> => ({ images, documents });

/** Joins several texts (and lines for what is left out) into one. */
export const plainText = (contents: readonly Content[]): string =>
  contents.map((c) => (c.type === "text" ? c.text : replaced(c))).join("\n");

/** Fields of an object to put behind others: `,"a":1`, or nothing. */
export const moreFields = (extra: Record<string, unknown> | undefined): string =>
  extra && Object.keys(extra).length > 0 ? `,${JSON.stringify(extra).slice(1, -1)}` : "";
