// The reading of English requests about a team: tasks, worktrees, teammates, plans, shutdown, messages.
import type { Clause } from "./clauses.ts";
import type { Before, Intent, Mate } from "./request.ts";
import { englishNames, englishWho, NAMES, teammateNameIn } from "./team-names.ts";
import { MOST, mateOf, team } from "./team-parts.ts";

export function readEnglishTeam(clause: Clause, before: Before): Intent[] | undefined {
  return (
    tasks(clause) ??
    worktrees(clause, before) ??
    plans(clause) ??
    spawn(clause) ??
    review(clause) ??
    shutdown(clause) ??
    message(clause)
  );
}

const COUNT = "\\d+|an?|one|two|three|four";
const COUNTS: Record<string, number> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4 };
const countOf = (word: string): number => COUNTS[word.toLowerCase()] ?? Number(word);

const TASKS = new RegExp(
  `^(?:create|make|add|set up)\\s+(?:(${COUNT})\\s+)?(?:new\\s+)?tasks?\\b(?!\\s+list)(?:\\s+on the (?:task )?board)?(.*)$`,
  "is",
);
const WITH_WORKTREES =
  /^,?\s*(?:and|with)\s+(?:(?:their|its|own|an?|one|git|separate|each)\s+)*worktrees?(?:\s+(?:for|per)\s+(?:them|both|each(?: of them| one| task)?|every task|task))?(?:\s+each)?$/i;
const MOST_SUBJECTS = 20;

function tasks(clause: Clause): Intent[] | undefined {
  const found = TASKS.exec(clause.text);
  if (!found) return undefined;
  const count = found[1] === undefined ? undefined : countOf(found[1]);
  const rest = found[2]!.trimEnd();
  const own =
    /^\s*(?:called|named)?\s*:\s*(.+)$/s.exec(rest)?.[1] ??
    (count === 1 ? /^\s+to\s+(.+)$/s.exec(rest)?.[1] : undefined);
  if (own !== undefined) {
    const subjects = (count === 1 ? [own] : own.split(/\n+|[,;]\s*(?:and\s+)?|\s+and\s+/))
      .map((item) => clause.plain(item.replace(/^\s*(?:[-*•]|\d+[.)])\s*/, "").trim()))
      .filter((item) => item !== "");
    if (subjects.length === 0 || subjects.length > MOST_SUBJECTS) return undefined;
    return [team({ tasks: subjects.length, subjects })];
  }
  if (count === undefined || count < 1 || count > MOST) return undefined;
  if (rest === "") return [team({ tasks: count })];
  return WITH_WORKTREES.test(rest) ? [team({ tasks: count, worktrees: true })] : undefined;
}

const WORKTREES =
  /^(?:create|make|add|set up)\s+(?:(?:the|an?|one|two|three|four|\d|separate|git|own|their)\s+)*worktrees?(?:\s+(?:for|per)\s+(?:them|both|task|each(?:\s+(?:of them|one|task))?|(?:(?:the|these|those|both|every|all)\s+)*(?:(?:two|three|four|\d)\s+)?tasks?))?$/i;
const GIVE_WORKTREES =
  /^give\s+(?:them|each(?:\s+(?:of them|one|task))?|every task|both)\s+(?:an?|its own|their own|own)\s+(?:git\s+)?worktrees?$/i;

/** Only together with tasks: which ones else? */
function worktrees({ text }: Clause, before: Before): Intent[] | undefined {
  if (!before.team || !(WORKTREES.test(text) || GIVE_WORKTREES.test(text))) return undefined;
  return [team({ worktrees: true })];
}

const SUBMIT = "(?:submit|hand in|propose|present|send|write|make|show)";
const PLAN = "(?:me\\s+|you\\s+)?(?:an?\\s+|their\\s+|its\\s+|his\\s+|her\\s+|the\\s+)?plans?";
const AFTER = "(?:,?\\s+(?:before|first|for|until|prior|and wait)\\b.*)?";
const PLANS = [
  `^(?:ask|tell|have|make|get|instruct|require|let)\\s+(.+?)\\s+(?:to\\s+)?(?:(?:first|each|all|both)\\s+)*${SUBMIT}\\s+${PLAN}${AFTER}$`,
  `^(?:ask|request)\\s+(.+?)\\s+for\\s+${PLAN}${AFTER}$`,
  `^(?:request|require|demand)\\s+${PLAN}(?:\\s+(?:from|of|by)\\s+(.+?))?${AFTER}$`,
  `^(they|each(?: of them| teammate)?|both(?: of them)?|everyone)\\s+(?:must|should|shall|have to|has to|needs? to)\\s+(?:(?:each|first|both)\\s+)*${SUBMIT}\\s+${PLAN}${AFTER}$`,
].map((pattern) => new RegExp(pattern, "is"));

function plans({ text }: Clause): Intent[] | undefined {
  for (const pattern of PLANS) {
    const found = pattern.exec(text);
    if (!found) continue;
    const who = found[1] === undefined || /^they$/i.test(found[1]) ? [] : englishWho(found[1]);
    return who && [team({ plans: who })];
  }
  return undefined;
}

