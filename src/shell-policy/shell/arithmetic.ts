// Arithmetic of the shell: what it evaluates, looked at for names that it sets and commands that hide in it.
import type { ArithmeticExpression } from "unbash";
import { addFinding, LIMITS, spend } from "../evaluation.ts";
import { askFirm, deny } from "../finding.ts";
import { judgeName } from "./assign.ts";
import { inspectPart, substitute } from "./expand.ts";
import { type Field, field, has, plainly, type Word as ShellWord } from "./field.ts";
import { parseShell } from "./parse.ts";
import { copyScope } from "./scope.ts";
import type { Shell } from "./shell.ts";

export function inspectArithmetic(shell: Shell, e: ArithmeticExpression): undefined {
  if (!spend(shell.evaluation, "steps")) return;
  switch (e.type) {
    case "ArithmeticBinary":
      if (/^(?:[-+*/%&|^]|<<|>>)?=$/.test(e.operator) && e.left.type === "ArithmeticWord")
        judgeName(shell, field(e.left.value));
      inspectArithmetic(shell, e.left);
      return inspectArithmetic(shell, e.right);
    case "ArithmeticUnary":
      return inspectArithmetic(shell, e.operand);
    case "ArithmeticTernary":
      for (const side of [e.test, e.consequent, e.alternate]) inspectArithmetic(shell, side);
      return;
    case "ArithmeticGroup":
      return inspectArithmetic(shell, e.expression);
    case "ArithmeticCommandExpansion":
      substitute(shell, e.script, e.text);
      return;
    case "ArithmeticWord":
      for (const part of e.parts ?? []) inspectPart(shell, part);
      inspectArithmeticText(shell, field(e.parts ? "" : e.value));
      for (const [name] of e.value.matchAll(/[A-Za-z_]\w*/g)) inspectNumber(shell, name);
  }
}

/** Arithmetic evaluates what a variable holds: a subscript in it may run commands. */
function inspectNumber(shell: Shell, name: string): undefined {
  for (const value of shell.scope.vars.get(name) ?? []) {
    if (/[[$`]/.test(value.text)) inspectArithmeticText(shell, value);
    else if (has(value, "unknown")) {
      addFinding(
        shell.evaluation,
        name,
        askFirm(`arithmetic would evaluate what ${name} holds, which is not known`, "runtime"),
      );
    }
  }
}

/** Text that the shell evaluates as arithmetic, with the variables that it names. */
export function inspectExpression(shell: Shell, value: Field): undefined {
  inspectArithmeticText(shell, value);
  for (const [name] of value.text.matchAll(/[A-Za-z_]\w*/g)) inspectNumber(shell, name);
}

/** Such text without its variables. */
export function inspectArithmeticText(shell: Shell, value: Field): undefined {
  if (value.text.includes("[") && has(value, "unknown")) {
    addFinding(
      shell.evaluation,
      plainly(value),
      askFirm("arithmetic would evaluate a value that is not known", "runtime"),
    );
  }
  judgeHidden(shell, value);
}

/** Substitutions inside text that something will evaluate again. */
export function judgeHidden(shell: Shell, value: ShellWord): undefined {
  if (!/[$`]/.test(value.text)) return;
  const text = plainly(value);
  if (shell.depth > LIMITS.depth)
    return addFinding(shell.evaluation, text, askFirm("nested too deeply to judge", "unreadable"));
  addFinding(shell.evaluation, text, askFirm("the text would be evaluated again", "unreadable"));
  const source = `: <<HOLDFAST_END\n${value.text}\nHOLDFAST_END\n`; // what is not known stays so: a reading is never taken for knowledge
  const script = parseShell(source);
  if (script.errors?.length)
    addFinding(shell.evaluation, text, deny("the text would be evaluated again, and cannot be read", "unreadable"));
  shell.runScript({ ...shell, scope: copyScope(shell.scope), depth: shell.depth + 1 }, script, source);
}
