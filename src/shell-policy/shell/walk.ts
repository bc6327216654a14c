// The walk over a script: lists, pipelines, groups, conditions, loops; each simple command is judged where it stands.
import type {
  AndOr,
  Case,
  CompoundCommand,
  CompoundList,
  For,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Redirected,
  Select,
  Statement,
  TestExpression,
  While,
} from "unbash";
import { only } from "../../ledger/only.ts";
import { addFinding, LIMITS, spend } from "../evaluation.ts";
import { ask, askFirm, askGrave } from "../finding.ts";
import { inspectArithmetic, inspectArithmeticText, inspectExpression } from "./arithmetic.ts";
import { judgeName } from "./assign.ts";
import { expandValue, expandWords } from "./expand.ts";
import { anything, type Field, field, holeField } from "./field.ts";
import { defineFunction, judgeUncalled } from "./functions.ts";
import { judgeRedirects } from "./redirect.ts";
import { adoptScope, copyScope, isSameScope, mergeScopes, rejoin, type ShellScope } from "./scope.ts";
import { type CommandOutput, type Shell, UNKNOWN_OUTPUT } from "./shell.ts";
import { runSimple } from "./simple.ts";

export function walkScript(shell: Shell, script: ParsedScript, source: string): CommandOutput {
  if (shell.depth > LIMITS.depth) {
    addFinding(
      shell.evaluation,
      source.slice(script.pos, script.end),
      askFirm("nested too deeply to judge", "unreadable"),
    );
    return UNKNOWN_OUTPUT;
  }
  const error = script.errors?.[0];
  if (error) {
    addFinding(
      shell.evaluation,
      source.slice(0, 80),
      askFirm(`the command cannot be read: ${error.message}`, "unreadable"),
    );
  }
  const inner = { ...shell, source };
  const output = walkStatements(inner, script.commands);
  if (shell.depth === 0) judgeUncalled(inner, walkBody);
  return output;
}

function walkStatements(shell: Shell, statements: readonly Statement[]): CommandOutput {
  let output: CommandOutput = { kind: "text", text: "" };
  for (const [i, statement] of statements.entries()) {
    const out = walkStatement(shell, statement);
    output = i === 0 ? out : UNKNOWN_OUTPUT;
  }
  return output;
}

function walkStatement(shell: Shell, statement: Statement): CommandOutput {
  if (!spend(shell.evaluation, "steps")) return UNKNOWN_OUTPUT;
  const { command } = statement;
  if (statement.background && shell.isEndless)
    addFinding(
      shell.evaluation,
      shell.source.slice(statement.pos, statement.end),
      askGrave("it starts commands in the background without end", "runs_code"),
    );
  if (statement.background) return walkNode(subshell(shell), command);
  return walkNode(shell, command);
}

const subshell = (shell: Shell): Shell => ({ ...shell, scope: copyScope(shell.scope) });

function walkNode(shell: Shell, node: PipelineNode | AndOr): CommandOutput {
  if (!spend(shell.evaluation, "steps")) return UNKNOWN_OUTPUT;
  switch (node.type) {
    case "AndOr":
      return walkAndOr(shell, node);
    case "Pipeline":
      return walkPipeline(shell, node);
    case "Command":
      return runSimple(shell, node);
    case "Redirected":
      return walkRedirected(shell, node);
    case "Function":
      defineFunction(shell, node);
      return UNKNOWN_OUTPUT;
    case "Coproc":
      return walkBody(subshell(shell), node.body);
    default:
      return walkCompound(shell, node);
  }
}

export function walkBody(shell: Shell, body: PipelineNode | CompoundList): CommandOutput {
  return body.type === "CompoundList" ? walkStatements(shell, body.commands) : walkNode(shell, body);
}

/** After `&&` only success counts; what is known afterwards is what every way has in common. */
function walkAndOr(shell: Shell, node: AndOr): CommandOutput {
  let ends: ShellScope | undefined;
  for (const [i, command] of node.commands.entries()) {
    if (i > 0 && node.operators[i - 1] === "||" && ends) adoptScope(shell.scope, copyScope(ends));
    walkNode(shell, command);
    ends = ends ? mergeScopes(ends, shell.scope) : copyScope(shell.scope);
  }
  if (ends) adoptScope(shell.scope, ends);
  return UNKNOWN_OUTPUT;
}

function walkPipeline(shell: Shell, node: Pipeline): CommandOutput {
  const alone = only(node.commands);
  if (alone) return walkNode(shell, alone);
  let before = shell.stdin;
  for (const command of node.commands) {
    const out = walkNode({ ...subshell(shell), stdin: before }, command);
    const isTainted = out.kind === "unknown" && (before.kind === "network" || before.kind === "decoded");
    before = isTainted ? before : out;
  }
  return before;
}

function walkRedirected(shell: Shell, node: Redirected): CommandOutput {
  const stdin = judgeRedirects(shell, node.redirects) ?? shell.stdin;
  const out = walkCompound({ ...shell, stdin }, node.command);
  return node.redirects.length > 0 ? UNKNOWN_OUTPUT : out;
}

