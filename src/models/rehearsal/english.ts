// The reading of one English clause. Each reader takes one kind of request or says nothing.
import { type Clause, QUOTED } from "./clauses.ts";
import { readEnglishReminder } from "./english-remind.ts";
import { readEnglishTeam } from "./english-team.ts";
import { readEnglishText } from "./english-text.ts";
import { asPath, FileChoice, fileWords, isQuoted, looksLikePath } from "./files.ts";
import type { Before, Intent } from "./request.ts";

type Reader = (clause: Clause, before: Before) => Intent[] | undefined;

export function readEnglishRequest(clause: Clause, before: Before): Intent[] | undefined {
  for (const read of READERS) {
    const found = read(clause, before);
    if (found) return found;
  }
  return undefined;
}

const SUBTASK =
  /^(?:use|using|with|via|in|spawn|start|launch|run|create|delegate|ask)\b.*?\bsub-?\s?(?:task|agent)s?\b[\s,:]*(?:(?:to|that|which|and|for|with)\s+)?(.+)$/i;
const BY_SUBTASK = /^(.+?)\s+(?:using|with|in|via|through|by)\s+(?:an?\s+|the\s+)?sub-?\s?(?:task|agent)$/i;

const subtask: Reader = (clause) => {
  const prompt = (SUBTASK.exec(clause.text) ?? BY_SUBTASK.exec(clause.text))?.[1]?.trim();
  if (!prompt) return undefined;
  return [{ kind: "subtask", prompt: clause.raw(prompt.charAt(0).toUpperCase() + prompt.slice(1)) }];
};

const framework: Reader = ({ text }) => {
  if (/^(?:run|execute|write|create|replace|change|install|add|use)\b/i.test(text)) return undefined;
  const named = /\btest(?:s|ing)?[ -](?:framework|runner|library|tool)s?\b/i.test(text);
  return named || /\bframeworks?\b.*\btest(?:s|ing)?\b/i.test(text) ? [{ kind: "framework" }] : undefined;
};

const TODO =
  /^(?:create|make|write|draft|prepare|plan|set up|start|give|put|build)\b.*?\b(?:to-?dos?|to do|check)(?:[ -]?lists?)?\b(?![.\w])(.*)$/is;

const todo: Reader = (clause) => {
  const rest = TODO.exec(clause.text)?.[1];
  if (rest === undefined || /\bfile\b/i.test(rest)) return undefined;
  const own = /(?::|\bwith\b(?: the items)?:?|\bcontaining\b:?)\s*(.+)$/is.exec(rest);
  const subject = (own ? rest.slice(0, own.index) : rest).replace(/^\s*(?:for|to|about|on|of)\s+/i, "").trim();
  const items = (own?.[1] ?? "")
    .split(/\n+|[,;]\s*(?:and\s+)?|\s+and\s+/)
    .map((item) => clause.plain(item.replace(/^\s*(?:[-*•]|\d+[.)])\s*/, "").trim()))
    .filter((item) => item !== "");
  const found: Intent = { kind: "todo", subject: clause.plain(subject) };
  return [items.length > 0 ? { ...found, items } : found];
};

