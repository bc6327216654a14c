// The commands that start another command: each is taken off, and what is inside is judged.
import { ask, askExact, askFirm, deny } from "../finding.ts";
import { judgeVariable } from "../shell/assign.ts";
import {
  cutOff,
  type Field,
  field,
  fieldOf,
  fill,
  hole,
  holeField,
  isKnown,
  join,
  match,
  replaceAll,
  showAll,
  type Word,
  word,
} from "../shell/field.ts";
import { type CommandOutput, outputAsWord } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { readFlags } from "./flags.ts";
import { FETCHED } from "./run.ts";

/** `skips` operands belong to the wrapper itself. */
function wrapper(
  flags: string,
  skips = 0,
  own?: (call: CommandCall) => void,
): (call: CommandCall) => CommandOutput | undefined {
  return (call) => {
    const { operands } = readFlags(call, { flags, stopsAtOperand: true, isNumeric: true });
    own?.(call);
    const inner = operands.slice(skips);
    return inner.length > 0 ? call.run(inner, call.shell.stdin) : undefined;
  };
}

const escalates = (call: CommandCall): undefined => {
  const rest = readFlags(
    { ...call, say: () => undefined },
    { flags: "-u: -g: -n -E -H -i -s -k -b -A -S -l -v", stopsAtOperand: true },
  ).operands;
  call.say(deny(`${call.name} takes rights that the agent does not have`));
  if (rest.length > 0) call.run(rest);
  return undefined;
};
const exactly = (reason: string) => (call: CommandCall) => call.say(askExact(reason));

