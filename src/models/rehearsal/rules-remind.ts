// The rule for reminders: what to say, and the user's own words for when. What they mean is the scheduler's to say.
import { type GrammarRule, pattern, raw } from "./rule.ts";

const WEEKDAY = "(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?)(?:day)?s?";
const MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*";
const NUMBER =
  "an?|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty(?:-five)?|fifty|sixty|ninety";
const UNIT = "s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?";

/** How a phrase for a time begins, and of which words it is made. */
const START = [
  raw`(?:in|after)\s+(?:(?:about|exactly|just)\s+)?(?:\d|(?:${NUMBER})\b|the\s+(?:morning|afternoon|evening))`,
  raw`at\s+(?:\d|noon|midnight|midday|half\b|(?:a\s+)?quarter\b)`,
  raw`on\s+(?:${WEEKDAY}\b|${MONTH}\b|the\s+\d|\d|weekdays|weekends)`,
  raw`(?:today|tonight|tomorrow|every|each|daily|hourly|weekly|monthly|next|this|the day after|${WEEKDAY})\b`,
  raw`(?:\d+|${NUMBER}) ?(?:${UNIT})\s+from now`,
].join("|");
const WORD = [
  "in|after|at|on|the|of|about|exactly|just|and|past|to|quarter|couple|from|now|later|next|this|coming|last|every|each|daily|hourly|weekly|monthly",
  raw`today|tonight|tomorrow|morning|noon|midday|afternoon|evening|night|midnight|weekdays?|workdays?|weekends?|months?|o'?clock|[ap]\.?m\.?`,
  raw`${NUMBER}|${UNIT}|${WEEKDAY}|${MONTH}|\d+(?:[.:]\d+)*(?:st|nd|rd|th|[ap]m)?|\d+(?:${UNIT})(?:\d+(?:${UNIT}))?|\d{4}-\d{2}-\d{2}(?:T[\d:]+Z?)?`,
].join("|");
const TIME = raw`(?=${START})(?:${WORD})(?:[\s,]+(?:${WORD})(?=[\s,:]|$))*`;
const REMIND = raw`^(?:remind me|(?:set|create|add|make)\s+(?:me\s+)?(?:an?\s+|the\s+)?(?:reminder|alarm))\b\s*,?\s*`;
const LINK = raw`(?:(?:of|about|to|that|for)\s+)?`;

const N = raw`[\d〇一二三四五六七八九十.]+`;
const DAY = raw`(?:毎日|毎朝|毎晩|毎夕|毎平日|平日|週末|今日|本日|今夜|今晩|明日|あした|あす|明後日|あさって|翌日|来週|今週|次|今度|毎週|毎月|(?:[日月火水木金土]曜日?)(?:[・と][日月火水木金土]曜日?)*|(?:${N}年)?${N}月${N}日|${N}日)`;
const CLOCK = raw`(?:(?:午前|午後|朝|昼|夕方|夜|晩|深夜)の?)?(?:${N}時(?:${N}分|半)?|\d{1,2}:\d{2})(?:ごろ|頃|ちょうど)?|正午|真夜中`;
const JA_TIME = [
  raw`(?:今から|あと)?(?:${N}(?:秒|分|時間|日|週間)間?半?と?|半時間|半日)+(?:後|したら|経ったら|たったら)`,
  raw`${N}(?:分|時間)(?:ごと|おき|毎)`,
  raw`(?:${DAY}の?)*(?:${CLOCK})`,
  "毎分|毎時",
].join("|");

export const REMIND_RULE: GrammarRule = {
  hint: /remind|alarm|リマイン|思い出させ|知らせ|通知|教え|アラーム/i,
  en: [
    raw`${REMIND}(?<when>${TIME})(?:\s+(?:of|about|to|that|for)\s+|\s*:\s+)(?<what>.+)$`,
    raw`${REMIND}${LINK}(?<what>.+?)[\s,]+(?<when>${TIME})$`,
    raw`^(?<when>${TIME}),?\s+remind me\s+${LINK}(?<what>.+)$`,
  ],
  ja: [
    raw`^(?<lead>.*?)(?:(?:を|は|について|の(?:こと|件)を?)\s*)?(?<when>${JA_TIME})\s*(?:には|に|の)?[\s、]*(?<what>.*?)(?:(?:の|する)?(?:こと|件))?(?:を|の|について|が?ある(?:こと)?(?:を|と)|よう(?:に)?|と|って)?\s*(?:リマインダー|リマインド|思い出させ|知らせ|お知らせ|通知|教え|アラーム)`,
  ],
  build({ lead = "", when = "", what = "" }, clause) {
    const text = `${lead}${what}`.trim();
    return text === "" ? undefined : { kind: "remind", when: when.trim(), what: clause.plain(text) };
  },
};

/** The user's own text goes on: no time has been named yet. */
export const isOpenReminder = (text: string): boolean =>
  /\bremind me (?:to|that|of|about)\b/i.test(text) && !pattern(raw`\b${TIME}$`).test(text.trim());
