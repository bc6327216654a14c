// The reading of English reminders: what to say, and the user's own words for when. What the words mean is the scheduler's to say.
import type { Clause } from "./clauses.ts";
import type { Intent } from "./request.ts";

const WEEKDAY = "(?:sun|mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?)(?:day)?s?";
const MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*";
const NUMBER =
  "an?|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty(?:-five)?|fifty|sixty|ninety";
const UNIT = "s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?";

/** How a phrase for a time begins. */
const START = new RegExp(
  [
    `\\b(?:in|after)\\s+(?:(?:about|exactly|just)\\s+)?(?:\\d|(?:${NUMBER})\\b|the\\s+(?:morning|afternoon|evening))`,
    "\\bat\\s+(?:\\d|noon|midnight|midday|half\\b|(?:a\\s+)?quarter\\b)",
    `\\bon\\s+(?:${WEEKDAY}\\b|${MONTH}\\b|the\\s+\\d|\\d|weekdays|weekends)`,
    `\\b(?:today|tonight|tomorrow|every|each|daily|hourly|weekly|monthly|next|this|the day after|${WEEKDAY})\\b`,
    `\\b(?:\\d+|${NUMBER}) ?(?:${UNIT})\\s+from now`,
  ].join("|"),
  "gi",
);
const WORD = new RegExp(
  `^(?:in|after|at|on|the|of|about|exactly|just|and|past|to|quarter|couple|from|now|later|next|this|coming|last|every|each|daily|hourly|weekly|monthly
  |today|tonight|tomorrow|morning|noon|midday|afternoon|evening|night|midnight|weekdays?|workdays?|weekends?|months?|o'?clock|[ap]\\.?m\\.?
  |${NUMBER}|${UNIT}|${WEEKDAY}|${MONTH}|\\d+(?:[.:]\\d+)*(?:st|nd|rd|th|[ap]m)?|\\d+(?:${UNIT})(?:\\d+(?:${UNIT}))?|\\d{4}-\\d{2}-\\d{2}(?:T[\\d:]+Z?)?)$`.replace(
    /\n\s+/g,
    "",
  ),
  "i",
);

const isTime = (text: string): boolean =>
  text
    .trim()
    .split(/[\s,]+/)
    .every((word) => WORD.test(word));

/** The longest phrase for a time that ends the text. */
function timeAtEnd(text: string): { when: string; rest: string } | undefined {
  for (const { index } of text.matchAll(START)) {
    if (isTime(text.slice(index))) return { when: text.slice(index).trim(), rest: text.slice(0, index).trim() };
  }
  return undefined;
}

const LINKS = /\s+(?:of|about|to|that|for)\s+|\s*:\s+/gi;

/** "in 3 minutes of the meeting" */
function timeAtStart(text: string): { when: string; rest: string } | undefined {
  if (text.search(START) !== 0) return undefined;
  for (const link of text.matchAll(LINKS)) {
    const when = text.slice(0, link.index).trim();
    if (isTime(when)) return { when, rest: text.slice(link.index + link[0].length).trim() };
  }
  return undefined;
}

const REMIND =
  /^(?:remind me|(?:set|create|add|make)\s+(?:me\s+)?(?:an?\s+|the\s+)?(?:reminder|alarm))\b\s*,?\s*(.+)$/is;
const REMIND_LATER = /^(.+?),?\s+remind me\s+(?:(?:of|about|to|that)\s+)?(.+)$/is;

export function readEnglishReminder(clause: Clause): Intent[] | undefined {
  const asked = REMIND.exec(clause.text)?.[1]?.trim();
  const later = asked === undefined ? REMIND_LATER.exec(clause.text) : null;
  const found = later
    ? later[1]!.search(START) === 0 && isTime(later[1]!) && { when: later[1]!, rest: later[2]! }
    : asked !== undefined && (timeAtStart(asked) ?? timeAtEnd(asked));
  if (!found) return undefined;
  const what = found.rest.replace(/^(?:of|about|to|that|for)\s+/i, "").replace(/[\s,]+$/, "");
  return what === "" ? undefined : [{ kind: "remind", when: found.when, what: clause.plain(what) }];
}

/** The user's own text goes on: no time has been named yet. */
export const isOpenReminder = (text: string): boolean =>
  /\bremind me (?:to|that|of|about)\b/i.test(text) && !timeAtEnd(text);
