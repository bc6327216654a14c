// The reading of one Japanese clause. Each reader takes one kind of request or says nothing.
import { type Clause, QUOTED } from "./clauses.ts";
import { asPath, FileChoice, fileWords, isQuoted, looksLikePath, pathsIn } from "./files.ts";
import { readJapaneseReminder } from "./japanese-remind.ts";
import { readJapaneseTeam } from "./japanese-team.ts";
import type { Before, Intent } from "./request.ts";

type Reader = (clause: Clause, before: Before) => Intent[] | undefined;

export function readJapaneseRequest(clause: Clause, before: Before): Intent[] | undefined {
  if (NEGATED.test(clause.text)) return undefined;
  for (const read of READERS) {
    const found = read(clause, before);
    if (found) return found;
  }
  return undefined;
}

/** "Do not …" is no request to do it. */
const NEGATED = /ないで|なくて(?:いい|よい)|(?:する|読む|走らせる)な$|せずに|やめて|禁止/;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u;

const subtask: Reader = (clause) => {
  const lead =
    /(?:サブタスク|サブエージェント|subtask|subagent)(?:を?(?:使って|使い|用いて|利用して|起動して|立てて)|に(?:任せて|頼んで)?|で)?\s*/i.exec(
      clause.text,
    );
  if (!lead) return undefined;
  const prompt = (clause.text.slice(0, lead.index) + clause.text.slice(lead.index + lead[0].length)).trim();
  return prompt === "" ? undefined : [{ kind: "subtask", prompt: clause.raw(prompt) }];
};

const framework: Reader = ({ text }) => {
  if (/実行|走らせ|書い|作成|作っ|置/.test(text)) return undefined;
  return /テスト.*(?:フレームワーク|ランナー|ライブラリ)|フレームワーク.*テスト|test framework/i.test(text)
    ? [{ kind: "framework" }]
    : undefined;
};

const todo: Reader = (clause) => {
  const found = /(?:todo|to-do|やること|チェック)\s*(?:リスト)?/i.exec(clause.text);
  if (!found || !/作|立て|用意|書い|つく|準備/.test(clause.text)) return undefined;
  const subject = clause.text
    .slice(0, found.index)
    .replace(/(?:ための|ために|用の|の)\s*$/, "")
    .trim();
  const own = /:\s*(.+)$/s.exec(clause.text)?.[1]?.replace(/\s*(?:を|で)?(?:作|立て|用意|つく)\S*\s*$/, "");
  const items = own
    ?.split(/[、,\n]+/)
    .map((item) => clause.plain(item.replace(/^\s*(?:[-*・]|\d+[.)])\s*/, "").trim()));
  const intent: Intent = { kind: "todo", subject: clause.plain(subject) };
  return [items ? { ...intent, items: items.filter((item) => item !== "") } : intent];
};

const EDITS = /置換|置き換え|置きかえ|変更|書き換え|書きかえ|変え/;

const edit: Reader = (clause, before) => {
  if (!EDITS.test(clause.text)) return undefined;
  const found = new RegExp(
    `(${QUOTED}|\\S+?)\\s*(?:という(?:文字列|単語|行))?を\\s*(?:(すべて|全て|全部)\\s*)?(${QUOTED}|\\S+?)\\s*(?:に|へ|と)(?:\\s*(すべて|全て|全部))?`,
  ).exec(clause.text);
  if (!found) return undefined;
  const lead = clause.text.slice(0, found.index);
  // "a.txt の foo を": without a space before it the object may have swallowed the file.
  const glued = /^(\S+?)(?:の中の|内の|の)(\S+)$/.exec(found[1]!);
  const named = pathsIn(lead).at(-1) ?? (glued && looksLikePath(glued[1]!) ? glued[1] : undefined);
  const path = named ? clause.plain(named) : before.file;
  if (!path) return undefined;
  const object = glued && named === glued[1] ? glued[2]! : found[1]!.replace(/^(?:の中の|内の|の)/, "");
  const all = /すべて|全て|全部/.test(clause.text);
  return [{ kind: "edit", path, oldText: clause.plain(object), newText: clause.plain(found[3]!), all }];
};

const write: Reader = (clause) => {
  if (!/書い|書き|作成|作って|作る|保存/.test(clause.text)) return undefined;
  const marks = fileWords(clause.text).filter(isQuoted);
  const path =
    fileWords(clause.text).find((w) => looksLikePath(w)) ?? marks.find((m) => looksLikePath(clause.plain(m)));
  if (!path) return undefined;
  const text = marks.find((m) => m !== path);
  const empty = /空の|からの/.test(clause.text);
  if (!text && !empty) return undefined;
  const content = text ? clause.plain(text) : "";
  return [
    {
      kind: "write",
      path: clause.plain(path),
      content: content === "" || content.endsWith("\n") ? content : `${content}\n`,
    },
  ];
};

