// The commands over structured data and archives: jq, yq, tar, zip and their kin.
import { ask, askExact, askFirm, askNetwork, deny } from "../finding.ts";
import { field } from "../shell/field.ts";
import { isThere } from "../shell/paths.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { fromTable, readFlags } from "./flags.ts";

export const DATA: Commands = {
  jq,
  gojq: jq,
  yq: fromTable({
    flags:
      "-PMCNjrceEnvV0 -p: -o: -I: -i~ -s! --inplace~ --prettyPrint --no-colors --colors --no-doc --tojson --output-format: --input-format: --indent: --unwrapScalar? --null-input --exit-status --raw-output --compact-output --from-file:r --expression: --split-exp! -y -Y",
    texts: 1,
    finish: (call, { operands, has }) => {
      // Without an expression the first word is a file already.
      const [first] = operands;
      if (first && (/^(?:\.{0,2}\/|~)/.test(first.text) || isThere(call.shell, first))) call.read(first);
      if (has("-i", "--inplace")) for (const file of operands.slice(1)) call.write(file);
      if (call.args.some((f) => /\b(?:load(?:_\w+)?|env|strenv|envsubst|system)\b|\$ENV/.test(f.text)))
        call.say(askFirm("the filter reads other files or the environment", "secret"));
      return undefined;
    },
  }),
  xmllint: fromTable({
    flags: "--format --noout --xpath: --schema:r --valid --nonet --html --recover --pretty: --huge --output:w -o:w",
    finish: (call, { operands }) => {
      if (operands.some((f) => f.text.includes("://"))) call.say(askNetwork("it reads from another machine"));
      return undefined;
    },
  }),
  csvlook: fromTable({ flags: "-d:" }),
  csvcut: fromTable({ flags: "-n -c: -d:" }),
};

