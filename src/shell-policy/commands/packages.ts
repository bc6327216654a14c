// Package managers: what only looks at what is installed, and what fetches, runs or publishes.
import { only } from "../../ledger/only.ts";
import { own } from "../../ledger/own.ts";
import { ask, askExact, askFirm, askNetwork, deny } from "../finding.ts";
import { field, fieldOf, match } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { isBareAddress } from "./network.ts";
import { lookupNames } from "./same-judge.ts";
import { startsCommand } from "./starters.ts";
import { isHelp, isVersion } from "./version.ts";

interface Manager {
  /** Subcommands that only look at what is installed here; `config+get` are two words. */
  reads: string;
  network: string;
  /** Behind these words stands a command: `uv run CMD`, `bundle exec CMD`. */
  starts?: string;
  own?: (call: CommandCall) => void;
  /** Flags besides that only read. */
  flags?: RegExp;
}

function manager({
  reads,
  network,
  starts = "",
  own,
  flags,
}: Manager): (call: CommandCall) => CommandOutput | undefined {
  const listed = (list: string) => new Set(list.split(" "));
  const [isRead, usesNetwork, isStart] = [listed(reads), listed(network), listed(starts)];
  return (call) => {
    if (isVersion(call)) return { kind: "plain" };
    own?.(call);
    const words: string[] = call.args.filter((f) => !f.text.startsWith("-")).map((f) => f.text);
    const [verb = ""] = words;
    const hasOddFlag = call.args.some(
      (f) => f.text.startsWith("-") && !PLAIN_FLAGS.test(f.text) && !flags?.test(f.text),
    );
    const name = words.slice(0, 2).join("+");
    if ((isRead.has(verb) || isRead.has(name)) && !hasOddFlag) return undefined;
    if (isStart.has(verb)) startsCommand(call, call.args.findIndex((f) => f.text === verb) + (verb === "node" ? 0 : 1));
    if (verb === "config") call.say(deny("it changes settings of the package manager", "runs_code"));
    if (PUBLISHES.test(verb)) call.say(askExact("it publishes", "network"));
    if (usesNetwork.has(verb) || usesNetwork.has(name))
      call.say(askNetwork(`${call.name} ${verb} reaches the network and runs what it fetches`));
    else call.say(ask(`${call.name} ${verb} runs code of the project`.replace("  ", " ")));
    return undefined;
  };
}
const PUBLISHES = /^(?:publish|push|yank|owner|login|logout)$/;
const PLAIN_FLAGS =
  /^(?:-[aglpqvsjom]+|--(?:all|depth(?:=\d+)?|json|long|parseable|prod|production|dev|global|local|omit=\w+|only=\w+|include=\w+|format(?:=[\w,]+)?|outdated|quiet|verbose|no-color|color(?:=\w+)?|version|workspaces|no-deps|offline|locked|frozen|format-version(?:=\d)?|tree|list|latest|not-required|user|path|silent|recursive|edges|invert|versions))$/;

const MOVES =
  "prefix script-shell userconfig globalconfig node-options registry shell scripts-prepend-node-path cache init-module editor viewer node-gyp nodedir npm-path onload-script".split(
    " ",
  );

/** Flags of npm and its kin that take the command to another project or another shell. */
function otherProject(call: CommandCall): undefined {
  for (const { text } of call.args) {
    if (text === "--") return;
    // One dash or two, and any unique beginning of the name.
    const [, short] = /^--?(?:config\.)?([a-z-]{4,})(?:=|$)/.exec(text) ?? [];
    const name = short === undefined ? undefined : MOVES.find((flag) => flag.startsWith(short));
    if (name !== undefined || /^(?:-C|--dir|--cwd|--git|--ignore-scripts=false)(?:=|$)/.test(text)) {
      if (/^(?:script-shell|shell|node-options|onload-script)$/.test(name ?? ""))
        call.say(deny(`${call.name} ${text} chooses what runs`, "runs_code"));
      call.say(askFirm(`${call.name} ${text} uses another project, shell or source`, "outside"));
    }
    if (
      /^(?:-g|--global|--location=global)$/.test(text) &&
      call.args.some((f) => /^(?:i|install|add|link|un|uninstall|remove|rm|update|up)$/.test(f.text))
    ) {
      call.say(deny(`${call.name} ${text} changes programs outside the project`, "outside"));
    }
  }
  placesElsewhere(call);
  const verb = call.args[0]?.text ?? "";
  if (/^(?:config|c|get)$/.test(verb) && call.args.some((f) => /auth|token|passw/i.test(f.text)))
    call.say(deny("it prints a token", "secret"));
  const at = call.args.findIndex((f) => /^(?:-c|--call)(?:=|$)/.test(f.text));
  const told = call.args[at];
  if (told) call.runText(match(told, /^--call=(.*)$/ds)?.[1] ?? call.args[at + 1] ?? field(""));
  if (/^(?:config|set|c)$/.test(verb) && call.args.some((f) => /^(?:set|delete|edit|fix)$/.test(f.text)))
    call.say(deny("it changes settings of the package manager", "runs_code"));
  if (
    /^(?:publish|unpublish|deprecate|owner|access|token|adduser|login|logout|dist-tag|star|team|org|profile|hook|whoami)$/.test(
      verb,
    )
  ) {
    call.say(
      /^(?:token|unpublish|access|owner)$/.test(verb)
        ? deny("it touches the account", "network")
        : askExact("it touches the account", "network"),
    );
  }
}

