// What the judge of one command is given: its arguments, and the ways to say what they do.
import type { ParsedScript } from "unbash";
import { addFinding, LIMITS } from "../evaluation.ts";
import { askFirm, askRead, type PolicyVerdict } from "../finding.ts";
import { type Field, has, isCommandLine, type Word } from "../shell/field.ts";
import { parseShell } from "../shell/parse.ts";
import { readField, writeField } from "../shell/paths.ts";
import { copyScope } from "../shell/scope.ts";
import { type CommandOutput, type Shell, UNKNOWN_OUTPUT } from "../shell/shell.ts";
import type { WordCheck } from "../shell/sweep.ts";

export interface CommandCall {
  shell: Shell;
  name: string;
  args: Field[];
  text: string;
  say(verdict: PolicyVerdict): undefined;
  read(f: Field): undefined;
  /** Lists or tests it; the content stays unread. */
  look(f: Field): undefined;
  write(f: Field): undefined;
  /** Takes the name away: of a link the link. */
  remove(f: Field): undefined;
  /** Another command with these words, in this shell. */
  run(fields: Field[], stdin?: CommandOutput): CommandOutput;
  /** Text that a shell will read as commands, in a shell of its own. */
  runText(source: Word): CommandOutput;
  /** A command that the program starts for us, and a rule for the program means it: only what no rule lifts is said of it. */
  startsFor(start: () => unknown): undefined;
  /** What is left to the look at every word; shared by all forms of the call. */
  rest: WordCheck;
}

/** They print sums, names or single lines of what they read. */
const SUMMARISES = new Set(
  "wc grep egrep fgrep rg ag file cksum sum md5sum sha1sum sha224sum sha256sum sha512sum shasum b2sum cmp diff".split(
    " ",
  ),
);

/** Judges the command, and says what it prints if that is known. */
export type Judge = (call: CommandCall) => CommandOutput | undefined;
export type Commands = Record<string, Judge>;

export function makeCall(shell: Shell, name: string, args: Field[], text: string): CommandCall {
  const deeper = { ...shell, depth: shell.depth + 1 };
  const rest: WordCheck = { name, shell, args, judged: new Set() };
  return {
    shell,
    name,
    args,
    text,
    rest,
    say: (verdict) => addFinding(shell.evaluation, text, verdict),
    read: (f) => {
      if (has(f, "allNames") && !SUMMARISES.has(name))
        addFinding(shell.evaluation, text, askRead("files that hold secrets may be among them", "secret"));
      return readField(shell, f, text);
    },
    look: (f) => readField(shell, f, text, true),
    write: (f) => writeField(shell, f, text),
    remove: (f) => writeField(shell, f, text, true),
    run: (fields, stdin) => {
      for (const f of fields) rest.judged.add(f);
      if (isCommandLine(fields)) return shell.runFields(stdin ? { ...deeper, stdin } : deeper, fields);
      return UNKNOWN_OUTPUT;
    },
    startsFor: (start) => {
      const from = shell.evaluation.findings.length;
      start();
      const { findings } = shell.evaluation;
      findings.push(...findings.splice(from).filter((f) => f.firm || f.decision === "deny" || f.lift === "exact"));
    },
    runText: (source) => {
      rest.judged.add(source);
      if (source.text.length > LIMITS.chars || source.holes.length > 0) {
        addFinding(shell.evaluation, text, askFirm("the commands it runs are only known at run time", "runtime"));
        return UNKNOWN_OUTPUT;
      }
      const script: ParsedScript = parseShell(source.text);
      return shell.runScript({ ...deeper, scope: copyScope(shell.scope) }, script, source.text);
    },
  };
}
