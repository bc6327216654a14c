// Rules for what is known beyond the conversation: MCP servers, skills, what is remembered.
import { type GrammarRule, raw } from "./rule.ts";

const SKILL = raw`(?<name>[\w:-]+)`;

const skill: GrammarRule = {
  hint: /skill|スキル/i,
  en: [raw`^(?:load|use|bring)\s+(?:the\s+)?${SKILL}\s+skill$`, raw`^(?:load|use)\s+(?:the\s+)?skill\s+${SKILL}$`],
  ja: [raw`^${SKILL}\s*(?:の|という)?\s*スキル\s*を\s*(?:読み込|ロード|使)`],
  build: ({ name = "" }, clause) => ({ kind: "skill", name: clause.plain(name) }),
};

const SERVER = raw`(?<server>[\w-]+)`;
const CONNECT = "(?:接続|つな|繋)";
const SERVER_EN = [
  raw`(?<![\w-])(?!(?:the|an?|my|your|this|that)\s)${SERVER}\s+MCP\s+server`,
  raw`MCP\s+server\s+(?:(?:named|called)\s+)?${SERVER}`,
  raw`connect\s+to\s+(?:the\s+)?${SERVER}\s+(?:over|via|with|through|by)\s+MCP`,
];

/** The word MCP alone may be what is searched for. */
const server: GrammarRule = {
  hint: /(?<![a-z])MCP(?![a-z])/i,
  en: SERVER_EN,
  ja: [
    raw`${SERVER}\s*(?:の|という)?\s*MCP\s*(?:サーバー?|(?=に${CONNECT}))(?:.*?${CONNECT}\S*?(?:して|し|いで|ぎ)[、,\s]*(?<query>.+?)\s*を\s*(?:検索|探|調べ))?`,
    ...SERVER_EN,
  ],
  build: ({ server: name = "", query }, clause) => ({
    kind: "server",
    server: clause.plain(name),
    query: query && clause.plain(query),
  }),
};

const review: GrammarRule = {
  hint: /commit|コミット/i,
  en: [raw`^review\s+(?:the\s+)?(?:last|latest)\s+commit$`],
  ja: [raw`^(?:最後|直前|最新)のコミットを(?:レビュー|確認)`],
  build: () => ({ kind: "run", command: "git show --stat HEAD", background: false }),
};

const remember: GrammarRule = {
  hint: /remember|覚え/i,
  en: [raw`^(?:please\s+)?remember\s+(?:that\s+)?(?!that$|this$|it$)(?<words>.+)$`],
  ja: [raw`^(?<words>.+?)(?:という?)?(?:こと)?(?:を|と)\s*覚えて`],
  build: ({ words = "" }, clause) => ({ kind: "remember", words: clause.raw(words.trim()) }),
};

const recall: GrammarRule = {
  hint: /remember|prefer|覚え|好み/i,
  en: [raw`^what\s+(?:do|did)\s+(?:you\s+remember|i\s+prefer)\b.*$`],
  ja: [raw`^(?:何を)?覚えて(?:い)?(?:る|ます)(?:こと)?(?:は何|か|を教え)?.*$`],
  build: () => ({ kind: "recall" }),
};

export const KNOWLEDGE_RULES: readonly GrammarRule[] = [server, skill, review, recall, remember];

/** "I prefer tabs. Remember that.": what is to be kept stands before, whatever it is. */
const BEFORE =
  /^(?<words>[\s\S]+?)[.!。！]\s*(?:(?:please\s+)?remember\s+(?:that|this|it)|(?:(?:それ|これ|この?こと)を?)?覚えて(?:おいて)?(?:ください|下さい)?)[.!。！]?\s*$/iu;

export const wordsToKeep = (text: string): string | undefined => BEFORE.exec(text.trim())?.groups?.words?.trim();