/** Archives, and programs with a language of their own: what they are told is also looked at word by word. */
export const ARCHIVES: Commands = {
  tar,
  gtar: tar,
  bsdtar: tar,
  gunzip: compressor(
    "-cdfklnNqrtvV -S: --stdout --to-stdout --list --test --keep --force --quiet --verbose --decompress",
    ["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"],
  ),
  gzip: compressor(
    "-cdfklnNqrtvV123456789 -S: --stdout --to-stdout --list --test --keep --force --quiet --verbose --decompress --best --fast --rsyncable",
    ["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"],
  ),
  bzip2: compressor("-cdfkqtvz123456789 --stdout --decompress --test --keep", ["-c", "--stdout", "-t", "--test"]),
  bunzip2: compressor("-cfkqtv --stdout --test --keep", ["-c", "--stdout"]),
  xz: compressor("-cdfklqtvz0123456789e -T: --stdout --decompress --list --test --keep", [
    "-c",
    "--stdout",
    "-l",
    "--list",
    "-t",
  ]),
  unxz: compressor("-cfkqtv --stdout --keep", ["-c", "--stdout"]),
  zstd: compressor("-cdfklqtv123456789 -T: --stdout --decompress --list --test --keep", [
    "-c",
    "--stdout",
    "-l",
    "--list",
    "-t",
  ]),
  zstdcat: fromTable({ flags: "" }),
  unzip: (call) => {
    const parsed = readFlags(call, { flags: "-lvtZzpcqaChjLnouUVXDK1 -d:w -x: -P:" });
    const [archive] = parsed.operands;
    if (archive) call.read(archive);
    if (!parsed.has("-l", "-v", "-t", "-Z", "-z", "-p", "-c")) call.say(ask("it unpacks an archive"));
    return undefined;
  },
  zipinfo: fromTable({ flags: "-12smlvhMtTzZ", texts: 0 }),
  zip: (call) => {
    const parsed = readFlags(call, {
      flags:
        "-rqjmu9d0yXDfFgolvT -x: -i: -P! -e -TT! --unzip-command! --exclude: --include: --recurse-paths --quiet --test",
    });
    const [archive, ...files] = parsed.operands;
    if (archive) call.write(archive);
    for (const file of files) call.read(file);
    call.say(ask("it packs an archive"));
    return undefined;
  },
  "7z": (call) => {
    if (call.args[0]?.text !== "l") call.say(ask("it packs or unpacks an archive"));
    if (call.args.some((f) => /^-sdel/.test(f.text))) call.say(askExact("it deletes what it packs", "changes"));
    for (const arg of call.args.slice(1)) if (!arg.text.startsWith("-")) call.read(arg);
    return undefined;
  },
  sqlite3: (call) => {
    const words = call.args.filter((f) => !f.text.startsWith("-"));
    if (words[0]) call.read(words[0]);
    const text = call.args.map((f) => f.text).join(" ");
    const input = call.shell.stdin.kind === "text" ? call.shell.stdin.text : "";
    if (
      /\.(?:shell|system|output|once|excel|save|backup|open|load|import|log|archive|cd|read)\b|(?:write|read)file|load_extension|edit\s*\(|attach/i.test(
        `${text} ${input}`,
      )
    ) {
      call.say(deny("the database is told to write files or to run something", "runs_code"));
    }
    if (call.args.some((f) => /^--?(?:init|cmd)$/.test(f.text)))
      call.say(askExact("the database runs what a file or a flag says first", "runs_code"));
    call.say(ask("it opens a database with a language of its own"));
    return undefined;
  },
};

function compressor(flags: string, printing: string[]): (call: CommandCall) => CommandOutput | undefined {
  return (call) => {
    const parsed = readFlags(call, { flags });
    const isPrinting = parsed.has(...printing) || parsed.operands.length === 0;
    for (const file of parsed.operands) {
      call.read(file);
      if (!isPrinting) call.write(file);
    }
    if (!isPrinting) call.say(ask("it replaces the file", "changes"));
    return undefined;
  };
}

const JQ_FLAGS =
  "-acCeEhijMnrRsSV -f:r -L! --from-file:r --library-path! --arg: --argjson: --slurpfile: --rawfile: --args --jsonargs --null-input --raw-input --slurp --compact-output --raw-output --raw-output0 --join-output --ascii-output --sort-keys --color-output --monochrome-output --tab --indent: --unbuffered --stream --stream-errors --seq --exit-status --version --help";

function jq(call: CommandCall): CommandOutput | undefined {
  const args: typeof call.args = [];
  for (let i = 0; ; i++) {
    const arg = call.args[i];
    if (!arg) break;
    // These take a name and a value.
    if (["--arg", "--argjson", "--slurpfile", "--rawfile"].includes(arg.text)) {
      const value = call.args[i + 2];
      if (arg.text.endsWith("file") && value) call.read(value);
      i += 2;
    } else args.push(arg);
  }
  const parsed = readFlags({ ...call, args }, { flags: JQ_FLAGS });
  const isFromFile = parsed.has("-f", "--from-file");
  if (isFromFile) call.say(askExact("the filter comes from a file"));
  const filter = isFromFile ? undefined : parsed.operands[0];
  if (
    filter &&
    /(?:^|[^.\w$])env\b|\$ENV|\b(?:input_filename|get_search_list|import|include|modulemeta|debug\s*\()/.test(
      filter.text.includes("\\(") ? filter.text : filter.text.replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, '""'),
    )
  ) {
    call.say(askFirm("the filter reads the environment or other files", "secret"));
  }
  for (const file of parsed.operands.slice(isFromFile ? 0 : 1)) call.read(file);
  return undefined;
}

const TAR_FLAGS =
  "-ctxruAdvzjJZakmOpPUWwhlSsiGnoB -f: -C:d -T~ -X:r -b: -I! -F! -K: -N: -L: -V: -g:w -H: --list --create --extract --get --append --update --diff --compare --delete --verbose --gzip --bzip2 --xz --zstd --lzma --auto-compress --file: --directory:d --files-from~ --exclude: --exclude-from:r --exclude-vcs --exclude-vcs-ignores --strip-components: --strip: --to-stdout --wildcards --no-wildcards --null --numeric-owner --owner: --group: --mode: --mtime: --sort: --transform~ --xform~ --keep-old-files --overwrite --same-permissions --no-same-owner --no-same-permissions --totals --one-file-system --dereference --show-transformed-names --full-time --quoting-style: --anchored --no-recursion --use-compress-program! --to-command! --checkpoint? --checkpoint-action! --info-script! --new-volume-script! --rsh-command! --rmt-command! --absolute-names~ --index-file:w --listed-incremental:w --unlink-first --recursive-unlink! --remove-files~ --format: --pax-option: --touch --keep-newer-files --skip-old-files --no-overwrite-dir --warning: --force-local";

/** With `-O` the members go to the output; only flags that cannot change that. */
const TAR_PRINTS = new Set(
  "-x -O -f -v -z -j -J -a -Z --extract --get --to-stdout --file --verbose --gzip --bzip2 --xz --zstd --auto-compress --wildcards --strip-components --exclude".split(
    " ",
  ),
);

/** Listing reads; everything else is asked, inside the project. */
function tar(call: CommandCall): CommandOutput | undefined {
  const [first, ...rest] = call.args;
  const isOldStyle = first !== undefined && /^[a-zA-Z]+$/.test(first.text);
  const args = isOldStyle ? oldStyle(first.text, rest) : call.args;
  const parsed = readFlags({ ...call, args }, { flags: TAR_FLAGS });
  const archive = parsed.value("-f", "--file") ?? field("-");
  if (/^[^/]+:/.test(archive.text)) call.say(deny("tar would reach another machine", "network"));
  const isListing = parsed.has("-t", "--list");
  const isCreating = parsed.has("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--delete");
  if (archive.text !== "-") (isCreating ? call.write : call.read)(archive);
  if (isListing && !isCreating && !parsed.has("-x", "--extract", "--get")) return undefined;
  if (!isCreating && parsed.has("-O", "--to-stdout") && parsed.flags.every((f) => TAR_PRINTS.has(f.name)))
    return undefined;
  const directory = parsed.value("-C", "--directory");
  if (isCreating) for (const file of parsed.operands) call.read(file);
  else if (directory) call.write(directory);
  const renames = parsed.flags.some(
    ({ name, value }) => /^--(?:transform|xform)$/.test(name) && /\.\.|\//.test(value?.text ?? ""),
  );
  if (renames) call.say(askExact("tar puts the files elsewhere than the archive says", "outside"));
  if (parsed.has("-P", "--absolute-names")) call.say(deny("tar -P writes wherever the archive says", "changes"));
  call.say(
    parsed.has("--remove-files")
      ? askExact("tar deletes the files it packs", "changes")
      : ask("it packs or unpacks an archive"),
  );
  return undefined;
}

/** `tar xzf a.tgz`: letters first, their values after. */
function oldStyle(letters: string, rest: CommandCall["args"]): CommandCall["args"] {
  const out: CommandCall["args"] = [];
  const left = [...rest];
  for (const letter of letters) {
    out.push(field(`-${letter}`));
    const value = "fbCTXFIKNLVgH".includes(letter) ? left.shift() : undefined;
    if (value) out.push(value);
  }
  return [...out, ...left];
}
