import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MissedPolicy, ScheduleState } from "../../src/mechanisms/cron/events.ts";
import { compile } from "../../src/mechanisms/cron/expression.ts";
import { decideFiring, firesAt, GRACE_MS, jitterOf, MOST_AT_ONCE } from "../../src/mechanisms/cron/firing.ts";

const at = (text: string) => Date.parse(`${text}Z`);
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 16));

const standing = (over: Partial<ScheduleState>): ScheduleState => ({
  scheduleId: "sch_1",
  prompt: "look",
  when: "every hour",
  expression: "0 * * * *",
  zone: "Europe/Berlin",
  missed: "once",
  jitterMs: 0,
  by: "agent lead",
  createdAt: at("2026-11-16T08:30"),
  next: at("2026-11-16T09:00"),
  fired: 0,
  skipped: 0,
  ...over,
});

async function decided(over: Partial<ScheduleState>, now: string) {
  const s = standing(over);
  const outcome = decideFiring(s, s.expression ? await compile(s.expression, s.zone) : undefined, at(now));
  return outcome && { say: outcome.say.map(iso), skipped: outcome.skipped, next: iso(outcome.next) };
}

const hour = (h: number) => `2026-11-16T${String(h).padStart(2, "0")}:00`;

describe("a due time", () => {
  it.each([
    ["not before it", "once", "2026-11-16T08:59:59", undefined],
    ["on time", "once", "2026-11-16T09:00:00", { say: [hour(9)], skipped: 0, next: hour(10) }],
    ["on time", "skip", "2026-11-16T09:01:59", { say: [hour(9)], skipped: 0, next: hour(10) }],
    ["an hour's jump: the last one", "once", "2026-11-16T10:10", { say: [hour(10)], skipped: 1, next: hour(11) }],
    ["an hour's jump: none", "skip", "2026-11-16T10:10", { say: [], skipped: 2, next: hour(11) }],
    [
      "an hour's jump onto a due time: only that",
      "skip",
      "2026-11-16T10:01",
      { say: [hour(10)], skipped: 1, next: hour(11) },
    ],
    ["an hour's jump: both", "all", "2026-11-16T10:10", { say: [hour(9), hour(10)], skipped: 0, next: hour(11) }],
  ] as [string, MissedPolicy, string, unknown][])("%s (%s, %s)", async (_, missed, now, outcome) => {
    expect(await decided({ missed }, now)).toEqual(outcome);
  });

  it("that is missed by far is bounded with policy all, and the rest is counted", async () => {
    const outcome = await decided({ missed: "all" }, "2026-11-18T09:10");
    expect([outcome!.say.length, outcome!.skipped, outcome!.say.at(-1), outcome!.next]).toEqual([
      MOST_AT_ONCE,
      49 - MOST_AT_ONCE,
      "2026-11-18T09:00",
      "2026-11-18T10:00",
    ]);
  });

  it("after months without a host is found without walking through every minute", async () => {
    const every = { expression: "* * * * *" };
    expect(await decided(every, "2027-11-16T09:00:30")).toMatchObject({
      say: ["2027-11-16T09:00"],
      next: "2027-11-16T09:01",
    });
    const yearly = await decided({ expression: "0 0 1 1 *", next: at("2020-12-31T23:00") }, "2027-01-02T00:00");
    expect(yearly).toEqual({ say: ["2026-12-31T23:00"], skipped: 6, next: "2027-12-31T23:00" });
  });

  it("of a one-shot is said however late, unless it asks to be passed over", async () => {
    const once = { expression: undefined };
    expect(await decided(once, "2026-11-20T00:00")).toEqual({ say: [hour(9)], skipped: 0, next: null });
    expect(await decided({ ...once, missed: "skip" }, "2026-11-20T00:00")).toEqual({ say: [], skipped: 1, next: null });
  });

  it("does not come after the end", async () => {
    const over = { expiresAt: at("2026-11-16T10:30") };
    expect(await decided(over, "2026-11-16T09:00")).toEqual({ say: [hour(9)], skipped: 0, next: hour(10) });
    expect(await decided(over, "2026-11-16T12:10")).toEqual({ say: [hour(10)], skipped: 1, next: null });
  });

  it("with jitter comes later by the same time on every host, less than it asks for", async () => {
    const over = { jitterMs: 900_000 };
    const late = jitterOf(standing(over));
    expect([late === jitterOf(standing(over)), late > 0, late < 900_000]).toEqual([true, true, true]);
    const s = standing(over);
    const nextAfter = await compile(s.expression!, s.zone);
    expect(decideFiring(s, nextAfter, s.next + late - 1)).toBeUndefined();
    expect(decideFiring(s, nextAfter, s.next + late)?.say).toEqual([s.next]);
    // the due time after it has come on the wall and is not yet to be said: it is next, not lost
    expect(decideFiring(s, nextAfter, s.next + 3_600_000 + late - 1)).toMatchObject({
      say: [s.next],
      next: s.next + 3_600_000,
    });
    const others = new Set(
      Array.from({ length: 50 }, (_, i) => jitterOf({ scheduleId: `sch_${i}`, jitterMs: 900_000 })),
    );
    expect(others.size).toBeGreaterThan(45);
  });
});

