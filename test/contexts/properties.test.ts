// Whatever two processes do in whatever order, a context is what a plain map with copies would be.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context, Contexts, Json } from "../../src/contexts/index.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { big, openWorld, type World } from "./world.ts";

let world: World;
let doors: Contexts[];
beforeAll(async () => {
  world = await openWorld();
  doors = [world.contexts, await world.again()];
});
afterAll(() => world.dispose());

type Data = Map<string, Json>;
interface Model {
  data: Data;
  saved: Map<string, Data>;
}

const copy = (data: Data): Data => new Map([...data].map(([key, value]) => [key, structuredClone(value)]));

type Op =
  | { op: "share" | "append"; key: string; value: Json }
  | { op: "remove"; key: string }
  | { op: "checkpoint" | "restore" | "fork"; name: string }
  | { op: "undo" };

/** The model: false when it must be refused. */
function apply(model: Model, op: Op): boolean {
  const { data, saved } = model;
  switch (op.op) {
    case "share":
      data.set(op.key, op.value);
      return true;
    case "append": {
      const before = data.get(op.key) ?? [];
      if (!Array.isArray(before)) return false;
      data.set(op.key, [...before, op.value]);
      return true;
    }
    case "remove":
      return data.delete(op.key);
    case "checkpoint":
      saved.set(op.name, copy(data));
      return true;
    case "restore": {
      const then = saved.get(op.name);
      if (!then) return false;
      saved.set(`before restoring ${op.name}`, copy(data));
      model.data = copy(then);
      return true;
    }
    default:
      return true;
  }
}

async function act(context: Context, op: Op): Promise<boolean> {
  try {
    if (op.op === "share") await context.share(op.key, op.value);
    else if (op.op === "append") await context.append(op.key, op.value);
    else if (op.op === "remove") await context.remove(op.key);
    else if (op.op === "checkpoint") await context.checkpoint(op.name);
    else if (op.op === "restore") await context.restore(op.name);
    return true;
  } catch (error) {
    if (!isHoldfastError(error) || !["invalid", "not_found"].includes(error.code)) throw error;
    return false;
  }
}

async function seen(context: Context): Promise<Record<string, Json>> {
  const all: Record<string, Json> = {};
  for (const { key } of await context.list()) all[key] = (await context.read(key))!;
  return all;
}

const key = fc.constantFrom("a", "b", "list");
const name = fc.constantFrom("one", "two");
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 9 }) },
  { weight: 2, arbitrary: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(big(3000, "ab"), big(3000, "cd")) },
);
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ op: fc.constant("share" as const), key, value }),
  fc.record({ op: fc.constant("append" as const), key, value }),
  fc.record({ op: fc.constant("remove" as const), key }),
  fc.record({ op: fc.constant("checkpoint" as const), name }),
  fc.record({ op: fc.constant("restore" as const), name }),
  fc.record({ op: fc.constant("fork" as const), name }),
);
const step = fc.record({ door: fc.constantFrom(0, 1), which: fc.nat({ max: 3 }), op });
const RUNS = process.env.HOLDFAST_LONG ? 500 : 30;

describe("any interleaving over two processes", () => {
  it("folds to what a plain model holds, on every timeline", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const first = await doors[0]!.create({ task: "any" });
        const lines: { id: string; model: Model }[] = [{ id: first.id, model: { data: new Map(), saved: new Map() } }];
        for (const { door, which, op } of steps) {
          const { id, model } = lines[which % lines.length]!;
          const context = await doors[door]!.get(id);
          if (op.op !== "fork") {
            expect([op, await act(context, op)]).toEqual([op, apply(model, op)]);
            continue;
          }
          const then = model.saved.get(op.name);
          if (!then || lines.length > 3) continue;
          const fork = await context.fork(op.name);
          // What was saved later than the checkpoint is not in the fork.
          const positions = new Map((await fork.checkpoints()).map((one) => [one.name, one.seq]));
          const saved = new Map<string, Data>();
          for (const [name, data] of model.saved) if (positions.has(name)) saved.set(name, copy(data));
          const same = await sameNames(context, fork);
          for (const name of saved.keys()) if (!same.has(name)) saved.delete(name);
          lines.push({ id: fork.id, model: { data: copy(then), saved } });
        }
        for (const { id, model } of lines) {
          const expected = Object.fromEntries(model.data);
          for (const contexts of doors) expect(await seen(await contexts.get(id))).toEqual(expected);
        }
      }),
      { numRuns: RUNS },
    );
  }, 120_000);

  it("also when they act at the same time: the order of the ledger is the order of the model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 2, maxLength: 6 }), { maxLength: 5 }), async (rounds) => {
        const { id } = await doors[0]!.create({ task: "any" });
        for (const round of rounds) {
          await Promise.all(round.map(async ({ door, op }) => act(await doors[door]!.get(id), op)));
        }
        const model: Model = { data: new Map(), saved: new Map() };
        const positions = new Map<number, string>();
        for await (const event of doors[0]!.store.read(id)) replay(model, event, positions);
        for (const contexts of doors)
          expect(await seen(await contexts.get(id))).toEqual(Object.fromEntries(model.data));
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});

/** Names whose newest checkpoint is the same in both. */
async function sameNames(parent: Context, fork: Context): Promise<Set<string>> {
  const newest = async (context: Context) => new Map((await context.checkpoints()).map((one) => [one.name, one.seq]));
  const [a, b] = [await newest(parent), await newest(fork)];
  return new Set([...b].filter(([name, seq]) => a.get(name) === seq).map(([name]) => name));
}

const LONG = new Map([big(3000, "ab"), big(3000, "cd")].map((text) => [JSON.stringify(text).slice(0, 80), text]));

// biome-ignore lint/suspicious/noExplicitAny: the data of every type
function replay(model: Model, { type, seq, data }: StoredEvent & { data: any }, positions: Map<number, string>): void {
  const value = data && "value" in data ? data.value : LONG.get(data?.preview);
  if (type === "data.shared") apply(model, { op: "share", key: data.key, value });
  if (type === "data.appended") expect(apply(model, { op: "append", key: data.key, value })).toEqual(true);
  if (type === "data.removed") expect(apply(model, { op: "remove", key: data.key })).toEqual(true);
  if (type === "context.checkpointed") model.saved.set(String(seq), copy(model.data));
  if (type === "context.restored") model.data = copy(model.saved.get(String(data.seq))!);
  positions.set(seq, type);
}
