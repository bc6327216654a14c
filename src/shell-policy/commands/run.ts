// The commands that run code: shells, interpreters, compilers, build tools, tests.
import { only } from "../../ledger/only.ts";
import { ask, askExact, askFirm, deny, denyUnlessRule } from "../finding.ts";
import { type Field, fill, isKnown, type Word, word } from "../shell/field.ts";
import { judgeField } from "../shell/paths.ts";
import { copyScope } from "../shell/scope.ts";
import type { CommandOutput } from "../shell/shell.ts";
import { type CommandCall, type Commands, makeCall } from "./call.ts";
import { placesElsewhere } from "./packages.ts";
import { isVersion } from "./version.ts";

/** Names the program that it runs; its version is free. */
export function runs(
  what: string,
  own?: (call: CommandCall) => void,
): (call: CommandCall) => CommandOutput | undefined {
  return (call) => {
    if (isVersion(call)) return { kind: "plain" };
    own?.(call);
    call.say(ask(`it runs ${what}`, "runs_code"));
    return undefined;
  };
}

export const RUN_COMMANDS: Commands = {
  sh: shell,
  bash: shell,
  zsh: shell,
  dash: shell,
  ksh: shell,
  mksh: shell,
  ash: shell,
  fish: shell,
  csh: shell,
  tcsh: shell,
  rbash: shell,
  source: runFile,
  ".": runFile,
  node: interpreter("-e --eval -p --print -pe"),
  nodejs: interpreter("-e --eval -p --print"),
  deno: interpreter("eval"),
  bun: interpreter("-e --eval -p"),
  tsx: interpreter("-e --eval"),
  "ts-node": interpreter("-e --eval"),
  python: interpreter("-c"),
  python2: interpreter("-c"),
  python3: interpreter("-c"),
  pypy3: interpreter("-c"),
  ipython: interpreter("-c"),
  perl: interpreter("-e -E -ne -pe -pi -i"),
  ruby: interpreter("-e"),
  irb: runs("code"),
  php: interpreter("-r"),
  lua: interpreter("-e"),
  luajit: interpreter("-e"),
  tclsh: interpreter("-c"),
  expect: interpreter("-c"),
  osascript: interpreter("-e"),
  R: runs("code"),
  Rscript: interpreter("-e"),
  julia: interpreter("-e"),
  elixir: interpreter("-e"),
  erl: interpreter("-eval"),
  ghci: runs("code"),
  swift: runs("code"),
  scala: runs("code"),
  groovy: interpreter("-e"),
  java: runs("code"),
  javac: runs("a compiler", placesElsewhere),
  dotnet: runs("code"),
  gcc: runs("a compiler", placesElsewhere),
  "g++": runs("a compiler", placesElsewhere),
  cc: runs("a compiler", placesElsewhere),
  clang: runs("a compiler", placesElsewhere),
  "clang++": runs("a compiler", placesElsewhere),
  ld: runs("a linker", placesElsewhere),
  rustc: runs("a compiler", placesElsewhere),
  tsc: runs("a compiler", placesElsewhere),
  mypy: runs("a checker"),
  eslint: runs("code of the project"),
  prettier: runs("code of the project"),
  biome: runs("a formatter"),
  vitest: runs("tests"),
  jest: runs("tests"),
  mocha: runs("tests"),
  pytest: runs("tests"),
  tox: runs("tests"),
  ruff: runs("a checker"),
  black: runs("a formatter"),
  code: runs("an editor", (call) => {
    if (call.args.some((f) => /^--(?:un)?install-extension/.test(f.text)))
      call.say(askExact("it installs code of others", "runs_code"));
  }),
  "ld.so": loader,
};