export const WRAPPERS: Commands = {
  timeout: wrapper("-v -k: -s: -f --foreground --preserve-status --kill-after: --signal: --verbose", 1),
  gtimeout: wrapper("-v -k: -s: -f --foreground --preserve-status --kill-after: --signal: --verbose", 1),
  time: wrapper("-pvaq -f: -o:w --portability --verbose --format: --output:w --append"),
  nice: wrapper("-n: --adjustment:"),
  ionice: wrapper("-t -c: -n: -p~ --class: --classdata:"),
  chrt: wrapper("-bfior -p~ --batch --idle", 1),
  nohup: wrapper(""),
  stdbuf: wrapper("-i: -o: -e: --input: --output: --error:"),
  unbuffer: wrapper("-p"),
  noglob: wrapper(""),
  builtin: wrapper(""),
  setsid: wrapper("-cfw --ctty --fork --wait", 0, exactly("it leaves the session")),
  setarch: wrapper("-R --addr-no-randomize", 1, exactly("it changes how the program runs")),
  command: (call) => {
    const parsed = readFlags(call, { flags: "-pvV", stopsAtOperand: true });
    return parsed.has("-v", "-V") ? undefined : call.run(parsed.operands, call.shell.stdin);
  },
  exec: (call) => {
    const { operands } = readFlags(call, { flags: "-cl -a:", stopsAtOperand: true });
    return operands.length > 0 ? call.run(operands, call.shell.stdin) : undefined;
  },
  env,
  xargs,
  parallel: (call) => {
    const { operands } = readFlags(call, {
      flags:
        "-0kqtX -j: -n: -N: -I: -a:r -C: --jobs: --max-args: --null --keep-order --bar --dry-run --halt: --colsep: --will-cite",
      stopsAtOperand: true,
    });
    const end = operands.findIndex((f) => /^:::/.test(f.text));
    const inner = end < 0 ? operands : operands.slice(0, end);
    call.say(askExact("it starts many commands", "runs_code"));
    const given = end < 0 ? [holeField()] : operands.slice(end + 1);
    for (const value of given.slice(0, 20)) {
      if (inner.length === 0) call.runText(value);
      else if (inner.length === 1) call.runText(join([...inner, value], " "));
      else
        call.run(
          inner.some((f) => f.text.includes("{}"))
            ? inner.map((f) => ({ ...f, ...replaceAll(f, "{}", value) }))
            : [...inner, value],
        );
    }
    return undefined;
  },
  watch: (call) => {
    const { operands } = readFlags(call, {
      flags: "-bcdegtpxw -n: --interval: --differences? --no-title --color --exec --beep --errexit",
      stopsAtOperand: true,
    });
    call.say(askExact("it starts the command again and again", "runs_code"));
    if (operands.length > 0) call.runText(join(operands, " "));
    return undefined;
  },
  flock: (call) => {
    const parsed = readFlags(call, {
      flags: "-nsxoeuF -w: -E: -c: --nonblock --shared --exclusive --timeout: --command:",
      stopsAtOperand: true,
    });
    const [file, ...inner] = parsed.operands;
    if (file && !/^\d+$/.test(file.text)) call.write(file);
    call.say(askExact("it holds a lock while the command runs", "runs_code"));
    const script = parsed.value("-c", "--command") ?? (inner[0]?.text === "-c" ? inner[1] : undefined);
    if (script) call.runText(script);
    else if (inner.length > 0) call.run(inner);
    return undefined;
  },
  script: (call) => {
    const parsed = readFlags(call, { flags: "-aefqtBIOTEm -c: --command: --quiet --append --return --flush" });
    const command = parsed.value("-c", "--command");
    for (const f of parsed.operands) call.write(f);
    if (command) call.runText(command);
    call.say(askExact("it records a session"));
    return undefined;
  },
  busybox: (call) => (call.args.length > 0 ? call.run(call.args, call.shell.stdin) : undefined),
  toybox: (call) => (call.args.length > 0 ? call.run(call.args, call.shell.stdin) : undefined),
  eval: (call) => {
    const words = call.args;
    if (FETCHED.test(call.text)) call.say(deny("it runs what another machine sends", "network"));
    if (words.every(isKnown)) {
      call.say(askFirm("eval runs text as commands", "runs_code"));
      return call.runText(join(words, " "));
    }
    call.say(askFirm("eval runs text that is only known at run time", "runtime"));
    call.runText(word(fill(join(words, " "), "x")));
    if (words.some((f) => /^-[a-zA-Z]*[rf]/.test(f.text)) && words.some((f) => /^(?:\/|~|\.\.)/.test(f.text)))
      call.say(deny("eval runs text that is only known at run time, and it looks destructive", "runtime"));
    return undefined;
  },
  sudo: escalates,
  doas: escalates,
  su: escalates,
  pkexec: escalates,
  runuser: escalates,
  gosu: escalates,
  chroot: escalates,
  unshare: escalates,
  nsenter: escalates,
  setpriv: escalates,
  capsh: escalates,
  setcap: escalates,
  firejail: escalates,
  bwrap: escalates,
  systemd_run: escalates,
  "systemd-run": escalates,
  run0: escalates,
  newgrp: escalates,
  sg: escalates,
  strace: traces,
  ltrace: traces,
  gdb: traces,
  lldb: traces,
  perf: traces,
  ptrace: traces,
  valgrind: traces,
};

function traces(call: CommandCall): undefined {
  const { operands } = readFlags(
    { ...call, say: () => undefined },
    { flags: "-fqtTvyciCdrxkzZn -o:w -e: -s: -u: -p: -P: -a: -S: -O: -E:", stopsAtOperand: true },
  );
  if (operands.length > 0 && /trace|valgrind/.test(call.name)) call.run(operands);
  call.say(
    call.args.some((f) => /^-(?:p|-pid|ex|x|-eval|-command|-batch)/.test(f.text))
      ? deny("it takes over a running program or runs commands", "runs_code")
      : askExact("it runs a program under a tracer", "runs_code"),
  );
  return undefined;
}

