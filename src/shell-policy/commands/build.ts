// The tools that build: make and its kin run recipes of the project, and can be told to run anything else.
import { ask, askExact, askFirm, deny } from "../finding.ts";
import { fieldOf, match } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { isElsewhere } from "./packages.ts";
import { runs } from "./run.ts";
import { isVersion } from "./version.ts";

export const BUILD: Commands = {
  make: build,
  gmake: build,
  ninja: build,
  cmake: scripted("-P"),
  ctest: scripted("-S"),
  just: runs("a recipe of the project", recipe),
  task: runs("a task of the project"),
  rake: runs("a task of the project"),
  ant: runs("a build"),
  mvn: runs("a build"),
  gradle: runs("a build"),
  bazel: runs("a build"),
  meson: runs("a build"),
};

/** What make hands to a shell or evaluates itself. */
const EVALUATED = /[`$;|&<>#\n]/;
/** By these variables recipes choose their programs. */
const CHOOSES =
  /^(?:.*_)?(?:CC|CXX|CPP|LD|AR|AS|NM|RM|CP|MV|LEX|YACC|CMD|COMMAND|PROG|BIN|EXE|TOOL|RUNNER|PYTHON|NODE|NPM|PIP|GO|CARGO|SH|BASH|SUDO|EDITOR|PAGER)$/;
const USUAL = /^(?:gcc|clang|cc|g\+\+|clang\+\+|c\+\+|ld|lld|ar|python3?|node|npm|pip3?|go|cargo|bash|sh)(?:-\d+)?$/;

function build(call: CommandCall): CommandOutput | undefined {
  if (isVersion(call)) return { kind: "plain" };
  for (const [i, arg] of call.args.entries()) {
    const { text } = arg;
    // In a cluster too (`-sC dir`), and by the beginning of a long name.
    const inline = match(arg, /^(?:-[a-zA-Z]*?[CfISBP]|--(?:dir|fi|mak|inc|bui|ins)[a-z-]*(?=$|=)=?)(.*)$/ds)?.[1];
    const value = inline && (inline.text === "" ? call.args[i + 1] : fieldOf(inline));
    if (value?.text === "-") call.say(askExact(`${call.name} takes its recipes from its input`, "runs_code"));
    else if (value) call.look(value);
    if (value && isElsewhere(value.text)) call.say(askFirm("it builds another project", "outside"));
    if (/^--ev?a?l?(?:=|$)|^-E|^\.?(?:SHELL|SHELLFLAGS|MAKE|MAKEFLAGS|MAKEFILES)\s*[:+?!]*=/.test(text))
      call.say(deny(`${call.name} ${text} runs a program`, "runs_code"));
    const [, name, set = ""] = /^([\w.]+)\s*[:+?!]*=(.*)$/s.exec(text) ?? [];
    if (name !== undefined && (EVALUATED.test(set) || (CHOOSES.test(name) && !USUAL.test(set))))
      call.say(askExact(`${call.name} is told what to run: ${text}`, "runs_code"));
  }
  call.say(ask("it runs recipes of the project, even when it is only asked what it would do", "runs_code"));
  return undefined;
}

/** With that flag it runs a script, whatever the project builds. */
function scripted(flag: string): (call: CommandCall) => CommandOutput | undefined {
  return (call) => {
    if (call.args.some((f) => f.text.startsWith(flag))) call.say(askExact(`${call.name} runs a script`, "runs_code"));
    return build(call);
  };
}

function recipe(call: CommandCall): undefined {
  const at = call.args.findIndex((f) => /^(?:-c|--command)$/.test(f.text));
  if (at < 0) return;
  call.say(askExact("just is told what to run", "runs_code"));
  call.run(call.args.slice(at + 1));
}