/** A path that may lie outside: a rule for the command does not mean another project. */
export const isElsewhere = (text: string): boolean => /^(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(text);

/** Where package managers put things, and from where they take them. */
export function placesElsewhere(call: CommandCall): undefined {
  for (const [i, arg] of call.args.entries()) {
    const { text } = arg;
    if (text === "--") return; // what follows is for the program
    const m = match(arg, /^(?:--target|--root|-t|--install-dir|--bindir|-d|--dest|--out-dir)(?:=(.+))?$/d);
    const value = m && (m[1] === undefined ? call.args[i + 1] : fieldOf(m[1]));
    if (value && /^(?:\/|~|\.\.)/.test(value.text)) call.write(value);
    if (text === "--user") call.say(deny("it installs outside the project", "outside"));
    if (isBareAddress(text) || isBareAddress(text.replace(/^[^=]*=/, "")))
      call.say(deny("it fetches from a bare address", "network"));
    if (
      /^(?:-toolexec|-exec|--?vettool|--toolexec|-wrapper|-fplugin|-B|--rustc-wrapper|-specs|--specs)(?:=|$)|^-B./.test(
        text,
      )
    )
      call.say(deny(`${call.name} ${text} runs a program`, "runs_code"));
    if (call.name === "cargo" && /^--config(?:=|$)/.test(text))
      call.say(deny("cargo --config chooses what runs", "runs_code"));
  }
}

const FETCHES =
  "install i ci add update up upgrade outdated view info show v search audit dedupe publish link uninstall remove rm un exec x create init rebuild pack ping doctor diff";
const NODE: Manager = { reads: "", network: FETCHES, starts: "exec x dlx node", own: otherProject };
/** Of the others a word that is no subcommand is a script of the project. */
const npm = manager({
  ...NODE,
  reads:
    "ls list ll la root bin prefix explain why fund help help-search pkg+get config+get config+list config+ls query",
});
const pip = manager({
  reads: "list show freeze check help",
  network: "install download uninstall wheel search index",
  own: placesElsewhere,
});

/** Without a name `npm run` lists the scripts. */
const listsScripts = (call: CommandCall): boolean => /^run(?:-script)?$/.test(only(call.args)?.text ?? "");

/** `go env -w` sets for all projects what runs. */
function goPlaces(call: CommandCall): undefined {
  if (call.args[0]?.text === "env" && call.args.some((f) => /^-[wu]$/.test(f.text)))
    call.say(deny("it changes go's settings outside the project", "outside"));
  const [verb, what] = call.args.filter((f) => !f.text.startsWith("-"));
  if (verb?.text === "run" && /^[\w-]+(?:\.[\w-]+)+\//.test(what?.text ?? ""))
    call.say(askExact("it fetches a program and runs it", "network"));
  placesElsewhere(call);
}

export const PACKAGE_COMMANDS: Commands = {
  npm: (call) => (listsScripts(call) || (isHelp(call) && call.args.length === 2) ? undefined : npm(call)),
  pnpm: manager({ ...NODE, reads: "ls list ll la root bin why help config+get config+list" }),
  yarn: manager({ ...NODE, reads: "list why bin help config+get config+list workspaces+list workspaces+info" }),
  pip,
  pip3: pip,
  uv: manager({ reads: "version pip+list pip+show pip+freeze", network: "add sync lock run pip tool", starts: "run" }),
  poetry: manager({ reads: "show version env+info", network: "add install update lock publish", starts: "run" }),
  pipenv: manager({ reads: "graph", network: "install update lock sync", starts: "run" }),
  conda: manager({ reads: "list info", network: "install create update remove", starts: "run" }),
  gem: manager({ reads: "list", network: "install update uninstall push", own: placesElsewhere }),
  bundle: manager({ reads: "list show", network: "install update add exec", starts: "exec" }),
  cargo: manager({
    reads: "tree metadata pkgid locate-project",
    network: "install add update fetch publish search",
    own: placesElsewhere,
    flags: /^-[iefd]$/,
  }),
  rustup: manager({
    reads: "show toolchain+list target+list component+list",
    network: "update install toolchain",
    starts: "run",
  }),
  go: manager({
    reads: "version env list doc help",
    network: "get install mod",
    own: goPlaces,
    flags: /^-(?:json|f|deps|e|find|versions|all)$/,
  }),
  composer: manager({ reads: "show", network: "install require update" }),
  brew: manager({ reads: "list info", network: "install upgrade update uninstall" }),
  ...lookupNames("apt apt-get dpkg yum dnf rpm pacman apk snap flatpak", system),
};

/** The same letter searches in one of them and installs in another. */
const SYSTEM_READS: Record<string, RegExp> = {
  dpkg: /^(?:-[lLsS]|--(?:list|listfiles|status|search))$/,
  rpm: /^-q[ailf]*$/,
  pacman: /^-Q[iloqs]*$/,
};

function system(call: CommandCall): CommandOutput | undefined {
  const [first, ...rest] = call.args;
  const reads = own(SYSTEM_READS, call.name) ?? /^(?:list|info|show)$/;
  if (isVersion(call)) return undefined;
  if (!reads.test(first?.text ?? "")) call.say(deny("it changes programs of the system", "runs_code"));
  // `rpm -qa --pipe=…` and `apt list -o …` run programs.
  else if (rest.some((f) => /^[-+]/.test(f.text) && !/^(?:-[ailfq]|--installed|--upgradable)$/.test(f.text)))
    call.say(ask(`${call.name} has a flag that is not known to only read`, "runs_code"));
  return undefined;
}
