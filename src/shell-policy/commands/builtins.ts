// The shell's own commands: those that change what it knows, and those that only speak.
import { resolve } from "node:path";
import { only } from "../../ledger/only.ts";
import { allow, ask, askFirm, deny } from "../finding.ts";
import { inspectArithmeticText, inspectExpression } from "../shell/arithmetic.ts";
import { assignmentParts, judgeName, judgeVariable } from "../shell/assign.ts";
import { anything, cut, type Field, field, fieldOf, hole, holeField, isKnown, type Word } from "../shell/field.ts";
import { copyScope, isPositional } from "../shell/scope.ts";
import { type CommandOutput, outputAsWord } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { echo, printf } from "./echo-printf.ts";
import { readFlags } from "./flags.ts";

const nothing = (): CommandOutput => ({ kind: "text", text: "" });
const something = (): undefined => undefined;

export const BUILTINS: Commands = {
  ":": nothing,
  true: nothing,
  false: nothing,
  break: jump,
  continue: jump,
  return: jump,
  exit: nothing,
  shift: (call) => {
    const given = call.shell.scope.vars.get("@") ?? [];
    const count = Number(call.args[0]?.text ?? 1);
    const isSure = count <= given.length && !given.some((f) => f.splits);
    const rest = isSure ? given.slice(count) : [anything()];
    for (const key of ["@", "*"]) call.shell.scope.vars.set(key, rest);
    return undefined;
  },
  wait: (call) => {
    const at = call.args.findIndex((f) => /^-\w*p/.test(f.text));
    if (at >= 0) judgeName(call.shell, call.args[at + 1] ?? holeField());
    return nothing();
  },
  jobs: (call) => {
    const at = call.args.findIndex((f) => /^-\w*x/.test(f.text));
    return at < 0 ? undefined : call.run(call.args.slice(at + 1));
  },
  times: something,
  dirs: something,
  logout: nothing,
  echo,
  printf,
  pwd: (call) => {
    const cwd = only(call.shell.scope.cwds);
    return cwd === undefined ? undefined : { kind: "text", text: cwd };
  },
  cd,
  pushd: cd,
  popd: (call) => {
    call.shell.scope.cwds = undefined;
    return undefined;
  },
  test,
  "[": test,
  type: something,
  hash: (call) => {
    if (call.args.some((f) => /^-\w*p/.test(f.text))) call.say(askFirm("it gives a command another meaning"));
    return undefined;
  },
  help: something,
  let: (call) => {
    for (const f of call.args) {
      inspectExpression(call.shell, f);
      for (const [, name] of f.text.matchAll(/\b([A-Za-z_]\w*)\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)/g)) {
        if (name === undefined) continue;
        judgeName(call.shell, field(name));
        call.shell.scope.vars.set(name, [holeField("plain")]);
      }
    }
    return undefined;
  },
  export: declare,
  declare,
  typeset: declare,
  local: declare,
  readonly: declare,
  unset: (call) => {
    for (const f of call.args) {
      inspectArithmeticText(call.shell, f);
      if (isKnown(f) && !isPositional(f.text)) call.shell.scope.vars.delete(f.text); // a shell refuses `unset @`
      if (judgeVariable(f.text, field(""), "").decision !== "allow") call.say(ask(`it removes ${f.text}`, "changes"));
    }
    return undefined;
  },
  read,
  readarray: mapfile,
  mapfile,
  getopts: (call) => bindUnknown(call, [call.args[1], field("OPTARG"), field("OPTIND")]),
  set: (call) => {
    const [first] = call.args;
    if (!first) call.say(askFirm("it prints all variables, which may hold keys", "secret"));
    const at = call.args.findIndex((f) => f.text === "--" || !/^[-+]/.test(f.text));
    const areGiven = at >= 0 && !/^[-+]o$/.test(call.args[at - 1]?.text ?? "");
    if (areGiven) {
      const rest = call.args.slice(call.args[at]?.text === "--" ? at + 1 : at);
      for (const key of ["@", "*"]) call.shell.scope.vars.set(key, rest);
    }
    const flags = areGiven ? call.args.slice(0, at) : call.args;
    for (const [i, f] of flags.entries()) {
      if (
        /^[-+]o$/.test(flags[i - 1]?.text ?? "") &&
        !/^(?:errexit|nounset|pipefail|xtrace|verbose|noglob|noclobber|noexec|errtrace)$/.test(f.text)
      ) {
        call.say(ask(`set -o ${f.text} changes how the shell works`));
      }
      if (/^[-+][a-zA-Z]*[akmprP]/.test(f.text) && !/^[-+]o$/.test(f.text))
        call.say(ask(`set ${f.text} changes how the shell works`));
    }
    return nothing();
  },
  shopt: (call) => {
    if (
      call.args.some(
        (f) =>
          !/^(?:-[suqpo]+|globstar|nullglob|extglob|failglob|nocaseglob|nocasematch|pipefail|inherit_errexit)$/.test(
            f.text,
          ),
      )
    )
      call.say(ask("it changes how the shell works"));
    return undefined;
  },
  alias: (call) => {
    for (const f of call.args) {
      const equals = f.text.indexOf("=");
      if (equals < 0) continue;
      const name = f.text.slice(0, equals);
      call.shell.scope.aliases.add(name);
      call.say(askFirm(`it gives ${name} another meaning`));
      call.runText(cut(f, equals + 1));
    }
    return undefined;
  },
  unalias: (call) => {
    call.say(ask("it changes what commands mean", "runs_code"));
    return undefined;
  },
  trap: (call) => {
    const [action] = call.args;
    if (!action || /^-[lp]$/.test(action.text)) return undefined;
    if (call.args.some((f, i) => i > 0 && /^(?:sig)?(?:debug|return|err)$/i.test(f.text)))
      call.say(askFirm("it runs between all other commands", "runs_code"));
    if (!isKnown(action)) call.say(askFirm("what the trap runs is only known at run time", "runtime"));
    else if (action.text !== "-" && action.text !== "") call.runText(action);
    return undefined;
  },
  umask: (call) => {
    if (call.args.some((f) => !/^-[Sp]$/.test(f.text))) call.say(ask("it changes the mode of new files"));
    return undefined;
  },
  ulimit: (call) => {
    if (call.args.some((f) => !/^-[a-zA-Z]+$/.test(f.text))) call.say(ask("it changes limits"));
    return undefined;
  },
  history: (call) => {
    call.say(deny("the history holds secrets", "secret"));
    return undefined;
  },
  fc: (call) => {
    call.say(deny("it runs commands of the history", "runs_code"));
    return undefined;
  },
  enable: (call) => {
    if (call.args.some((f) => f.text.startsWith("-f"))) call.say(deny("it loads code into the shell", "runs_code"));
    return odd(call, "it disables commands of the shell");
  },
  bind: (call) => odd(call, "it binds commands to keys"),
  complete: (call) => odd(call, "it binds commands to completion"),
  compgen: (call) => {
    if (call.args.some((f) => /^-\w*[CFWevA]/.test(f.text))) odd(call, "it runs commands for completion");
    return undefined;
  },
  disown: nothing,
  bg: nothing,
  fg: nothing,
  suspend: (call) => odd(call, "it stops the shell"),
  caller: nothing,
  coproc: (call) => odd(call, "it starts a command in the background"),
  zmodload: (call) => odd(call, "it loads modules of zsh"),
  emulate: (call) => odd(call, "it runs code of zsh"),
  printenv: (call) => {
    const names = call.args.filter((f) => !f.text.startsWith("-"));
    const areHarmless =
      names.length > 0 &&
      names.every((f) => /^(?:HOME|PATH|USER|SHELL|PWD|LANG|TERM|NODE_ENV|CI|TZ|LOGNAME|EDITOR|TMPDIR)$/.test(f.text));
    if (!areHarmless)
      call.say(ask("it prints the environment: a list without keys, and what your settings add", "secret"));
    return undefined;
  },
};

