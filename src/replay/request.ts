// System prompt and tools of a replay: what a mechanism says by the ledger is computed, what it had from outside is as it was recorded.
import * as z from "zod";
import { isRecord } from "../ledger/guards.ts";
import type { StoredEvent } from "../ledger/store.ts";
import { isNamed } from "../loop/outside.ts";
import type { Effect, Mechanism, Tool, Turn } from "../loop/seams.ts";
import type { ToolSpec } from "../models/model.ts";
import { ahead, foundOf, intentOf, type Standing } from "./outcomes.ts";
import { isFact } from "./recording.ts";

export interface RequestParts {
  blocks: readonly string[];
  specs: readonly ToolSpec[];
}

/** What requests carried at this point: as it is about to be recorded, or as it was last. */
export function partsAhead(standing: Standing, last: RequestParts): RequestParts {
  for (const event of ahead(standing)) {
    if (isFact(event, "request.changed")) return withChange(last, event);
    if (event.type === "reply.received" || event.type === "turn.ended") break;
  }
  return last;
}

export function withChange(parts: RequestParts, event: StoredEvent): RequestParts {
  if (!isFact(event, "request.changed")) return parts;
  const { system, tools } = event.data;
  return { blocks: system?.blocks ?? parts.blocks, specs: tools ? specsIn(event, tools.specs) : parts.specs };
}

const parsed = new WeakMap<StoredEvent, ToolSpec[]>();

/** The same list for the same event: what is the same is not compared again. */
function specsIn(event: StoredEvent, json: string): ToolSpec[] {
  let specs = parsed.get(event);
  if (!specs) {
    const list: unknown = JSON.parse(json);
    specs = Array.isArray(list) ? list.filter(isSpec) : [];
    parsed.set(event, specs);
  }
  return specs;
}

const isSpec = (value: unknown): value is ToolSpec =>
  isRecord(value) && typeof value.name === "string" && typeof value.description === "string" && isRecord(value.input);

export interface SystemPart {
  mechanism: string;
  /** Undefined: it comes from outside. */
  text: string | undefined;
}

/**
 * The blocks of the system prompt: what is computed, and between it what was recorded. Contract: exactly `recorded` where all that is
 * computed stands in it, in order; `by` names the mechanism of the first block that does not.
 */
export function systemOf(parts: readonly SystemPart[], recorded: readonly string[]): { blocks: string[]; by?: string } {
  const computed = parts.filter(({ text }) => text !== undefined && text !== "");
  let from = 0;
  let missing: SystemPart | undefined;
  const found = computed.map((part) => {
    const at = recorded.indexOf(part.text ?? "", from);
    if (at < 0) missing ??= part;
    else from = at + 1;
    return at;
  });
  const outside = parts.filter(({ text }) => text === undefined).length;
  if (!missing && recorded.length - computed.length <= outside) return { blocks: [...recorded] };
  // What is computed otherwise takes the place of the first recorded block that nothing accounts for.
  const free = recorded.map((_, i) => i).filter((i) => !found.includes(i));
  const blocks = [...recorded];
  for (const [i, part] of computed.entries()) {
    if ((found[i] ?? -1) >= 0) continue;
    const place = free.shift() ?? blocks.length;
    blocks[place] = part.text ?? "";
  }
  return { blocks, by: missing?.mechanism ?? parts[0]?.mechanism ?? "loop" };
}

/** The same tool, with its effect as it was recorded. */
const played = new WeakMap<Tool, WeakMap<Standing, Tool>>();

function toPlay(tool: Tool, standing: Standing): Tool {
  const known = played.get(tool)?.get(standing);
  if (known) return known;
  const { intend, reconcile } = tool;
  const made: Tool = {
    ...tool,
    execute: async () => ({ content: "", isError: true }), // what came of it is taken before anything is run
    ...(intend && { intend: async ({ call }) => intentOf(standing, call.id) }),
    ...(reconcile && { reconcile: async ({ call }) => foundOf(standing, call.id) }),
  };
  const all = played.get(tool) ?? new WeakMap<Standing, Tool>();
  played.set(tool, all);
  all.set(standing, made);
  return made;
}

export interface ToolMaker {
  toolsOf(mechanism: Mechanism, turn: Turn): Tool[];
}

/** Which tools a mechanism offers here. */
export function createToolMaker(
  standing: Standing,
  { parts, last }: { parts: () => RequestParts; last: () => RequestParts },
  isHouses: (name: string, turn: Turn) => boolean,
): ToolMaker {
  const foreign = new Map<string, { spec: ToolSpec; tool: Tool }>();
  const fromSpec = (spec: ToolSpec, own: Tool | undefined): Tool => {
    const known = foreign.get(spec.name);
    if (known && known.spec === spec) return known.tool;
    const { name, description, input } = spec;
    const base: Tool = own ?? {
      ...{ name, description, schema: () => z.unknown(), effect: effectOf(standing, name) },
      execute: async () => ({ content: "", isError: true }),
      intend: async () => undefined,
      reconcile: async () => ({ kind: "unknown" }),
    };
    const tool = toPlay({ ...base, description, json: input }, standing);
    foreign.set(name, { spec, tool });
    return tool;
  };
  return {
    toolsOf(mechanism, turn) {
      const own = typeof mechanism.tools === "function" ? mechanism.tools(turn) : (mechanism.tools ?? []);
      const outside = mechanism.outside?.tools;
      if (!outside) return own.map((tool) => toPlay(tool, standing));
      // Whoever takes all that is left takes nothing that a mechanism is about to offer: only what was there before, or from the beginning.
      const before = last().specs;
      const isLeft = (name: string) =>
        !isHouses(name, turn) && (before.length === 0 || before.some((spec) => spec.name === name));
      const specs = parts().specs.filter(
        ({ name }) => isNamed(outside, name) && (!outside.includes("*") || isLeft(name)),
      );
      return specs.map((spec) =>
        fromSpec(
          spec,
          own.find(({ name }) => name === spec.name),
        ),
      );
    },
  };
}

/** As it was recorded with the first call of that name. */
function effectOf({ recording, agent }: Standing, name: string): Effect {
  for (const event of recording.following(agent, 0))
    if (isFact(event, "tool.started") && event.data.name === name) return event.data.effect;
  return "external";
}
