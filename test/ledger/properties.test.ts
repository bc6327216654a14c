// What holds for any events and any interleaving.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { isHoldfastError } from "../../src/ledger/error.ts";
import { createFold } from "../../src/ledger/fold.ts";
import { mayRefer } from "../../src/ledger/references.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import type { EventInput, Store, StoredEvent } from "../../src/ledger/store.ts";
import { all } from "../../src/testing/store-conformance-steps.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-properties-"));
const file = join(folder, "p.db");
let stores: [Store, Store];
let ledgers = 0;

beforeEach(async () => {
  stores = [await openSqliteStore(file), await openSqliteStore(file)];
});
afterEach(async () => {
  for (const store of stores) await store.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

const anyText = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll("\0", ""));
const anyEvent: fc.Arbitrary<EventInput> = fc.record({
  type: anyText.map((text) => text || "t"),
  v: fc.integer({ min: 0, max: 9 }),
  actor: anyText,
  touches: fc.uniqueArray(fc.constantFrom("a", "b", "c", "ü/1")),
  data: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))), // JSON has no -0
});

const fold = createFold({
  versions: {
    version: 1,
    initial: () => ({}) as Record<string, number>,
    apply: (state: Record<string, number>, event: StoredEvent) => {
      for (const entity of event.touches) state[entity] = event.seq;
      return state;
    },
  },
  seen: {
    version: 1,
    initial: () => [] as unknown[],
    apply: (state: unknown[], event: StoredEvent) => [...state, [event.type, event.actor, event.data]],
  },
});

function folded(events: StoredEvent[]) {
  return events.reduce((state, event) => fold.apply(state, event), fold.initial());
}

describe("any events", () => {
  it("fold to the same state however they are split into batches, and versions agree with the fold", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyEvent, { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 4 })),
        async (events, cuts) => {
          const whole = `whole-${++ledgers}`;
          const split = `split-${ledgers}`;
          const answered = await stores[0].append([{ ledger: whole, events }]);
          for (let at = 0, i = 0; at < events.length; i++) {
            const size = cuts[i] ?? 3;
            await stores[i % 2]!.append([{ ledger: split, events: events.slice(at, at + size) }]);
            at += size;
          }
          const state = folded(await all(stores[1], whole));
          expect(folded(answered)).toEqual(state);
          expect(folded(await all(stores[0], split))).toEqual(state);
          for (const entity of ["a", "b", "c", "ü/1"]) {
            expect(await stores[0].version(split, entity)).toEqual(
              (state.slices.versions as Record<string, number>)[entity] ?? 0,
            );
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("any interleaving of two writers", () => {
  it("loses no update: what each decided on is what was there", async () => {
    // Each step is one writer reading, or writing what it decided on its last reading.
    const step = fc.record({ who: fc.constantFrom(0, 1), act: fc.constantFrom("read", "write") });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const ledger = `race-${++ledgers}`;
        const seen = [
          { version: 0, value: 0 },
          { version: 0, value: 0 },
        ];
        let accepted = 0;
        for (const { who, act } of steps) {
          const store = stores[who]!;
          if (act === "read") {
            const last = (await all(store, ledger)).at(-1);
            seen[who] = { version: await store.version(ledger, "x"), value: last ? (last.data as number) : 0 };
            continue;
          }
          const events = [{ type: "x.raised", actor: String(who), touches: ["x"], data: seen[who]!.value + 1 }];
          try {
            await store.append([{ ledger, events, expect: { x: seen[who]!.version } }]);
            accepted++;
          } catch (error) {
            if (!isHoldfastError(error, "conflict")) throw error;
          }
        }
        const values = (await all(stores[0], ledger)).map((event) => event.data);
        expect(values).toEqual(Array.from({ length: accepted }, (_, i) => i + 1));
      }),
      { numRuns: 60 },
    );
  });
});

describe("a text", () => {
  it("may refer to a blob exactly when 64 digits of a hash stand in a row", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), maxLength: 130 });
    const other = fc.string({ unit: fc.constantFrom(...'gG"{ ü'), maxLength: 2 });
    const texts = fc.array(fc.oneof(digits, other), { maxLength: 12 }).map((parts) => parts.join(""));
    fc.assert(fc.property(texts, (text) => mayRefer(text) === /[0-9a-f]{64}/.test(text)));
  });
});
