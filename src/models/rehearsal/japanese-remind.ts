// The reading of Japanese reminders: what to say, and the user's own words for when. What the words mean is the scheduler's to say.
import type { Clause } from "./clauses.ts";
import type { Intent } from "./request.ts";

const N = "[\\d〇一二三四五六七八九十.]+";
const DAY =
  "(?:毎日|毎朝|毎晩|毎夕|毎平日|平日|週末|今日|本日|今夜|今晩|明日|あした|あす|明後日|あさって|翌日|来週|今週|次|今度|毎週|毎月" +
  `|(?:[日月火水木金土]曜日?)(?:[・と][日月火水木金土]曜日?)*|(?:${N}年)?${N}月${N}日|${N}日)`;
const CLOCK = `(?:(?:午前|午後|朝|昼|夕方|夜|晩|深夜)の?)?(?:${N}時(?:${N}分|半)?|\\d{1,2}:\\d{2})(?:ごろ|頃|ちょうど)?|正午|真夜中`;
const WHEN = new RegExp(
  [
    `(?:今から|あと)?(?:${N}(?:秒|分|時間|日|週間)間?半?と?|半時間|半日)+(?:後|したら|経ったら|たったら)`,
    `${N}(?:分|時間)(?:ごと|おき|毎)`,
    `(?:${DAY}の?)*(?:${CLOCK})`,
    "毎分|毎時",
  ].join("|"),
);
const VERB =
  /(?:(?:の|する)?(?:こと|件))?(?:を|の|について|が?ある(?:こと)?(?:を|と)|よう(?:に)?|と|って)?\s*(?:リマインダー|リマインド|思い出させ|知らせ|お知らせ|通知|教え|アラーム)/;

export function readJapaneseReminder(clause: Clause): Intent[] | undefined {
  const { text } = clause;
  const when = WHEN.exec(text);
  const verb = VERB.exec(text);
  if (!when || !verb || when.index > verb.index) return undefined;
  const before = text.slice(0, when.index).replace(/(?:を|は|について|の(?:こと|件)を?)\s*$/, "");
  const after = text.slice(when.index + when[0].length, verb.index).replace(/^\s*(?:に|には|の)?[\s、]*/, "");
  const what = `${before}${after}`.trim();
  return what === "" ? undefined : [{ kind: "remind", when: when[0], what: clause.plain(what) }];
}
