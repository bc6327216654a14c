// The Japanese phrases for time: 3分後, 明日の9時に, 毎週月曜日の10時半. A pure grammar; every character must fit.
import { own } from "../../ledger/own.ts";
import { type Clock, type Day, daily, everyN, type TimePhrase, unclear } from "./time-phrase.ts";

const DIGITS = "〇一二三四五六七八九";
const WEEKDAYS = "日月火水木金土";
const COUNTED = "秒|分|時間|時|日|週間|週|月|年";
const NIGHT: Clock = { hour: 21, minute: 0 };
const PARTS: Record<string, Clock> = {
  朝: { hour: 9, minute: 0 },
  昼: { hour: 12, minute: 0 },
  正午: { hour: 12, minute: 0 },
  夕方: { hour: 18, minute: 0 },
  夜: NIGHT,
  晩: { hour: 21, minute: 0 },
  真夜中: { hour: 0, minute: 0 },
};
const AFTER_NOON = new Set(["午後", "夕方", "夜", "晩"]);

export const isJapanese = (text: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text);

/** 二十五 → 25, before something that is counted. */
function withDigits(text: string): string {
  return text.replace(new RegExp(`([${DIGITS}十]+)(?=${COUNTED})`, "g"), (whole: string) => {
    if (!whole.includes("十")) return [...whole].map((c) => DIGITS.indexOf(c)).join("");
    const [tens = "", ones = ""] = whole.split("十");
    return String((tens === "" ? 1 : DIGITS.indexOf(tens)) * 10 + (ones === "" ? 0 : DIGITS.indexOf(ones)));
  });
}

/** Contract: width-folded (NFKC). Undefined when it is no such phrase. */
export function readJapanese(whole: string): TimePhrase | undefined {
  const text = withDigits(whole.replace(/[\s、,]/g, "")).replace(/(?:に|で|から|には)$/, "");
  return readAfter(text) ?? readEvery(text) ?? readMoment(text);
}

function readAfter(text: string): TimePhrase | undefined {
  const span = /^(?:今から|あと)?(.+?)(?:後|したら|経ったら|たったら)$/.exec(text)?.[1] ?? /^あと(.+)$/.exec(text)?.[1];
  if (span === undefined) return undefined;
  let rest = span.replace(/^半時間/, "30分").replace(/^半日/, "12時間");
  const piece = /^(\d+(?:\.\d+)?)(秒|分|時間|日|週間)間?(半)?と?/;
  const total = { days: 0, seconds: 0 };
  for (let found = piece.exec(rest); found; found = piece.exec(rest)) {
    const [whole, number, unit, half] = found;
    const n = Number(number);
    if (unit === "日" || unit === "週間") total.days += n * (unit === "日" ? 1 : 7);
    else total.seconds += (n + (half ? 0.5 : 0)) * (unit === "秒" ? 1 : unit === "分" ? 60 : 3600);
    rest = rest.slice(whole.length);
  }
  if (rest !== "" || !Number.isInteger(total.days)) return undefined;
  return total.days + total.seconds > 0 ? { kind: "after", ...total } : undefined;
}

/** Takes the time of day from the end of a phrase. */
function takeTime(text: string): { time: Clock; rest: string } | undefined {
  const end = "(?:ちょうど|ごろ|頃)?$";
  const part = "(午前|午後|朝|昼|夕方|夜|晩|深夜)?の?";
  const found =
    new RegExp(`${part}(\\d{1,2})時(?:(\\d{1,2})分|(半))?${end}`).exec(text) ??
    new RegExp(`${part}(\\d{1,2}):(\\d{2})()${end}`).exec(text);
  if (found) {
    const said = Number(found[2]);
    const hour =
      AFTER_NOON.has(found[1] ?? "") && said < 12 ? said + 12 : found[1] === "午前" && said === 12 ? 0 : said;
    const minute = found[4] ? 30 : Number(found[3] || 0);
    return { time: { hour, minute }, rest: text.slice(0, found.index) };
  }
  const named = new RegExp(`(正午|真夜中|夕方|朝|昼|夜|晩)${end}`).exec(text);
  const time = own(PARTS, named?.[1] ?? "");
  return named && time ? { time, rest: text.slice(0, named.index) } : undefined;
}

