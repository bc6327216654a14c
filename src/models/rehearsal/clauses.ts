// Cutting of a request into clauses, one thing to do each. Quoted text is set aside first, so that nothing in it is cut.
import type { Lang } from "./request.ts";
import { pattern, raw } from "./rule.ts";
import { isOpenReminder } from "./rules-remind.ts";

export interface Clause {
  lang: Lang;
  /** Without quoted text: each quotation stands as one mark. */
  text: string;
  /** The quotations restored as they were typed. */
  raw(text: string): string;
  /** The quotations restored without their quotes. */
  plain(text: string): string;
}

const QUOTES = [
  /```[^\n`]{0,40}\n([\s\S]*?)\n?```/g,
  /`([^`]+)`/g,
  /「([^「」]*)」/g,
  /『([^『』]*)』/g,
  /“([^“”]*)”/g,
  /"([^"]*)"/g,
  /(?<!\w)'([^']*)'(?!\w)/g,
];
const LONGEST = 4000;
const MARK = /\uE000(\d+)\uE001/g;

export function clausesOf(text: string): { lang: Lang; clauses: Clause[] } {
  const kept: { raw: string; plain: string }[] = [];
  let masked = text;
  for (const quote of QUOTES) {
    masked = masked.replace(quote, (raw: string, plain: string) => `\uE000${kept.push({ raw, plain }) - 1}\uE001`);
  }
  const restore = (s: string, how: "raw" | "plain"): string =>
    s.replace(MARK, (_, n: string) => restore(kept[Number(n)]![how], "raw"));
  const isJapanese = pattern("[\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Han}]", "u").test(masked);
  const lang: Lang = isJapanese ? "ja" : "en";
  masked = masked.trim().replace(/\s{20,}/g, (blank) => (blank.includes("\n") ? "\n" : " "));
  // What is that long, without its quotations, is no request of the kinds known here; cutting it up would only cost time.
  if (masked.length > LONGEST) return { lang, clauses: [] };
  const pieces = lang === "ja" ? cutJapanese(masked.normalize("NFKC")) : cutEnglish(masked);
  const clauses = pieces.map((piece) => ({
    lang,
    text: piece,
    raw: (s: string) => restore(s, "raw"),
    plain: (s: string) => restore(s, "plain"),
  }));
  return { lang, clauses };
}

// Verbs at which a clause may begin. Those of the last line are not understood, but must not be swallowed by the clause before.
const VERBS = `run|execute|launch|kick off|start|read|cat|open|show|display|print|view|summari[sz]e|list|find|glob|search|grep|look|create|make|write|save|put
  |draft|prepare|plan|set up|replace|change|edit|substitute|swap|use|spawn|delegate|ask|continue|keep|go on|report|tell|let|give|what|which|how many|where|are there
  |identify|determine|detect|figure|check|inspect|analy[sz]e|count|enumerate|add|append|delete|remove|move|rename|copy|commit|push|deploy|fix|explain|review|connect
  |remind|load|remember|approve|reject|shut|shutdown|dismiss|have|require|they
  |send|build|test|install|update|translate|refactor|sing|draw`;
const GERUNDS: [RegExp, string][] = [
  [/^running\b/i, "run"],
  [/^(creat|mak|writ|us|summariz|sav|prepar|replac|chang|execut)ing\b/i, "$1e"],
  [/^(read|list|search|open|find|show|edit|grep|look|launch|start|continu|keep)ing\b/i, "$1"],
];
const LEADING = `and|then|while|meanwhile|before|after that|afterwards|after|but|plus|also|next|now|first|finally|lastly|please|kindly|just|can you|could you
  |would you|will you|you|i want you to|i would like you to|i'd like you to|i need you to|let's|go ahead and|at the same time|in the meantime|hey|hi|hello|ok|okay`;
const oneLine = (alternatives: string): string => alternatives.replace(/\s*\n\s*/g, "");
const CUTS = /\s*(?:[,;.!?]\s+|\n+|\s+(?=(?:and|then|while|before|after|but|plus|also)\b))/gi;
/** From here on the words are the user's own text, and only "then" ends it. */
const OWN_TEXT =
  /\b(?:containing|saying|that says|with (?:the )?(?:text|contents?)|to-?do(?:s| list)?(?: (?:with|containing))?:)[^\uE000]*$/i;

