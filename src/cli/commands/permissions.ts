// `holdfast permissions check`: what the engine would say, part by part. Nothing is executed.

import { escaped, oneLine } from "../../front/presentation/printable.ts";
import { linesOf } from "../../front/sdk-protocol/lines-of.ts";
import { HoldfastError } from "../../ledger/error.ts";
import { type PermissionOptions, worldOf } from "../../mechanisms/permissions/index.ts";
import { isBypass } from "../../settings/merge.ts";
import { decideCall } from "../../shell-policy/engine.ts";
import type { Judgement, Policy } from "../../shell-policy/types.ts";
import type { JsonToo, PolicyFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import { openSettings } from "../settings.ts";
import { type Query, readQuery } from "./permission-query.ts";

const EXIT = { allow: 0, deny: 4, ask: 5 } as const;
/** A line that is no query. */
const WRONG_USAGE = 2;
const MARK = { allow: "✓", ask: "?", deny: "✗" } as const;

export async function check(flags: PolicyFlags & JsonToo & { jsonLines: boolean }, words: string[]): Promise<number> {
  if ((words.length === 0) !== flags.jsonLines) {
    throw new HoldfastError(
      "invalid",
      'use `holdfast permissions check "COMMAND"`, or `holdfast permissions check --json-lines` with one {"command": "…"} a line',
    );
  }
  const project = await projectOf(flags);
  const { permissions: options, says, settings } = await openSettings(flags, project);
  const { bypassOff } = settings.permissions;
  for (const line of says) process.stderr.write(`holdfast: ${line}\n`);
  if (flags.jsonLines) return answerLines(options, { root: project.root, bypassOff });
  const call = { tool: "bash", effect: "job" as const, input: { command: words.join(" ") } };
  const judged = await judge({ call, cwd: project.root, allow: [], ask: [], deny: [] }, options, project.root);
  process.stdout.write(flags.json ? `${JSON.stringify(asJson(judged))}\n` : shown(judged));
  return EXIT[judged.decision];
}

/** One answer a line, in order; what is no query is an error line, and the exit code says that there was one. */
async function answerLines(
  options: PermissionOptions,
  { root, bypassOff }: { root: string; bypassOff?: string | undefined },
): Promise<number> {
  let line = 0;
  let isWrong = false;
  for await (const text of linesOf(process.stdin)) {
    line++;
    if (text.trim() === "") continue;
    const asked = readQuery(text, root);
    const isOff = bypassOff !== undefined && !("error" in asked) && isBypass(asked.mode);
    const read = isOff ? { id: asked.id, error: `${bypassOff} switches that mode off` } : asked;
    isWrong ||= "error" in read;
    const id = read.id === undefined ? {} : { id: read.id };
    const answer =
      "error" in read ? { error: `line ${line}: ${read.error}` } : asJson(await judge(read, options, root));
    process.stdout.write(`${JSON.stringify({ ...id, ...answer })}\n`);
  }
  return isWrong ? WRONG_USAGE : 0;
}

function judge(query: Query, options: PermissionOptions, root: string): Promise<Judgement> {
  const given: Policy = { mode: "default", allow: [], ask: [], deny: [], ...options.policy };
  const more = (kind: "allow" | "ask" | "deny") => [
    ...given[kind],
    ...query[kind].map((text) => ({ text, source: "the query", base: root })),
  ];
  const policy = { mode: query.mode ?? given.mode, allow: more("allow"), ask: more("ask"), deny: more("deny") };
  return decideCall(policy, query.call, worldOf({ root, cwd: query.cwd }, options));
}

/** What decides first; a rule where one did. */
const asJson = ({ decision, reason, rule = undefined, parts, ...more }: Judgement) => ({
  decision,
  reason,
  rule: rule ?? null,
  ...more,
  parts,
});

const LACKS = { network: "no network for", git: ".git is read-only for" } as const;
const BECAUSE = { beside: "other commands stand beside", no_rule: "no rule allows it" } as const;

function shown({ decision, reason, firm, parts, withheld }: Judgement): string {
  const lines = parts.map(
    (p) =>
      `  ${MARK[p.decision]} ${oneLine(escaped(p.text), 70).padEnd(40)} ${p.decision}${p.reason === "" ? "" : `: ${escaped(p.reason)}`}${p.rule ? `  [${escaped(p.rule)}]` : ""}`,
  );
  const lacks = decision === "deny" ? [] : withheld;
  for (const { what, part, because } of lacks)
    lines.push(`    ${LACKS[what]} ${oneLine(escaped(part), 70)}: ${BECAUSE[because]}`);
  const why = decision === "allow" ? "" : `: ${escaped(reason)}${firm ? " (only a person may allow it)" : ""}`;
  return `${decision}${why}\n${lines.join("\n")}${lines.length > 0 ? "\n" : ""}`;
}
