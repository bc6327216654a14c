// Rules for teams: tasks, worktrees, teammates, plans, shutdown, messages; and the joining of what several clauses say of one team.

import type { Intent, Mate, Team } from "./request.ts";
import { type GrammarRule, itemsIn, pattern, QUOTED, raw } from "./rule.ts";

/** Also for the general tasks: there are that many kinds. */
const MOST = 4;
const MOST_SUBJECTS = 20;

const team = (part: Partial<Team>): Team => ({ kind: "team", tasks: 0, worktrees: false, mates: [], ...part });

/** The later parts of an undertaking need the results of the earlier ones. Contract: neighbours only; the order of everything else stays. */
export function joinTeams(intents: Intent[]): Intent[] {
  const all: Intent[] = [];
  for (const intent of intents) {
    const last = all.at(-1);
    if (intent.kind !== "team" || last?.kind !== "team") all.push(intent);
    else {
      const subjects = [...(last.subjects ?? []), ...(intent.subjects ?? [])];
      const [tasks, worktrees] = [last.tasks + intent.tasks, last.worktrees || intent.worktrees];
      const mates = [...last.mates, ...intent.mates];
      all[all.length - 1] = { ...last, ...intent, tasks, worktrees, mates, ...(subjects.length > 0 && { subjects }) };
    }
  }
  return all;
}

const COUNT = raw`\d+|an?|one|two|three|four`;
const JA_COUNT = "[1-9一二三四]";
const COUNTS: Record<string, number> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, 一: 1, 二: 2, 三: 3, 四: 4 };
const countOf = (word: string): number => COUNTS[word.toLowerCase()] ?? Number(word);

const NAMES = ["alice", "bob", "carol", "dave"];
const KATAKANA: Record<string, string> = { アリス: "alice", ボブ: "bob", キャロル: "carol", デイブ: "dave" };
const NO_NAME =
  /^(?:an?|the|it|its|me|us|you|them|they|he|she|him|her|this|that|these|those|my|your|our|and|or|to|of|for|with|lead|user|all|any|some|one|two|three|four|new|plans?|tasks?|team|teammates?|agents?|worktrees?)$/;