const EXPRESSIONS = ["* * * * *", "*/30 * * * *", "0 * * * *", "30 2 * * *", "0 9 * * 1-5", "15 1 * * 0", "0 0 1 * *"];
const ZONES = ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe"];
const START = at("2026-10-20T00:00");

describe("properties", () => {
  it("next is always in the future, and what lies between is nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...EXPRESSIONS),
        fc.constantFrom(...ZONES),
        fc.integer({ min: at("2026-01-01T00:00"), max: at("2027-12-31T00:00") }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (expression, zone, now, part) => {
          const nextAfter = await compile(expression, zone);
          const next = nextAfter(now)!;
          expect(next).toBeGreaterThan(now);
          // asked anywhere between, the answer is the same: nothing is skipped
          expect(nextAfter(Math.floor(now + (next - 1 - now) * part))).toBe(next);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("no due time is decided twice and none is lost, whatever the clock does and however often hosts restart", async () => {
    const step = fc.record({
      /** Of the wall clock; a jump back now and then. */
      move: fc.oneof(fc.integer({ min: 0, max: 5_400_000 }), fc.integer({ min: -7_200_000, max: 90_000_000 })),
      /** The process dies after deciding and before the append: the ledger knows nothing of it. */
      dies: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...EXPRESSIONS.slice(1)),
        fc.constantFrom(...ZONES),
        fc.constantFrom("once", "skip", "all" as MissedPolicy),
        fc.constantFrom(0, 900_000),
        fc.nat(1_000),
        fc.array(step, { maxLength: 40 }),
        async (expression, zone, missed, jitterMs, number, steps) => {
          const nextAfter = await compile(expression, zone);
          const scheduleId = `sch_${number}`;
          const given = { scheduleId, expression, zone, missed: missed as MissedPolicy, jitterMs };
          let s = standing({ ...given, next: nextAfter(START)! });
          const first = s.next;
          const said: number[] = [];
          let decidedCount = 0;
          let last = Number.NEGATIVE_INFINITY;
          let now = START;
          for (const { move, dies } of steps) {
            now += move;
            const outcome = decideFiring(s, nextAfter, now);
            if (!outcome) expect(firesAt(s)).toBeGreaterThan(now);
            if (!outcome || dies) continue;
            for (const due of outcome.say) {
              expect(due + jitterOf(s)).toBeLessThanOrEqual(now);
              if (missed === "skip") expect(now - due - jitterOf(s)).toBeLessThanOrEqual(GRACE_MS);
              said.push(due);
            }
            expect(outcome.next! + jitterOf(s)).toBeGreaterThan(now);
            decidedCount += outcome.say.length + outcome.skipped;
            last = outcome.last;
            s = { ...s, next: outcome.next! };
          }
          expect(said).toEqual([...new Set(said)].sort((a, b) => a - b));
          let counted = 0;
          for (let due = first; due <= last && counted <= decidedCount; due = nextAfter(due)!) counted++;
          if (decidedCount < 500) expect(counted).toBe(decidedCount);
        },
      ),
      { numRuns: 60 },
    );
  });
});
