// Finding skills by words: those that share most of them, rare ones counting more.
import type { Skill } from "./skill.ts";

const WORDS = /[\p{L}\p{N}]+/gu;
const wordsIn = (text: string): string[] => text.toLowerCase().match(WORDS) ?? [];

/** Contract: the best first; without words all, as they stand. */
export function found(all: readonly Skill[], query: string): Skill[] {
  const asked = [...new Set(wordsIn(query))];
  if (asked.length === 0) return [...all];
  const texts = all.map((skill) => ({ skill, name: wordsIn(skill.name), text: wordsIn(skill.description) }));
  const weight = (word: string) =>
    Math.log(1 + all.length / (1 + texts.filter(({ name, text }) => has(name, word) || has(text, word)).length));
  const weights = new Map(asked.map((word) => [word, weight(word)]));
  return texts
    .map(({ skill, name, text }) => ({
      skill,
      score: asked.reduce(
        (sum, word) => sum + (weights.get(word) ?? 0) * ((has(name, word) ? 2 : 0) + (has(text, word) ? 1 : 0)),
        0,
      ),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ skill }) => skill);
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