const BACKGROUND = /(?:バックグラウンド|裏|background)(?:ジョブ)?(?:として|にて|で)\s*/i;

const run: Reader = (clause) => {
  const background = BACKGROUND.test(clause.text);
  const found = /^(.*?)\s*(?:コマンド)?\s*を?\s*(?:実行|走らせ|起動|動か|run)/is.exec(
    clause.text.replace(BACKGROUND, ""),
  );
  if (!found) return undefined;
  const object = found[1]!
    .replace(/^コマンド\s*/, "")
    .replace(/\s*(?:という|の)?(?:コマンド)?\s*を?$/, "")
    .trim();
  const quoted = isQuoted(object);
  if (object === "" || (!quoted && KANA.test(object))) return undefined;
  return [{ kind: "run", command: quoted ? clause.plain(object) : clause.raw(object), background }];
};

const list: Reader = (clause) => {
  if (!/ファイル|\*/.test(clause.text)) return undefined;
  if (!/一覧|列挙|リスト|探|見せ|表示|教え|挙げ|見つけ|検索|ありますか|出し|list/i.test(clause.text)) return undefined;
  // An adjective or a relative clause before ファイル narrows the list in a way that is not understood.
  if (/[いたな]\s*ファイル/.test(clause.text)) return undefined;
  const choice = new FileChoice();
  const katakana =
    clause.text.match(/パイソン|タイプスクリプト|マークダウン|ジャバスクリプト|シェル|テキスト|テスト(?=ファイル)/g) ??
    [];
  for (const marked of [...fileWords(clause.text), ...katakana]) {
    const word = clause.plain(marked);
    const at = clause.text.indexOf(marked) + marked.length;
    const place = /^\s*(?:ディレクトリ|フォルダ|以下|配下|の中|内|にある|から)/.test(clause.text.slice(at));
    if (/^list$/i.test(word)) continue;
    if (place) choice.path = word;
    else if (choice.add(word)) continue;
    else if (looksLikePath(word) && choice.add(`**/${word}`)) continue;
    else return undefined;
  }
  const files = choice.files();
  return files && [{ kind: "list", files }];
};

const read: Reader = (clause, before) => {
  if (!/読|開い|開く|見せ|表示|要約|確認|まとめ|(?:内容|中身).*教え/.test(clause.text)) return undefined;
  const paths = fileWords(clause.text)
    .filter((w) => looksLikePath(clause.plain(w)) || (isQuoted(w) && /読|開/.test(clause.text)))
    .map((w) => asPath(clause.plain(w)));
  if (paths.length === 0 && before.file && /それ|そのファイル/.test(clause.text)) paths.push(before.file);
  return paths.length > 0 ? paths.map((path) => ({ kind: "read", path })) : undefined;
};

const PLACE = new RegExp(
  `^(${QUOTED}|[\\w@~./-]+)\\s*(?:ディレクトリ|フォルダ)?(?:の中(?:で|から)?|内(?:で|から)?|以下(?:で|から)?|で|から)\\s*`,
);

const search: Reader = (clause) => {
  if (!/検索|探し|探す|さがし|grep|見つけ/i.test(clause.text)) return undefined;
  const everywhere = /^(?:この)?(?:リポジトリ|プロジェクト|コード|ソース)(?:全体)?(?:の中)?(?:で|から|内で|内から)\s*/;
  const text = clause.text.replace(everywhere, "");
  const byGrep = /^(\S+)\s*で\s*grep/i.exec(text);
  const place = byGrep ? undefined : PLACE.exec(text);
  const rest = place ? text.slice(place[0].length) : text;
  const object = byGrep?.[1] ?? /^(.+?)\s*(?:という(?:単語|文字列|言葉))?\s*(?:を|の検索|で検索)/s.exec(rest)?.[1];
  const word = object?.replace(/^(?:単語|文字列)\s*/, "").trim();
  if (!word) return undefined;
  const found: Intent = { kind: "search", text: clause.plain(word) };
  return [place ? { ...found, path: clause.plain(place[1]!) } : found];
};

const REPORT =
  /^(?:その|結果|それ|内容|答え|わかったこと|見つかったもの)*(?:を|も)?(?:報告|教え|要約|まとめ|知らせ|見せ)/;

const report: Reader = ({ text }) => (REPORT.test(text) ? [{ kind: "report" }] : undefined);

const READERS: Reader[] = [
  subtask,
  readJapaneseReminder,
  readJapaneseTeam,
  framework,
  todo,
  edit,
  write,
  run,
  list,
  read,
  search,
  report,
];
