// Owns `holdfast permissions check`: what the engine would say, part by part. Nothing is executed.
import { createInterface } from "node:readline";
import { HoldfastError, messageOf } from "../../ledger/error.ts";
import {
  decide,
  type Judgement,
  type PermissionOptions,
  type Policy,
  worldOf,
} from "../../mechanisms/permissions/index.ts";
import type { ToolCall } from "../../mechanisms/permissions/words.ts";
import type { JsonToo, PolicyFlags } from "../flags.ts";
import { projectOf } from "../open.ts";
import { escaped, oneLine } from "../printable.ts";
import { openSettings } from "../settings.ts";

const EXIT = { allow: 0, deny: 4, ask: 5 } as const;
const MARK = { allow: "✓", ask: "?", deny: "✗" } as const;

/** What a line of `--json-lines` may say; `command` alone is enough. */
interface Question {
  id?: unknown;
  command?: string;
  /** read, write, edit, glob, grep, or one of our tools' names; with `path`, or with its whole `input`. */
  tool?: string;
  path?: string;
  pattern?: string;
  input?: unknown;
  /** Where it would run, relative to the project. */
  cwd?: string;
  mode?: Policy["mode"];
  /** A command that the user has allowed besides, as `Bash(… *)`; or a whole rule. */
  allow_rule?: string | null;
}

export async function check(flags: PolicyFlags & JsonToo & { jsonLines: boolean }, words: string[]): Promise<number> {
  if ((words.length === 0) !== flags.jsonLines) {
    throw new HoldfastError(
      "invalid",
      'use `holdfast permissions check "COMMAND"`, or `holdfast permissions check --json-lines` with one {"command": "…"} a line',
    );
  }
  const project = await projectOf(flags);
  const { permissions: options, says } = await openSettings(flags, project);
  for (const line of says) process.stderr.write(`holdfast: ${line}\n`);
  const judge = (question: Question) => judgeOne(question, options, project.root);
  if (flags.jsonLines) {
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() !== "") process.stdout.write(`${JSON.stringify(await answerTo(line, judge))}\n`);
    }
    return 0;
  }
  const judged = await judge({ command: words.join(" ") });
  process.stdout.write(flags.json ? `${JSON.stringify(judged)}\n` : shown(judged));
  return EXIT[judged.decision];
}

async function answerTo(line: string, judge: (question: Question) => Promise<Judgement>): Promise<unknown> {
  try {
    const question = JSON.parse(line) as Question;
    const judged = await judge(question);
    return question.id === undefined ? judged : { id: question.id, ...judged };
  } catch (error) {
    return { error: `not a question: ${messageOf(error)}`, decision: "deny" };
  }
}

async function judgeOne(question: Question, options: PermissionOptions, root: string): Promise<Judgement> {
  const policy: Policy = { mode: "default", allow: [], ask: [], deny: [], ...options.policy };
  if (question.mode) policy.mode = question.mode;
  if (question.allow_rule) {
    const text = question.allow_rule.includes("(") ? question.allow_rule : `Bash(${question.allow_rule} *)`;
    policy.allow = [...policy.allow, { text, source: "the question", base: root }];
  }
  const cwd = question.cwd === undefined ? root : `${root}/${question.cwd}`;
  const judged = await decide(policy, callOf(question), worldOf({ root, cwd }, options));
  return { ...judged, parts: eachOnce(judged.parts) };
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/** A part may be looked at in several ways: the strictest answer is the one that counts. */
function eachOnce(parts: Judgement["parts"]): Judgement["parts"] {
  const ways = Object.values(Object.groupBy(parts, (part) => part.text));
  return ways.map((all) =>
    all!.reduce((worst, one) => (STRICTNESS[one.decision] > STRICTNESS[worst.decision] ? one : worst)),
  );
}

const TOOLS: Record<string, [name: string, effect: ToolCall["effect"]]> = {
  bash: ["bash", "job"],
  read: ["read_file", "read"],
  write: ["write_file", "reconcile"],
  edit: ["edit_file", "reconcile"],
  glob: ["glob", "read"],
  grep: ["grep", "read"],
};

function callOf({ tool = "bash", command, path, pattern, input }: Question): ToolCall {
  const [name, effect] = TOOLS[tool.toLowerCase()] ?? [tool, "external" as const];
  if (name === "bash" && typeof command !== "string" && input === undefined) throw new Error('"command" is missing');
  const given = {
    ...(command === undefined ? {} : { command }),
    ...(path === undefined ? {} : { path }),
    ...(pattern === undefined ? {} : { pattern }),
  };
  return { tool: name, effect, input: input ?? given };
}

function shown({ decision, reason, firm, parts }: Judgement): string {
  const lines = parts.map(
    (p) =>
      `  ${MARK[p.decision]} ${oneLine(escaped(p.text), 70).padEnd(40)} ${p.decision}${p.reason === "" ? "" : `: ${escaped(p.reason)}`}${p.rule ? `  [${escaped(p.rule)}]` : ""}`,
  );
  const why = decision === "allow" ? "" : `: ${escaped(reason)}${firm ? " (only a person may allow it)" : ""}`;
  return `${decision}${why}\n${lines.join("\n")}${lines.length > 0 ? "\n" : ""}`;
}