const SPAWN = /^(spawn|start|launch|bring up|invite|hire|add|create)\s+(.+)$/is;
const MATES = new RegExp(
  `^(?:(${COUNT})\\s+)?(?:(?:the|new)\\s+)*(?:team ?mates?|agents?)\\b[\\s,:]*(?:(?:called|named)\\s+)?`,
  "i",
);
const WITH_PLANS =
  /,?\s+(?:with|requiring|needing)\s+(?:an?\s+)?plans?(?:\s+(?:approval|mode))?(?:\s+(?:first|required))?$/i;

function spawn(clause: Clause): Intent[] | undefined {
  const found = SPAWN.exec(clause.text);
  if (!found || /\bsub-?\s?(?:task|agent)/i.test(clause.text)) return undefined;
  const object = found[2]!.replace(WITH_PLANS, "").trim();
  const lead = MATES.exec(object);
  if (!lead && !/^spawn$/i.test(found[1]!)) return undefined;
  const named = object.slice(lead?.[0].length ?? 0).trim();
  const unnamed =
    lead?.[1] === undefined ? undefined : NAMES.slice(0, countOf(lead[1])).map((name) => mateOf(name, undefined));
  const mates = named === "" ? unnamed : matesIn(named);
  if (!mates || mates.length === 0 || mates.length > MOST) return undefined;
  return [team(object === found[2]!.trim() ? { mates } : { mates, plans: [] })];
}

function matesIn(text: string): Mate[] | undefined {
  const mates: Mate[] = [];
  for (const part of text.split(/\s*,\s*(?:and\s+)?|\s+and\s+/i)) {
    const found = /^(\S+)(?:\s+as\s+(?:an?\s+|the\s+)?(.{1,60})|\s+\(([^()]{1,60})\))?$/i.exec(part.trim());
    const name = teammateNameIn(found?.[1] ?? "");
    if (!name) return undefined;
    mates.push(mateOf(name, found?.[2] ?? found?.[3]));
  }
  return mates;
}

const WHY = /^(.*?)(?:\s*:\s*|\s+(?:because|since|saying|with (?:the )?feedback)\b:?\s*|\s+[-–—]\s+)(.+)$/is;
const REVIEW_FILLERS =
  /\b(?:the|of|from|by|both|all|them|it|their|these|submitted|requests?|please|plans?)\b(?!['’_-])/gi;

function review(clause: Clause): Intent[] | undefined {
  const found = /^(?:i\s+)?(approve|accept|reject|decline|refuse)\b\s*(.*)$/is.exec(clause.text);
  if (!found) return undefined;
  const verb = found[1]!.toLowerCase();
  const why = WHY.exec(found[2]!);
  const object = why?.[1] ?? found[2]!;
  if (!/^(?:approve|reject)$/.test(verb) && !/\bplans?\b/i.test(object)) return undefined;
  const rest = object.replace(REVIEW_FILLERS, " ").replace(/\s+/g, " ").trim();
  const all = /\b(?:all|both|them|plans)\b/i.test(object);
  const names = rest === "" ? (all ? ["*"] : []) : englishNames(rest);
  if (!names || object.trim() === "") return undefined;
  const feedback = why ? { feedback: clause.plain(why[2]!.trim()) } : {};
  return [{ kind: "review", names, approve: /^(?:approve|accept)$/.test(verb), ...feedback }];
}

function shutdown(clause: Clause): Intent[] | undefined {
  const why = WHY.exec(clause.text);
  const text = why?.[1] ?? clause.text;
  const found =
    /^(?:shut ?down|dismiss)\s+(.+)$/is.exec(text) ??
    /^shut\s+(.+)\s+down$/is.exec(text) ??
    /^(?:ask|tell|request)\s+(.+?)\s+to\s+(?:shut ?down|leave|quit|finish)$/is.exec(text);
  const names = found && englishWho(found[1]!);
  if (!names) return undefined;
  return [{ kind: "shutdown", names, ...(why && { reason: clause.plain(why[2]!.trim()) }) }];
}

const MESSAGE = [
  /^(?:tell|message)\s+([\w-]+)\s*(?::\s*|,?\s+that\s+)(.+)$/is,
  /^(?:tell|message)\s+([\w-]+)\s+(\uE000\d+\uE001)$/i,
  /^send\s+(?:a\s+|the\s+|this\s+)?message\s+to\s+([\w-]+),?\s*(?::|(?:saying|that says|that)\b:?)?\s*(.+)$/is,
  /^send\s+([\w-]+)\s+(?:a|the|this)\s+message,?\s*(?::|(?:saying|that says|that)\b:?)?\s*(.+)$/is,
];

function message(clause: Clause): Intent[] | undefined {
  for (const pattern of MESSAGE) {
    const found = pattern.exec(clause.text);
    if (!found) continue;
    const to = /^(?:everyone|everybody|all|them)$/i.test(found[1]!) ? "*" : teammateNameIn(found[1]!);
    return to === undefined ? undefined : [{ kind: "message", to, content: clause.plain(found[2]!.trim()) }];
  }
  return undefined;
}