function readEvery(text: string): TimePhrase | undefined {
  const cadence = /^(\d+)(分|時間)(?:ごと|毎|おき)$/.exec(text);
  if (cadence) return everyN(Number(cadence[1]), cadence[2] === "分" ? "minute" : "hour");
  if (text === "毎分") return everyN(1, "minute");
  const hourly = /^毎時(?:(\d{1,2})分)?$/.exec(text);
  if (hourly)
    return Number(hourly[1] ?? 0) < 60
      ? { kind: "repeat", expression: `${Number(hourly[1] ?? 0)} * * * *` }
      : undefined;
  const evening = /^毎(?:晩|夕)/.test(text);
  const taken = takeTime(
    text.replace(/^毎(朝|晩|夕)(?:の)?$/, (_, part: string) => `毎日${part === "夕" ? "夕方" : part}`),
  );
  const rest = (taken?.rest ?? text).replace(/の$/, "");
  const days = cronDays(rest);
  if (days === undefined) return undefined;
  if (!taken)
    return unclear(`「${text}」には時刻がありません (no time of day): 「${text}の9時」のように言ってください`);
  const { hour, minute } = taken.time;
  return daily({ hour: evening && hour < 12 && hour > 0 ? hour + 12 : hour, minute }, days);
}

function cronDays(text: string): string | undefined {
  if (/^毎(?:日|朝|晩|夕)?(?:の)?$/.test(text)) return "* * *";
  if (/^(?:毎週)?(?:の)?平日(?:毎日)?$|^毎平日$/.test(text)) return "* * 1-5";
  if (/^(?:毎週)?(?:の)?(?:週末|土日)$|^毎週末$/.test(text)) return "* * 0,6";
  const month = /^毎月の?(?:(\d{1,2})日|(末日?|月末))$/.exec(text);
  if (month) return `${month[2] ? "L" : Number(month[1])} * *`;
  const week = new RegExp(`^毎週の?([${WEEKDAYS}](?:曜日?)?(?:[・と]?[${WEEKDAYS}](?:曜日?)?)*)$`).exec(text)?.[1];
  if (week === undefined) return undefined;
  const days = [...week.replace(/曜日?/g, "").replace(/[・と]/g, "")].map((c) => WEEKDAYS.indexOf(c));
  return `* * ${[...new Set(days)].sort().join(",")}`;
}

function readMoment(text: string): TimePhrase | undefined {
  const tonight = /^(?:今夜|今晩)/.test(text);
  const taken = takeTime(text) ?? (tonight ? { time: NIGHT, rest: text } : undefined);
  const rest = (taken?.rest ?? text).replace(/の$/, "");
  const day = rest === "" ? undefined : readDay(rest);
  if (rest !== "" && !day) return undefined;
  if (!taken)
    return unclear(`「${text}」には時刻がありません (no time of day): 「${text}の9時」のように言ってください`);
  const { hour, minute } = taken.time;
  const time = { hour: tonight && hour >= 5 && hour < 12 ? hour + 12 : hour, minute };
  return { kind: "moment", time, ...(day && { day }) };
}

const OFFSETS: Record<string, number> = {
  今日: 0,
  本日: 0,
  今夜: 0,
  今晩: 0,
  今: 0,
  明日: 1,
  あした: 1,
  あす: 1,
  翌日: 1,
  明: 1,
  明後日: 2,
  あさって: 2,
};

function readDay(text: string): Day | undefined {
  const days = own(OFFSETS, text);
  if (days !== undefined) return { kind: "offset", days };
  const weekday = new RegExp(`^(来週|今週|次|今度)?の?([${WEEKDAYS}])曜日?$`).exec(text);
  if (weekday) {
    const [, before, name = ""] = weekday;
    const which = before === "来週" ? "next week" : before === "次" ? "later" : "soonest";
    return { kind: "weekday", weekday: WEEKDAYS.indexOf(name), which };
  }
  const date =
    /^(?:(?:(\d{4})年)?(\d{1,2})月)?(\d{1,2})日$/.exec(text) ?? /^(?:(\d{4})[-/])?(\d{1,2})[-/](\d{1,2})$/.exec(text);
  if (!date) return undefined;
  return {
    kind: "date",
    day: Number(date[3]),
    ...(date[2] !== undefined && { month: Number(date[2]) }),
    ...(date[1] !== undefined && { year: Number(date[1]) }),
  };
}
