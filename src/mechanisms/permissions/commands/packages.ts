// Owns package managers: what only looks at what is installed, and what fetches, runs or publishes.
import { ask, askExact, askFirm, askNetwork, deny } from "../finding.ts";
import { fieldOf, match, plainly } from "../shell/field.ts";
import { judgeField } from "../shell/paths.ts";
import type { Output } from "../shell/shell.ts";
import type { Call, Commands } from "./call.ts";
import { lookupNames } from "./names.ts";
import { isBareAddress } from "./network.ts";
import { isHelp, isVersion } from "./version.ts";

/** Subcommands that only look at what is installed here; `config+get` are two words. */
function manager(
  reads: string,
  network: string,
  extra?: (call: Call) => void,
  ownFlags?: RegExp,
): (call: Call) => Output | undefined {
  const isRead = new Set(reads.split(" "));
  const usesNetwork = new Set(network.split(" "));
  return (call) => {
    if (isVersion(call)) return { kind: "plain" };
    extra?.(call);
    reachesOut(call);
    const words = call.args.filter((f) => !f.text.startsWith("-")).map((f) => f.text);
    const hasOddFlag = call.args.some(
      (f) => f.text.startsWith("-") && !PLAIN_FLAGS.test(f.text) && !ownFlags?.test(f.text),
    );
    const name = words.slice(0, 2).join("+");
    if ((isRead.has(words[0] ?? "") || isRead.has(name)) && !hasOddFlag) return undefined;
    if (usesNetwork.has(words[0] ?? "") || usesNetwork.has(name))
      call.say(askNetwork(`${call.name} ${words[0]} reaches the network and runs what it fetches`));
    else call.say(ask(`${call.name} ${words[0] ?? ""} runs code of the project`.replace("  ", " ")));
    return undefined;
  };
}
const PLAIN_FLAGS =
  /^(?:-[aglpqvsjom]+|--(?:all|depth(?:=\d+)?|json|long|parseable|prod|production|dev|global|local|omit=\w+|only=\w+|include=\w+|format(?:=[\w,]+)?|outdated|quiet|verbose|no-color|color(?:=\w+)?|version|workspaces|no-deps|offline|locked|frozen|format-version(?:=\d)?|tree|list|latest|not-required|user|path|silent|recursive|edges|invert|versions))$/;

const MOVES =
  "prefix script-shell userconfig globalconfig node-options registry shell scripts-prepend-node-path cache init-module editor viewer node-gyp nodedir npm-path onload-script".split(
    " ",
  );

