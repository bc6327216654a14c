// The choice of the language in which an answer is given.
import { japanese } from "./japanese-words.ts";
import type { Lang } from "./request.ts";
import { english, type Words } from "./words.ts";

export const wordsFor = (lang: Lang | undefined): Words => (lang === "ja" ? japanese : english);
