// Git: which subcommands only read, what their dangerous flags are, and what everything else is asked for.

import { dirname, resolve } from "node:path";
import { isInside } from "../../file-access/paths.ts";
import { only } from "../../ledger/only.ts";
import { own } from "../../ledger/own.ts";
import type { Evaluation } from "../evaluation.ts";
import { allow, ask, askExact, askFirm, askNetwork, askRead, deny } from "../finding.ts";
import { isInProject, isRepository } from "../path-verdict.ts";
import { looksForSecrets } from "../protected.ts";
import { cut, cutOff, type Field, field, has, join, match, word } from "../shell/field.ts";
import { isThere } from "../shell/paths.ts";
import { copyScope } from "../shell/scope.ts";
import type { CommandOutput, Shell } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { fromTable, mayBecomeFlags, readFlags } from "./flags.ts";
import { judgeChange } from "./git-changes.ts";
import { config, judgeKey } from "./git-config.ts";
import { GIT_CHANGES, GIT_READS } from "./git-table.ts";

export const GIT: Commands = { git };

function git(call: CommandCall): CommandOutput | undefined {
  const globals = readGlobals(call);
  if (!globals) return undefined;
  const { shell, isAnywhere } = globals;
  const [sub, ...rest] = globals.args;
  if (!sub) return undefined;
  if (isAnywhere) call.say(askFirm("the repository is only known at run time", "runtime"));
  if (call.args.some(mayBecomeFlags))
    call.say(askExact("a word that is only known at run time may be a flag", "runtime"));
  const isForeign = judgeRepository(call, shell);
  Object.assign(call.rest, { shell, args: rest, sub: sub.text });
  const output = subcommand({ ...call, shell, name: `git ${sub.text}`, args: rest }, sub.text);
  const { evaluation } = shell;
  // A command that git starts (`bisect run`) is a part of its own; another repository does not need this one, and its settings are anybody's:
  // no rule with `*` means that the programs they name get the network.
  for (const f of evaluation.findings) {
    if (f.part !== evaluation.part || f.decision === "allow") continue;
    if (!isForeign) f.git = true;
    else if (f.network) f.lift = "exact";
  }
  return output;
}

/** They take the next word, where theirs is not joined. */
const GLOBALS_WITH_VALUE = new Set(
  "-C -c --git-dir --work-tree --namespace --super-prefix --exec-path --config-env".split(" "),
);
const PLAIN_GLOBALS = new Set(
  "--no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-replace-objects --no-advice".split(
    " ",
  ),
);
/** Git answers them, and does nothing else. */
const ANSWERED_GLOBALS = new Set(["--version", "-v", "--html-path", "--man-path", "--info-path"]);

interface Globals {
  /** From the subcommand on. */
  args: Field[];
  /** Where `-C` leads. */
  shell: Shell;
  /** That is only known at run time. */
  isAnywhere: boolean;
}

/** The flags before the subcommand; undefined where git answers one and stops. */
function readGlobals(call: CommandCall): Globals | undefined {
  let { args, shell } = call;
  let isAnywhere = false;
  for (let [flag, next] = args; flag?.text.startsWith("-"); [flag, next] = args) {
    const { text } = flag;
    const equals = text.indexOf("=");
    const name = equals < 0 ? text : text.slice(0, equals);
    const takesNext = GLOBALS_WITH_VALUE.has(text);
    const value: Field | undefined =
      equals < 0 ? (takesNext ? next : undefined) : { ...flag, ...cut(flag, equals + 1) };
    args = args.slice(takesNext ? 2 : 1);
    if (text === "-C" && value) {
      call.look(value);
      isAnywhere ||= has(value, "unknown");
      shell = movedTo(shell, value);
    } else if (ANSWERED_GLOBALS.has(text) || (text === "--help" && args.length === 0)) return undefined;
    else judgeGlobal(call, { text, name, value });
  }
  return { args, shell, isAnywhere };
}

function movedTo(shell: Shell, place: Field): Shell {
  const scope = copyScope(shell.scope);
  if (place.holes.length > 0) scope.cwds = undefined;
  else scope.cwds = place.text.startsWith("/") ? [place.text] : scope.cwds?.map((cwd) => `${cwd}/${place.text}`);
  return { ...shell, scope };
}

function judgeGlobal(call: CommandCall, flag: { text: string; name: string; value: Field | undefined }): undefined {
  const { text, name, value } = flag;
  if (name === "-c") judgeKey(call, value?.text ?? "");
  else if (/^-c[a-zA-Z]/.test(text)) judgeKey(call, text.slice(2));
  else if (name === "--config-env")
    call.say(deny("git would take its configuration from the environment", "runs_code"));
  else if (name === "--exec-path") {
    if (value) call.say(deny("git would run programs from another place", "runs_code"));
  } else if (name === "--git-dir" || name === "--work-tree") {
    if (value) call.look(value);
    if (!/^(?:\.|\.git|\.\/|\.\/\.git)\/?$/.test(value?.text ?? ""))
      call.say(deny(`git ${name} works on another repository, with its own settings`));
  } else if (!PLAIN_GLOBALS.has(text)) call.say(ask(`git ${text} is not known to only read`));
}

