// Rules for work on files, commands, searches, subtasks and todo lists.
import type { Clause } from "./clauses.ts";
import { asPath, fileKind, fileWords, looksLikePath, pathsIn, patternFor } from "./file-names.ts";
import type { Intent } from "./request.ts";
import { type GrammarRule, isQuoted, itemsIn, pattern, QUOTED, raw } from "./rule.ts";

const words = (text: string): Set<string> => new Set(text.split(" "));

const SUB = raw`sub-?\s?(?:task|agent)s?\b`;

const subtask: GrammarRule = {
  hint: /sub|サブ/i,
  en: [
    raw`^(?:use|using|with|via|in|spawn|start|launch|run|create|delegate|ask)\b.*?\b${SUB}[\s,:]*(?:(?:to|that|which|and|for|with)\s+)?(?<prompt>.+)$`,
    raw`^(?<prompt>.+?)\s+(?:using|with|in|via|through|by)\s+(?:an?\s+|the\s+)?${SUB}$`,
  ],
  ja: [
    raw`^(?<lead>.*?)(?:サブタスク|サブエージェント|${SUB})(?:を?(?:使って|使い|用いて|利用して|起動して|立てて)|に(?:任せて|頼んで)?|で)?\s*(?<prompt>.+)$`,
  ],
  build({ lead = "", prompt = "" }, clause) {
    const whole = `${lead}${prompt}`.trim();
    return { kind: "subtask", prompt: clause.raw(whole.charAt(0).toUpperCase() + whole.slice(1)) };
  },
};

const framework: GrammarRule = {
  hint: /framework|test|フレームワーク|テスト/i,
  en: [
    raw`^(?!(?:run|execute|write|create|replace|change|install|add|use)\b).*(?:\btest(?:s|ing)?[ -](?:framework|runner|library|tool)s?\b|\bframeworks?\b.*\btest(?:s|ing)?\b)`,
  ],
  ja: [
    "^(?!.*(?:実行|走らせ|書い|作成|作っ|置)).*(?:テスト.*(?:フレームワーク|ランナー|ライブラリ)|フレームワーク.*テスト|test framework)",
  ],
  build: () => ({ kind: "framework" }),
};

const todo: GrammarRule = {
  hint: /to-?do|to do|check|やること|チェック/i,
  en: [
    raw`^(?:create|make|write|draft|prepare|plan|set up|start|give|put|build)\b.*?\b(?:to-?dos?|to do|check)(?:[ -]?lists?)?\b(?![.\w])(?!.*\bfile\b)\s*(?:(?:for|to|about|on|of)\s+)?(?<subject>.*?)\s*(?:(?::|\bwith\b(?: the items)?:?|\bcontaining\b:?)\s*(?<items>.+))?$`,
  ],
  ja: [
    raw`^(?<subject>.*?)(?:ための|ために|用の|の)?\s*(?:todo|to-do|やること|チェック)\s*(?:リスト)?(?:\s*:\s*(?<items>.+?))?\s*(?:を|で)?\s*(?:作|立て|用意|書い|つく|準備)`,
  ],
  build({ subject = "", items = "" }, clause) {
    const own = itemsIn(clause, items);
    return { kind: "todo", subject: clause.plain(subject.trim()), ...(own.length > 0 && { items: own }) };
  },
};

const ALL = raw`(?<all>(?:all|every|each)\s+(?:of\s+)?(?:the\s+)?)?(?:(?:occurrences?|instances?)\s+of\s+)?`;
const NOUN = raw`(?:(?:the\s+)?(?:word|text|string|line)\s+)?`;
const REPLACE = raw`(?:replac(?:e|ing)|chang(?:e|ing)|substitut(?:e|ing)|swap)\s+${ALL}${NOUN}(?<old>.+?)\s+(?:with|by|to|into)\s+${NOUN}(?<new>.+?)`;
const EVERYWHERE = raw`(?<everywhere>\s+everywhere)?`;
const JA_ALL = "(?:すべて|全て|全部)";

