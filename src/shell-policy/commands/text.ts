// The commands that read files or their input and print text.
import { deny } from "../finding.ts";
import { looksForSecrets } from "../protected.ts";
import { isKnown, word } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { isHuge } from "./endless.ts";
import { fromTable, type Parsed, readFlags } from "./flags.ts";

const PLAIN_OUTPUT: CommandOutput = { kind: "plain" };

/** A filter keeps what it is given, unless it looks for secrets. */
export function passOn(call: CommandCall, parsed: Parsed, texts = 0): CommandOutput | undefined {
  if (parsed.operands.length > texts) return undefined;
  const { stdin } = call.shell;
  if (stdin.kind !== "names" && stdin.kind !== "allNames") return stdin.kind === "text" ? undefined : stdin;
  return call.args.some((arg) => looksForSecrets(arg.text)) ? undefined : stdin;
}

const SUMS = fromTable({
  flags:
    "-bctwz --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn -a: --algorithm: -l: --length:",
});

export const TEXT: Commands = {
  cat: fromTable({
    flags:
      "-AbeEnstTuv --show-all --number --number-nonblank --show-ends --squeeze-blank --show-tabs --show-nonprinting --help --version",
    finish: (call, { operands }) => {
      if (operands.some((f) => /^\/dev\/(?:zero|u?random|full)$/.test(f.text))) return { kind: "endless" };
      return operands.length === 0 ? call.shell.stdin : undefined;
    },
  }),
  tac: fromTable({ flags: "-br -s: --before --regex --separator:", finish: passOn }),
  head: fromTable({
    flags: "-n: -c: -qvz --lines: --bytes: --quiet --silent --verbose --zero-terminated",
    isNumeric: true,
    finish: (call, parsed) => {
      const { operands, value } = parsed;
      const isEndless =
        call.shell.stdin.kind === "endless" || operands.some((f) => /^\/dev\/(?:zero|u?random)$/.test(f.text));
      if (isEndless) return isHuge(value("-c", "--bytes", "-n", "--lines")?.text) ? { kind: "endless" } : undefined;
      return passOn(call, parsed);
    },
  }),
  tail: fromTable({
    flags:
      "-n: -c: -fFqvzr -s: --lines: --bytes: --follow? --retry --pid: --quiet --silent --verbose --sleep-interval: --max-unchanged-stats:",
    isNumeric: true,
    finish: passOn,
  }),
  wc: fromTable({
    flags: "-clLmw --bytes --chars --lines --max-line-length --words --total: --files0-from:r",
    finish: (_, { operands }) => (operands.length === 0 ? PLAIN_OUTPUT : undefined),
  }),
  nl: fromTable({ flags: "-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering:" }),
  rev: fromTable({
    flags: "",
    finish: (call, { operands }) => {
      const { stdin } = call.shell;
      if (operands.length > 0 || stdin.kind !== "text") return undefined;
      return {
        kind: "text",
        text: stdin.text
          .split("\n")
          .map((line) => [...line].reverse().join(""))
          .join("\n"),
      };
    },
  }),
  fold: fromTable({ flags: "-bcs -w: --bytes --spaces --width:", isNumeric: true }),
  fmt: fromTable({ flags: "-cstu -p: -w: -g: --width:", isNumeric: true }),
  pr: fromTable({ flags: "-adfFjJmtTrW0 -h: -l: -n: -o: -s: -w: --columns: --length: --width:", isNumeric: true }),
  column: fromTable({
    flags:
      "-txneLR -s: -o: -c: -N: -H: -O: -l: --table --separator: --output-separator: --fillrows --columns: -J --json",
  }),
  expand: fromTable({ flags: "-i -t: --tabs: --initial" }),
  unexpand: fromTable({ flags: "-a -t: --tabs: --all --first-only" }),
  cut: fromTable({
    flags:
      "-b: -c: -d: -f: -nsz --bytes: --characters: --delimiter: --fields: --only-delimited --complement --output-delimiter: --zero-terminated",
  }),
  tr: fromTable({
    flags: "-cCdst --complement --delete --squeeze-repeats --truncate-set1",
    operands: "text",
    finish: translate,
  }),
  paste: fromTable({ flags: "-sz -d: --delimiters: --serial --zero-terminated" }),
  join: fromTable({
    flags: "-iz -1: -2: -a: -e: -j: -o: -t: -v: --ignore-case --check-order --nocheck-order --header",
  }),
  comm: fromTable({ flags: "-123z --check-order --nocheck-order --output-delimiter: --total --zero-terminated" }),
  uniq: fromTable({
    flags:
      "-cdDiuz -f: -s: -w: --count --repeated --all-repeated? --skip-fields: --group? --ignore-case --skip-chars: --unique --check-chars: --zero-terminated",
    operands: "text",
    finish: (call, parsed) => {
      const [from, ...to] = parsed.operands;
      if (from && from.text !== "-") call.read(from);
      for (const file of to) call.write(file);
      return passOn(call, parsed);
    },
  }),
  sort: fromTable({
    flags:
      "-bdfgiMhnRrVcCmsuz -k: -t: -S: -o:w -T~ --compress-program! --output:w --temporary-directory~ --key: --field-separator: --numeric-sort --reverse --unique --human-numeric-sort --version-sort --random-sort --general-numeric-sort --month-sort --ignore-case --ignore-leading-blanks --dictionary-order --stable --check? --merge --parallel: --buffer-size: --zero-terminated --sort: --batch-size: --debug --files0-from:r --random-source:r",
    finish: passOn,
  }),
  shuf: fromTable({
    flags: "-er -n: -i: -z -o:w --head-count: --input-range: --echo --repeat --output:w --random-source:r",
  }),
  diff: fromTable({
    flags:
      "-abBcdeEfiNnpqrstTuwyZ -C: -U: -D: -F: -I: -L: -S: -W: -x: -X:r --brief --report-identical-files --context? --unified? --side-by-side --width: --recursive --new-file --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-trailing-space --ignore-matching-lines: --exclude: --exclude-from:r --color? --text --minimal --suppress-common-lines --strip-trailing-cr --no-dereference --label: --normal --show-c-function --palette: --expand-tabs --initial-tab --left-column --ignore-tab-expansion",
    isNumeric: true,
  }),
  diff3: fromTable({ flags: "-AeEimTxX3a -L: --label: --merge --text" }),
  cmp: fromTable({ flags: "-bls -i: -n: --print-bytes --ignore-initial: --bytes: --verbose --quiet --silent" }),
  sdiff: fromTable({ flags: "-abBEilstW -w: -o~ --output~ --width: --suppress-common-lines --diff-program!" }),
  md5sum: SUMS,
  sha1sum: SUMS,
  sha224sum: SUMS,
  sha256sum: SUMS,
  sha384sum: SUMS,
  sha512sum: SUMS,
  shasum: SUMS,
  b2sum: SUMS,
  md5: fromTable({ flags: "-qr -s: -p" }),
  cksum: SUMS,
  sum: fromTable({ flags: "-rs --sysv" }),
  od: fromTable({
    flags:
      "-abcdfhilosvx -A: -j: -N: -S: -t: -w? --address-radix: --format: --read-bytes: --skip-bytes: --output-duplicates --width?",
  }),
  hexdump: fromTable({ flags: "-bcCdovxX -e: -f:r -n: -s: -L --canonical --length: --skip: --no-squeezing" }),
  hd: fromTable({ flags: "-v -n: -s:" }),
  xxd: (call) => {
    // Its long names begin with one dash too; what their values are taken for only makes it stricter.
    const args = call.args.map((f) => (/^-(?:ps|postscript|plain)$/.test(f.text) ? { ...f, ...word("-p") } : f));
    const parsed = readFlags({ ...call, args }, { flags: "-abeEipruCd -c: -g: -l: -o: -s: -R: -n:" });
    const [from, ...to] = parsed.operands;
    if (from && from.text !== "-") call.read(from);
    for (const file of to) {
      call.read(file);
      call.write(file);
    }
    return parsed.has("-r") ? decode(call, "hex") : undefined;
  },
  base64: fromTable({
    flags: "-dDi -w: -b: --decode --ignore-garbage --wrap:",
    finish: (call, parsed) => (parsed.has("-d", "-D", "--decode") ? decode(call, "base64") : undefined),
  }),
  base32: fromTable({
    flags: "-di -w: --decode --ignore-garbage --wrap:",
    finish: (_, parsed) => (parsed.has("-d", "--decode") ? { kind: "decoded" } : undefined),
  }),
  strings: fromTable({
    flags: "-afowU -n: -t: -e: --all --bytes: --radix: --encoding: --print-file-name",
    isNumeric: true,
  }),
  iconv: fromTable({ flags: "-lcs -f: -t: -o:w --from-code: --to-code: --output:w --list" }),
  tsort: fromTable({ flags: "" }),
  seq: fromTable({
    flags: "-w -f: -s: -t: --equal-width --format: --separator:",
    operands: "text",
    isNumeric: true,
    prints: PLAIN_OUTPUT,
  }),
  numfmt: fromTable({
    flags:
      "-d: -z --from: --to: --field: --format: --suffix: --padding: --grouping --header? --round: --delimiter: --invalid: --from-unit: --to-unit:",
    operands: "text",
  }),
  expr: fromTable({ flags: "", operands: "text", isNumeric: true, prints: PLAIN_OUTPUT }),
  bc: fromTable({ flags: "-lqisw --mathlib --quiet" }),
  factor: fromTable({ flags: "", operands: "text" }),
  less: fromTable({
    flags:
      "-aBcCdeEfFgGiIJKLmMnNqQrRsSuUwWX -b: -h: -j: -p: -x: -y: -z: -o:w -O:w -k! -t~ -T~ --lesskey-src! --lesskey-file! --log-file:w --LOG-FILE:w --no-init --quit-if-one-screen --chop-long-lines --RAW-CONTROL-CHARS --LINE-NUMBERS --line-numbers --ignore-case --pattern:",
    finish: pager,
  }),
  more: fromTable({ flags: "-dlfpcsu -n: --lines:", isNumeric: true, finish: pager }),
  bat: fromTable({
    flags:
      "-nApPuh -l: -r: -H: -m: --language: --line-range: --highlight-line: --style: --theme: --color: --paging: --plain --number --show-all --wrap: --tabs: --decorations: --list-languages --list-themes --file-name: --diff --pager!",
    finish: pager,
  }),
  batcat: fromTable({
    flags: "-nApPu -l: -r: --language: --line-range: --style: --theme: --color: --paging: --plain --number --pager!",
    finish: pager,
  }),
  zcat: fromTable({ flags: "-fv" }),
  bzcat: fromTable({ flags: "-s" }),
  xzcat: fromTable({ flags: "-v" }),
  zgrep: fromTable({ flags: "-chilnoqsvwEF -e: -m:", texts: 1 }),
  readelf: fromTable({
    flags: "-ahlSsgtendurcDVAIW --all --file-header --sections --symbols --dynamic --headers --wide",
  }),
  size: fromTable({ flags: "-ABdotx" }),
  shellcheck: fromTable({
    flags:
      "-axV -C? -s: -e: -i: -f: -S: -o: -P: -W: --check-sourced --external-sources --color? --shell: --exclude: --include: --format: --severity: --enable: --source-path: --wiki-link-count: --norc --rcfile:r --list-optional",
  }),
  gofmt: fromTable({
    flags: "-ldes -r: -w~",
    finish: (call, { operands, has }) => {
      if (has("-w")) for (const file of operands) call.write(file);
      return undefined;
    },
  }),
  nm: fromTable({ flags: "-aABCDgnprSsuv --defined-only --demangle? --dynamic --extern-only" }),
  objdump: fromTable({ flags: "-adDfghpPrRsStTxCw -j: -M: --disassemble? --headers --syms" }),
};

