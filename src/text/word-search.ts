// Finding things by words: those that share most of them come first, rare words count more.

const WORDS = /[\p{L}\p{N}]+/gu;
export const wordsIn = (text: string): string[] => text.toLowerCase().match(WORDS) ?? [];

/** What is looked through: its name counts twice. */
export interface Searched {
  name: string;
  description: string;
}

/** Contract: the best first, without those that share no word; without words all, as they stand. */
export function byWords<T extends Searched>(all: readonly T[], query: string): T[] {
  const asked = [...new Set(wordsIn(query))];
  if (asked.length === 0) return [...all];
  const texts = all.map((one) => ({ one, name: wordsIn(one.name), text: wordsIn(one.description) }));
  const weights = asked.map((word) => {
    const holders = texts.filter(({ name, text }) => has(name, word) || has(text, word)).length;
    return { word, weight: Math.log(1 + all.length / (1 + holders)) };
  });
  return texts
    .map(({ one, name, text }) => ({ one, score: scoreOf(weights, name, text) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one);
}

const scoreOf = (weights: readonly { word: string; weight: number }[], name: string[], text: string[]): number =>
  weights.reduce((sum, { word, weight }) => sum + weight * ((has(name, word) ? 2 : 0) + (has(text, word) ? 1 : 0)), 0);

/** `review` is found by `reviews` and `reviewing`; in scripts without blanks a word lies within others. */
const has = (words: readonly string[], word: string): boolean =>
  words.some(
    (one) =>
      one === word ||
      (word.length > 3 && one.startsWith(word)) ||
      (one.length > 3 && word.startsWith(one)) ||
      (/[^\p{ASCII}]/u.test(word) && (one.includes(word) || word.includes(one))),
  );