/** Flags of npm and its kin that take the command to another project or another shell. */
function otherProject(call: Call): undefined {
  for (const { text } of call.args) {
    if (text === "--") return;
    // One dash or two, and any unique beginning of the name.
    const [, short] = /^--?([a-z-]{4,})(?:=|$)/.exec(text) ?? [];
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
  const [first] = call.args;
  if (/^(?:config|c|get)$/.test(first?.text ?? "") && call.args.some((f) => /auth|token|passw/i.test(f.text)))
    call.say(deny("it prints a token", "secret"));
  const at = call.args.findIndex((f) => f.text === "-c" || f.text === "--call");
  if (at >= 0 && call.args[at + 1]) call.runText(call.args[at + 1]!);
  if (
    /^(?:config|set|c)$/.test(call.args[0]?.text ?? "") &&
    call.args.some((f) => /^(?:set|delete|edit|fix)$/.test(f.text))
  )
    call.say(deny("it changes settings of the package manager", "runs_code"));
  if (
    /^(?:publish|unpublish|deprecate|owner|access|token|adduser|login|logout|dist-tag|star|team|org|profile|hook|whoami)$/.test(
      call.args[0]?.text ?? "",
    )
  ) {
    call.say(
      /^(?:token|unpublish|access|owner)$/.test(call.args[0]!.text)
        ? deny("it touches the account", "network")
        : askExact("it touches the account", "network"),
    );
  }
}

/** A path that may lie outside: a rule for the command does not mean another project. */
export const isElsewhere = (text: string): boolean => /^(?:\/|~|\.\.(?:\/|$))|\/\.\.(?:\/|$)/.test(text);

/** Code, settings or results outside the project; what is written there is refused. */
export function reachesOut(call: Call): undefined {
  for (const [i, f] of call.args.entries()) {
    const [, flag, value] = match(f, /^(?:(-{1,2}[\w.-]+)=)?(.*)$/ds)!;
    const place = { ...f, ...value! };
    if (!isElsewhere(place.text) || judgeField(call.shell, place, "read").decision === "allow") continue;
    const name = flag?.text ?? call.args[i - 1]?.text ?? "";
    if (/^-o$|^--?(?:out|coverprofile|.*output)/i.test(name)) call.write(place);
    call.say(askExact(`${call.name} uses what lies outside the project: ${plainly(place)}`, "outside"));
  }
}

/** Where package managers put things, and from where they take them. */
export function placesElsewhere(call: Call): undefined {
  for (const [i, arg] of call.args.entries()) {
    const { text } = arg;
    const m = match(arg, /^(?:--target|--root|-t|--install-dir|--bindir|-d|--dest|--out-dir)(?:=(.+))?$/d);
    const value = m && (m[1] === undefined ? call.args[i + 1] : fieldOf(m[1]));
    if (value && /^(?:\/|~|\.\.)/.test(value.text)) call.write(value);
    if (text === "--user") call.say(deny("it installs outside the project", "outside"));
    if (isBareAddress(text) || isBareAddress(text.replace(/^[^=]*=/, "")))
      call.say(deny("it fetches from a bare address", "network"));
    if (
      /^(?:-toolexec|-exec|--?vettool|--toolexec|-wrapper|--config|-fplugin|-B|--rustc-wrapper|-specs|--specs)(?:=|$)/.test(
        text,
      )
    )
      call.say(deny(`${call.name} ${text} runs a program`, "runs_code"));
  }
}

const FETCHES =
  "install i ci add update up upgrade outdated view info show v search audit dedupe publish link uninstall remove rm un exec x create init rebuild pack ping doctor diff";
/** Of the others a word that is no subcommand is a script of the project. */
const npm = manager(
  "ls list ll la root bin prefix explain why fund help help-search pkg+get config+get config+list config+ls query",
  FETCHES,
  otherProject,
);

/** Without a name `npm run` lists the scripts. */
const listsScripts = (call: Call): boolean => call.args.length === 1 && /^run(?:-script)?$/.test(call.args[0]!.text);

export const PACKAGES: Commands = {
  npm: (call) => (listsScripts(call) || (isHelp(call) && call.args.length === 2) ? undefined : npm(call)),
  pnpm: manager("ls list ll la root bin why help config+get config+list", FETCHES, otherProject),
  yarn: manager("list why bin help config+get config+list workspaces+list workspaces+info", FETCHES, otherProject),
  pip: manager("list show freeze check help", "install download uninstall wheel search index", placesElsewhere),
  pip3: manager("list show freeze check help", "install download uninstall wheel search index", placesElsewhere),
  uv: manager("version pip+list pip+show pip+freeze", "add sync lock run pip tool"),
  poetry: manager("show version env+info", "add install update lock publish"),
  conda: manager("list info", "install create update remove"),
  gem: manager("list", "install update uninstall push", placesElsewhere),
  bundle: manager("list show", "install update add exec"),
  cargo: manager(
    "tree metadata pkgid locate-project",
    "install add update fetch publish search",
    placesElsewhere,
    /^-[iefd]$/,
  ),
  rustup: manager("show toolchain+list target+list component+list", "update install toolchain"),
  go: manager(
    "version env list doc help",
    "get install mod",
    placesElsewhere,
    /^-(?:json|f|deps|e|find|versions|all)$/,
  ),
  composer: manager("show", "install require update"),
  brew: manager("list info", "install upgrade update uninstall"),
  ...lookupNames("apt apt-get dpkg yum dnf rpm pacman apk snap flatpak", system),
};

/** The same letter searches in one of them and installs in another. */
const SYSTEM_READS: Record<string, RegExp> = {
  dpkg: /^(?:-[lLsS]|--(?:list|listfiles|status|search))$/,
  rpm: /^-q[ailf]*$/,
  pacman: /^-Q[iloqs]*$/,
};

function system(call: Call): Output | undefined {
  const [first, ...rest] = call.args;
  const reads = Object.hasOwn(SYSTEM_READS, call.name) ? SYSTEM_READS[call.name]! : /^(?:list|info|show)$/;
  if (isVersion(call)) return undefined;
  if (!reads.test(first?.text ?? "")) call.say(deny("it changes programs of the system", "runs_code"));
  // `rpm -qa --pipe=…` and `apt list -o …` run programs.
  else if (rest.some((f) => /^[-+]/.test(f.text) && !/^(?:-[ailfq]|--installed|--upgradable)$/.test(f.text)))
    call.say(ask(`${call.name} has a flag that is not known to only read`, "runs_code"));
  return undefined;
}
