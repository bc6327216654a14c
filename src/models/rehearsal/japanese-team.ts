// The reading of Japanese requests about a team: tasks, worktrees, teammates, plans, shutdown, messages.
import type { Clause } from "./clauses.ts";
import type { Before, Intent } from "./request.ts";
import { isKnownName, japaneseNames, japaneseWho, NAMES, teammateNameIn } from "./team-names.ts";
import { MOST, mateOf, team } from "./team-parts.ts";

export function readJapaneseTeam(clause: Clause, before: Before): Intent[] | undefined {
  return (
    tasks(clause) ??
    worktrees(clause, before) ??
    plans(clause) ??
    spawn(clause, before) ??
    review(clause) ??
    shutdown(clause) ??
    message(clause)
  );
}

/** "Do not approve it" is no approval. */
const NEGATED = /(?:承認|却下|拒否|終了|停止|起動|シャットダウン)(?:し|させ)?(?:ない|ず|ません)/;
const NUMBERS = "一二三四";
const COUNT = `([1-9]|[${NUMBERS}])\\s*(?:つ|個|件)`;
const MAKES = "(?:作|つく|追加|用意|登録)";
const WORKTREE = "(?:git\\s*)?(?:ワークツリー|worktree)";
const TASKS = new RegExp(
  `^(?:新しい\\s*)?(?:タスクを?\\s*${COUNT}|${COUNT}の\\s*(?:新しい)?タスク)(?:と\\s*(?:それぞれの|各タスクの)?\\s*(${WORKTREE}))?\\s*を?\\s*${MAKES}`,
  "i",
);

const countOf = (word: string): number => (NUMBERS.includes(word) ? NUMBERS.indexOf(word) + 1 : Number(word));

function tasks(clause: Clause): Intent[] | undefined {
  if (/サブタスク/.test(clause.text)) return undefined;
  if (clause.quotes.length > 0 && new RegExp(`^タスク.*を\\s*${MAKES}`).test(clause.text)) {
    return [team({ tasks: clause.quotes.length, subjects: clause.quotes })];
  }
  const found = TASKS.exec(clause.text);
  if (!found) return undefined;
  const count = countOf(found[1] ?? found[2]!);
  return count > MOST ? undefined : [team({ tasks: count, worktrees: found[3] !== undefined })];
}

/** Only together with tasks: which ones else? */
function worktrees({ text }: Clause, before: Before): Intent[] | undefined {
  const found = new RegExp(
    `^(?:(?:それぞれ|各タスク|各々|おのおの|それら|タスク)(?:ごと)?(?:に|の|用に|用の|のために|のための)?)?\\s*(?:専用の)?\\s*${WORKTREE}\\s*(?:を|も)?\\s*${MAKES}`,
    "i",
  ).test(text);
  return found && before.team ? [team({ worktrees: true })] : undefined;
}

function plans({ text }: Clause): Intent[] | undefined {
  const asks = /(?:計画|プラン).*(?:提出|出す|出し|作成|見せ).*(?:頼|依頼|指示|伝え|求め|もら|よう|言っ)/.test(text);
  const wants = /(?:計画|プラン)(?:書)?を?(?:先に)?(?:提出させ|出させ|求め|要求)/.test(text);
  if (!asks && !wants) return undefined;
  const to = /^(.+?)に(?:は|も)?/.exec(text)?.[1];
  return [team({ plans: (to && japaneseWho(to)) || [] })];
}

const SPAWN = /^(.+?)\s*を?\s*(?:([1-4一二三四])人\s*)?(?:起動|立ち上げ|spawn|参加させ|呼び出)/i;
const MATES = /チームメイト|チームメート|仲間|メンバー|エージェント/;

function spawn({ text }: Clause, before: Before): Intent[] | undefined {
  const found = SPAWN.exec(text);
  if (!found || /サブ/.test(text) || NEGATED.test(text)) return undefined;
  const object = found[1]!.replace(/を\s*$/, "");
  const count = found[2] ?? /([1-4一二三四])人(?:の)?/.exec(object)?.[1];
  const marked = MATES.test(object);
  const names = japaneseNames(object.replace(/[1-4一二三四]人の?/, ""));
  const unnamed =
    marked &&
    count !== undefined &&
    object
      .replace(MATES, "")
      .replace(/[1-4一二三四]人の?/, "")
      .trim() === "";
  if (unnamed) return [team({ mates: NAMES.slice(0, countOf(count)).map((name) => mateOf(name, undefined)) })];
  // A single plain word may be a command to run.
  const sure = marked || before.team || /spawn/i.test(text) || names?.some(isKnownName);
  if (!names || !sure || names.length > MOST) return undefined;
  return [team({ mates: names.map((name) => mateOf(name, undefined)) })];
}

const REVIEW =
  /^(.*?)(?:の?(?:計画|プラン))?\s*(?:を|は)?\s*(すべて|全て|全部|両方)?\s*(?:(\uE000\d+\uE001)という理由で)?\s*(承認|却下|拒否|差し戻)[^:承却拒差]*(?::\s*(.+))?$/s;

function review(clause: Clause): Intent[] | undefined {
  const found = REVIEW.exec(clause.text);
  if (!found || NEGATED.test(clause.text) || /提出|頼|まで/.test(clause.text.replace(/:.*$/s, ""))) return undefined;
  const who = found[1]!.replace(/の$/, "").trim();
  if (who === "" && !/計画|プラン/.test(clause.text)) return undefined;
  const named = who === "" ? [] : japaneseWho(who);
  if (!named) return undefined;
  const names = named.length === 0 && (who !== "" || found[2]) ? ["*"] : named;
  const feedback = found[3] ?? found[5];
  const why = feedback === undefined ? {} : { feedback: clause.plain(feedback.trim()) };
  return [{ kind: "review", names, approve: found[4] === "承認", ...why }];
}

function shutdown({ text }: Clause): Intent[] | undefined {
  const found = /^(.+?)(?:を|に|の)\s*(?:終了|シャットダウン|停止|解散)/.exec(text);
  const names = found && !NEGATED.test(text) && japaneseWho(found[1]!);
  return names ? [{ kind: "shutdown", names }] : undefined;
}

function message(clause: Clause): Intent[] | undefined {
  const found = /^(.+?)に\s*(\uE000\d+\uE001)\s*(?:と|という|って)?.*(?:伝え|送|メッセージ|言っ)/.exec(clause.text);
  if (!found) return undefined;
  const to = japaneseWho(found[1]!)?.length === 0 ? "*" : teammateNameIn(found[1]!.replace(/(?:さん|くん|君)$/, ""));
  return to ? [{ kind: "message", to, content: clause.plain(found[2]!) }] : undefined;
}