/** So are the subjects of tasks, a message and the reason for a decision; of tasks also what is to be done with them ends it. */
const OWN_SUBJECTS = /\btasks?(?: on the board)?:[^\uE000]*$/i;
const OWN_MESSAGE = /^\W*(?:please )?(?:reject|approve|tell|message|send)\b[^:]*(?::|\bbecause\b)[^\uE000]*$/i;
const THEN = /^(?:and )?then\b/i;
const WITH_TASKS = /^(?:and )?(?:then\b|(?:create|make|add) (?:\w+ ){0,2}worktrees?\b|spawn\b)/i;

function isOwnText(before: string, after: string): boolean {
  if (OWN_SUBJECTS.test(before)) return !WITH_TASKS.test(after);
  return (OWN_TEXT.test(before) || OWN_MESSAGE.test(before) || isOpenReminder(before)) && !THEN.test(after);
}

function verbFirst(text: string): string {
  let out = text.replace(pattern(raw`^(?:[\s,;:.!?*•-]|\d+[.)]\s|(?:${oneLine(LEADING)})\b)+`), "").trimStart();
  for (const [gerund, verb] of GERUNDS) out = out.replace(gerund, verb).replace(/^continu\b/, "continue");
  return out;
}

const startsWithVerb = (text: string): boolean =>
  pattern(raw`^(?:${oneLine(VERBS)})(?:s|ing|ning|ting)?\b`).test(
    verbFirst(verbFirst(text).replace(/^in the background,?/i, "")),
  );

function cutEnglish(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  const take = (to: number) => {
    const piece = text.slice(from, to);
    const clean = verbFirst(piece)
      .replace(/(?<=\S)[.!?;,:]+\s*$/, "")
      .trim();
    if (clean === "") return;
    if (/^\W*(?:after (?!that\b)|(?:but )?first\b)/i.test(piece) && pieces.length > 0) pieces.splice(-1, 0, clean);
    else pieces.push(clean);
  };
  for (const cut of text.matchAll(CUTS)) {
    const before = text.slice(from, cut.index);
    const after = text.slice(cut.index + cut[0].length);
    const edits = /^\W*(?:please )?edit\b/i.test(before) && /^and (?:replace|change)/i.test(after);
    if (edits || !startsWithVerb(after) || !startsWithVerb(before)) continue;
    if (isOwnText(before, after)) continue;
    take(cut.index);
    from = cut.index;
  }
  take(text.length);
  return pieces;
}

const JA_CUTS =
  /[。!?\n、]|(?<=[てで])から|(?<=[ただ])(?:後|あと)(?:に|で)?|ながら|つつ|(?=その後|そのあと|それから|次に|そして)/g;
const JA_LEADING = /^(?:[\s、]|その後に?|そのあと|それから|次に|そして|続いて|また|同時に|まず|最初に|では|じゃあ)+/;
const JA_POLITE = /(?:を?お願い(?:します|いたします)?|下さい|ください|くれますか|もらえますか|くれる|ほしい)+$/;
/** Such a fragment says how, not what: it belongs to the next one. */
const JA_HOW = /(?:使って|使い|用いて|任せて|利用して|(?<!ん)で)$/;
const JA_ACTION = /(?:[てし]|んで|する|せよ|[くすむるう]|作り|読み|書き|開き|行い|走らせ|調べ|換え|替え|探す)$/;
/** What follows is the reason for a decision, in the user's own words. */
const JA_WHY = /(?:承認|却下|拒否|差し戻)[^。、:]*:/;

function cutJapanese(text: string): string[] {
  if (/todo\s*(?:リスト)?\s*:/i.test(text)) return [text.trim()];
  const why = JA_WHY.exec(text);
  if (why) {
    const pieces = cutJapanese(text.slice(0, why.index + why[0].length - 1));
    return pieces.with(-1, `${pieces.at(-1)}: ${text.slice(why.index + why[0].length).trim()}`);
  }
  const pieces: string[] = [];
  let held = "";
  for (const fragment of text.split(JA_CUTS)) {
    const clean = fragment.replace(JA_LEADING, "").trim().replace(JA_POLITE, "");
    if (clean === "") continue;
    const whole = held === "" ? clean : `${held} ${clean}`;
    const last =
      !JA_HOW.test(clean) &&
      (JA_ACTION.test(clean) || /一覧|実行|検索|表示|作成|列挙|置換|要約|承認|却下|リマインド/.test(clean));
    if (last) pieces.push(whole);
    held = last ? "" : whole;
  }
  if (held !== "") pieces.push(held);
  return pieces;
}
