// Owns git: which subcommands only read, what their dangerous flags are, and what everything else is asked for.

import { dirname, resolve } from "node:path";
import { allow, ask, askExact, askFirm, askNetwork, askRead, deny } from "../finding.ts";
import { isInProject } from "../path-place.ts";
import { looksForSecrets } from "../protected.ts";
import { cut, cutOff, type Field, field, fieldOf, has, join, match, word } from "../shell/field.ts";
import { isThere, judgeField } from "../shell/paths.ts";
import { copyScope } from "../shell/scope.ts";
import type { Output, Shell } from "../shell/shell.ts";
import type { Call, Commands } from "./call.ts";
import { fromTable, mayBecomeFlags, readFlags } from "./flags.ts";
import { config, judgeKey } from "./git-config.ts";
import { GIT_CHANGES, GIT_READS } from "./git-table.ts";
import { isBareAddress } from "./network.ts";

export const GIT: Commands = { git };

/** Global flags before the subcommand. */
function git(call: Call): Output | undefined {
  let { args } = call;
  let { shell } = call;
  let isAnywhere = false;
  while (args[0]?.text.startsWith("-")) {
    const { text } = args[0];
    const equals = text.indexOf("=");
    const name = equals < 0 ? text : text.slice(0, equals);
    const takesNext = [
      "-C",
      "-c",
      "--git-dir",
      "--work-tree",
      "--namespace",
      "--super-prefix",
      "--exec-path",
      "--config-env",
    ].includes(text);
    const value: Field | undefined =
      equals < 0 ? (takesNext ? args[1] : undefined) : { ...args[0], ...cut(args[0], equals + 1) };
    args = args.slice(takesNext ? 2 : 1);
    if (text === "-C" && value) {
      call.look(value);
      const scope = copyScope(shell.scope);
      isAnywhere ||= has(value, "unknown");
      if (value.holes.length > 0) scope.cwds = undefined;
      else scope.cwds = value.text.startsWith("/") ? [value.text] : scope.cwds?.map((cwd) => `${cwd}/${value.text}`);
      shell = { ...shell, scope };
    } else if (name === "-c") judgeKey(call, value?.text ?? "");
    else if (/^-c[a-zA-Z]/.test(text)) judgeKey(call, text.slice(2));
    else if (name === "--config-env")
      call.say(deny("git would take its configuration from the environment", "runs_code"));
    else if (name === "--exec-path") {
      if (value) call.say(deny("git would run programs from another place", "runs_code"));
    } else if (name === "--git-dir" || name === "--work-tree") {
      if (value) call.look(value);
      if (!/^(?:\.|\.git|\.\/|\.\/\.git)\/?$/.test(value?.text ?? ""))
        call.say(deny(`git ${name} works on another repository, with its own settings`));
    } else if (["--version", "-v", "--html-path", "--man-path", "--info-path"].includes(text)) return undefined;
    else if (text === "--help" && args.length === 0) return undefined;
    else if (
      ![
        "--no-pager",
        "-P",
        "--no-optional-locks",
        "--literal-pathspecs",
        "--glob-pathspecs",
        "--noglob-pathspecs",
        "--icase-pathspecs",
        "--no-replace-objects",
        "--no-advice",
      ].includes(text)
    ) {
      call.say(ask(`git ${text} is not known to only read`));
    }
  }
  const [sub, ...rest] = args;
  if (!sub) return undefined;
  if (isAnywhere) call.say(askFirm("the repository is only known at run time", "runtime"));
  if (call.args.some(mayBecomeFlags))
    call.say(askExact("a word that is only known at run time may be a flag", "runtime"));
  judgeRepository(call, shell);
  return subcommand({ ...call, shell, name: `git ${sub.text}`, args: rest }, sub.text);
}

/** A repository inside the project may come from somebody else, and its settings run programs. */
function judgeRepository(call: Call, shell: Shell): undefined {
  const { court, scope } = shell;
  if (!scope.cwds) return call.say(ask("the repository is only known at run time", "runtime"));
  for (const cwd of scope.cwds) {
    if (!isInProject(court, court.world.realPath(cwd)))
      call.say(ask("it works on a repository outside the project, with its own settings", "outside"));
    for (
      let at = resolve(cwd);
      at !== resolve(court.world.root) && at.length > court.world.root.length;
      at = dirname(at)
    ) {
      if (court.world.kind(`${at}/.git`) !== "missing")
        return call.say(ask("it works on a repository inside the project, with its own settings"));
    }
  }
}

