// The names of teammates as people write them: lists in English and Japanese, and names in katakana.

const KATAKANA: Record<string, string> = {
  アリス: "alice",
  ボブ: "bob",
  キャロル: "carol",
  デイブ: "dave",
  イブ: "eve",
};
/** Names for teammates whom nobody named. */
export const NAMES = ["alice", "bob", "carol", "dave"];

const NAME = /^[a-z][a-z0-9_-]{0,63}$/;
const NO_NAME = new Set(
  "a an the it its me us you them they he she him her this that these those my your our and or to of for with lead user all any some one two three four new plan plans task tasks team teammate teammates agent agents worktree worktrees".split(
    " ",
  ),
);

export const isKnownName = (name: string): boolean => name === "eve" || NAMES.includes(name);

/** Lower case, as teammates are named; undefined when it is no name. */
export function teammateNameIn(word: string): string | undefined {
  const name =
    KATAKANA[word.trim()] ??
    word
      .trim()
      .toLowerCase()
      .replace(/['’]s$/, "");
  return NAME.test(name) && !NO_NAME.has(name) ? name : undefined;
}

/** Contract: undefined when one of the words is no name. */
function allNames(words: string[]): string[] | undefined {
  const names = words.filter((word) => word.trim() !== "").map(teammateNameIn);
  if (names.length === 0 || names.includes(undefined)) return undefined;
  return [...new Set(names as string[])];
}

/** "alice, bob and carol" */
export const englishNames = (text: string): string[] | undefined =>
  allNames(text.trim().split(/\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+/i));

const EVERYONE =
  /^(?:them|each(?: of them| one| teammate)?|both(?: of them)?|all(?: of them)?|everyone|everybody|(?:all )?the (?:team|teammates|others)|all teammates|the whole team)$/i;

/** Names, or none for all of them. Undefined when it is neither. */
export const englishWho = (text: string): string[] | undefined =>
  EVERYONE.test(text.trim()) ? [] : englishNames(text);

/** alice と bob、carol */
export function japaneseNames(text: string): string[] | undefined {
  const plain = text.replace(/(?:チームメイト|チームメート|メンバー|仲間|エージェント)(?:の|である)?/g, " ");
  return allNames(
    plain
      .split(/\s+|と|、|,|・|および|及び/)
      .map((word) => word.replace(/(?:さん|くん|君)$/, ""))
      .filter((word) => word !== ""),
  );
}

const EVERYONE_JA = /^(?:全員|みんな|皆|すべて|全て|全部|両方|二人|2人|両者|チーム(?:全員|全体)?|彼ら|それぞれ|各自)$/;

export const japaneseWho = (text: string): string[] | undefined =>
  EVERYONE_JA.test(text.trim()) ? [] : japaneseNames(text);