/** What a substitution fetches, written in the command itself. */
export const FETCHED = /(?:[$<]\(|`)\s*(?:curl|wget)\s/;

/** `-c` is judged as what it runs; what comes on the input is judged if it is known. */
function shell(call: CommandCall): CommandOutput | undefined {
  const { args } = call;
  if (FETCHED.test(call.text)) call.say(deny("it runs what another machine sends", "network"));
  if (/^--(?:version|help)$/.test(only(args)?.text ?? "")) return undefined;
  for (let i = 0; ; i++) {
    const arg = args[i];
    if (!arg) break;
    const { text } = arg;
    if (/^[-+]o$|^[-+]O$|^--(?:rcfile|init-file)$/.test(text)) {
      if (text.startsWith("--")) call.say(deny("the shell would run a file first", "runs_code"));
      else if (
        !/^(?:errexit|nounset|pipefail|xtrace|verbose|noglob|extglob|globstar|nullglob)$/.test(args[i + 1]?.text ?? "")
      )
        call.say(ask(`${call.name} ${text} changes how the shell works`, "runs_code"));
      i++;
    } else if (/^-[a-zA-Z]*c/.test(text)) {
      if (args[i + 1]?.text === "--") i++;
      const script = args[i + 1];
      forget(call, args.slice(i + 3));
      // In the sandbox the home is the context's own.
      const asking = call.shell.evaluation.world.sandboxed ? ask : askFirm;
      if (/i|l/.test(text)) call.say(asking("the shell would run its start files first", "runs_code"));
      if (!script) call.say(ask("the shell is told nothing"));
      else if (!isKnown(script)) unknownScript(call, script);
      else call.runText(script);
      if (!["sh", "bash", "dash", "zsh", "ash", "ksh"].includes(call.name))
        call.say(ask(`${call.name} speaks another language`, "runs_code"));
      return undefined;
    } else if (text === "-s" || text === "-") break;
    else if (/^[-+]/.test(text)) {
      if (!/^[-+][aeufxvnCpBEhmTt]+$|^--(?:norc|noprofile|posix)$/.test(text))
        call.say(askFirm(`${call.name} ${text} is not known`, "runtime"));
    } else {
      call.read(arg);
      if (
        !args.slice(0, i).some((f) => /^-[a-z]*n/.test(f.text)) ||
        args.slice(0, i).some((f) => f.text.startsWith("+"))
      )
        call.say(ask("it runs a script", "runs_code"));
      return undefined;
    }
  }
  return fromInput(call);
}

/** A new shell has arguments of its own, and only those variables that were exported. */
function forget(call: CommandCall, given: Field[]): undefined {
  const { scope } = call.shell;
  const own = new Set(["HOME", "IFS"]);
  const vars = new Map([...scope.vars].map(([name, values]) => [name, own.has(name) ? values : values.map(asGuess)]));
  for (const key of ["@", "*"]) vars.set(key, given);
  call.runText = makeCall(
    { ...call.shell, scope: { ...copyScope(scope), vars } },
    call.name,
    call.args,
    call.text,
  ).runText;
}
const asGuess = (f: Field): Field => ({ ...f, guessed: true, splits: true });

function unknownScript(call: CommandCall, script: Word): undefined {
  call.say(askFirm("the commands it runs are only known at run time", "runtime"));
  call.runText(word(fill(script, "x")));
}

function fromInput(call: CommandCall): undefined {
  const { stdin } = call.shell;
  if (stdin.kind === "network") call.say(deny("it runs what another machine sends", "network"));
  else if (stdin.kind === "decoded") call.say(deny("it runs what was hidden in an encoding", "runs_code"));
  else if (SHELLS.has(call.name)) {
    if (stdin.kind === "text" && stdin.text !== "") call.runText(word(stdin.text));
    call.say(askExact("a shell runs what it is given on its input", "runs_code"));
  } else call.say(ask("it runs what it is given on its input, as it would run a file", "runs_code"));
  return undefined;
}
export const SHELLS = new Set(["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash"]);

function runFile(call: CommandCall): undefined {
  const [file] = call.args;
  if (FETCHED.test(call.text)) call.say(deny("it runs what another machine sends", "network"));
  if (file) {
    call.read(file);
    const isOutside = isKnown(file) && judgeField(call.shell, file, "read").code === "outside";
    if (isOutside && !isToolSetup(call, file.text))
      call.say(deny("it runs a file from outside the project", "outside"));
  }
  call.say(askExact("it runs a file in this shell", "runs_code"));
  return undefined;
}

/** What version managers are set up by; the sandbox shows these folders, read-only. */
const TOOL_SETUP =
  /^\/(?:\.nvm\/nvm\.sh|\.cargo\/env|\.asdf\/asdf\.sh|\.sdkman\/bin\/sdkman-init\.sh|\.rvm\/scripts\/rvm|\.deno\/env|\.local\/bin\/env|(?:mini|ana)conda3\/(?:etc\/profile\.d\/conda\.sh|bin\/activate))$/;
const isToolSetup = (call: CommandCall, path: string): boolean => {
  const { world } = call.shell.evaluation;
  return world.sandboxed && path.startsWith(`${world.home}/`) && TOOL_SETUP.test(path.slice(world.home.length));
};

/** Programs on the command line are not read; words in them that destroy are still seen. */
const DESTRUCTIVE =
  /rmtree|rm\s+-\w*[rf]|rmSync|removedirs|fork\s*\(?\)?\s*while|while[\s\S]{0,40}fork|\bsocket|\.ssh\b|\.aws\b|\/etc\/|\.bashrc|\.git\/|do shell script/i;
const SUSPICIOUS =
  /unlink|rmdir|shutil(?!\.(?:copy|which)|;)|FileUtils|urlopen|requests\.(?!__version__)|https?:\/\/|fetch\(|net\.connect|child_process|subprocess|os\.system|os\.remove|popen|\bexec|\bsystem\b|spawn|`/i;

/** They read a file for its syntax and run nothing of it; `perl -c` runs BEGIN. */
const CHECKS: Record<string, RegExp> = {
  node: /^(?:--check|-c)$/,
  nodejs: /^(?:--check|-c)$/,
  ruby: /^-c$/,
  php: /^-l$/,
};
/** A server of this machine. */
const LOCAL_FETCH = /fetch\(\s*["'`]http:\/\/(?:localhost|127\.0\.0\.1)(?=[:/"'`])/g;

function interpreter(inline: string): (call: CommandCall) => CommandOutput | undefined {
  const flags = inline.split(" ");
  return (call) => {
    if (isVersion(call)) return { kind: "plain" };
    const { args } = call;
    const at = args.findIndex((f) =>
      flags.some(
        (flag) =>
          f.text === flag ||
          (flag.length === 2 && f.text.startsWith(flag) && !f.text.startsWith("--")) ||
          f.text.startsWith(`${flag}=`),
      ),
    );
    if (at >= 0) {
      call.rest.code = new Set(args.slice(at, at + 2));
      const code = args
        .slice(at)
        .map((f) => f.text)
        .join(" ");
      if (DESTRUCTIVE.test(code)) call.say(deny(`${call.name} is given code that looks dangerous`, "runs_code"));
      else if (SUSPICIOUS.test(code.replace(LOCAL_FETCH, "")))
        call.say({
          ...denyUnlessRule(
            `${call.name} is given code that starts programs, deletes or reaches the network`,
            "network",
          ),
          lift: "exact",
        });
      else call.say(ask(`${call.name} is given code to run`, "runs_code"));
      return undefined;
    }
    const [first, file, ...more] = args;
    if (!first || first.text === "-") return fromInput(call);
    if (file && more.length === 0 && CHECKS[call.name]?.test(first.text) && !file.text.startsWith("-")) {
      call.read(file);
      return undefined;
    }
    for (const f of args) {
      if (/^(?:-r|--require|--import|--loader|--experimental-loader|--inspect.*|--prof.*|-m|-I)$/.test(f.text))
        call.say(ask(`${call.name} ${f.text} loads code`, "runs_code"));
      if (
        /^--(?:require|import|loader|env-file|experimental-loader|build-snapshot|diagnostic-dir|redirect-warnings)=/.test(
          f.text,
        )
      )
        call.say(ask(`${call.name} ${f.text} loads code`, "runs_code"));
      if (!f.text.startsWith("-")) break;
    }
    call.say(ask("it runs code", "runs_code"));
    return undefined;
  };
}

function loader(call: CommandCall): CommandOutput | undefined {
  call.say(ask("it starts a program by the loader", "runs_code"));
  return call.run(call.args);
}
