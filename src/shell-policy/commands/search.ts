// The commands that find files and text: grep, ripgrep, ag, find, fd, ls and their kin.
import { posix } from "node:path";
import { looksForSecrets } from "../protected.ts";
import { cutOff, isKnown } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { fromTable, type Parsed, readFlags } from "./flags.ts";
import { passOn } from "./text.ts";

export const NAMES_OUTPUT: CommandOutput = { kind: "names" };

export const SHOWS_HIDDEN = /\s(?:-\w*[.uHI]|--hidden|--no-ignore|--unrestricted)/;

/** Names are safe to read further when nobody looked for secrets by name. */
export const namesUnlessSecret = (
  call: CommandCall,
  output: CommandOutput = NAMES_OUTPUT,
): CommandOutput | undefined =>
  call.args.some((arg) => looksForSecrets(arg.text) || PRINTS_MORE.test(arg.text)) ? undefined : output;
/** Flags by which more than names is printed. */
const PRINTS_MORE =
  /^--(?:label|format|time-style|path-separator|hyperlink|quoting-style|replace|full-time|long)|^-printf$|\.\.\//;

const GREP_FLAGS =
  "-EFGPivwxcLlqsonHhbTuUzraIRyZ -e: -f:r -m: -A: -B: -C: -d: -D: --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp: --file:r --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches --max-count: --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label: --line-number --initial-tab --null --after-context: --before-context: --context: --text --binary-files: --devices: --directories: --exclude: --exclude-from:r --exclude-dir: --include: --recursive --dereference-recursive --line-buffered --null-data --group-separator? --no-group-separator --help --version";
const RG_FLAGS =
  "-aceFhHiIlLnNopPqsSuUvVwx0. -A: -B: -C: -d: -E: -e: -f:r -g: -j: -m: -M: -r: -t: -T: -z~ --pre! --pre-glob! --hostname-bin! --search-zip~ --after-context: --before-context: --context: --auto-hybrid-regex --binary --block-buffered --byte-offset --case-sensitive --color: --colors: --column --no-column --count --count-matches --crlf --debug --dfa-size-limit: --encoding: --engine: --field-context-separator: --field-match-separator: --file:r --files --files-with-matches --files-without-match --fixed-strings --follow --glob: --glob-case-insensitive --heading --no-heading --hidden --no-hidden --hyperlink-format~ --iglob: --ignore-case --ignore-file:r --ignore-file-case-insensitive --include-zero --invert-match --json --line-buffered --line-number --no-line-number --line-regexp --max-columns: --max-columns-preview --max-count: --max-depth: --maxdepth: --max-filesize: --mmap --no-mmap --multiline --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs --no-messages --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru --path-separator: --pcre2 --pcre2-version --pretty --quiet --regexp: --regex-size-limit: --replace: --smart-case --sort: --sortr: --stats --stop-on-nonmatch --text --threads: --trace --trim --type: --type-not: --type-add: --type-clear: --type-list --unrestricted --version --vimgrep --with-filename --word-regexp --context-separator: --no-context-separator";

function grepLike(flags: string): (call: CommandCall) => CommandOutput | undefined {
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
  xdotool: fromTable({ flags: "", operands: "text", asks: "it drives the desktop" }),
};

/** What `basename` and `dirname` print of words that are known. */
function partOf(part: (path: string, suffix?: string) => string, most: number) {
  return (_: CommandCall, { operands, flags }: Parsed): CommandOutput | undefined => {
    const [path, suffix] = operands;
    const areKnown = operands.every((f) => isKnown(f) && !f.glob && f.text !== "");
    if (!path || operands.length > most || flags.length > 0 || !areKnown) return undefined;
    return { kind: "text", text: part(path.text, suffix?.text) };
  };
}