const edit: GrammarRule = {
  hint: /replac|chang|substitut|swap|置|変|書/i,
  en: [
    raw`^(?:in|edit|open|inside)\s+(?:the\s+)?(?:file\s+)?(?<path>\S+?)(?:\s*[:,]\s*|\s+)(?:and\s+|to\s+|by\s+)?${REPLACE}${EVERYWHERE}$`,
    raw`^${REPLACE}\s+(?:in|inside|within|of)\s+(?:the\s+)?(?:file\s+)?(?<path>\S+?)${EVERYWHERE}$`,
    raw`^${REPLACE}${EVERYWHERE}$`,
  ],
  ja: [
    raw`^(?:(?<path>${QUOTED}|\S+?)\s*(?:の中の|内の|の)\s*)?(?<old>${QUOTED}|\S+?)\s*(?:という(?:文字列|単語|行))?を\s*(?<all>${JA_ALL})?\s*(?<new>${QUOTED}|\S+?)\s*(?:に|へ|と)\s*(?<everywhere>${JA_ALL})?.*(?:置換|置き換え|置きかえ|変更|書き換え|書きかえ|変え)`,
  ],
  build(at, clause, before) {
    const path = at.path === undefined ? before.file : fileIn(clause, at.path);
    if (path === undefined) return undefined;
    const all = (at.all ?? at.everywhere) !== undefined;
    const { old = "", new: fresh = "" } = at;
    return { kind: "edit", path, oldText: clause.plain(old.trim()), newText: clause.plain(fresh.trim()), all };
  },
};

function fileIn(clause: Clause, word: string): string | undefined {
  const plain = clause.plain(word);
  return isQuoted(word) || looksLikePath(plain) ? plain : undefined;
}

const NEW_FILE = raw`^(?:write|create|make|save|add)\s+(?:to\s+)?(?:(?:me|an?|the|new|text)\s+)*`;
const CALLED = raw`(?:file\s+)?(?:(?:called|named|at)\s+)?`;

const write: GrammarRule = {
  en: [
    raw`${NEW_FILE}${CALLED}(?<path>\S+?)(?::\s+|,?\s+(?:with|containing|that says|that contains|saying|which says|which contains|and put|having)\s+(?:it\s+)?(?:(?:the|as)\s+)?(?:(?:following\s+)?(?:text|contents?|words?|line)\b\s*)?(?:of\s+)?:?\s*)(?<text>.+)$`,
    raw`${NEW_FILE}empty\s+${CALLED}(?<path>\S+)(?<text>)$`,
    raw`^(?:write|save|put|add)\s+(?:the\s+(?:text|words?|line)\s+)?(?<text>.+?)\s+(?:to|into|in|as)\s+(?:(?:an?|the|new)\s+)*${CALLED}(?<path>\S+)$`,
  ],
  ja: ["書い|書き|作成|作って|作る|保存"],
  build(at, clause) {
    const named = at.path ?? pathsIn(clause.text).find((word) => looksLikePath(clause.plain(word)));
    const path = named && fileIn(clause, named);
    const quotes = fileWords(clause.text).filter((word) => isQuoted(word) && word !== named);
    const text = at.text ?? quotes[0] ?? (/空の|からの/.test(clause.text) ? "" : undefined);
    if (!path || text === undefined) return undefined;
    const content = isQuoted(text.trim()) ? clause.plain(text.trim()) : clause.raw(text.trim());
    // A file of text ends with a newline, as editors leave it.
    return { kind: "write", path, content: content === "" || content.endsWith("\n") ? content : `${content}\n` };
  },
};

const BACKGROUND = raw`\s*,?\s*(?:\b(?:in|as) (?:the |a )?background(?: (?:job|task|process))?\b,?|(?:バックグラウンド|裏|background)(?:ジョブ)?(?:として|にて|で))\s*`;
const NO_COMMAND = raw`^(?:the|a|an|my|your|our|some|all|any|this|that|these|those|it|them|tests?|everything|something|me)\b|\b(?:don't|do not|never)\b|[\p{scx=Hira}\p{scx=Kana}\p{scx=Han}]`;

