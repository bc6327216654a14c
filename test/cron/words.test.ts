import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readWhen } from "../../src/mechanisms/cron/when.ts";
import { knownZone, showTime } from "../../src/mechanisms/cron/zone.ts";

const zone = "Europe/Berlin";
/** Monday 2026-11-16 14:20:30 in Berlin. */
const now = Date.parse("2026-11-16T13:20:30Z");

/** A moment as `YYYY-MM-DD HH:MM[:SS]` on the wall, a repetition as its expression, a refusal as its reason. */
function read(text: string, at = { now, zone }): string {
  const got = readWhen(text, at);
  if (!got.ok) return `error: ${got.error}`;
  return got.when.kind === "cron"
    ? got.when.expression
    : showTime(got.when.at, at.zone).split(" ").slice(1, 3).join(" ");
}

const TABLE: [string, string][] = [
  // English: after a while
  ["in 3 minutes", "2026-11-16 14:23:30"],
  ["in 3 minutes.", "2026-11-16 14:23:30"],
  ["In  3 Minutes", "2026-11-16 14:23:30"],
  ["in three minutes", "2026-11-16 14:23:30"],
  ["3 minutes from now", "2026-11-16 14:23:30"],
  ["in an hour", "2026-11-16 15:20:30"],
  ["in half an hour", "2026-11-16 14:50:30"],
  ["in an hour and a half", "2026-11-16 15:50:30"],
  ["in two and a half hours", "2026-11-16 16:50:30"],
  ["in 1.5 hours", "2026-11-16 15:50:30"],
  ["in 2h30m", "2026-11-16 16:50:30"],
  ["in 1 hour and 15 minutes", "2026-11-16 15:35:30"],
  ["in a quarter of an hour", "2026-11-16 14:35:30"],
  ["in 90 seconds", "2026-11-16 14:22"],
  ["in 45 mins", "2026-11-16 15:05:30"],
  ["in 2 days", "2026-11-18 14:20:30"],
  ["in a week", "2026-11-23 14:20:30"],
  // at a time
  ["at 15:30", "2026-11-16 15:30"],
  ["15:30", "2026-11-16 15:30"],
  ["at 3:30 pm", "2026-11-16 15:30"],
  ["at 3pm", "2026-11-16 15:00"],
  ["at 12am", "2026-11-17 00:00"],
  ["at 12pm", "2026-11-17 12:00"],
  ["at 9", "2026-11-17 09:00"],
  ["at 9 o'clock", "2026-11-17 09:00"],
  ["at 14:20", "2026-11-17 14:20"],
  ["at half past 3", "2026-11-17 03:30"],
  ["at quarter to 17", "2026-11-16 16:45"],
  ["at noon", "2026-11-17 12:00"],
  ["at midnight", "2026-11-17 00:00"],
  ["today at 15:30", "2026-11-16 15:30"],
  ["tonight at 9", "2026-11-16 21:00"],
  ["tonight", "2026-11-16 21:00"],
  ["at 7 in the evening", "2026-11-16 19:00"],
  ["this evening at 7", "2026-11-16 19:00"],
  ["tomorrow afternoon at 3", "2026-11-17 15:00"],
  ["this evening", "2026-11-16 18:00"],
  // on a day
  ["tomorrow at 9", "2026-11-17 09:00"],
  ["tomorrow at 9am", "2026-11-17 09:00"],
  ["at 9 tomorrow", "2026-11-17 09:00"],
  ["tomorrow morning", "2026-11-17 09:00"],
  ["tomorrow at 9 in the morning", "2026-11-17 09:00"],
  ["the day after tomorrow at 8:15", "2026-11-18 08:15"],
  ["on friday at 17:00", "2026-11-20 17:00"],
  ["friday at 5pm", "2026-11-20 17:00"],
  ["monday at 15:00", "2026-11-16 15:00"],
  ["monday at 9", "2026-11-23 09:00"],
  ["next monday at 15:00", "2026-11-23 15:00"],
  ["next wednesday at 9", "2026-11-18 09:00"],
  ["wednesday next week at 9", "2026-11-25 09:00"],
  ["on 2026-12-01 at 9:00", "2026-12-01 09:00"],
  ["on december 1 at 9", "2026-12-01 09:00"],
  ["1st of December at 9", "2026-12-01 09:00"],
  ["nov 10 at 9", "2027-11-10 09:00"],
  ["on feb 29 at 9", "2028-02-29 09:00"],
  ["2026-11-20T09:00", "2026-11-20 09:00"],
  ["2026-11-20 09:00", "2026-11-20 09:00"],
  ["2026-11-20T09:00Z", "2026-11-20 10:00"],
  ["2026-11-20T09:00:00+09:00", "2026-11-20 01:00"],
  // again and again
  ["every minute", "* * * * *"],
  ["every 5 minutes", "*/5 * * * *"],
  ["every hour", "0 * * * *"],
  ["hourly", "0 * * * *"],
  ["every 2 hours", "0 */2 * * *"],
  ["every day at 9", "0 9 * * *"],
  ["daily at 18:30", "30 18 * * *"],
  ["at 9 every day", "0 9 * * *"],
  ["every morning", "0 9 * * *"],
  ["every morning at 8", "0 8 * * *"],
  ["every night at 10", "0 22 * * *"],
  ["every day at noon", "0 12 * * *"],
  ["every weekday at 9", "0 9 * * 1-5"],
  ["weekdays at 9:15", "15 9 * * 1-5"],
  ["every weekend at 10", "0 10 * * 0,6"],
  ["every monday at 9am", "0 9 * * 1"],
  ["on mondays at 9", "0 9 * * 1"],
  ["mondays and thursdays at 9", "0 9 * * 1,4"],
  ["every mon, wed and fri at 7:45", "45 7 * * 1,3,5"],
  ["weekly on friday at 16:00", "0 16 * * 5"],
  ["monthly on the 1st at 9", "0 9 1 * *"],
  ["every month on the 15th at 9", "0 9 15 * *"],
  ["0 9 * * 1-5", "0 9 * * 1-5"],
  ["*/10 8-18 * * MON-FRI", "*/10 8-18 * * MON-FRI"],
  ["@daily", "@daily"],
  // Japanese: after a while
  ["3分後", "2026-11-16 14:23:30"],
  ["3分後に", "2026-11-16 14:23:30"],
  ["３分後", "2026-11-16 14:23:30"],
  ["三分後", "2026-11-16 14:23:30"],
  ["二十五分後", "2026-11-16 14:45:30"],
  ["あと3分で", "2026-11-16 14:23:30"],
  ["今から10分後に", "2026-11-16 14:30:30"],
  ["30秒後", "2026-11-16 14:21"],
  ["1時間後", "2026-11-16 15:20:30"],
  ["1時間半後", "2026-11-16 15:50:30"],
  ["1時間30分後に", "2026-11-16 15:50:30"],
  ["2日後", "2026-11-18 14:20:30"],
  ["1週間後", "2026-11-23 14:20:30"],
  // at a time, on a day
  ["15時30分に", "2026-11-16 15:30"],
  ["15時半に", "2026-11-16 15:30"],
  ["15:30に", "2026-11-16 15:30"],
  ["１５：３０", "2026-11-16 15:30"],
  ["午後3時", "2026-11-16 15:00"],
  ["午前9時に", "2026-11-17 09:00"],
  ["9時", "2026-11-17 09:00"],
  ["正午に", "2026-11-17 12:00"],
  ["今日の15時に", "2026-11-16 15:00"],
  ["今夜9時", "2026-11-16 21:00"],
  ["明日の9時に", "2026-11-17 09:00"],
  ["明日9時", "2026-11-17 09:00"],
  ["明日の朝9時", "2026-11-17 09:00"],
  ["明日の朝", "2026-11-17 09:00"],
  ["明日の午後3時半", "2026-11-17 15:30"],
  ["明後日の8時15分", "2026-11-18 08:15"],
  ["あさっての8時", "2026-11-18 08:00"],
  ["金曜日の17時に", "2026-11-20 17:00"],
  ["次の月曜の15時", "2026-11-23 15:00"],
  ["来週の水曜日の9時", "2026-11-25 09:00"],
  ["12月1日の9時", "2026-12-01 09:00"],
  ["2026年12月1日9時30分", "2026-12-01 09:30"],
  ["20日の10時", "2026-11-20 10:00"],
  // again and again
  ["毎日9時", "0 9 * * *"],
  ["毎日9時に", "0 9 * * *"],
  ["毎日の18時30分", "30 18 * * *"],
  ["毎朝8時", "0 8 * * *"],
  ["毎朝", "0 9 * * *"],
  ["毎晩9時", "0 21 * * *"],
  ["平日の9時", "0 9 * * 1-5"],
  ["平日9時に", "0 9 * * 1-5"],
  ["毎週月曜日の10時半", "30 10 * * 1"],
  ["毎週月・水・金の9時", "0 9 * * 1,3,5"],
  ["毎週月曜と木曜の9時", "0 9 * * 1,4"],
  ["土日の10時", "0 10 * * 0,6"],
  ["毎月1日の9時", "0 9 1 * *"],
  ["毎月末日の18時", "0 18 L * *"],
  ["5分ごと", "*/5 * * * *"],
  ["2時間ごとに", "0 */2 * * *"],
  ["毎時30分", "30 * * * *"],
];

