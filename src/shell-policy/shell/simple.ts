// The judging of one simple command: its assignments, redirections and words, then the rules that speak about it.
import { normalize, posix } from "node:path";
import type { Assignment, Command as CommandNode, Redirection, Word } from "unbash";
import { makeCall } from "../commands/call.ts";
import { lookup } from "../commands/index.ts";
import { isAnswered } from "../commands/version.ts";
import { addFinding, type Evaluation, LIMITS, spend } from "../evaluation.ts";
import { allow, ask, askExact, askFirm, askGrave, deny, type PolicyVerdict } from "../finding.ts";
import { isInProject } from "../path-verdict.ts";
import { findBashRule, namesWord } from "../rules.ts";
import { assign, judgeAssignments } from "./assign.ts";
import { expandValue, expandWord } from "./expand.ts";
import {
  type CommandLine,
  type Field,
  field,
  fill,
  has,
  holeField,
  isCommandLine,
  isKnown,
  join,
  word as known,
  showAll,
  showField,
} from "./field.ts";
import { callFunction } from "./functions.ts";
import { endangersProject } from "./paths.ts";
import { judgeRedirects, judgeTold } from "./redirect.ts";
import { type CommandOutput, type Shell, UNKNOWN_OUTPUT } from "./shell.ts";
import { type Swept, sweep, type WordCheck } from "./sweep.ts";
import { walkBody } from "./walk.ts";

export function runSimple(shell: Shell, node: CommandNode): CommandOutput {
  if (!spend(shell.evaluation, "commands")) return UNKNOWN_OUTPUT;
  const assignments = node.prefix.filter((p) => p.type === "Assignment");
  const words = node.name ? [node.name, ...node.args] : [];
  const fields = words.flatMap((word) => expandArgument(shell, word));
  const stdin = judgeRedirects(shell, node.redirects) ?? shell.stdin;
  if (shell.evaluation.isExhausted) return UNKNOWN_OUTPUT;
  const text = words.map((word) => word.text).join(" ");
  const written = [...assignments.map((a) => a.text), text].join(" ").trim();
  if (!isCommandLine(fields)) {
    for (const assignment of assignments) assign(shell, assignment);
    if (words.length > 0) addFinding(shell.evaluation, text, ask("the command is only known at run time", "runtime"));
    // `$(< file)` is what the file holds.
    return node.redirects.length > 0 ? UNKNOWN_OUTPUT : { kind: "text", text: "" };
  }
  const { evaluation } = shell;
  const outerPart = evaluation.part;
  evaluation.part = ++evaluation.parts; // what stands before the command belongs to it
  const areSafe = judgeAssignments(shell, assignments, fields, written);
  if (!SILENT.has(fields[0].text)) judgeTold(shell, text, fields.slice(1));
  const outer = assignments.map(({ name }) => [name, shell.scope.vars.get(name)] as const);
  const own = assignments.map(({ name, value }) => ({
    name,
    values: [value.type === "Word" ? expandValue(shell, value) : holeField()],
  }));
  for (const { name, values } of own) shell.scope.vars.set(name, values);
  const output = runFields({ ...shell, stdin }, fields, { texts: [text], written, areSafe });
  evaluation.part = outerPart;
  outer.forEach(([name, value], i) => {
    const isUntouched = shell.scope.vars.get(name) === own[i]?.values;
    if (value && isUntouched) shell.scope.vars.set(name, value);
    else shell.scope.vars.delete(name);
  });
  if (output.kind === "endless" && node.redirects.some(writesFile))
    addFinding(shell.evaluation, written, askGrave("it fills the disk", "changes"));
  return node.redirects.some((r) => r.type === "Redirect" && r.operator.includes(">")) ? UNKNOWN_OUTPUT : output;
}

const writesFile = (r: Redirection): boolean =>
  r.type === "Redirect" && /^(?:&?>>?|>\|)$/.test(r.operator) && !r.target?.text.startsWith("/dev/");

/** They look at a value, or keep it, and print nothing. */
const SILENT = new Set("test [ : true false export declare local readonly typeset set unset".split(" "));