/** A repository inside the project may come from somebody else, and its settings run programs. */
function judgeRepository(call: CommandCall, shell: Shell): boolean {
  const from = shell.evaluation.findings.length;
  sayRepository(call, shell);
  return shell.evaluation.findings.length > from;
}

function sayRepository(call: CommandCall, { evaluation, scope }: Shell): undefined {
  if (!scope.cwds) return call.say(ask("the repository is only known at run time", "runtime"));
  for (const cwd of scope.cwds) {
    if (!isInProject(evaluation, realOf(evaluation, cwd)))
      call.say(ask("it works on a repository outside the project, with its own settings", "outside"));
    const root = resolve(evaluation.world.root);
    for (let at = realOf(evaluation, cwd); ; at = dirname(at)) {
      const isBelow = at !== root && isInside(root, at);
      const hasGit = evaluation.world.kind(`${at}/.git`) !== "missing";
      if (isBelow && hasGit) return call.say(ask("it works on a repository inside the project, with its own settings"));
      // Git takes it for one without being told: whoever brought it chose its settings, and they run programs.
      if (!hasGit && isInside(root, at) && isRepository(evaluation, at))
        return call.say(
          askExact("it works on a bare repository inside the project, with its own settings", "runs_code"),
        );
      if (!isBelow) break;
    }
  }
}

function realOf(evaluation: Evaluation, path: string): string {
  try {
    return evaluation.world.realPath(path);
  } catch {
    return resolve(path);
  }
}

function subcommand(call: CommandCall, name: string): CommandOutput | undefined {
  const isKnownName = [SPECIAL, GIT_READS, GIT_CHANGES].some((names) => Object.hasOwn(names, name));
  if (isKnownName && only(call.args)?.text === "--help") return undefined;
  if (name === "config") return config(call);
  const special = own(SPECIAL, name);
  if (special) return special(call);
  const flags = own(GIT_READS, name);
  return flags === undefined ? changed(call, name) : readOnly(call, flags, name);
}

function changed(call: CommandCall, name: string): undefined {
  const change = own(GIT_CHANGES, name);
  judgeChange(call, name, change?.refused);
  // An alias of the user's, or a program of git's that nobody means by a rule for all of git.
  if (!change) return call.say((/-/.test(name) ? askExact : ask)(`git ${name} is not known to only read`));
  const verdict = change.usesNetwork
    ? askNetwork(`git ${name} reaches another machine`)
    : ask(`git ${name} ${change.does}`);
  call.say(change.isRare ? { ...verdict, lift: "exact" } : verdict);
  return undefined;
}

/** Files named on the command line may be secrets; revisions may name them too. */
function readOnly(call: CommandCall, flags: string, name: string): CommandOutput | undefined {
  const parsed = readFlags(call, { flags, isNumeric: true });
  const operands = name === "grep" && !parsed.has("-e") ? parsed.operands.slice(1) : parsed.operands;
  for (const operand of operands) readOperand(call, operand, parsed.has("--no-index"));
  if (parsed.has("--output")) call.say(ask("git writes a file", "changes"));
  if (parsed.has("--batch", "--batch-command")) readNamed(call);
  if (
    name === "log" &&
    call.args.some((f) => HASH_FORMAT.test(f.text)) &&
    call.args.every((f) => PRINTS_HASHES.test(f.text))
  )
    return { kind: "plain" };
  if (call.args.some((f) => PRINTS_MORE.test(f.text))) return undefined;
  if (name === "rev-parse" && call.args.some((f) => f.text === "--" || isRepeated(call, f))) return undefined;
  if (name === "ls-files") return { kind: parsed.has("-o", "--others", "-i", "--ignored") ? "allNames" : "names" };
  if (name === "grep" && parsed.has("-l", "-L", "--files-with-matches", "--files-without-match", "--name-only"))
    return call.args.some((f) => looksForSecrets(f.text))
      ? undefined
      : { kind: parsed.has("--untracked") ? "allNames" : "names" };
  if (parsed.has("--name-only")) return /^(?:diff|ls-tree)/.test(name) ? { kind: "names" } : undefined;
  if (parsed.has("--show-toplevel")) return toplevel(call);
  return PRINTS_PLAIN.has(name) ? { kind: "plain" } : undefined;
}