function subcommand(call: Call, name: string): Output | undefined {
  const isKnownName = [SPECIAL, GIT_READS, GIT_CHANGES].some((names) => Object.hasOwn(names, name));
  if (isKnownName && call.args.length === 1 && call.args[0]!.text === "--help") return undefined;
  if (name === "config") return config(call);
  if (Object.hasOwn(SPECIAL, name)) return SPECIAL[name]!(call);
  if (Object.hasOwn(GIT_READS, name)) return readOnly(call, GIT_READS[name]!, name);
  return changed(call, name);
}

function changed(call: Call, name: string): undefined {
  const change = Object.hasOwn(GIT_CHANGES, name) ? GIT_CHANGES[name]! : undefined;
  if (!change) return call.say(ask(`git ${name} is not known to only read`));
  judgeChange(call, change.refused);
  call.say(change.usesNetwork ? askNetwork(`git ${name} reaches another machine`) : ask(`git ${name} ${change.does}`));
  return undefined;
}

/** Files named on the command line may be secrets; revisions may name them too. */
function readOnly(call: Call, flags: string, name: string): Output | undefined {
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
const isRepeated = (call: Call, f: Field): boolean => !f.text.startsWith("-") && isThere(call.shell, f);

/** What is asked for on the input. */
function readNamed(call: Call): undefined {
  const { stdin } = call.shell;
  if (stdin.kind === "text") for (const name of stdin.text.split(/\s+/)) readOperand(call, field(name), false);
  else if (stdin.kind === "unknown") call.say(askRead("which objects it prints is only known at run time", "runtime"));
}

function toplevel(call: Call): Output | undefined {
  const { world } = call.shell.court;
  return world.kind(`${world.root}/.git`) === "missing" ? undefined : { kind: "text", text: world.root };
}

function readOperand(call: Call, operand: Field, isPath: boolean): undefined {
  const { text } = operand;
  const inTree = match(operand, /^(?:[^:]*[^:\\])?:(?!\/\/)(?:\d:)?(?:\.\/)?(.+)$/d)?.[1];
  if (inTree !== undefined && !isPath) return call.read({ ...operand, ...join([word("./"), cutOff(inTree, /^\/+/)]) });
  if (isPath || /^(?:\/|~|\.\.?\/|\.[a-z])|\/\.\.\//.test(text) || /\.\w+$/.test(text)) {
    if (!/^[\w/.^~@{}-]+\.\.\.?[\w/.^~@{}-]*$/.test(text) || isPath || text.startsWith("..") || text.includes("/../"))
      call.read(operand);
  }
}

/** Flags that run programs or write elsewhere, whatever the subcommand. */
const RUNS =
  "--upload-pack --receive-pack --exec --ext-diff --textconv --open-files-in-pager --template --config --extcmd --tool".split(
    " ",
  );
/** Git takes any unique beginning of a long name. */
const isOrBegins = (text: string, flags: readonly string[]): boolean => {
  const name = text.split("=")[0]!;
  return flags.some((flag) => flag === name || (name.length > 3 && name.startsWith("--") && flag.startsWith(name)));
};
const EXECUTES = new Set(["rebase", "bisect"]);

function judgeChange(call: Call, refused: string | undefined): undefined {
  const name = call.name.slice(4);
  for (const [i, arg] of call.args.entries()) {
    const { text } = arg;
    if (isOrBegins(text, RUNS) || /^--gpg-sign=.*sh/.test(text) || isOrBegins(text, refused?.split(" ") ?? []))
      call.say(deny(`git ${name} ${text} runs a program`, "runs_code"));
    if (/^(?:ext|fd)::/.test(text)) call.say(deny("the address runs a program", "runs_code"));
    if (EXECUTES.has(name) && /^-x/.test(text)) call.say(deny(`git ${name} -x runs a program`, "runs_code"));
    const out = match(arg, /^(?:--ou\w*(?:-\w*)?=|-o$)(.*)$/d)?.[1];
    if (out) call.write(out.text === "" ? (call.args[i + 1] ?? field("")) : fieldOf(out));
  }
  for (const f of call.args) {
    if (!f.text.startsWith("-") && /^(?:\/|\.\.)/.test(f.text) && WRITES_PATHS.has(name)) call.write(f);
    // A protected name stays protected, whatever rule allows the subcommand.
    const isPath = !f.text.startsWith("-") && !f.text.includes(":") && WRITES_PATHS.has(name);
    if (isPath && judgeField(call.shell, f, "edit").firm) call.write(f);
  }
  const directory = call.args.find((f) => /^--(?:directory|separate-git-dir)=/.test(f.text));
  if (directory) call.write({ ...directory, ...cut(directory, directory.text.indexOf("=") + 1) });
  if (call.args.some((f) => f.text === "--unsafe-paths" || f.text.startsWith("--separate-git-dir")))
    call.say(deny("it writes outside the repository", "outside"));
  if (name === "clone" && call.args.some((f) => /^-[uc]/.test(f.text)))
    call.say(deny("git clone would run a program", "runs_code"));
  if (name === "remote" && call.args.some((f) => isBareAddress(f.text)))
    call.say(deny("it sends the repository to a bare address"));
  if (name === "push" && call.args.some((f) => isAddress(f.text.replace(/^--\w+=/, ""))))
    call.say(deny("it pushes to an address that is no remote of the repository"));
  if (
    (name === "fetch" || name === "pull" || name === "clone") &&
    call.args.some((f) => /\b\d{1,3}(?:\.\d{1,3}){3}\b/.test(f.text))
  ) {
    call.say(deny("it fetches from a bare address"));
  }
}

const WRITES_PATHS = new Set([
  "clone",
  "worktree",
  "init",
  "bundle",
  "format-patch",
  "mv",
  "rm",
  "checkout-index",
  "archive",
  "submodule",
  "restore",
  "checkout",
]);
const isAddress = (text: string): boolean =>
  /^[a-z+]+:\/\/|^[\w.-]+@[\w.-]+:|^(?:\/|\.\.\/|~)|\b\d{1,3}(?:\.\d{1,3}){3}\b/.test(text);

const SPECIAL: Commands = {
  branch: listing(
    "-avrqil --all --remotes --list --verbose --show-current --contains: --no-contains: --merged? --no-merged? --sort: --format: --color? --no-color --column? --no-column --points-at: --ignore-case --abbrev?",
    ["-l", "--list", "--contains", "--merged", "--no-merged", "--no-contains", "--points-at", "--show-current"],
  ),
  tag: listing(
    "-lin -n? --list --contains: --no-contains: --merged: --no-merged: --sort: --format: --points-at: --column? --color? --ignore-case",
    ["-l", "--list", "-n", "--contains", "--merged", "--points-at"],
  ),
  remote: subcommands({ "": "", "get-url": "" }, { show: "network", update: "network", prune: "network" }),
  stash: (call) => {
    const [verb, ...args] = call.args;
    if (verb?.text === "list" || verb?.text === "show")
      return readOnly({ ...call, args }, `${GIT_READS.log!} --include-untracked --only-untracked`, "log");
    return subcommands({})(call);
  },
  worktree: subcommands({ list: "" }),
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
    return subcommands({ "": "", status: "", summary: "" }, { update: "network", add: "network" })(call);
  },
  notes: subcommands({ list: "", show: "", "": "" }),
  bisect: (call) => {
    if (call.args[0]?.text === "run") call.say(deny("git bisect run runs a command", "runs_code"));
    return subcommands({ log: "", terms: "" })(call);
  },
  reflog: (call) => {
    const isRead = !["expire", "delete", "drop", "write"].includes(call.args[0]?.text ?? "");
    return isRead ? readOnly(call, GIT_READS.log!, "log") : subcommands({})(call);
  },
  lfs: subcommands(
    { "ls-files": "", status: "", env: "", version: "" },
    { fetch: "network", pull: "network", push: "network" },
  ),
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
    if (call.args.some((f) => /^(?:-x|--extcmd|-t|--tool)/.test(f.text)))
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

function secret(call: Call): undefined {
  call.say(deny("it prints or stores credentials", "secret"));
  return undefined;
}

/** Lists without operands, or with a flag that makes them patterns. */
function listing(flags: string, listers: string[]): (call: Call) => Output | undefined {
  return (call) => {
    const parsed = readFlags(call, { flags, isNumeric: true });
    if (parsed.operands.length > 0 && !parsed.has(...listers)) call.say(ask(`${call.name} changes references`));
    return undefined;
  };
}

/** `reads` are those that only read; the empty name stands for no subcommand at all. */
function subcommands(
  reads: Record<string, string>,
  others: Record<string, "network"> = {},
): (call: Call) => Output | undefined {
  return (call) => {
    const first = call.args.find((f) => !f.text.startsWith("-"))?.text ?? "";
    judgeChange(call, undefined);
    if (Object.hasOwn(reads, first)) {
      call.say(
        call.args.some((f) => /^--(?:exec|ext|text|output|open)/.test(f.text))
          ? askExact(`${call.name} has a flag that is not known to only read`)
          : allow(),
      );
    } else if (others[first]) call.say(askNetwork(`${call.name} ${first} reaches another machine`));
    else call.say(ask(`${call.name} ${first} changes the repository`));
    return undefined;
  };
}