const run: GrammarRule = {
  en: [
    raw`^(?<background>${BACKGROUND})?(?:run|execute|launch|kick off|(?<start>start))\s+(?:(?:(?:the|this)\s+(?:shell\s+)?)?command\s*:?\s+)?(?<object>.+)$`,
  ],
  ja: [
    raw`^(?:コマンド\s*)?(?<object>.+?)\s*(?:という|の)?(?:コマンド)?\s*を?\s*(?:${BACKGROUND})?(?:実行|走らせ|起動|動か|run(?=\s*し))`,
  ],
  build({ background, start, object = "" }, clause) {
    const command = object.replace(pattern(BACKGROUND), " ").trim();
    const aside = background !== undefined || pattern(BACKGROUND).test(clause.text);
    const quoted = pattern(raw`^(${QUOTED})(?:\s+(?:command|for me|once|again|now))*$`).exec(command)?.[1];
    if (quoted) return { kind: "run", command: clause.plain(quoted), background: aside };
    if (command === "" || (start && !aside) || pattern(NO_COMMAND, "iu").test(command)) return undefined;
    return { kind: "run", command: clause.raw(command), background: aside };
  },
};

const FILLERS =
  "all the of every any me us for a an there are is do we have you see can exist found this that repo repository project codebase directory directories folder folders here current out up and or in under inside within from code source what which names name please list";

const list: GrammarRule = {
  en: [
    raw`^(?<verb>list|find|show|glob|display|print|give|enumerate|what|which|how many|count|are there|look for|search for|tell)\b(?<rest>.*)$`,
  ],
  // An adjective or a relative clause before ファイル narrows the list in a way that is not understood.
  ja: [
    raw`^(?=.*(?:ファイル|\*))(?!.*[いたな]\s*ファイル)(?=.*(?:一覧|列挙|リスト|探|見せ|表示|教え|挙げ|見つけ|検索|ありますか|出し|list))(?<rest>.*)$`,
  ],
  build({ verb = "", rest = "" }, clause) {
    const kinds = [];
    let path: string | undefined;
    let isNamed = clause.lang === "ja";
    const found = [
      ...fileWords(rest),
      ...(rest.match(
        /(?:パイソン|(?:タイプ|ジャバ)スクリプト|マークダウン|シェル|テキスト|テスト)(?=の?\s*ファイル)/g,
      ) ?? []),
    ];
    for (const [at, marked] of found.entries()) {
      const word = clause.plain(marked);
      const before = `${found[at - 2] === "in" ? "in" : found[at - 1]}`;
      const behind = rest.slice(rest.indexOf(marked) + marked.length);
      const kind = fileKind(word);
      if (/^(?:files?|scripts|sources)$/i.test(word)) isNamed = true;
      else if (/^\s*(?:ディレクトリ|フォルダ|以下|配下|の中|内|にある|から)/.test(behind)) path = word;
      else if (kind) kinds.push(kind);
      else if (words(FILLERS).has(word.toLowerCase())) continue;
      else if (
        /^(?:in|under|inside|within|from|directory|folder)$/i.test(before) &&
        pattern(raw`^[\p{L}\p{M}\p{N}_@~./-]+$`, "u").test(word)
      )
        path = word;
      else if (looksLikePath(word) && !isQuoted(marked) && !/^(?!find)./i.test(verb))
        kinds.push({ label: `**/${word}`, glob: `**/${word}` });
      else return undefined;
    }
    const label = kinds.map((kind) => kind.label).join(", ");
    const glob = patternFor(kinds);
    if (!glob || !(isNamed || label.includes("*") || (label !== "" && /^list$/i.test(verb)))) return undefined;
    return { kind: "list", files: { label, pattern: glob, path } };
  },
};

const READ_FILLERS =
  "the a file files contents content of and me to its through from again first it them in what is inside summary please for us";

