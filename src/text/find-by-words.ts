// Finding things by words: those that share most of them, rare ones counting more.

interface Described {
  name: string;
  description: string;
}

const WORDS = /[\p{L}\p{N}]+/gu;
const wordsIn = (text: string): string[] => text.toLowerCase().match(WORDS) ?? [];

/** Contract: the best first; without words all, as they stand. */
export function foundByWords<T extends Described>(all: readonly T[], query: string): T[] {
  const asked = [...new Set(wordsIn(query))];
  if (asked.length === 0) return [...all];
  const texts = all.map((thing) => ({ thing, name: wordsIn(thing.name), text: wordsIn(thing.description) }));
  const weight = (word: string) =>
    Math.log(1 + all.length / (1 + texts.filter(({ name, text }) => has(name, word) || has(text, word)).length));
  const weights = new Map(asked.map((word) => [word, weight(word)]));
  return texts
    .map(({ thing, name, text }) => ({
      thing,
      score: asked.reduce(
        (sum, word) => sum + (weights.get(word) ?? 0) * ((has(name, word) ? 2 : 0) + (has(text, word) ? 1 : 0)),
        0,
      ),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ thing }) => thing);
}

/** `review` is asked for by `reviews` and `reviewing` too; scripts without blanks are searched within words. */
const has = (words: readonly string[], word: string): boolean =>
  words.some(
    (one) =>
      one === word ||
      (word.length > 3 && one.startsWith(word)) ||
      (one.length > 3 && word.startsWith(one)) ||
      (/[^\p{ASCII}]/u.test(word) && one.includes(word)),
  );
