// The programs of packages that start another command: a rule for them means what they start, but nothing that no rule lifts.
import { askExact } from "../finding.ts";
import { assignmentParts, judgeVariable } from "../shell/assign.ts";
import { field, match } from "../shell/field.ts";
import type { CommandCall, Commands } from "./call.ts";
import { runs, SHELLS } from "./run.ts";

export const STARTERS: Commands = {
  npx: runs("a package", startsPackage),
  pnpx: runs("a package", startsPackage),
  bunx: runs("a package", startsPackage),
  uvx: runs("a package"),
  pipx: runs("a package"),
  corepack: runs("a package manager"),
  nvm: runs("a version manager"),
  "cross-env": runs("a command", (call) => {
    const at = call.args.findIndex((f) => !f.text.includes("="));
    for (const f of at < 0 ? call.args : call.args.slice(0, at)) {
      const { name, value } = assignmentParts(f);
      const verdict = judgeVariable(name, value, "cross-env", call.shell.evaluation.world.root);
      if (verdict.firm) call.say(verdict);
    }
    if (at >= 0) startsCommand(call, at);
  }),
  dotenv: runs("a command", afterDashes),
  dotenvx: runs("a command", afterDashes),
  lerna: runs("commands in the packages", afterDashes),
  onchange: runs("a command again and again", afterDashes),
  concurrently: runs("commands", startsTexts),
  nodemon: runs("a command again and again", restarts),
  hyperfine: runs("commands", startsTexts),
  watchexec: runs("a command again and again", (call) => startsCommand(call, 0)),
  entr: runs("a command again and again", (call) => startsCommand(call, 0)),
};

/** `--call` is a command line; otherwise the words after the flags are a command. */
function startsPackage(call: CommandCall): undefined {
  for (const [i, arg] of call.args.entries()) {
    const m = match(arg, /^(?:-c|--call)(?:=(.*))?$/ds);
    if (!m) continue;
    call.rest.judged.add(arg);
    return void call.runText(m[1] ?? call.args[i + 1] ?? field(""));
  }
  startsCommand(call, 0);
}

/** From that word on, past flags, stands another command. */
export function startsCommand(call: CommandCall, from: number): undefined {
  const at = call.args.findIndex((f, i) => i >= from && !f.text.startsWith("-"));
  const head = call.args[at];
  if (!head) return;
  const args = call.args.slice(at + 1);
  if (SHELLS.has(head.text)) call.say(askExact(`${call.name} is told to start a shell`, "runs_code"));
  call.rest.started = { name: head.text, args, judged: call.rest.judged };
  call.startsFor(() => call.shell.runFields(call.shell, [head, ...args]));
}

function afterDashes(call: CommandCall): undefined {
  const at = call.args.findIndex((f) => f.text === "--");
  if (at >= 0) startsCommand(call, at + 1);
}

function startsTexts(call: CommandCall): undefined {
  for (const f of call.args) if (/\s/.test(f.text)) call.startsFor(() => call.runText(f));
}

/** `-x CMD`: started anew at every change. */
function restarts(call: CommandCall): undefined {
  const at = call.args.findIndex((f) => f.text === "-x" || f.text === "--exec");
  const command = call.args[at + 1];
  if (at < 0 || !command) return;
  call.say(askExact("nodemon is told what to run", "runs_code"));
  call.runText(command);
}
