// Owns the commands that find files and text: grep, ripgrep, ag, find, fd, ls and their kin.
import { posix } from "node:path";
import { ask, askExact, deny } from "../finding.ts";
import { looksForSecrets } from "../protected.ts";
import { cutOff, type Field, field, hole, isKnown, replaceAll } from "../shell/field.ts";
import type { Output } from "../shell/shell.ts";
import type { Call, Commands } from "./call.ts";
import { fromTable, mayBecomeFlags, type Parsed, readFlags } from "./flags.ts";
import { passOn } from "./text.ts";

const NAMES_OUTPUT: Output = { kind: "names" };

const SHOWS_HIDDEN = /\s(?:-\w*[.uHI]|--hidden|--no-ignore|--unrestricted)/;

/** Names are safe to read further when nobody looked for secrets by name. */
const namesUnlessSecret = (call: Call, output: Output = NAMES_OUTPUT): Output | undefined =>
  call.args.some((arg) => looksForSecrets(arg.text) || PRINTS_MORE.test(arg.text)) ? undefined : output;
/** Flags by which more than names is printed. */
const PRINTS_MORE =
  /^--(?:label|format|time-style|path-separator|hyperlink|quoting-style|replace|full-time|long)|^-printf$|\.\.\//;

const GREP_FLAGS =
  "-EFGPivwxcLlqsonHhbTuUzraIRyZ -e: -f:r -m: -A: -B: -C: -d: -D: --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp: --file:r --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches --max-count: --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label: --line-number --initial-tab --null --after-context: --before-context: --context: --text --binary-files: --devices: --directories: --exclude: --exclude-from:r --exclude-dir: --include: --recursive --dereference-recursive --line-buffered --null-data --group-separator? --no-group-separator --help --version";
const RG_FLAGS =
  "-aceFhHiIlLnNopPqsSuUvVwx0. -A: -B: -C: -d: -E: -e: -f:r -g: -j: -m: -M: -r: -t: -T: -z~ --pre! --pre-glob! --hostname-bin! --search-zip~ --after-context: --before-context: --context: --auto-hybrid-regex --binary --block-buffered --byte-offset --case-sensitive --color: --colors: --column --no-column --count --count-matches --crlf --debug --dfa-size-limit: --encoding: --engine: --field-context-separator: --field-match-separator: --file:r --files --files-with-matches --files-without-match --fixed-strings --follow --glob: --glob-case-insensitive --heading --no-heading --hidden --no-hidden --hyperlink-format~ --iglob: --ignore-case --ignore-file:r --ignore-file-case-insensitive --include-zero --invert-match --json --line-buffered --line-number --no-line-number --line-regexp --max-columns: --max-columns-preview --max-count: --max-depth: --maxdepth: --max-filesize: --mmap --no-mmap --multiline --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-messages --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator: --pcre2 --pcre2-version --pretty --quiet --regexp: --regex-size-limit: --replace: --smart-case --sort: --sortr: --stats --stop-on-nonmatch --text --threads: --trace --trim --type: --type-not: --type-add: --type-clear: --type-list --unrestricted --version --vimgrep --with-filename --word-regexp --context-separator: --no-context-separator";