/** `+!cmd` and the like are commands of the pager. */
function pager(call: CommandCall, { operands }: Parsed): undefined {
  if (operands.some((f) => f.text.startsWith("+") && !/^\+(?:\d*|G|F|\/.*)$/.test(f.text))) {
    call.say(deny("the pager is told to run something", "runs_code"));
  }
  return undefined;
}

function decode(call: CommandCall, encoding: "base64" | "hex"): CommandOutput {
  const { stdin } = call.shell;
  if (stdin.kind !== "text") return { kind: "decoded" };
  const text = Buffer.from(stdin.text.replace(/\s+/g, ""), encoding).toString("utf8");
  return /[\0-\x08\x0e-\x1f\ufffd]/.test(text) ? { kind: "decoded" } : { kind: "text", text };
}

/** Small alphabets only: what it prints may become a command. */
function translate(call: CommandCall, { operands, has }: Parsed): CommandOutput | undefined {
  const { stdin } = call.shell;
  const [from, to] = operands;
  if (stdin.kind !== "text") return stdin.kind.endsWith("ames") ? { kind: "unknown" } : stdin;
  if (!from || !isKnown(from)) return { kind: "decoded" };
  const letters = spread(from.text);
  if (has("-d") && !has("-c", "-C", "-s"))
    return { kind: "text", text: [...stdin.text].filter((c) => !letters.includes(c)).join("") };
  if (!to || !isKnown(to) || has("-c", "-C", "-s")) return { kind: "decoded" };
  const others = spread(to.text);
  const map = (c: string) => (letters.includes(c) ? (others[letters.indexOf(c)] ?? others.at(-1) ?? c) : c);
  return { kind: "text", text: [...stdin.text].map(map).join("") };
}

function spread(set: string): string[] {
  const plain = set.replace(/\\n/g, "\n").replace(/\\t/g, "\t");
  return [
    ...plain.replace(/([a-zA-Z0-9])-([a-zA-Z0-9])/g, (_, a: string, b: string) => {
      let out = "";
      for (let c = a.charCodeAt(0); c <= b.charCodeAt(0); c++) out += String.fromCharCode(c);
      return out;
    }),
  ];
}