function odd(call: CommandCall, reason: string): undefined {
  call.say(askFirm(reason));
  return undefined;
}

/** Where the shell is afterwards. What is outside may be looked at; what is done there is judged there. */
function cd(call: CommandCall): CommandOutput | undefined {
  const { scope, evaluation } = call.shell;
  if (call.name === "pushd" && call.args.some((f) => /^(?:[-+]\d+|-n)$/.test(f.text))) {
    scope.cwds = undefined; // another of the stack, or none
    return undefined;
  }
  const { operands } = readFlags(call, { flags: "-LPe@n" });
  const target =
    operands[0] ?? (call.name === "cd" ? { ...(scope.vars.get("HOME")?.[0] ?? holeField()) } : holeField());
  const before = scope.cwds;
  if (target.text === "-") {
    scope.cwds = scope.before;
    scope.before = before;
    return undefined;
  }
  scope.before = before;
  if (!isKnown(target) || target.glob) {
    scope.cwds = undefined;
    call.say(ask("the directory is only known at run time", "runtime"));
    return undefined;
  }
  call.look(target);
  if (scope.vars.has("CDPATH")) scope.cwds = undefined;
  scope.cwds = (target.text.startsWith("/") ? [target.text] : scope.cwds?.map((cwd) => resolve(cwd, target.text)))?.map(
    (path) => resolve(path),
  );
  // A directory that is not there yet may stay out of reach.
  if (scope.cwds?.some((path) => evaluation.world.kind(path) !== "directory") && before) {
    scope.cwds = [...new Set([...scope.cwds, ...before])].slice(0, 4);
  }
  return undefined;
}