function grepLike(flags: string): (call: Call) => Output | undefined {
  return (call) => {
    const parsed = readFlags(call, { flags, isNumeric: true });
    const isListing = parsed.has("--files", "--type-list");
    const hasPattern = parsed.has("-e", "-f", "--regexp", "--file") || isListing;
    const files = parsed.operands.slice(hasPattern ? 0 : 1);
    for (const file of files) call.read(file);
    for (const { name, value } of parsed.flags) {
      // A search narrowed to secrets reads them on purpose.
      const isNarrowed = /^(?:--include|-g|--glob|--iglob)$/.test(name) && value && !value.text.startsWith("!");
      if (isNarrowed) call.read({ ...value, ...cutOff(value, /^(?:\*\*\/|\/)+/), glob: true });
    }
    if (parsed.has("-c", "--count") && files.length <= 1 && !parsed.has("-r", "-R", "-H", "--with-filename"))
      return { kind: "plain" };
    if (isListing || parsed.has("-l", "-L", "--files-with-matches", "--files-without-match"))
      return namesUnlessSecret(
        call,
        call.name === "rg" && !SHOWS_HIDDEN.test(call.text) ? NAMES_OUTPUT : { kind: "allNames" },
      );
    if (parsed.has("-o", "--only-matching", "--replace")) return undefined;
    return files.length === 0 ? passOn(call, parsed, hasPattern ? 0 : 1) : undefined;
  };
}
const grep = grepLike(GREP_FLAGS);

export const SEARCH: Commands = {
  grep,
  egrep: grep,
  fgrep: grep,
  rg: grepLike(RG_FLAGS),
  ag: fromTable({
    flags:
      "-acglLirRsSuvwnfQUzH0 -A: -B: -C: -G: -m: -p:r --ackmate --after: --before: --context: --count --color --nocolor --column --depth: --filename --nofilename --files-with-matches --files-without-matches --follow --group --nogroup --heading --noheading --hidden --ignore: --ignore-case --ignore-dir: --literal --match --max-count: --numbers --nonumbers --only-matching --one-device --pager! --print-long-lines --print0 --skip-vcs-ignores --smart-case --case-sensitive --stats --unrestricted --invert-match --vimgrep --width: --word-regexp --js --ts --py --html --json",
    texts: 1,
  }),
  ack: fromTable({
    flags:
      "-acfghHilLnoqQrRsvwx -A: -B: -C: -m: -1 --js --ts --py --type: --ignore-dir: --nocolor --color --pager! --output!",
    texts: 1,
  }),
  ls: fromTable({
    flags:
      "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I: -w: -T: --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --classify? --file-type --format: --full-time --group-directories-first --no-group --human-readable --si --dereference --dereference-command-line --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes --numeric-uid-gid --literal --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style: --tabsize: --width: --zero --help --version",
    operands: "look",
    finish: (call, { has, operands }) => {
      if (has("-l", "-g", "-o", "-n", "-s", "-i")) return undefined;
      const isWide =
        has("-a", "-A", "-d", "--all", "--almost-all", "--directory") ||
        operands.some((f) => f.text.startsWith(".") && f.glob);
      return namesUnlessSecret(call, isWide ? { kind: "allNames" } : NAMES_OUTPUT);
    },
  }),
  dir: fromTable({ flags: "-aAlhR", operands: "look" }),
  exa: fromTable({
    flags:
      "-1alGTRrFdDhHiImuUSxgb@ -L: -s: -t: -I: --long --all --tree --level: --sort: --git --icons --header --color:",
    operands: "look",
  }),
  eza: fromTable({
    flags:
      "-1alGTRrFdDhHiImuUSxgb@ -L: -s: -t: -I: --long --all --tree --level: --sort: --git --icons --header --color:",
    operands: "look",
  }),
  tree: fromTable({
    flags:
      "-adfilxqNQpsugDFvtcUrnCASXJh -L: -P: -I: -H: -T: -o:w --gitignore --noreport --dirsfirst --filelimit: --charset: --prune --du --si --sort? --matchdirs --ignore-case --inodes --device --timefmt: --info --filesfirst",
    operands: "look",
  }),
  stat: fromTable({
    flags: "-LfFnqrstx -c: --printf: --format: --dereference --file-system --terse",
    operands: "look",
  }),
  file: fromTable({
    flags:
      "-bckiILhNnprsvz0 -F: -P: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --separator:",
  }),
  du: fromTable({
    flags:
      "-0abcDhHklLmPsSx -B: -d: -t: --all --apparent-size --block-size: --bytes --total --human-readable --max-depth: --summarize --separate-dirs --si --threshold: --time? --one-file-system --exclude: --exclude-from:r",
    operands: "look",
    isNumeric: true,
  }),
  df: fromTable({
    flags: "-aBhHiklPTv -t: -x: --all --human-readable --inodes --total --print-type --output? --type: --si",
    operands: "text",
  }),
  realpath: fromTable({
    flags: "-eLmPqsz --canonicalize-existing --canonicalize-missing --relative-to: --relative-base: --no-symlinks",
    operands: "look",
  }),
  readlink: fromTable({ flags: "-efmnqsvz --canonicalize", operands: "look" }),
  basename: fromTable({ flags: "-az -s: --multiple --suffix:", operands: "text", finish: partOf(posix.basename, 2) }),
  dirname: fromTable({ flags: "-z", operands: "text", finish: partOf(posix.dirname, 1) }),
  locate: fromTable({ flags: "-bcieqSw -n: -l:", operands: "text", asks: "it lists files outside the project" }),
  find,
  fd: fdLike,
  fdfind: fdLike,
  xdotool: fromTable({ flags: "", operands: "text", asks: "it drives the desktop" }),
};

