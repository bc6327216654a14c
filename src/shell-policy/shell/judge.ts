// The entry for shell commands: from the text of a call to the findings about it.
import { isRecord } from "../../ledger/guards.ts";
import { addFinding, type Evaluation } from "../evaluation.ts";
import { ask, askFirm, deny } from "../finding.ts";
import { isInProject } from "../path-verdict.ts";
import { findBashRule } from "../rules.ts";
import { loadParser, unreadable } from "./parse.ts";
import { openScope } from "./scope.ts";
import { type Shell, UNKNOWN_OUTPUT } from "./shell.ts";
import { runFields } from "./simple.ts";
import { walkScript } from "./walk.ts";

export async function judgeCommand(evaluation: Evaluation, input: unknown): Promise<void> {
  const command = isRecord(input) ? input.command : undefined;
  if (typeof command !== "string" || command.trim() === "") {
    return addFinding(evaluation, "bash", ask("there is no command"));
  }
  const denied = findBashRule(evaluation.rules.deny, [command.trim()]);
  if (denied)
    addFinding(evaluation, command, { ...deny(`the rule ${denied.text} denies it`, "rule"), rule: denied.text });
  const problem = unreadable(command);
  if (problem) return addFinding(evaluation, command, askFirm(`${problem}: a person has to look at it`, "unreadable"));
  const cwd = evaluation.world.realPath(evaluation.world.cwd);
  if (!isInProject(evaluation, cwd))
    addFinding(evaluation, command, ask(`it would run outside the project, in ${cwd}`, "outside"));
  const parse = await loadParser();
  const shell: Shell = {
    evaluation,
    scope: openScope(evaluation.world.cwd, evaluation.world.home),
    source: command,
    depth: 0,
    stdin: UNKNOWN_OUTPUT,
    runScript: walkScript,
    runFields,
  };
  walkScript(shell, parse(command), command);
}
