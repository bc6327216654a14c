// The grammar of requests: a table of rules, each with its patterns in both languages and what it makes of their named groups.
import type { Clause } from "./clauses.ts";
import type { Before, Intent } from "./request.ts";
import { pattern } from "./rule.ts";
import { KNOWLEDGE_RULES } from "./rules-knowledge.ts";
import { REMIND_RULE } from "./rules-remind.ts";
import { TEAM_RULES } from "./rules-team.ts";
import { WORK_RULES } from "./rules-work.ts";

/** "Do not …" is no request to do it. In English such a clause begins with no verb of the table. */
const NEGATED = {
  en: "^(?:don't|do not|never)\\b",
  ja: "ないで|なくて(?:いい|よい)|(?:する|読む|走らせる)な$|せずに|やめて|禁止|(?:承認|却下|拒否|終了|停止|起動|シャットダウン)(?:し|させ)?(?:ない|ず|ません)",
};

export function readClause(clause: Clause, before: Before): Intent[] | undefined {
  if (pattern(NEGATED[clause.lang]).test(clause.text.replace(/:.*$/s, ""))) return undefined;
  for (const rule of [...KNOWLEDGE_RULES, REMIND_RULE, ...TEAM_RULES, ...WORK_RULES]) {
    if (rule.hint?.test(clause.text) === false) continue;
    for (const source of rule[clause.lang]) {
      const found = pattern(source).exec(clause.text);
      const intents = found && rule.build(found.groups ?? {}, clause, before);
      if (intents) return [intents].flat();
    }
  }
  return undefined;
}