/** What `basename` and `dirname` print of words that are known. */
function partOf(part: (path: string, suffix?: string) => string, most: number) {
  return (_: Call, { operands, flags }: Parsed): Output | undefined => {
    const [path, suffix] = operands;
    const areKnown = operands.every((f) => isKnown(f) && !f.glob && f.text !== "");
    if (!path || operands.length > most || flags.length > 0 || !areKnown) return undefined;
    return { kind: "text", text: part(path.text, suffix?.text) };
  };
}

/** Tests and actions of find that only look, and how many words follow. */
const FIND_WORDS: Record<string, number> = Object.fromEntries([
  ...words(
    "-H -L -P -O0 -O1 -O2 -O3 -a -and -o -or -not ! ( ) , -true -false -print -print0 -ls -prune -quit -depth -d -daystart -follow -mount -xdev -nogroup -nouser -empty -executable -readable -writable -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race -E -X -x -s -help --help -version --version",
    0,
  ),
  ...words(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile -maxdepth -mindepth -regextype -printf -used -fstype -context -D -newermt -newerat -newerct -newermm -Bmin -Btime",
    1,
  ),
]);
function words(list: string, count: number): [string, number][] {
  return list.split(" ").map((word) => [word, count]);
}
const FIND_RUNS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
const FIND_WRITES = new Set(["-fprint", "-fprint0", "-fls", "-fprintf"]);

