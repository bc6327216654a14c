// Reading a "when": a cron expression, an ISO time, or words in English or Japanese. Pure: the clock and the zone are given.
import { readEnglish } from "./english.ts";
import { isJapanese, readJapanese } from "./japanese.ts";
import { resolve, type When } from "./time-phrase.ts";
import { asUtc, instantOf, isDate, showTime, type Wall } from "./zone.ts";

const NAMES = "sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
const FIELD = new RegExp(`^(?:[\\d*?,/#LW-]|${NAMES})+$`, "i");
const MACRO = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
const HOW = [
  'say "in 3 minutes", "at 15:30", "tomorrow at 9", "every weekday at 9"',
  "「3分後」「15時30分に」「明日の9時に」「毎日9時」",
  'an ISO time (2026-11-20T09:00) or a cron expression of five fields ("0 9 * * 1-5")',
].join(", ");

export type Read = { ok: true; when: When } | { ok: false; error: string };

/** Contract: never throws; a cron expression is only recognised here, and checked where it is computed. */
export function readWhen(said: string, at: { now: number; zone: string }): Read {
  const text = said
    .normalize("NFKC")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[.!。]+$/, "");
  const fail = (problem: string): Read => ({ ok: false, error: `cannot schedule "${said.slice(0, 100)}": ${problem}` });
  if (text === "") return fail(`it is empty: ${HOW}`);
  if (text.length > 200) return fail("it is too long for a time");
  const cron = readCron(text);
  if (cron) return "problem" in cron ? fail(cron.problem) : { ok: true, when: cron };
  const iso = readIso(text, at);
  if (iso) return "problem" in iso ? fail(iso.problem) : { ok: true, when: iso };
  const phrase = isJapanese(text) ? readJapanese(text) : readEnglish(text.toLowerCase());
  if (!phrase) return fail(`not understood; ${HOW}`);
  const when = resolve(phrase, at);
  return "problem" in when ? fail(when.problem) : { ok: true, when };
}

function readCron(text: string): When | { problem: string } | undefined {
  if (text.startsWith("@") && !/^@ ?\d/.test(text)) {
    if (MACRO.test(text)) return { kind: "cron", expression: text };
    return { problem: `${text} is none of @hourly @daily @midnight @weekly @monthly @yearly` };
  }
  const fields = text.split(" ");
  if (fields.length < 4 || !fields.every((field) => FIELD.test(field))) return undefined;
  if (fields.length === 5) return { kind: "cron", expression: text };
  return { problem: `a cron expression has five fields (minute hour day month weekday), this has ${fields.length}` };
}

function readIso(text: string, { now, zone }: { now: number; zone: string }): When | { problem: string } | undefined {
  const found =
    /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:T| )(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/i.exec(
      text,
    );
  if (!found) return undefined;
  const [, year, month, day, hour, minute, second = 0, offset] = found;
  const wall: Wall = {
    ...{ year: Number(year), month: Number(month), day: Number(day) },
    ...{ hour: Number(hour), minute: Number(minute), second: Number(second) },
  };
  if (!isDate(wall.year, wall.month, wall.day) || wall.hour > 23 || wall.minute > 59 || wall.second > 59)
    return { problem: "there is no such time" };
  const at = offset ? asUtc(wall) - offsetOf(offset) : instantOf(wall, zone);
  return at > now ? { kind: "once", at } : { problem: `${showTime(at, zone)} has passed` };
}

function offsetOf(text: string): number {
  if (/^z$/i.test(text)) return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(-2));
  return (text.startsWith("-") ? -1 : 1) * minutes * 60_000;
}