const read: GrammarRule = {
  en: [
    raw`^(?:(?:continue|keep|go on)\s+(?:to\s+|with\s+|on\s+)?)?(?<verb>(?:read|open)(?:ing)?|show|display|print|cat|view|summari[sz]e|look at|what(?: is|'s) in|give me a summary of|tell me about)\b(?<rest>.*)$`,
  ],
  ja: [raw`^(?=.*(?:読|開い|開く|見せ|表示|要約|確認|まとめ|(?:内容|中身).*教え))(?<rest>.*)$`],
  build({ verb, rest = "" }, clause, before) {
    const paths: string[] = [];
    const opens = /read|open|読|開/i.test(verb ?? rest);
    for (const marked of fileWords(rest)) {
      const word = clause.plain(marked);
      if (looksLikePath(word) || (isQuoted(marked) && opens)) paths.push(asPath(word));
      else if (verb && !words(READ_FILLERS).has(word.toLowerCase())) return undefined;
    }
    const again = paths.length === 0 && /\b(?:it|that file|the file)\b|それ|そのファイル/i.test(rest);
    if (again && before.file !== undefined) paths.push(before.file);
    return paths.length > 0 ? paths.map((path): Intent => ({ kind: "read", path })) : undefined;
  },
};

const REPOSITORY = raw`(?:the\s+|this\s+|all\s+(?:the\s+)?)?(?:whole\s+)?(?:repo|repository|project|code|codebase|files?|directory)`;
const JA_REPOSITORY = raw`(?:(?:この)?(?:リポジトリ|プロジェクト|コード|ソース)(?:全体)?(?:の中)?(?:で|から|内で|内から)\s*)?`;

const search: GrammarRule = {
  en: [
    raw`^(?<command>grep\s+-.+)$`,
    raw`^where (?:is|are)\s+(?<text>\S+)\s+(?:defined|used|called|mentioned)$`,
    raw`^(?:search|grep)\s+(?:in\s+|through\s+)?(?<file>\S+)\s+for\s+(?<text>.+)$`,
    raw`^(?:search|grep|(?<find>find)|look(?=\s+for\b))\b\s*(?:(?:the\s+)?(?:code|repo|repository|project|codebase|files)\b\s*)?(?:for\b)?\s*(?:(?:the\s+)?(?:word|string|text|pattern|phrase|term)s?\s+)?(?<text>.+?)(?:\s+(?:in|across|within)\s+${REPOSITORY}|\s+(?:in|inside|under|within)\s+(?:the\s+)?(?:file\s+|folder\s+|directory\s+)?(?<path>\S+))?$`,
  ],
  ja: [
    raw`^${JA_REPOSITORY}(?<text>\S+)\s*で\s*grep`,
    raw`^(?=.*(?:検索|探し|探す|さがし|grep|見つけ))${JA_REPOSITORY}(?:(?<path>${QUOTED}|[\w@~./-]+)\s*(?:ディレクトリ|フォルダ)?(?:の中(?:で|から)?|(?:内|以下)(?:で|から)?|で|から)\s*)?(?:(?:単語|文字列)\s*)?(?<text>.+?)\s*(?:という(?:単語|文字列|言葉))?\s*(?:を|の検索|で検索)`,
  ],
  build({ command, file, find, text = "", path = file }, clause) {
    if (command) return { kind: "run", command: clause.raw(command), background: false };
    const quoted = pattern(QUOTED).exec(text)?.[0];
    if ((file && !fileIn(clause, file)) || (find && !quoted && /\s/.test(text))) return undefined;
    return { kind: "search", text: clause.plain(quoted ?? text.trim()), path: path && clause.plain(path) };
  },
};

const report: GrammarRule = {
  en: [
    raw`^(?:report|tell|show|give|let|summari[sz]e)\b(?:\s+(?:me|us|back|know|to|it|them|that|the|a|an|your|short|result|results|answer|findings|output|outcome|summary|report|list|what|you|find|found|see|saw|everything|of))*$`,
  ],
  ja: ["^(?:その|結果|それ|内容|答え|わかったこと|見つかったもの)*(?:を|も)?(?:報告|教え|要約|まとめ|知らせ|見せ)"],
  build: () => ({ kind: "report" }),
};

export const WORK_RULES: GrammarRule[] = [subtask, framework, todo, edit, write, run, list, read, search, report];
