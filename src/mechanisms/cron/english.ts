// The English phrases for time: "in 3 minutes", "tomorrow at 9", "every weekday at 9". A pure grammar; every word must fit.
import { own } from "../../ledger/own.ts";
import { type Clock, type Day, daily, everyN, type TimePhrase, unclear } from "./time-phrase.ts";

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const WEEKDAY = "(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?)(?:day)?";
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\\.?";
const NUMBERS: Record<string, number> = {
  ...Object.fromEntries(
    "zero one two three four five six seven eight nine ten eleven twelve".split(" ").map((word, n) => [word, n]),
  ),
  a: 1,
  an: 1,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  "forty-five": 45,
  fifty: 50,
  sixty: 60,
  ninety: 90,
};
const NUMBER = `\\d+(?:\\.\\d+)?|${Object.keys(NUMBERS).join("|")}`;
const UNITS = [
  { letter: "s", seconds: 1 },
  { letter: "m", seconds: 60 },
  { letter: "h", seconds: 3600 },
  { letter: "d", seconds: 86_400, days: 1 },
  { letter: "w", seconds: 604_800, days: 7 },
];
const NIGHT: Clock = { hour: 21, minute: 0 };
const PARTS: Record<string, Clock> = {
  morning: { hour: 9, minute: 0 },
  noon: { hour: 12, minute: 0 },
  midday: { hour: 12, minute: 0 },
  afternoon: { hour: 15, minute: 0 },
  evening: { hour: 18, minute: 0 },
  night: NIGHT,
  midnight: { hour: 0, minute: 0 },
};

const numberOf = (word: string): number => NUMBERS[word] ?? Number(word);
const weekdayIn = (word: string): number => WEEKDAYS.indexOf(word.slice(0, 3));

/** Contract: lower case, single spaces, no full stop at the end. Undefined when it is no such phrase. */
export function readEnglish(text: string): TimePhrase | undefined {
  return readAfter(text) ?? readEvery(text) ?? readMoment(text);
}

function readAfter(text: string): TimePhrase | undefined {
  const span = /^(?:in|after) (.+)$/.exec(text)?.[1] ?? /^(.+?) (?:from now|later)$/.exec(text)?.[1];
  if (span === undefined) return undefined;
  let rest = span
    .replace(/^(?:about|exactly|just) /, "")
    .replace(/\bhalf an? hour\b/, "30 minutes")
    .replace(/\b(?:a )?quarter of an hour\b/, "15 minutes")
    .replace(/\ba couple of\b/, "2")
    .replace(/\b(hours?|minutes?|days?) and a half\b/, (_, unit: string) => `${unit} ${HALVES[unit.replace(/s$/, "")]}`)
    .replace(new RegExp(`\\b(${NUMBER}) and a half (hours|minutes|days)\\b`), "$1 $2 and half-$2")
    .replace(/half-(\w+)s\b/, (whole, unit: string) => HALVES[unit] ?? whole);
  const piece = new RegExp(
    `^(${NUMBER}) ?(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)(?![a-z])(?:,? and |, ?| ?)`,
  );
  let days = 0;
  let seconds = 0;
  for (let found = piece.exec(rest); found; found = piece.exec(rest)) {
    const [whole, number = "", name = ""] = found;
    const n = numberOf(number);
    const unit = UNITS.find(({ letter }) => name.startsWith(letter));
    if (!unit) return undefined;
    if (unit.days !== undefined && Number.isInteger(n)) days += n * unit.days;
    else seconds += n * unit.seconds;
    rest = rest.slice(whole.length);
  }
  return rest === "" && days + seconds > 0 ? { kind: "after", days, seconds } : undefined;
}

const HALVES: Record<string, string> = { hour: "30 minutes", minute: "30 seconds", day: "12 hours" };