/** Lower case, as teammates are named; undefined when it is no name. */
function nameOf(word: string): string | undefined {
  const plain = word.trim().replace(/(?:['’]s|さん|くん|君)$/, "");
  const name = KATAKANA[plain] ?? plain.toLowerCase();
  return /^[a-z][a-z0-9_-]{0,63}$/.test(name) && !NO_NAME.test(name) ? name : undefined;
}

/** "alice, bob as a reviewer and carol". Contract: undefined when one of them is no name. */
function matesIn(text: string): Mate[] | undefined {
  const parts = text.trim().split(/\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+|\s*(?:と|、|・|および|及び)+\s*/i);
  const mates = parts.map((part): Mate | undefined => {
    const found = /^(\S+)(?:\s+as\s+(?:an?\s+|the\s+)?(.{1,60})|\s+\(([^()]{1,60})\))?$/i.exec(part);
    const name = nameOf(found?.[1] ?? "");
    const role = found?.[2] ?? found?.[3];
    return name === undefined ? undefined : { name, role };
  });
  return mates.every((mate) => mate !== undefined) ? mates : undefined;
}

const EVERYONE =
  /^(?:they|them|each(?: of them| one| teammate)?|both(?: of them)?|all(?: of them)?|everyone|everybody|(?:all )?the (?:team|teammates|others)|all teammates|the whole team|全員|みんな|皆|すべて|全て|全部|両方|二人|2人|両者|チーム(?:全員|全体)?|彼ら|それぞれ|各自)$/i;

const namesIn = (text: string): string[] | undefined => {
  const mates = matesIn(text);
  return mates?.some((mate) => mate.role !== undefined) ? undefined : mates?.map((mate) => mate.name);
};

/** Names, or none for all of them. Undefined when it is neither. */
const whoIn = (text: string): string[] | undefined => (EVERYONE.test(text.trim()) ? [] : namesIn(text));

const MAKE = "(?:create|make|add|set up)";
const JA_MAKE = "(?:作|つく|追加|用意|登録)";
const JA_WORKTREE = raw`(?:git\s*)?(?:ワークツリー|worktree)`;
const BOARD = raw`tasks?\b(?:\s+on the (?:task )?board)?`;
const EACH = raw`(?:them|both|task|each(?:\s+(?:of them|one|task))?|(?:(?:the|these|those|both|every|all)\s+)*(?:(?:two|three|four|\d)\s+)?tasks?)`;
const WORKTREES = raw`(?:(?:the|an?|one|two|three|four|\d|separate|git|own|their|its|each)\s+)*worktrees?(?:\s+(?:for|per)\s+${EACH})?(?:\s+each)?`;

const tasks: GrammarRule = {
  hint: /task|タスク/i,
  en: [
    raw`^${MAKE}\s+(?:(?<count>${COUNT})\s+)?(?:new\s+)?${BOARD}\s*(?:called|named)?\s*:\s*(?<items>.+)$`,
    raw`^${MAKE}\s+(?<count>an?|one|1)\s+(?:new\s+)?${BOARD}\s+to\s+(?<items>.+)$`,
    raw`^${MAKE}\s+(?<count>${COUNT})\s+(?:new\s+)?${BOARD}(?<worktrees>,?\s*(?:and|with)\s+${WORKTREES})?$`,
  ],
  ja: [
    raw`^タスク\s*(?<quotes>(?:${QUOTED}\s*(?:と|、)?\s*)+)を\s*${JA_MAKE}`,
    raw`^(?:新しい\s*)?(?:タスクを?\s*)?(?<count>${JA_COUNT})\s*(?:つ|個|件)(?:の\s*(?:新しい)?タスク)?(?:と\s*(?:それぞれの|各タスクの)?\s*(?<worktrees>${JA_WORKTREE}))?\s*を?\s*${JA_MAKE}`,
  ],
  build({ count = "0", items, quotes, worktrees }, clause) {
    if (/サブタスク/.test(clause.text) || !/task|タスク/i.test(clause.text)) return undefined;
    const n = countOf(count);
    if (items === undefined && quotes === undefined)
      return n < 1 || n > MOST ? undefined : team({ tasks: n, worktrees: worktrees !== undefined });
    const quoted = (quotes?.match(pattern(QUOTED, "g")) ?? []).map(clause.plain);
    const named = items === undefined ? quoted : itemsIn(clause, items);
    const subjects = items !== undefined && n === 1 ? [clause.plain(items.trim())] : named;
    return subjects.length > MOST_SUBJECTS ? undefined : team({ tasks: subjects.length, subjects });
  },
};

const worktrees: GrammarRule = {
  hint: /worktree|ワークツリー/i,
  en: [raw`^${MAKE}\s+${WORKTREES}$`, raw`^give\s+${EACH}\s+(?:an?|its own|their own|own)\s+(?:git\s+)?worktrees?$`],
  ja: [
    raw`^(?:(?:それぞれ|各タスク|各々|おのおの|それら|タスク)(?:ごと)?(?:に|の|用に|用の|のために|のための)?)?\s*(?:専用の)?\s*${JA_WORKTREE}\s*(?:を|も)?\s*${JA_MAKE}`,
  ],
  /** Only together with tasks: which ones else? */
  build: (_, __, before) => (before.team ? team({ worktrees: true }) : undefined),
};

const SUBMIT = raw`(?:(?:first|each|all|both)\s+)*(?:submit|hand in|propose|present|send|write|make|show)\s+`;
const PLAN = raw`(?:me\s+|you\s+)?(?:an?\s+|their\s+|its\s+|his\s+|her\s+|the\s+)?plans?`;
const AFTER = raw`(?:,?\s+(?:before|first|for|until|prior|and wait)\b.*)?$`;

const plans: GrammarRule = {
  hint: /plan|計画|プラン/i,
  en: [
    raw`^(?:ask|tell|have|make|get|instruct|require|let)\s+(?<who>.+?)\s+(?:to\s+)?${SUBMIT}${PLAN}${AFTER}`,
    raw`^(?:ask|request)\s+(?<who>.+?)\s+for\s+${PLAN}${AFTER}`,
    raw`^(?:request|require|demand)\s+${PLAN}(?:\s+(?:from|of|by)\s+(?<who>.+?))?${AFTER}`,
    raw`^(?<who>they|each(?: of them| teammate)?|both(?: of them)?|everyone)\s+(?:must|should|shall|have to|has to|needs? to)\s+${SUBMIT}${PLAN}${AFTER}`,
  ],
  ja: [
    "^(?:(?<who>[^計]+?)に[はも]?)?(?=.*(?:計画|プラン)(?:.*(?:提出|出す|出し|作成|見せ).*(?:頼|依頼|指示|伝え|求め|もら|よう|言っ)|書?を?(?:先に)?(?:提出させ|出させ|求め|要求)))",
  ],
  build({ who }, clause) {
    const names = who === undefined ? [] : whoIn(who);
    return names || clause.lang === "ja" ? team({ plans: names ?? [] }) : undefined;
  },
};

const WITH_PLANS = raw`(?<plans>,?\s*\b(?:with|requiring|needing)\s+(?:an?\s+)?plans?(?:\s+(?:approval|mode))?(?:\s+(?:first|required))?)?$`;
const JA_MATES = "(?<sure>チームメイト|チームメート|仲間|メンバー|エージェント)";
const JA_START = raw`\s*を?\s*(?:起動|立ち上げ|参加させ|呼び出|spawn)`;

const spawn: GrammarRule = {
  hint: /spawn|mate|agent|起動|立ち上げ|参加|呼び出/i,
  en: [
    raw`^(?:spawn|start|launch|bring up|invite|hire|add|create)\s+(?:(?<count>${COUNT})\s+)?(?:(?:the|new)\s+)*(?<sure>team ?mates?|agents?)\b[\s,:]*(?:(?:called|named)\s+)?(?<names>.*?)${WITH_PLANS}`,
    raw`^(?<sure>spawn)\s+(?<names>.+?)${WITH_PLANS}`,
  ],
  ja: [
    raw`^${JA_MATES}\s*を?\s*(?<count>${JA_COUNT})人${JA_START}`,
    raw`^(?<count>${JA_COUNT})人の${JA_MATES}${JA_START}`,
    raw`^${JA_MATES}(?:の|である)?\s*(?<names>.+?)${JA_START}`,
    raw`^(?<names>.+?)${JA_START}`,
  ],
  build({ count, sure, names = "", plans: planning }, clause, before) {
    const unnamed = count === undefined ? undefined : NAMES.slice(0, countOf(count)).map((name) => ({ name }));
    const mates = names === "" ? unnamed : matesIn(clause.lang === "ja" ? names.replace(/\s+/g, "、") : names);
    // A single plain word may be a command to run.
    const isSure = sure || before.team || /spawn/i.test(clause.text) || mates?.some(({ name }) => NAMES.includes(name));
    if (!mates || !isSure || mates.length === 0 || mates.length > MOST) return undefined;
    return team(planning === undefined ? { mates } : { mates, plans: [] });
  },
};

const WHY = raw`(?:(?:\s*:\s*|\s+(?:because|since|saying|with (?:the )?feedback)\b:?\s*|\s+[-–—]\s+)(?<why>.+))?$`;
const REVIEW_FILLERS =
  /\b(?:the|of|from|by|both|all|them|it|their|these|submitted|requests?|please|plans?)\b(?!['’_-])|計画|プラン|すべて|全て|全部|両方|全員|[のをは]/gi;

const review: GrammarRule = {
  hint: /approve|accept|reject|decline|refuse|承認|却下|拒否|差し戻/i,
  en: [raw`^(?:i\s+)?(?<verb>approve|reject|(?:accept|decline|refuse)(?=.*\bplans?\b))\s+(?<object>.+?)${WHY}`],
  ja: [
    raw`^(?!.*(?:提出|頼|まで))(?<object>.+?)\s*(?:(?<quoted>${QUOTED})という理由で)?\s*(?<verb>承認|却下|拒否|差し戻)[^:承却拒差]*$`,
    raw`^(?<object>[^:]+?)\s*(?<verb>承認|却下|拒否|差し戻)[^:承却拒差]*:\s*(?<why>.+)$`,
  ],
  build({ verb = "", object = "", quoted, why = quoted }, clause) {
    const rest = object.replace(REVIEW_FILLERS, " ").replace(/\s+/g, " ").trim();
    const isAll = /\b(?:all|both|them|plans)\b|すべて|全て|全部|両方|全員/i.test(object);
    const names = rest === "" ? (isAll ? ["*"] : []) : namesIn(rest);
    if (!names) return undefined;
    const feedback = why && clause.plain(why.trim());
    return { kind: "review", names, approve: /^(?:approve|accept|承認)$/i.test(verb), feedback };
  },
};

const shutdown: GrammarRule = {
  hint: /shut|dismiss|leave|quit|finish|終了|シャットダウン|停止|解散/i,
  en: [
    raw`^(?:shut ?down|dismiss)\s+(?<who>.+?)${WHY}`,
    raw`^shut\s+(?<who>.+?)\s+down${WHY}`,
    raw`^(?:ask|tell|request)\s+(?<who>.+?)\s+to\s+(?:shut ?down|leave|quit|finish)${WHY}`,
  ],
  ja: [raw`^(?<who>.+?)(?:を|に|の)\s*(?:終了|シャットダウン|停止|解散)`],
  build({ who = "", why }, clause) {
    const names = whoIn(who);
    return names && { kind: "shutdown", names, reason: why && clause.plain(why.trim()) };
  },
};

const SAYING = raw`,?\s*(?::|(?:saying|that says|that)\b:?)?\s*(?<content>.+)$`;

const message: GrammarRule = {
  hint: /tell|message|send|伝え|送|メッセージ|言っ/i,
  en: [
    raw`^(?:tell|message)\s+(?<to>[\w-]+)(?:\s*:\s*|,?\s+that\s+|\s+(?=${QUOTED}$))(?<content>.+)$`,
    raw`^send\s+(?:a\s+|the\s+|this\s+)?message\s+to\s+(?<to>[\w-]+)${SAYING}`,
    raw`^send\s+(?<to>[\w-]+)\s+(?:a|the|this)\s+message${SAYING}`,
  ],
  ja: [raw`^(?<to>.+?)に\s*(?<content>${QUOTED})\s*(?:と|という|って)?.*(?:伝え|送|メッセージ|言っ)`],
  build({ to: named = "", content = "" }, clause) {
    const to = EVERYONE.test(named) ? "*" : nameOf(named);
    return to === undefined ? undefined : { kind: "message", to, content: clause.plain(content.trim()) };
  },
};

export const TEAM_RULES: GrammarRule[] = [tasks, worktrees, plans, spawn, review, shutdown, message];