function env(call: CommandCall): CommandOutput | undefined {
  const { args } = call;
  let at = 0;
  let moved: Word | undefined;
  const set: [string, Field][] = [];
  for (; ; at++) {
    const arg = args[at];
    if (!arg) break;
    const { text } = arg;
    const [, key, given] = match(arg, /^([^-=][^=]*)=([\s\S]*)$/d) ?? [];
    if (key && given) {
      const [name, value] = [key.text, { ...arg, ...given }];
      const command = args.slice(at + 1).find((f) => !/^[A-Za-z_]\w*=/.test(f.text))?.text ?? "";
      const verdict = judgeVariable(name, value, command || "env", call.shell.evaluation.world.root);
      if (verdict.decision !== "allow") call.say(verdict);
      set.push([name, value]);
    } else if (/^-[iv0]*S|^--sp?l?i?t?[a-z-]*(?:=|$)/.test(text)) {
      call.say(askExact("env -S splits text into a command"));
      call.runText(join([cutOff(arg, /^-[iv0]*S|^--[a-z-]*=?/), ...args.slice(at + 1)], " "));
      return undefined;
    } else if (/^(?:-C|--c[a-z]*=?)/.test(text)) {
      call.say(askExact("env changes the directory"));
      const inline = cutOff(arg, /^(?:-C|--c[a-z]*=?)/);
      moved = inline.text === "" ? args[++at] : inline;
    } else if (text === "-u" || text === "--unset") {
      at++;
    } else if (/^-(?:i|0|v|-ignore-environment|-null|-unset=.*|u.*)?$/.test(text)) continue;
    else if (text.startsWith("-")) call.say(ask(`env ${text} is not known`, "runtime"));
    else break;
  }
  const inner = args.slice(at);
  for (const [name, value] of set)
    call.shell.scope.vars.delete(name) && call.shell.scope.vars.set(name, [{ ...value, guessed: true }]);
  if (inner.length > 0 && moved !== undefined)
    return call.runText(join([word("cd '"), replaceAll(moved, "'", word("")), word(`' && ${showAll(inner)}`)]));
  if (inner.length > 0) return call.run(inner, call.shell.stdin);
  call.say(ask("it prints the environment: a list without keys, and what your settings add", "secret"));
  return undefined;
}

const MAX_GIVEN = 20;

/** Quotes and backslashes mean something to xargs: then nothing is known, as with too many. */
function wordsOnInput(stdin: CommandOutput, separator: RegExp): Field[] {
  const words = stdin.kind === "text" ? stdin.text.split(separator).filter(Boolean) : [];
  if (stdin.kind === "text" && words.length <= MAX_GIVEN && !/['"\\]/.test(stdin.text))
    return words.map((one) => field(one));
  return [{ ...fieldOf(stdin.kind === "text" ? hole() : outputAsWord(stdin)), splits: true }];
}

/** What the command is given are the words on the input, as far as they are known. */
function xargs(call: CommandCall): CommandOutput | undefined {
  const flags =
    "-0rtopx -n: -L: -l? -P: -s: -d: -E: -I: -i? -a:r -J: -R: --null --no-run-if-empty --max-args: --max-lines: --max-procs: --max-chars: --delimiter: --replace? --verbose --exit --arg-file:r --interactive --eof?";
  const parsed = readFlags(call, { flags, stopsAtOperand: true });
  const inner = parsed.operands.length > 0 ? parsed.operands : [field("echo")];
  const mark = parsed.value("-I", "-J")?.text ?? (parsed.has("-i", "--replace") ? "{}" : undefined);
  const given = wordsOnInput(call.shell.stdin, mark === undefined ? /\s+/ : /\n/);
  // How many go to one call is not followed: a flag may begin another.
  if (given.some((f) => f.text.startsWith("-"))) call.say(askExact("a word on the input is a flag"));
  const most = parsed.value("-P", "--max-procs");
  if (most && !/^[1-9]\d?$/.test(most.text))
    call.say(askExact("it starts as many processes as there are words", "runs_code"));
  if (parsed.flags.length > 0 && !parsed.flags.every((f) => HARMLESS.has(f.name)))
    call.say(askExact("xargs has a flag that is not known to be harmless", "runtime"));
  if (mark === undefined) return call.run([...inner, ...given]);
  for (const value of given) call.run(inner.map((f) => ({ ...f, ...replaceAll(f, mark, value) })));
  return undefined;
}
const HARMLESS = new Set([
  "-0",
  "-r",
  "-n",
  "-L",
  "-l",
  "-P",
  "-t",
  "-I",
  "-i",
  "-d",
  "-x",
  "-s",
  "--null",
  "--no-run-if-empty",
  "--max-args",
  "--max-lines",
  "--max-procs",
  "--delimiter",
  "--replace",
  "--verbose",
]);