describe("words for a time", () => {
  it.each(TABLE)("%s is %s", (phrase, meaning) => {
    expect(read(phrase)).toBe(meaning);
  });

  it.each([
    ["", "it is empty"],
    ["soon", "not understood; say"],
    ["in the blue", "not understood"],
    ["in 3 parsecs", "not understood"],
    ["at 15:30 or so maybe", "not understood"],
    ["tomorrow", 'says no time of day: say "tomorrow at 9"'],
    ["every day", "says no time of day"],
    ["毎日", "no time of day"],
    ["明日", "no time of day"],
    ["いつか", "not understood"],
    ["at 25:00", "25:00 is no time of day"],
    ["25時", "25:00 is no time of day"],
    ["every day at 26:00", "26:00 is no time of day"],
    ["at 13pm", "is no time of day"],
    ["today at 9", "has passed"],
    ["2020-01-01T00:00", "has passed"],
    ["on 2026-02-30 at 9", "is no date"],
    ["on feb 30 at 9", "is no date"],
    ["2026-02-30T09:00", "there is no such time"],
    ["every 7 minutes", "does not divide an hour evenly"],
    ["in 0 minutes", "not understood"],
    ["0 0 9 * * *", "five fields"],
    ["@reboot", "is none of @hourly"],
  ])("%j is refused: %s", (phrase, reason) => {
    expect(read(phrase)).toContain(`cannot schedule "${phrase}"`);
    expect(read(phrase)).toContain(reason);
  });

  it("are read in the zone they are meant in", () => {
    expect(readWhen("at 15:30", { now, zone: "Asia/Tokyo" })).toEqual({
      ok: true,
      when: { kind: "once", at: Date.parse("2026-11-17T06:30:00Z") },
    });
    expect([knownZone("europe/berlin"), knownZone("Mars/Olympus")]).toEqual(["Europe/Berlin", undefined]);
  });

  it("are said back with local time, zone and UTC", () => {
    expect(showTime(Date.parse("2026-11-16T14:30:00Z"), zone)).toBe(
      "Mon 2026-11-16 15:30 Europe/Berlin (2026-11-16T14:30:00Z)",
    );
  });

  it("never throw, and what they mean lies ahead", () => {
    const piece = fc.constantFrom(
      ..."in at 3 15:30 9 pm every day tomorrow monday minutes and 毎日 明日 の 9時 3分 後 半 - : 1st".split(" "),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 6 }).map((words) => words.join(" ")),
        ),
        fc.integer({ min: Date.parse("2024-01-01"), max: Date.parse("2030-01-01") }),
        fc.constantFrom("Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "UTC"),
        (text, at, place) => {
          const got = readWhen(text, { now: at, zone: place });
          if (got.ok && got.when.kind === "once") expect(got.when.at).toBeGreaterThan(at);
        },
      ),
      { numRuns: 500 },
    );
  });
});
