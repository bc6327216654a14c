// Functions of the shell: defining, calling with arguments, and judging those that nobody called.
import type { CompoundList, Function as FunctionNode, PipelineNode } from "unbash";
import { lookup } from "../commands/index.ts";
import { addFinding, LIMITS } from "../evaluation.ts";
import { askFirm, deny } from "../finding.ts";
import { anything, type Field, holeField } from "./field.ts";
import { POSITIONAL, rejoin } from "./scope.ts";
import { type CommandOutput, type Shell, UNKNOWN_OUTPUT } from "./shell.ts";

type WalkBody = (shell: Shell, body: PipelineNode | CompoundList) => CommandOutput;

export function defineFunction(shell: Shell, node: FunctionNode): undefined {
  const name = node.name.value;
  const text = shell.source.slice(node.pos, node.end);
  if (lookup(name)) addFinding(shell.evaluation, text, askFirm(`it gives ${name} another meaning`));
  shell.scope.functions.set(name, { node, source: shell.source, isCalled: false });
}

/** Gives undefined when there is no such function. */
export function callFunction(shell: Shell, name: string, args: Field[], walk: WalkBody): CommandOutput | undefined {
  const defined = shell.scope.functions.get(name);
  if (!defined) return undefined;
  const { node, source } = defined;
  defined.isCalled = true;
  if (shell.scope.calling.includes(name)) {
    addFinding(shell.evaluation, name, deny("a function that starts itself again does not end", "unreadable"));
    return UNKNOWN_OUTPUT;
  }
  if (shell.depth + shell.scope.calling.length > LIMITS.depth) {
    addFinding(shell.evaluation, name, askFirm("nested too deeply to judge", "unreadable"));
    return UNKNOWN_OUTPUT;
  }
  const { vars } = shell.scope;
  const outer = POSITIONAL.map((key) => [key, vars.get(key) ?? [anything()]] as const);
  for (const [key] of outer) vars.set(key, args);
  shell.scope.calling.push(name);
  const output = walk({ ...shell, source, depth: shell.depth + 1 }, node.body);
  rejoin(shell.scope);
  shell.scope.calling = shell.scope.calling.filter((called) => called !== name);
  for (const [key, value] of outer) shell.scope.vars.set(key, value);
  return output;
}

/** A function that stays behind may be called later, with anything. */
export function judgeUncalled(shell: Shell, walk: WalkBody): undefined {
  for (const [name, defined] of [...shell.scope.functions]) {
    if (defined.isCalled) continue;
    shell.scope.vars.set("#", [holeField("plain")]);
    callFunction(shell, name, [anything()], walk);
  }
}