const BACKGROUND = /\s*,?\s*\b(?:in|as) (?:the |a )?background(?: (?:job|task|process))?\b,?\s*/i;
const NEGATED = /\b(?:don't|do not|never)\b/i;
const NO_COMMAND =
  /^(?:the|a|an|my|your|our|some|all|any|this|that|these|those|it|them|tests?|everything|something|me)\b/i;

const run: Reader = (clause) => {
  const background = BACKGROUND.test(clause.text);
  const text = clause.text.replace(BACKGROUND, " ").trim();
  const found =
    /^(run|execute|launch|kick off|start)\s+(?:(?:the|this)\s+(?:shell\s+)?command\s*:?\s+|command:?\s+)?(.+)$/is.exec(
      text,
    );
  if (!found) return undefined;
  const object = found[2]!.trim();
  const quoted = new RegExp(`^(${QUOTED})(?:\\s+(?:command|for me|once|again|now))*$`).exec(object)?.[1];
  if (!quoted && (NO_COMMAND.test(object) || NEGATED.test(object) || (/^start$/i.test(found[1]!) && !background)))
    return undefined;
  return [{ kind: "run", command: quoted ? clause.plain(quoted) : clause.raw(object), background }];
};

const LISTS =
  /^(list|find|show|glob|display|print|give|enumerate|what|which|how many|count|are there|look for|search for|tell)\b/i;
const FILLERS = new Set(
  "all the of every any me us for a an there are is do we have you see can exist found this that repo repository project codebase directory directories folder folders here current out up and or in under inside within from code source what which names name please".split(
    " ",
  ),
);

const list: Reader = (clause) => {
  const verb = LISTS.exec(clause.text);
  if (!verb) return undefined;
  const choice = new FileChoice();
  const words = fileWords(clause.text.slice(verb[0].length));
  let files = false;
  for (const [at, marked] of words.entries()) {
    const word = clause.plain(marked);
    const after = words[at - 1]?.toLowerCase() ?? "";
    const place = /^(?:in|under|inside|within|from|directory|folder)$/.test(after) || words[at - 2] === "in";
    if (/^(?:files?|scripts|sources)$/i.test(word)) files = true;
    else if (choice.add(word)) continue;
    else if (FILLERS.has(word.toLowerCase())) continue;
    else if (place && /^[\p{L}\p{M}\p{N}_@~./-]+$/u.test(word)) choice.path = word;
    else if (/^find$/i.test(verb[1]!) && looksLikePath(word) && !isQuoted(marked)) choice.add(`**/${word}`);
    else return undefined;
  }
  const found = files || choice.pattern || (choice.named && /^list$/i.test(verb[1]!)) ? choice.files() : undefined;
  return found && [{ kind: "list", files: found }];
};

const READS =
  /^(?:(?:continue|keep|go on)\s+(?:to\s+|with\s+|on\s+)?)?(?:(read|open)(?:ing)?|show|display|print|cat|view|summari[sz]e|look at|what(?: is|'s) in|give me a summary of|tell me about)\b/i;
const READ_FILLERS = new Set(
  "the a file files contents content of and me to its through from again first it them in what is inside summary please for us".split(
    " ",
  ),
);

const read: Reader = (clause, before) => {
  const verb = READS.exec(clause.text);
  if (!verb) return undefined;
  const paths: string[] = [];
  for (const marked of fileWords(clause.text.slice(verb[0].length))) {
    const word = clause.plain(marked);
    if (looksLikePath(word) || (isQuoted(marked) && verb[1])) paths.push(asPath(word));
    else if (!READ_FILLERS.has(word.toLowerCase())) return undefined;
  }
  if (paths.length === 0 && before.file && /\b(?:it|that file|the file)\b/i.test(clause.text)) paths.push(before.file);
  return paths.length > 0 ? paths.map((path) => ({ kind: "read", path })) : undefined;
};

const EVERYWHERE =
  /\s+(?:in|across|within)\s+(?:the\s+|this\s+|all\s+(?:the\s+)?)?(?:whole\s+)?(?:repo|repository|project|code|codebase|files?|directory)$/i;
const PLACE = /\s+(?:in|inside|under|within)\s+(?:the\s+)?(?:file\s+|folder\s+|directory\s+)?(\S+)$/i;

const search: Reader = (clause) => {
  if (/^grep\s+-/.test(clause.text)) return [{ kind: "run", command: clause.raw(clause.text), background: false }];
  const text = clause.text.replace(EVERYWHERE, "");
  const where = /^where (?:is|are)\s+(\S+)\s+(?:defined|used|called|mentioned)$/i.exec(text);
  if (where) return [{ kind: "search", text: clause.plain(where[1]!) }];
  const inFile = /^(?:search|grep)\s+(?:in\s+|through\s+)?(\S+)\s+for\s+(.+)$/is.exec(text);
  const verb =
    /^(search|grep|find|look)\b\s*(?:(?:the\s+)?(?:code|repo|repository|project|codebase|files)\b\s*)?(for\b)?\s*/i.exec(
      text,
    );
  if (!verb || (/^look$/i.test(verb[1]!) && !verb[2])) return undefined;
  const named = inFile && (looksLikePath(inFile[1]!) || isQuoted(inFile[1]!)) ? inFile : undefined;
  const rest = named ? named[2]! : text.slice(verb[0].length);
  const place = named ? undefined : PLACE.exec(rest);
  const object = (place ? rest.slice(0, place.index) : rest)
    .replace(/^(?:the\s+)?(?:word|string|text|pattern|phrase|term)s?\s+/i, "")
    .trim();
  const quoted = object.match(new RegExp(QUOTED))?.[0];
  if (object === "" || (!quoted && /^find$/i.test(verb[1]!) && /\s/.test(object))) return undefined;
  const found: Intent = { kind: "search", text: clause.plain(quoted ?? object) };
  const path = named?.[1] ?? place?.[1];
  return [path ? { ...found, path: clause.plain(path) } : found];
};

const REPORT =
  /^(?:report|tell|show|give|let|summari[sz]e)\b(?:\s+(?:me|us|back|know|to|it|them|that|the|a|an|your|short|result|results|answer|findings|output|outcome|summary|report|list|what|you|find|found|see|saw|everything|of))*$/i;

const report: Reader = ({ text }) => (REPORT.test(text) ? [{ kind: "report" }] : undefined);

const READERS: Reader[] = [
  readEnglishReminder,
  subtask,
  readEnglishTeam,
  framework,
  todo,
  readEnglishText,
  run,
  list,
  read,
  search,
  report,
];