function expandArgument(shell: Shell, word: Word | Assignment): Field[] {
  if (word.type === "Word") return expandWord(shell, word);
  const value = assign(shell, word);
  return [{ ...value, ...join([known(`${word.name}=`), value]) }];
}

interface AsWritten {
  texts: string[];
  /** With its assignments, which deny and ask rules see through. */
  written: string;
  /** Whether allow rules may see past the assignments. */
  areSafe: boolean;
}

export function runFields(shell: Shell, fields: CommandLine, as?: AsWritten): CommandOutput {
  const { evaluation } = shell;
  const shown = showAll(fields);
  const texts = [...new Set([...(as?.texts ?? []), shown].map((t) => t.replace(/\s+/g, " ").trim()))];
  const start = evaluation.findings.length;
  const outer = evaluation.part;
  if (!as) evaluation.part = ++evaluation.parts;
  const label = as?.written ?? shown;
  const { output, look } = runHead(shell, fields, label);
  if (evaluation.findings.length === start) addFinding(evaluation, label, allow());
  const swept = look && mayBeLifted(evaluation, start) ? sweep(look) : undefined;
  for (const verdict of swept?.always ?? []) addFinding(evaluation, label, verdict);
  applyRules(shell, start, texts, { as, swept });
  evaluation.part = outer;
  return output;
}

const mayBeLifted = ({ findings, part }: Evaluation, start: number): boolean =>
  findings.some((f, i) => i >= start && f.part === part && f.decision !== "allow" && !f.firm);

interface Ran {
  output: CommandOutput;
  /** The words that nobody has looked at yet. */
  look?: WordCheck;
}
const UNKNOWN: Ran = { output: UNKNOWN_OUTPUT };

function runHead(shell: Shell, fields: CommandLine, text: string): Ran {
  const { evaluation } = shell;
  const [head, ...args] = fields;
  if (shell.depth > LIMITS.depth) {
    addFinding(evaluation, text, askFirm("nested too deeply to judge", "unreadable"));
    return UNKNOWN;
  }
  if (!isKnown(head) || head.glob) {
    addFinding(evaluation, text, unknownHead(shell, fields));
    const guess = has(head, "names", "allNames") ? "" : fill(head, "");
    if (guess !== "" && lookup(commandName(guess)))
      runHead({ ...shell, depth: shell.depth + 1 }, [field(guess), ...args], text);
    return UNKNOWN;
  }
  if (shell.scope.aliases.has(head.text))
    addFinding(evaluation, text, askFirm(`${head.text} was given another meaning`));
  const called = callFunction(shell, head.text, args, walkBody);
  if (called) return { output: called };
  const name = commandName(head.text);
  const hidden = fields.findIndex((f, i) => i < 5 && IS_HOLDFAST.test(f.text));
  if (hidden >= 0 && name !== "holdfast")
    runHead({ ...shell, depth: shell.depth + 1 }, [field("holdfast"), ...fields.slice(hidden + 1)], text);
  const command = lookup(name);
  const call = makeCall(shell, name, args, text);
  if (!command) {
    addFinding(evaluation, text, unknownCommand(shell, head, args));
    return { output: UNKNOWN_OUTPUT, look: { ...call.rest, mayLoad: true, isUnknown: true } };
  }
  if (isAnswered(name, args)) return UNKNOWN;
  const { judge, isThorough, ...manner } = command;
  if (isThorough) call.rest.only = [];
  const output = judge(call) ?? UNKNOWN_OUTPUT;
  return { output, look: { ...manner, ...call.rest } };
}

/** `npx holdfast@latest`, `node bin/holdfast.js`, `./node_modules/.bin/holdfast`. */
const IS_HOLDFAST = /^(?:\S*\/)?holdfast(?:\.js|@[\w.-]+)?$/;

/** `/usr/bin/git` is git; `./git` is not. */
function commandName(head: string): string {
  const path = head.startsWith("/") ? normalize(head) : head;
  if (/^\/(?:usr\/)?lib(?:32|64)?\/(?:[^/]+\/)?ld(?:-linux)?[^/]*\.so[.\d]*$/.test(path)) return "ld.so";
  const [, program] = /^(?:\/usr(?:\/local)?)?\/s?bin\/([^/]+)$/.exec(path) ?? [];
  return program ?? (head.startsWith("\\") ? head.slice(1) : head);
}

