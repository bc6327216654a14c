// What a person sees who is asked: who asks, what exactly, where, why, and which answers there are. Nothing is cut and nothing hides.
import { resolve } from "node:path";
import type { ApprovalAnswer, ApprovalRequest } from "../../mechanisms/approvals/events.ts";
import { whoAnswers } from "../../mechanisms/approvals/index.ts";
import type { ChangePreview } from "../../mechanisms/files/change-preview.ts";
import { hexOf } from "../../text/visible.ts";
import { collapsed, escaped, escapedName, lookalikes } from "./printable.ts";
import { diffBody } from "./results.ts";
import { PLAIN, type Style } from "./style.ts";

/** Nobody has read a question sooner: nothing answers until then. */
export const READ_MS = 700;
/** Between two keys of one who types, and thinks between two words, it is seldom longer: what comes after it is meant for the question. */
export const PAUSE_MS = 1_500;

/** Past this many lines it is said how many there are. */
const LONG = 40;

export interface Shown {
  request: ApprovalRequest;
  /** Of a call that changes a file. */
  change?: ChangePreview;
  style?: Style;
}

export function describeRequest({ request, change, style = PLAIN }: Shown): string[] {
  const text = change && change.diff !== "" ? diffBody(change.diff).join("\n") : contentOf(request);
  const lines = escaped(collapsed(text)).split("\n");
  const mixed = lookalikes(text).slice(0, 3);
  return [
    ...headOf(request, change, style),
    ...lines.map((line) => `  │ ${change ? diffLine(line, style) : line}`),
    ...(lines.length > LONG ? [`  ${style.yellow(`${lines.length} lines: read all of them`)}`] : []),
    ...(mixed.length > 0
      ? [`  ${style.yellow(`letters of several alphabets in one word: ${mixed.map(spelt).join(", ")}`)}`]
      : []),
    ...asLines(`why: ${request.firm ? "protected: " : ""}${escaped(collapsed(request.reason))}`),
  ];
}

/** What a server says may stand in a reason: no line of it can pass for one of ours. */
const asLines = (text: string): string[] => text.split("\n").map((line, i) => `  ${i === 0 ? line : `│ ${line}`}`);

/** What it is, and where: of a change the file itself, whatever link leads to it. */
function headOf({ tool, input, cwd }: ApprovalRequest, change: ChangePreview | undefined, style: Style): string[] {
  if (!change) return [`  ${style.bold(tool)} in ${escapedName(cwd)}`];
  const { path: given }: { path?: unknown } = input ?? {};
  const path = String(given);
  const leads = change.path !== resolve(cwd, path) ? [`  leads to ${escapedName(change.path)}`] : [];
  const same = change.diff === "" ? ["  the file has this content already"] : [];
  return [
    `  ${style.bold(tool)} ${escapedName(path)}${change.isNew ? " (a new file)" : ""} in ${escapedName(cwd)}`,
    ...leads,
    ...same,
  ];
}

/** A command of ours as it is; arguments of any other tool one by one, also one that is called so, texts of several lines below their name. */
function contentOf({ tool, input }: ApprovalRequest): string {
  const { command }: { command?: unknown } = input ?? {};
  if (tool === "bash" && typeof command === "string") return command;
  if (typeof input !== "object" || input === null) return JSON.stringify(input) ?? "";
  return Object.entries(input)
    .map(([key, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
      return text.includes("\n") ? `${key}:\n${text}` : `${key}: ${text}`;
    })
    .join("\n");
}

const diffLine = (line: string, style: Style): string =>
  line.startsWith("+") ? style.green(line) : line.startsWith("-") ? style.red(line) : line;

const spelt = (word: string): string =>
  `${escaped(word)} (${[...word]
    .filter((char) => !/[\x00-\x7f]/.test(char))
    .map((char) => `U+${hexOf(char).toUpperCase()}`)
    .join(" ")})`;

export type ApprovalScope = "once" | "exactly" | "rule" | "no";

export type Choice = {
  key: string;
  /** What it means, with how far it reaches. */
  says: string;
} & ({ scope: Exclude<ApprovalScope, "rule"> } | { scope: "rule"; rule: string });

/** The rule that an answer may keep: the widest of those that would have allowed it. */
const approvalRule = ({ firm, rules }: ApprovalRequest): string | undefined => (firm ? undefined : rules?.at(-1));

export function choicesFor(request: ApprovalRequest): Choice[] {
  const rule = approvalRule(request);
  const isEdit = rule?.startsWith("Edit(") ?? false;
  const kept = isEdit ? `all edits inside the project (${rule})` : `whatever fits the rule ${rule}`;
  return [
    { scope: "once", key: "y", says: "yes, this once" },
    ...(request.firm || isEdit
      ? []
      : [
          {
            scope: "exactly" as const,
            key: "a",
            says: "yes, and in this context again: exactly this, in this directory",
          },
        ]),
    ...(rule === undefined
      ? []
      : [
          {
            scope: "rule" as const,
            rule,
            key: isEdit ? "e" : "r",
            says: `yes, and in this context from now on: ${kept}`,
          },
        ]),
    { scope: "no", key: "n", says: "no" },
  ];
}

/** `from`: where the answer comes from, for people. `reason`: of a no. */
export function answerBy(
  choice: Choice,
  { from, reason }: { from: string; reason?: string | undefined },
): ApprovalAnswer {
  switch (choice.scope) {
    case "once":
      return { decision: "allow", from };
    case "exactly":
      return { decision: "allow", remember: true, from };
    case "rule":
      return { decision: "allow", keeps: { rule: choice.rule, ...whoAnswers() }, from };
    case "no":
      return { decision: "deny", from, ...(reason !== undefined && { reason }) };
  }
}