/** `git log --format=%h -5 main..HEAD`: nothing but hashes. */
const HASH_FORMAT = /^--(?:format|pretty)=(?:t?format:)?%[hH]$/;
const PRINTS_HASHES =
  /^(?:--(?:format|pretty)=(?:t?format:)?%[hH]|-n?\d+|-n|--reverse|--all|--(?:no-)?merges|--first-parent|--|[\w/@~^][\w/.@{}~^-]*)$/;

/** Hashes, counts and names of references: never a path. */
const PRINTS_PLAIN = new Set(["rev-list", "rev-parse", "describe", "merge-base", "count-objects"]);
/** Flags and words by which it prints other text, or paths. */
const PRINTS_MORE =
  /^--(?:format|pretty|line-prefix|src-prefix|dst-prefix|output-indicator|dirty|broken|git-path|git-dir|git-common-dir|absolute-git-dir|show-cdup|show-prefix|show-superproject|shared-index|resolve-git-dir|prefix|sq|parseopt|debug|header|oneline|objects|notes|show-notes|log-size)|^(?:\/|~)|(?:^|\/)\./;

/** Then `rev-parse` repeats it. */
const isRepeated = (call: CommandCall, f: Field): boolean => !f.text.startsWith("-") && isThere(call.shell, f);

/** What is asked for on the input. */
function readNamed(call: CommandCall): undefined {
  const { stdin } = call.shell;
  if (stdin.kind === "text") for (const name of stdin.text.split(/\s+/)) readOperand(call, field(name), false);
  else if (stdin.kind === "unknown") call.say(askRead("which objects it prints is only known at run time", "runtime"));
}

function toplevel(call: CommandCall): CommandOutput | undefined {
  const { world } = call.shell.evaluation;
  return world.kind(`${world.root}/.git`) === "missing" ? undefined : { kind: "text", text: world.root };
}

function readOperand(call: CommandCall, operand: Field, isPath: boolean): undefined {
  const { text } = operand;
  const inTree = match(operand, /^(?:[^:]*[^:\\])?:(?!\/\/)(?:\d:)?(?:\.\/)?(.+)$/d)?.[1];
  if (inTree !== undefined && !isPath) return call.read({ ...operand, ...join([word("./"), cutOff(inTree, /^\/+/)]) });
  if (isPath || /^(?:\/|~|\.\.?\/|\.[a-z])|\/\.\.\//.test(text) || /\.\w+$/.test(text)) {
    if (!/^[\w/.^~@{}-]+\.\.\.?[\w/.^~@{}-]*$/.test(text) || isPath || text.startsWith("..") || text.includes("/../"))
      call.read(operand);
  }
}