function unknownHead(shell: Shell, fields: Field[]): PolicyVerdict {
  const rest = fields.slice(1);
  const forces = rest.some((f) => /^-[a-zA-Z]*[rRf]/.test(f.text) || f.text.startsWith("--recursive"));
  if (forces && rest.some((f) => !f.text.startsWith("-") && endangersProject(shell, f))) {
    return deny("the command is only known at run time, and its arguments look destructive", "runtime");
  }
  return { ...ask("which command runs is only known at run time", "runtime"), lift: "exact" };
}

function unknownCommand(shell: Shell, head: Field, args: Field[]): PolicyVerdict {
  if (head.text.includes("/")) return ask(`it runs the program ${head.text}`, "runs_code");
  const forces = args.some((f) => /^-[a-zA-Z]*r[a-zA-Z]*f|^-[a-zA-Z]*f[a-zA-Z]*r/.test(f.text));
  if (forces && args.some((f) => !f.text.startsWith("-") && endangersProject(shell, f))) {
    return deny(`${showField(head)} is not known, and its arguments look destructive`, "runtime");
  }
  return ask(`${showField(head)} is not a command known to only read`);
}

/** Deny, then ask, then allow; an allow lifts only what is not firm, and only for a command that runs inside the project. */
function applyRules(
  shell: Shell,
  start: number,
  texts: string[],
  { as, swept }: { as: AsWritten | undefined; swept: Swept | undefined },
): undefined {
  const { evaluation, scope } = shell;
  const { rules } = evaluation;
  const all = as ? [...texts, as.written] : texts;
  const label = as?.written ?? texts[0] ?? "";
  const denied = findBashRule(rules.deny, all);
  if (denied)
    addFinding(evaluation, label, { ...deny(`the rule ${denied.text} denies it`, "rule"), rule: denied.text });
  const asked = findBashRule(rules.ask, all);
  if (asked) addFinding(evaluation, label, { ...askFirm(`the rule ${asked.text} asks`, "rule"), rule: asked.text });
  if (denied || asked || rules.allow.length === 0) return;
  if (!scope.cwds?.every((cwd) => isInProject(evaluation, realOf(evaluation, cwd)))) return;
  const visible = (as && !as.areSafe ? [as.written] : texts).map(withoutDetours);
  const any = findBashRule(rules.allow, visible);
  if (!any) return;
  const exact = findBashRule(rules.allow, visible, "exact");
  if (!exact && swept) {
    const meansAll = any.rule.kind === "tool";
    const unnamed = meansAll ? [] : swept.unusual.filter((flag) => !namesWord(rules.allow, visible, flag));
    for (const verdict of [...swept.beforeRules, ...unnamed.map(unusual)]) addFinding(evaluation, label, verdict);
  }
  const by = { any, named: exact ?? findBashRule(rules.allow, visible, "named"), exact, never: undefined };
  for (const finding of evaluation.findings.slice(start)) {
    // What the command starts is a command by itself: only a rule for exactly this means that too.
    const own = finding.part === evaluation.part ? by : { ...by, any: exact, named: exact };
    const rule = finding.firm || finding.decision === "allow" ? undefined : own[finding.lift];
    if (rule) Object.assign(finding, { decision: "allow", changes: true, rule: rule.text });
  }
}

/** `./scripts/../x.sh` is `./x.sh`: a rule for what lies in `scripts` does not mean it. */
const withoutDetours = (text: string): string =>
  text.replace(/\S+\/\.\.(?=\/|\s|$)\S*/g, (word) => {
    const way = posix.normalize(word);
    return /^\.\//.test(word) && !/^[./]/.test(way) ? `./${way}` : way;
  });

const unusual = (flag: string): PolicyVerdict =>
  askExact(
    `a rule that ends in * does not mean ${flag}: allow this very command, or name ${flag} in the rule`,
    "command",
  );

function realOf(evaluation: Evaluation, path: string): string {
  try {
    return evaluation.world.realPath(path);
  } catch {
    return "/";
  }
}