function walkCompound(shell: Shell, node: CompoundCommand): CommandOutput {
  switch (node.type) {
    case "Subshell":
      return walkStatements(subshell(shell), node.body.commands);
    case "BraceGroup":
      return walkStatements(shell, node.body.commands);
    case "If": {
      walkStatements(shell, node.clause.commands);
      const ways = [walkWay(shell, node.then.commands)];
      for (const { clause, then } of node.elif) {
        walkStatements(shell, clause.commands);
        ways.push(walkWay(shell, then.commands));
      }
      ways.push(node.else ? walkWay(shell, node.else.commands) : copyScope(shell.scope));
      adoptScope(shell.scope, ways.reduce(mergeScopes));
      return UNKNOWN_OUTPUT;
    }
    case "Case":
      return walkCase(shell, node);
    case "For":
    case "Select":
      return walkFor(shell, node);
    case "While":
      return walkWhile(shell, node);
    case "ArithmeticFor":
      for (const e of [node.initialize, node.test, node.update]) if (e) inspectArithmetic(shell, e);
      return loop(shell, () =>
        walkStatements(
          { ...shell, isEndless: !node.test || /\d{4}/.test(shell.source.slice(node.test.pos, node.test.end)) },
          node.body.commands,
        ),
      );
    case "TestCommand":
      walkTest(shell, node.expression);
      return UNKNOWN_OUTPUT;
    case "ArithmeticCommand":
      if (node.expression) inspectArithmetic(shell, node.expression);
      else inspectArithmeticText(shell, field(node.body));
      return UNKNOWN_OUTPUT;
  }
}

function walkWay(shell: Shell, statements: readonly Statement[]): ShellScope {
  const way = subshell(shell);
  walkStatements(way, statements);
  return way.scope;
}

function walkCase(shell: Shell, node: Case): CommandOutput {
  expandValue(shell, node.word);
  const ways = node.items.map((item) => {
    for (const pattern of item.pattern) expandValue(shell, pattern);
    return walkWay(shell, item.body.commands);
  });
  adoptScope(shell.scope, [copyScope(shell.scope), ...ways].reduce(mergeScopes));
  return UNKNOWN_OUTPUT;
}

function walkFor(shell: Shell, node: For | Select): CommandOutput {
  const name = node.name.value;
  judgeName(shell, field(name));
  const start = copyScope(shell.scope);
  const words = node.wordlist ? expandWords(shell, node.wordlist) : [anything()];
  const values = node.type === "Select" || words.length > LIMITS.alternatives ? [holeField()] : words;
  const inner = { ...shell, isEndless: shell.isEndless || node.wordlist?.some((word) => isLongRange(word.text)) };
  let before: ShellScope | undefined;
  for (const value of values.length > 0 ? values : [field("")]) {
    shell.scope.vars.set(name, [asLoopValue(value)]);
    before = copyScope(shell.scope);
    walkStatements(inner, node.body.commands);
  }
  // A body that changes what it started from runs once more on what it left.
  if (before && !isSameScope(before, shell.scope)) {
    adoptScope(shell.scope, mergeScopes(before, shell.scope));
    walkStatements(inner, node.body.commands);
  }
  rejoin(shell.scope);
  if (!words.some((word) => !word.splits && !word.glob)) adoptScope(shell.scope, mergeScopes(start, shell.scope)); // it may run never
  return UNKNOWN_OUTPUT;
}

const asLoopValue = (value: Field): Field => ({ ...value, splits: false });

/** `{1..99999}` */
function isLongRange(text: string): boolean {
  const [, from, to] = /\{(-?\d+)\.\.(-?\d+)/.exec(text) ?? [];
  return from !== undefined && Math.abs(Number(to) - Number(from)) > 500;
}

const ALWAYS = /^(?::|true|1|\[{1,2}\s*1\s*\]{1,2}|\(\(\s*1\s*\)\))$/;

function walkWhile(shell: Shell, node: While): CommandOutput {
  const condition = shell.source
    .slice(node.clause.pos, node.clause.end)
    .replace(/[\s;]+$/, "")
    .trim();
  const isEndless = shell.isEndless || (node.kind === "until" ? condition === "false" : ALWAYS.test(condition));
  if (!isEndless && node.body.commands.some((statement) => statement.background)) {
    addFinding(
      shell.evaluation,
      shell.source.slice(node.pos, node.end),
      ask("it starts commands in the background without end", "runs_code"),
    );
  }
  return loop(shell, () => {
    walkStatements(shell, node.clause.commands);
    walkStatements({ ...shell, isEndless }, node.body.commands);
  });
}

/** Until nothing new is learnt, at most three times; then the directory counts as unknown. */
function loop(shell: Shell, walk: () => void): CommandOutput {
  for (let round = 0; ; round++) {
    const before = copyScope(shell.scope);
    walk();
    rejoin(shell.scope);
    const after = mergeScopes(before, shell.scope);
    const isSettled = isSameScope(before, after);
    adoptScope(shell.scope, after);
    if (isSettled) return UNKNOWN_OUTPUT;
    if (round === 1) shell.scope.cwds = String(before.cwds) === String(after.cwds) ? after.cwds : undefined;
    if (round === 2) return UNKNOWN_OUTPUT;
  }
}

const NUMERIC = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

function walkTest(shell: Shell, e: TestExpression): undefined {
  if (!spend(shell.evaluation, "steps")) return;
  switch (e.type) {
    case "TestUnary": {
      const value = expandValue(shell, e.operand);
      if (e.operator === "-v" || e.operator === "-R") inspectArithmeticText(shell, value);
      return;
    }
    case "TestBinary":
      for (const side of [e.left, e.right]) {
        const value = expandValue(shell, side);
        if (!NUMERIC.has(e.operator)) continue;
        inspectExpression(shell, value);
      }
      return;
    case "TestLogical":
      for (const operand of e.operands) walkTest(shell, operand);
      return;
    case "TestNot":
      return walkTest(shell, e.operand);
    case "TestGroup":
      return walkTest(shell, e.expression);
  }
}