/** Takes the time of day out of a phrase, wherever it stands. */
function takeTime(text: string): { time: Clock; rest: string } | undefined {
  const without = (found: RegExpExecArray) =>
    `${text.slice(0, found.index)} ${text.slice(found.index + found[0].length)}`.replace(/\s+/g, " ").trim();
  let found = /\b(?:at )?(half|(?:a )?quarter) (past|to) (\d{1,2})\b/.exec(text);
  if (found) {
    const minutes = (found[1] === "half" ? 30 : 15) * (found[2] === "past" ? 1 : -1);
    const all = Number(found[3]) * 60 + minutes;
    return { time: { hour: Math.floor(all / 60), minute: all % 60 }, rest: without(found) };
  }
  found = /(?:\bat |@ ?|\b)(\d{1,2})[:.](\d{2})(?::00)?(?: ?([ap])\.?m\b\.?)?(?![\d:])/.exec(text);
  found ??= /(?:\bat |@ ?|\b)(\d{1,2})() ?([ap])\.?m\b\.?/.exec(text);
  found ??= /\bat (\d{1,2})()(?: o'?clock)?(?![\d:a-z])/.exec(text) ?? /\b(\d{1,2})() o'?clock\b/.exec(text);
  if (found) {
    const rest = without(found);
    const part = /\b(?:in the )?(morning|afternoon|evening)\b|\b(?:at )?(night)\b|\b(tonight)\b/.exec(rest);
    const half = found[3] ?? (part ? (part[1] === "morning" ? "a" : "p") : undefined);
    const said = Number(found[1]);
    if (found[3] && (said < 1 || said > 12)) return { time: { hour: 24, minute: 0 }, rest };
    const hour = half === "p" && said < 12 ? said + 12 : half === "a" && said === 12 ? 0 : said;
    const left = part && part[3] === undefined ? rest.replace(part[0], "") : rest;
    return { time: { hour, minute: Number(found[2] || 0) }, rest: left.replace(/\s+/g, " ").trim() };
  }
  found =
    /\b(?:at )?(noon|midday|midnight)\b/.exec(text) ?? /\b(?:in the )?(morning|afternoon|evening|night)\b/.exec(text);
  const time = own(PARTS, found?.[1] ?? "");
  if (found && time) return { time, rest: without(found) };
  return /\btonight\b/.test(text) ? { time: NIGHT, rest: text } : undefined;
}

function readEvery(text: string): TimePhrase | undefined {
  const cadence = new RegExp(`^every (?:(${NUMBER}) )?(minute|min|hour|day)s?$`).exec(text);
  if (cadence && cadence[2] !== "day") {
    return everyN(numberOf(cadence[1] ?? "1"), cadence[2] === "hour" ? "hour" : "minute");
  }
  if (text === "hourly") return everyN(1, "hour");
  const taken = takeTime(text);
  const rest = (taken?.rest ?? text)
    .replace(/^on /, "")
    .replace(/ (?:on|at)$/, "")
    .trim();
  const days = cronDays(rest);
  if (days === undefined) return undefined;
  if (!taken) return unclear(`"${text}" says no time of day: say "${text} at 9"`);
  return daily(taken.time, days);
}

/** The last three fields of a cron expression. */
function cronDays(text: string): string | undefined {
  if (/^(?:every ?day|daily|each day|every)$/.test(text)) return "* * *";
  if (/^(?:(?:every|each) |on )?(?:week|work|working|business) ?days?$/.test(text)) return "* * 1-5";
  if (/^(?:(?:every|each) |on )?weekends?$/.test(text)) return "* * 0,6";
  const month = /^(?:(?:every|each) month|monthly)(?: on)?(?: the)? (\d{1,2})(?:st|nd|rd|th)?$/.exec(text);
  const first = /^(?:every|on the|the) (\d{1,2})(?:st|nd|rd|th)? of (?:(?:the|every|each) )?month$/.exec(text);
  const day = month?.[1] ?? first?.[1];
  if (day !== undefined) return `${Number(day)} * *`;
  if (/^(?:the )?last day of (?:(?:the|every|each) )?month$/.test(text)) return "L * *";
  const list = new RegExp(
    `^(?:every |each |weekly(?: on)? |every week on |on )(${WEEKDAY}s?(?:(?:, ?(?:and )?| and )${WEEKDAY}s?)*)$`,
  );
  const plural = new RegExp(`^(${WEEKDAY.replace("(?:day)?", "days")}(?:(?:, ?(?:and )?| and )${WEEKDAY}s?)*)$`);
  const named = (list.exec(text) ?? plural.exec(text))?.[1];
  if (named === undefined || (/^on /.test(text) && !/days\b/.test(text))) return undefined;
  const numbers = named.split(/, ?(?:and )?| and /).map(weekdayIn);
  return `* * ${[...new Set(numbers)].sort().join(",")}`;
}

function readMoment(text: string): TimePhrase | undefined {
  const taken = takeTime(text);
  const rest = (taken?.rest ?? text).replace(/,/g, " ").replace(/\s+/g, " ").trim();
  const day = rest === "" ? undefined : readDay(rest);
  if (rest !== "" && !day) return undefined;
  if (!taken) return unclear(`"${text}" says no time of day: say "${text} at 9"`);
  return { kind: "moment", time: taken.time, ...(day && { day }) };
}

function readDay(text: string): Day | undefined {
  if (/^(?:today|tonight|this|later today)$/.test(text)) return { kind: "offset", days: 0 };
  if (text === "tomorrow") return { kind: "offset", days: 1 };
  if (/^(?:the )?day after tomorrow$/.test(text)) return { kind: "offset", days: 2 };
  const weekday = new RegExp(`^(?:on )?(next |this |coming )?(${WEEKDAY})(?: (next week))?$`).exec(text);
  if (weekday) {
    const [, before, name = "", after] = weekday;
    const which = after ? "next week" : before === "next " ? "later" : "soonest";
    return { kind: "weekday", weekday: weekdayIn(name), which };
  }
  const iso = /^(?:on )?(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(text);
  if (iso) return { kind: "date", year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) };
  const named =
    new RegExp(
      `^(?:on )?(?:the )?(?<day>\\d{1,2})(?:st|nd|rd|th)?(?: of)? (?<month>${MONTH})(?: (?<year>\\d{4}))?$`,
    ).exec(text) ??
    new RegExp(`^(?:on )?(?<month>${MONTH})(?: the)? (?<day>\\d{1,2})(?:st|nd|rd|th)?(?: (?<year>\\d{4}))?$`).exec(
      text,
    ) ??
    /^on the (?<day>\d{1,2})(?:st|nd|rd|th)$/.exec(text);
  if (!named?.groups) return undefined;
  const { day, month, year } = named.groups;
  return {
    kind: "date",
    day: Number(day),
    ...(month !== undefined && { month: MONTHS.indexOf(month.slice(0, 3)) + 1 }),
    ...(year !== undefined && { year: Number(year) }),
  };
}