const SPECIAL: Commands = {
  branch: listing(
    "-avrqil --all --remotes --list --verbose --show-current --contains: --no-contains: --merged? --no-merged? --sort: --format: --color? --no-color --column? --no-column --points-at: --ignore-case --abbrev?",
    ["-l", "--list", "--contains", "--merged", "--no-merged", "--no-contains", "--points-at", "--show-current"],
  ),
  tag: listing(
    "-lin -n? --list --contains: --no-contains: --merged: --no-merged: --sort: --format: --points-at: --column? --color? --ignore-case",
    ["-l", "--list", "-n", "--contains", "--merged", "--points-at"],
  ),
  remote: (call) => {
    const [verb] = call.args.filter((f) => !f.text.startsWith("-"));
    if (verb?.text === "set-url") call.say(askFirm("it sends what is pushed to another place", "network"));
    if (verb?.text === "add") call.say(askExact("it adds a place to push to", "network"));
    return subcommands({ "": "", "get-url": "" }, { show: "network", update: "network", prune: "network" })(call);
  },
  stash: (call) => {
    const [verb, ...args] = call.args;
    if (verb?.text === "list" || verb?.text === "show")
      return readOnly({ ...call, args }, `${GIT_READS.log} --include-untracked --only-untracked`, "log");
    return subcommands({})(call);
  },
  worktree: subcommands({ list: "" }),
  maintenance: (call) => {
    if (call.args[0]?.text !== "run")
      call.say(askExact("it changes the user's settings, or plans commands", "outside"));
    return subcommands({})(call);
  },
  "sparse-checkout": subcommands({ list: "" }),
  "ls-remote": (call) => {
    const [flag, ...names] = call.args;
    if (flag?.text !== "--get-url" || names.some((f) => f.text.startsWith("-"))) changed(call, "ls-remote");
    return undefined;
  },
  apply: (call) => {
    if (!call.args.some((f) => /^--(?:stat|numstat|summary|check)$/.test(f.text))) return changed(call, "apply");
    const parsed = readFlags(call, {
      flags:
        "-Rv -p: --stat --numstat --summary --check --reverse --verbose --recount --unidiff-zero --include: --exclude:",
    });
    for (const file of parsed.operands) if (file.text !== "-") call.read(file);
    return undefined;
  },
  submodule: (call) => {
    if (call.args.some((f) => f.text === "foreach"))
      call.say(deny("git submodule foreach runs a command in each module", "runs_code"));
    if (call.args.some((f) => f.text === "add"))
      call.say(askExact("it brings another repository, with its own settings", "network"));
    return subcommands({ "": "", status: "", summary: "" }, { update: "network", add: "network" })(call);
  },
  notes: subcommands({ list: "", show: "", "": "" }),
  bisect: (call) => {
    const [verb, ...command] = call.args;
    if (verb?.text !== "run") return subcommands({ log: "", terms: "" })(call);
    call.rest.judged.add(verb);
    call.say(ask("git bisect run starts a command", "runs_code"));
    call.run(command);
    return undefined;
  },
  reflog: (call) => {
    const isRead = !["expire", "delete", "drop", "write"].includes(call.args[0]?.text ?? "");
    return isRead ? readOnly(call, GIT_READS.log, "log") : subcommands({})(call);
  },
  lfs: (call) => {
    if (call.args.some((f) => f.text === "install") && !call.args.some((f) => f.text === "--local"))
      call.say(deny("it changes git's settings outside the project", "outside"));
    return subcommands(
      { "ls-files": "", status: "", env: "", version: "" },
      { fetch: "network", pull: "network", push: "network" },
    )(call);
  },
  "symbolic-ref": (call) => {
    const parsed = readFlags(call, { flags: "-q --quiet --short --recurse --no-recurse" });
    if (parsed.operands.length > 1) call.say(ask("it moves a reference", "changes"));
    return { kind: "plain" };
  },
  "hash-object": (call) => {
    const parsed = readFlags(call, { flags: "-t: -w~ --stdin --stdin-paths --path: --no-filters --literally" });
    for (const file of parsed.operands) call.read(file);
    return { kind: "plain" };
  },
  archive: (call) => {
    const parsed = readFlags(call, {
      flags:
        "-lv0123456789 -o:w --output:w --format: --list --prefix: --remote! --exec! --add-file:r --worktree-attributes --verbose --mtime:",
    });
    if (parsed.has("-o", "--output")) call.say(ask("it writes an archive", "changes"));
    for (const f of parsed.operands) readOperand(call, f, false);
    return undefined;
  },
  credential: (call) => secret(call),
  "credential-store": (call) => secret(call),
  "credential-cache": (call) => secret(call),
  "credential-manager": (call) => secret(call),
  difftool: (call) => {
    if (call.args.some((f) => /^(?:-[a-zA-Z]*[xt]|--extcmd|--tool)/.test(f.text)))
      call.say(deny("git difftool runs a program", "runs_code"));
    else call.say(ask("git difftool runs a program", "runs_code"));
    return undefined;
  },
  "filter-branch": (call) => {
    call.say(deny("git filter-branch runs commands over the whole history", "runs_code"));
    return undefined;
  },
  help: fromTable({ flags: "-agc --all --guides --config", operands: "text" }),
  version: fromTable({ flags: "--build-options", operands: "none" }),
};

function secret(call: CommandCall): undefined {
  call.say(deny("it prints or stores credentials", "secret"));
  return undefined;
}

/** Lists without operands, or with a flag that makes them patterns. */
function listing(flags: string, listers: string[]): (call: CommandCall) => CommandOutput | undefined {
  return (call) => {
    const parsed = readFlags(call, { flags, isNumeric: true, mayChange: true });
    if (parsed.operands.length === 0 || parsed.has(...listers)) return undefined;
    judgeChange(call, call.name.slice(4), undefined);
    call.say(ask(`${call.name} changes references`));
    return undefined;
  };
}

const LISTS =
  /^(?:-[vqzlan]+|--(?:verbose|quiet|porcelain|recursive|cached|long|all|name-only|size|debug|ref=[\w./-]+))$/;

/** `reads` are those that only read; the empty name stands for no subcommand at all. */
function subcommands(
  reads: Record<string, string>,
  others: Record<string, "network"> = {},
): (call: CommandCall) => CommandOutput | undefined {
  return (call) => {
    const first = call.args.find((f) => !f.text.startsWith("-"))?.text ?? "";
    const isPlain = call.args.every((f) => !f.text.startsWith("-") || LISTS.test(f.text));
    if (Object.hasOwn(reads, first) && isPlain) return call.say(allow());
    judgeChange(call, call.name.slice(4), undefined);
    if (Object.hasOwn(reads, first)) call.say(askExact(`${call.name} has a flag that is not known to only read`));
    else if (own(others, first)) call.say(askNetwork(`${call.name} ${first} reaches another machine`));
    else call.say(ask(`${call.name} ${first} changes the repository`));
    return undefined;
  };
}