function test(call: CommandCall): undefined {
  for (const [i, { text }] of call.args.entries()) {
    const next = call.args[i + 1];
    if ((text === "-v" || text === "-R") && next) inspectArithmeticText(call.shell, next);
    if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(text)) {
      for (const side of [call.args[i - 1], next]) if (side) inspectArithmeticText(call.shell, side);
    }
  }
  return undefined;
}

function declare(call: CommandCall): CommandOutput | undefined {
  const names = call.args.filter((f) => !/^[-+]/.test(f.text));
  const flags = call.args
    .filter((f) => /^[-+]/.test(f.text))
    .map((f) => f.text)
    .join("");
  const isLocal = call.name === "local";
  if (names.length === 0 && !isLocal && !/f|F/.test(flags))
    call.say(askFirm("it prints all variables, which may hold keys", "secret"));
  if (/p/.test(flags) && names.length > 0) call.say(askFirm("it prints variables, which may hold keys", "secret"));
  for (const f of names) {
    const { name, value } = assignmentParts(f);
    if (/i/.test(flags)) inspectExpression(call.shell, value);
    if (/n/.test(flags) && call.name !== "export") {
      call.say(ask("it makes a name for another variable"));
      inspectArithmeticText(call.shell, value);
    }
    if (!/^[A-Za-z_]\w*$/.test(name)) inspectArithmeticText(call.shell, f);
    const verdict = judgeVariable(name, value, "", call.shell.evaluation.world.root);
    if (verdict.decision !== "allow") call.say(verdict);
    if (f.text.includes("=")) call.shell.scope.vars.set(name, [value]);
  }
  return nothing();
}

function read(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, { flags: "-ersE -a: -d: -i: -n: -N: -p: -t: -u:" });
  const array = parsed.value("-a");
  const whole = outputAsWord(call.shell.stdin);
  // It takes a piece of the line, and without `-r` it takes backslashes away. `-d ''` ends at zero bytes, which no name has.
  const isWholeName = parsed.value("-d")?.text === "" && call.shell.stdin.kind !== "text";
  const isPiece = parsed.has("-n", "-N", "-i", "-u") || (parsed.has("-d") && !isWholeName);
  const isCut = isPiece || (whole.text.includes("\\") && !parsed.has("-r"));
  const value = isCut ? hole() : whole;
  const names = parsed.operands.length > 0 ? parsed.operands : [field("REPLY")];
  if (array) bindArray(call, array, value);
  for (const f of names) {
    judgeName(call.shell, f);
    const isText = call.shell.stdin.kind === "text";
    call.shell.scope.vars.set(f.text, [
      { ...fieldOf(value), guessed: isText && (names.length > 1 || value.text.includes("\n")) },
    ]);
  }
  return undefined;
}

function mapfile(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, { flags: "-t -d: -n: -O: -s: -u: -C! -c:" });
  bindArray(call, parsed.operands[0] ?? field("MAPFILE"), outputAsWord(call.shell.stdin));
  return undefined;
}

/** Several words of a text become several elements: which, is not followed. */
function bindArray(call: CommandCall, array: Field, value: Word): undefined {
  judgeName(call.shell, array);
  const element = { ...fieldOf(/\s/.test(value.text) ? hole() : value), splits: true };
  call.shell.scope.vars.set(`${array.text}[@]`, [element]);
  call.shell.scope.vars.set(array.text, [element]);
}

/** Where the loop or the function is left, its variables are what they are here. */
function jump(call: CommandCall): undefined {
  const { scope } = call.shell;
  if (scope.left.length < 16) scope.left.push(copyScope(scope));
}

function bindUnknown(call: CommandCall, names: (Field | undefined)[]): undefined {
  for (const f of names) {
    if (!f) continue;
    judgeName(call.shell, f);
    call.shell.scope.vars.set(f.text, [holeField()]);
  }
  call.say(allow());
  return undefined;
}