function find(call: Call): Output | undefined {
  const { args } = call;
  let isPlain = true;
  let hasStarted = false;
  if (args.some(mayBecomeFlags))
    call.say(askExact("a word that is only known at run time may delete or run", "runtime"));
  for (let i = 0; i < args.length; i++) {
    const { text } = args[i]!;
    if (!hasStarted && !/^[-(!,]/.test(text)) {
      call.look(args[i]!);
      continue;
    }
    const count = Object.hasOwn(FIND_WORDS, text) ? FIND_WORDS[text]! : undefined;
    if (count !== undefined) {
      if (!/^-(?:[HLP]|O\d|[EXxsd])$/.test(text)) hasStarted = true;
      i += count;
      continue;
    }
    hasStarted = true;
    isPlain = false;
    if (FIND_RUNS.has(text)) {
      const end = args.findIndex((arg, at) => at > i && (arg.text === ";" || arg.text === "+"));
      findRuns(call, args.slice(i + 1, end < 0 ? undefined : end));
      i = end < 0 ? args.length : end;
    } else if (text === "-delete")
      call.say({ ...deny("find -delete deletes everything it finds", "changes"), firm: false, lift: "exact" });
    else if (FIND_WRITES.has(text)) {
      const target = args[++i];
      if (target) call.write(target);
      call.say(askExact(`find ${text} writes a file`, "changes"));
      if (text === "-fprintf") i++;
    } else if (text === "-files0-from") call.read(args[++i] ?? field("-"));
    else call.say(ask(`find ${text} is not known to only read`));
  }
  if (!isPlain) return undefined;
  return namesUnlessSecret(
    call,
    args.some((arg, i) => isVisibleName(args[i - 1]?.text, arg.text)) ? NAMES_OUTPUT : { kind: "allNames" },
  );
}

/** `-name '*.ts'` finds nothing hidden that holds secrets. */
const isVisibleName = (test: string | undefined, pattern: string): boolean =>
  (test === "-name" || test === "-iname") && /^(?:\*\.|[A-Za-z0-9])[\w.*-]+$/.test(pattern);

const CHANGES_FOUND = new Set([
  "rm",
  "rmdir",
  "unlink",
  "shred",
  "mv",
  "truncate",
  "sh",
  "bash",
  "zsh",
  "dash",
  "python",
  "python3",
  "perl",
  "node",
  "ruby",
]);

/** `sh -c '…' _ {}` whose text names nothing that changes files or runs code: it is judged, and asked. */
function isReadingScript([head, flag, script]: Field[]): boolean {
  if (!/^(?:sh|bash)$/.test(head?.text ?? "") || flag?.text !== "-c" || !script || !isKnown(script)) return false;
  if (script.text.replace(/[12]?>(?:&[12]|\s*\/dev\/null)/g, "").includes(">")) return false;
  return !script.text.split(/[^\w.-]+/).some((word) => CHANGES_FOUND.has(word));
}

/** What find starts on each file; the files are those of the project as far as the starting points are. */
function findRuns(call: Call, command: Field[]): undefined {
  const places = call.args.slice(
    0,
    Math.max(
      0,
      call.args.findIndex((a) => /^[-(!]/.test(a.text)),
    ),
  );
  const inside = hole(call.args.some((arg) => looksForSecrets(arg.text)) ? "unknown" : "names");
  const base = places.every((p) => !p.text.startsWith("/") && !p.text.includes("..") && !p.text.startsWith("~"))
    ? inside
    : hole();
  const replaced = command.map((f) => ({ ...f, ...replaceAll(f, "{}", base) }));
  const head = command[0]?.text ?? "";
  if (CHANGES_FOUND.has(head.replace(/^.*\//, "")) && !isReadingScript(command)) {
    call.say({ ...deny(`find starts ${head} on everything it finds`, "runs_code"), firm: false, lift: "exact" });
  }
  call.say(askExact("find starts a command on everything it finds", "runs_code"));
  call.run(replaced);
}

const FD_FLAGS =
  "-HIuUsiLgFap0l1qhV -d: -t: -e: -E: -c: -j: -S: -o: -x! -X! --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --list-details --follow --full-path --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --color: --threads: --size: --changed-within: --changed-before: --max-results: --print0 --no-ignore-vcs --strip-cwd-prefix? --path-separator: --base-directory:d --search-path:d --exec! --exec-batch! --regex --and: --owner: --quiet --show-errors --one-file-system --prune --version --help --ignore-file:r";

function fdLike(call: Call): Output | undefined {
  const at = call.args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg.text));
  const own = at < 0 ? call : { ...call, args: call.args.slice(0, at) };
  const parsed: Parsed = readFlags(own, { flags: FD_FLAGS, isNumeric: true });
  for (const place of parsed.operands.slice(1)) call.look(place);
  if (at < 0) return namesUnlessSecret(call, SHOWS_HIDDEN.test(call.text) ? { kind: "allNames" } : NAMES_OUTPUT);
  findRuns(
    { ...call, args: parsed.operands.slice(1) },
    call.args.slice(at + 1).map((f) => (/^\{.*\}$/.test(f.text) ? field("{}") : f)),
  );
  call.say(askExact("fd starts a command on everything it finds", "runs_code"));
  return undefined;
}
