import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile } from "../../src/mechanisms/cron/expression.ts";
import { readWhen } from "../../src/mechanisms/cron/when.ts";
import { instantOf, wallOf } from "../../src/mechanisms/cron/zone.ts";

const iso = (at: number) => new Date(at).toISOString().slice(0, 16);

async function series(expression: string, zone: string, from: string, count: number): Promise<string[]> {
  const nextAfter = await compile(expression, zone);
  const found: string[] = [];
  for (let at = Date.parse(`${from}:00Z`); found.length < count; ) {
    at = nextAfter(at)!;
    found.push(iso(at));
  }
  return found;
}

/** Expression, zone, from (UTC), due times (UTC). */
const REPEATED: [string, string, string, string, string[]][] = [
  [
    "a fixed time that does not exist is due when the clock has jumped over it",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-03-27T12:00",
    ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
  ],
  [
    "a fixed time that exists twice is due once, the first time",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-24T12:00",
    ["2026-10-25T00:30", "2026-10-26T01:30"],
  ],
  [
    "asked between the two, it is tomorrow",
    "30 2 * * *",
    "Europe/Berlin",
    "2026-10-25T00:45",
    ["2026-10-26T01:30", "2026-10-27T01:30"],
  ],
  [
    "a fixed time keeps its place on the wall over the change",
    "0 9 * * *",
    "Europe/Berlin",
    "2026-03-28T00:00",
    ["2026-03-28T08:00", "2026-03-29T07:00", "2026-03-30T07:00"],
  ],
  [
    "every half hour follows the clock as it runs, forward",
    "*/30 * * * *",
    "Europe/Berlin",
    "2026-03-29T00:15",
    ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"],
  ],
  [
    "every half hour follows the clock as it runs, back",
    "*/30 * * * *",
    "Europe/Berlin",
    "2026-10-24T23:45",
    ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30", "2026-10-25T02:00"],
  ],
  [
    "a fixed time that does not exist is due when the clock has jumped over it",
    "30 2 * * *",
    "America/New_York",
    "2026-03-07T12:00",
    ["2026-03-08T07:00", "2026-03-09T06:30"],
  ],
  [
    "a fixed time that exists twice is due once, the first time",
    "30 1 * * *",
    "America/New_York",
    "2026-10-31T12:00",
    ["2026-11-01T05:30", "2026-11-02T06:30"],
  ],
  [
    "every hour follows the clock as it runs, back",
    "0 * * * *",
    "America/New_York",
    "2026-11-01T04:30",
    ["2026-11-01T05:00", "2026-11-01T06:00", "2026-11-01T07:00"],
  ],
  [
    "weekdays do not shift at the change",
    "0 9 * * 1-5",
    "America/New_York",
    "2026-03-06T15:00",
    ["2026-03-09T13:00", "2026-03-10T13:00"],
  ],
  [
    "half an hour of daylight saving is known too",
    "15 2 * * *",
    "Australia/Lord_Howe",
    "2026-10-02T18:00",
    ["2026-10-03T15:30", "2026-10-04T15:15"],
  ],
];

describe("daylight saving", () => {
  it.each(REPEATED)("%s (%s, %s)", async (_, expression, zone, from, due) => {
    expect(await series(expression, zone, from, due.length)).toEqual(due);
  });

  it.each([
    ["at 2:30", "Europe/Berlin", "2026-03-28T20:00", "2026-03-29T01:00"],
    ["tomorrow at 2:30", "Europe/Berlin", "2026-03-28T20:00", "2026-03-29T01:00"],
    ["at 2:30", "Europe/Berlin", "2026-10-24T20:00", "2026-10-25T00:30"],
    ["明日の2時半", "Europe/Berlin", "2026-10-24T20:00", "2026-10-25T00:30"],
    ["tomorrow at 9", "Europe/Berlin", "2026-03-28T20:00", "2026-03-29T07:00"],
    ["tomorrow at 9", "Europe/Berlin", "2026-10-24T20:00", "2026-10-25T08:00"],
    ["in 24 hours", "Europe/Berlin", "2026-10-24T12:00", "2026-10-25T12:00"],
    ["in 1 day", "Europe/Berlin", "2026-10-24T12:00", "2026-10-25T13:00"],
    ["in 3 minutes", "Europe/Berlin", "2026-03-29T00:59", "2026-03-29T01:02"],
    ["at 2:30", "America/New_York", "2026-03-08T01:00", "2026-03-08T07:00"],
    ["at 1:30", "America/New_York", "2026-11-01T01:00", "2026-11-01T05:30"],
    ["2026-03-08T02:30", "America/New_York", "2026-03-01T00:00", "2026-03-08T07:00"],
    ["2026-11-01T01:30", "America/New_York", "2026-10-01T00:00", "2026-11-01T05:30"],
    ["at 23:59", "America/New_York", "2026-11-01T05:45", "2026-11-02T04:59"],
  ])("once %s in %s, said at %s, is due at %s", (phrase, zone, said, due) => {
    const read = readWhen(phrase, { now: Date.parse(`${said}:00Z`), zone });
    expect(read.ok && read.when.kind === "once" && iso(read.when.at)).toBe(due);
  });

  it.each([
    "Europe/Berlin",
    "America/New_York",
    "Asia/Tokyo",
    "Asia/Kathmandu",
    "America/Santiago",
    "Australia/Lord_Howe",
  ])("every hour of spring and autumn in %s goes to the wall and back, but for the second of two", (zone) => {
    let second = 0;
    const hours = (from: string, days: number) =>
      Array.from({ length: days * 24 }, (_, i) => Date.parse(`${from}T00:00:00Z`) + i * 3_600_000);
    for (const at of [...hours("2026-03-01", 50), ...hours("2026-09-01", 70)]) {
      const back = instantOf(wallOf(at, zone), zone);
      if (back !== at) second++;
      expect(at - back === 0 || (at - back > 0 && at - back <= 3_600_000)).toBe(true);
    }
    expect(second).toBeLessThanOrEqual(1);
  });

  it("any fixed time on any day is due when our own calendar says so", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Africa/Cairo"),
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        fc.constantFrom(2026, 2027, 2028),
        async (zone, hour, minute, year) => {
          const nextAfter = await compile(`${minute} ${hour} * * *`, zone);
          let at = Date.UTC(year, 0, 3);
          for (let i = 0; i < 365; i++) {
            const next = nextAfter(at)!;
            const { month, day } = wallOf(next, zone);
            const expected = instantOf({ year: wallOf(next, zone).year, month, day, hour, minute, second: 0 }, zone);
            expect([zone, hour, minute, iso(next)]).toEqual([zone, hour, minute, iso(expected)]);
            expect(next - at).toBeLessThanOrEqual(at === Date.UTC(year, 0, 3) ? 86_400_000 : 90_000_000);
            at = next;
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});
