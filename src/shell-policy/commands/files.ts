// The commands that change files: creating and moving single ones inside the project, and what goes beyond that.
import { basename, dirname, resolve } from "node:path";
import { ask, askExact, askGrave, deny } from "../finding.ts";
import { judgePath } from "../path-verdict.ts";
import { cut, type Field, field, isKnown, join, match, type Word, word } from "../shell/field.ts";
import { endangersProject } from "../shell/paths.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { HUGE, isHuge, sizeInBytes } from "./endless.ts";
import { fromTable, type Parsed, readFlags } from "./flags.ts";

export const FILES: Commands = {
  mkdir: fromTable({ flags: "-pv -m: --parents --verbose --mode:", operands: "write" }),
  touch: fromTable({
    flags: "-acmhf -d: -t: -r:r --no-create --date: --reference:r --time: --no-dereference",
    operands: "write",
  }),
  rmdir: fromTable({ flags: "-pv --parents --verbose --ignore-fail-on-non-empty", operands: "write" }),
  mktemp: fromTable({
    flags: "-dqut -p:w --tmpdir~ --directory --dry-run --suffix:",
    operands: "text",
    finish: makesTemporary,
  }),
  truncate: fromTable({
    flags: "-cor -s: --size: --no-create --reference:r",
    operands: "write",
    finish: (call, { value }) => fills(call, value("-s", "--size")?.text),
  }),
  fallocate: fromTable({
    flags: "-nvcpzdix -l: -o: --length: --offset: --keep-size --dig-holes --verbose",
    operands: "write",
    finish: (call, { value }) => fills(call, value("-l", "--length")?.text),
  }),
  tee: fromTable({
    flags: "-aip --append --ignore-interrupts --output-error?",
    operands: "write",
    finish: (call) => {
      if (call.shell.stdin.kind === "endless") call.say(askGrave("it fills the disk", "changes"));
      return undefined;
    },
  }),
  sponge: fromTable({ flags: "-a", operands: "write" }),
  split: fromTable({
    flags:
      "-dexu -a: -b: -C: -l: -n: -t: --filter! --bytes: --lines: --suffix-length: --numeric-suffixes? --additional-suffix: --number:",
    operands: "text",
    finish: splits,
  }),
  csplit: fromTable({
    flags: "-ksqz -f:w -b: -n: --prefix:w",
    operands: "text",
    asks: "it writes several files",
    finish: (call, { operands }) => {
      if (operands[0] && operands[0].text !== "-") call.read(operands[0]);
      return undefined;
    },
  }),
  cp,
  mv,
  rm,
  unlink: rm,
  ln,
  link: ln,
  install: copyAll("it installs files"),
  shred: (call) => {
    for (const f of readFlags(call, {
      flags: "-fuvxz -n: -s: --force --remove? --verbose --zero --exact --iterations: --size:",
    }).operands)
      call.write(f);
    call.say(deny("it destroys files for good", "changes"));
    return undefined;
  },
  srm: (call) => rm(call),
  trash: (call) => rm(call),
  chmod: modes("it changes the mode of files"),
  chown: modes("it changes the owner of files"),
  chgrp: modes("it changes the group of files"),
  chattr: modes("it changes attributes of files"),
  setfacl: modes("it changes access lists"),
  setfattr: modes("it changes attributes of files"),
  xattr: modes("it changes attributes of files"),
  dd,
  patch: (call) => {
    const parsed = readFlags(call, {
      flags:
        "-bcelnNRsufEtTvZ -p: -d:w -i:r -o:w -r:w -B: -F: -V: -z: --dry-run --input:r --output:w --directory:d --strip: --reverse --forward --reject-file:w --backup --posix --batch --force --quiet --binary",
    });
    for (const f of parsed.operands) call.write(f);
    if (!parsed.has("--dry-run")) call.say(ask("it changes files by a patch", "changes"));
    return undefined;
  },
  rename: (call) => {
    call.say(ask("it renames files by a program", "runs_code"));
    return undefined;
  },
  ex: editor,
  ed: editor,
  vi: editor,
  vim: editor,
  nvim: editor,
  nano: editor,
  emacs: editor,
  dos2unix: inPlace,
  unix2dos: inPlace,
  cpio: fromTable({
    flags: "-t -v -i~ -o~ -p~ -d~ -F:r --list --file:r",
    operands: "text",
    asks: "it packs or unpacks an archive",
  }),
};

/** It has many options that name files: all its words are looked at. */
export const SYNC: Commands = { rsync };

const CP_FLAGS =
  "-afilnpPuvxHLbTRrdsZ -t: -S: --archive --force --interactive --link~ --symbolic-link~ --no-clobber --preserve? --no-preserve: --recursive --parents --update? --verbose --target-directory: --no-target-directory --dereference --no-dereference --backup? --suffix: --reflink? --sparse: --strip-trailing-slashes --attributes-only --remove-destination --one-file-system -N -c";

function cp(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, { flags: CP_FLAGS });
  const { sources, target } = sourcesAndTarget(call, parsed);
  for (const source of sources) call.read(source);
  if (target) writeInto(call, target, sources);
  const isMerged = parsed.has("-T", "--no-target-directory") || sources.some((f) => /(?:^|\/)\.\/?$/.test(f.text));
  if (target && isMerged && isRoot(call, target))
    call.say(ask("protected files may be among those it copies over the project's", "protected"));
  if (parsed.has("-r", "-R", "-a", "--recursive", "--archive") && !sources.every((f) => isKnown(f)))
    call.say(ask("it copies a tree", "changes"));
  if (parsed.has("-l", "-s", "--link", "--symbolic-link")) for (const source of sources) linkTo(call, source);
  else if (!parsed.has("-L", "--dereference") && parsed.has(...KEEPS_LINKS)) copiesLinks(call, sources);
  return undefined;
}

/** A copied link leads where its original does, and what follows in the same call may write through it. */
const KEEPS_LINKS = "-P -d -a -r -R --archive --recursive --no-dereference".split(" ");

function copiesLinks(call: CommandCall, sources: Field[]): undefined {
  for (const source of sources)
    for (const cwd of isKnown(source) ? (call.shell.scope.cwds ?? []) : []) {
      const at = resolve(cwd, source.text);
      if (realOf(call, at) !== resolve(realOf(call, dirname(at)), basename(at))) linkTo(call, source);
    }
}

function mv(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, {
    flags:
      "-finuvbTZ -t: -S: --force --interactive --no-clobber --update? --verbose --target-directory: --no-target-directory --backup? --suffix: --strip-trailing-slashes",
  });
  const { sources, target } = sourcesAndTarget(call, parsed);
  for (const source of sources) {
    call.write(source);
    if (endangersProject(call.shell, source))
      call.say(deny("it moves away what lies outside the project, or the project itself", "outside"));
    else if (isRoot(call, source)) call.say(deny("it moves the project itself", "changes"));
  }
  if (target) writeInto(call, target, sources);
  if (sources.length > 3 || sources.some(isMany)) call.say(ask("it moves many files", "changes"));
  return undefined;
}

function sourcesAndTarget(call: CommandCall, { operands, value }: Parsed): { sources: Field[]; target?: Field } {
  const directory = value("-t", "--target-directory");
  if (directory) return { sources: operands, target: directory };
  if (operands.length < 2) {
    call.say(ask("the target is missing"));
    return { sources: operands };
  }
  return { sources: operands.slice(0, -1), target: operands.at(-1) };
}

/** Into a directory the names of the sources count: `cp x/hooks .git`. */
function writeInto(call: CommandCall, target: Field, sources: Field[]): undefined {
  if (target.text === "") return call.say(ask("the target is only known at run time", "runtime"));
  call.write(target);
  const bare = target.text.replace(/\/+$/, "").length;
  const directory = bare === 0 ? word("/") : cut(target, 0, bare);
  for (const source of sources) {
    const name = lastName(source);
    if (name.text !== "" && name.text !== ".." && name.text !== ".")
      call.write({ ...target, ...join([directory, name], "/"), glob: target.glob || source.glob });
  }
}

/** As `basename` gives it. */
function lastName(f: Word): Word {
  const bare = cut(f, 0, f.text.replace(/\/+$/, "").length);
  return cut(bare, bare.text.lastIndexOf("/") + 1);
}

/** As `dirname` gives it. */
function parentOf(f: Word): Word {
  const parent = dirname(f.text).length;
  return f.text.startsWith(dirname(f.text)) ? cut(f, 0, parent) : word(".");
}

function rm(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, {
    flags:
      "-fiIrRdvxP --force --interactive? --recursive --dir --verbose --one-file-system --preserve-root --no-preserve-root!",
  });
  const isRecursive = parsed.has("-r", "-R", "--recursive");
  for (const f of parsed.operands) {
    const text = f.text.replace(/\/+$/, "") || "/";
    if (isRecursive && /^~/.test(f.text)) call.say(deny("it deletes a home directory", "outside"));
    if (isRecursive && isRoot(call, { ...f, ...cut(f, 0, text.replace(/\/\.?\*$/, "").length) })) {
      call.say(
        text.endsWith("/*") || text === "*"
          ? askExact("it deletes everything in the project", "changes")
          : deny("it deletes the project itself", "changes"),
      );
    }
    if (/(?:^|\/)\.{1,2}\*?$/.test(f.text) && isRecursive)
      call.say(deny("it deletes the directory it stands in, or the one above", "changes"));
    if (call.name === "rm") call.remove(f);
    else call.write(f);
    if (isRecursive && /^[*.?/[\]]*$/.test(text) && f.glob) call.say(deny("it deletes everything here", "changes"));
  }
  if (isRecursive) call.say(ask("it deletes a tree", "changes"));
  else if (parsed.operands.length > 5 || parsed.operands.some(isMany))
    call.say(ask("it deletes many files", "changes"));
  return undefined;
}

/** Also in quotes: `for f in *; do rm "$f"; done`. */
const isMany = (f: Field): boolean => f.glob || !isKnown(f) || /[*?[]/.test(f.text);

function isRoot(call: CommandCall, f: Field): boolean {
  const { evaluation, scope } = call.shell;
  if (!isKnown(f) || f.text === "") return false;
  return (scope.cwds ?? []).some((cwd) => {
    const real = realOf(call, f.text.startsWith("/") ? f.text : `${cwd}/${f.text}`);
    return evaluation.roots.some((root) => root === real || root.startsWith(real === "/" ? "/" : `${real}/`));
  });
}

function realOf(call: CommandCall, path: string): string {
  try {
    return call.shell.evaluation.world.realPath(path).replace(/\/+$/, "") || "/";
  } catch {
    return path;
  }
}

/** Later writes through the link go where it leads. */
function ln(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, {
    flags:
      "-sfnvirTbLPF -t: -S: --symbolic --force --no-dereference --verbose --interactive --relative --target-directory: --no-target-directory --backup? --logical --physical",
  });
  const directory = parsed.value("-t", "--target-directory");
  const isSingle = parsed.operands.length === 1 || directory !== undefined;
  const sources = isSingle ? parsed.operands : parsed.operands.slice(0, -1);
  const target = directory ?? (isSingle ? field(".") : parsed.operands.at(-1));
  if (!target) return call.say(ask("the target is missing"));
  const isFromLink = parsed.has("-s", "--symbolic") && !parsed.has("-r", "--relative");
  for (const source of sources) {
    const isAbsolute = source.text.startsWith("/");
    if (isAbsolute || !isFromLink) linkTo(call, source);
    // A relative link is read from where it lies.
    if (!isAbsolute) {
      for (const base of [target, parentOf(target)]) linkTo(call, { ...source, ...join([base, source], "/") });
    }
  }
  if (!isSingle) call.write(target);
  for (const source of sources) call.write({ ...target, ...join([target, lastName(source)], "/") });
  return undefined;
}

function linkTo(call: CommandCall, source: Field): undefined {
  const cwds = call.shell.scope.cwds ?? [];
  for (const cwd of cwds) {
    const isOpen = source.holes.length > 0;
    const verdict = judgePath(call.shell.evaluation, { access: "edit", path: isOpen ? "/" : source.text, cwd });
    if (verdict.firm) call.say(deny("the link would lead outside the project or to a protected file", "outside"));
    call.say(isKnown(source) ? verdict : askExact("where the link leads is only known at run time", "runtime"));
  }
}

function rsync(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, {
    flags:
      "-avzrlptgoDHAXhnPqucxSWRbKLkmyEIOJ0i -e! --rsh! --rsync-path! --archive --verbose --recursive --dry-run --delete~ --delete-after~ --delete-before~ --delete-excluded~ --exclude: --include: --filter: --exclude-from:r --files-from:r --progress --stats --human-readable --compress --partial --update --checksum --links --perms --times --itemize-changes --info: --remove-source-files~ --daemon! --temp-dir:w -T:w --backup-dir:w --log-file:w --max-size: --size-only --ignore-existing --out-format: --existing",
  });
  const sources = parsed.operands.slice(0, -1);
  const target = parsed.operands.at(-1);
  for (const f of parsed.operands) {
    if (/^(?:[\w.-]+@)?[\w.-]+::?[^/]*|^rsync:\/\//.test(f.text) && /:/.test(f.text))
      call.say(deny("it copies to or from another machine", "network"));
  }
  for (const source of sources) if (!source.text.includes(":")) call.read(source);
  if (parsed.has("-a", "--archive", "-l", "--links")) copiesLinks(call, sources);
  if (target && !target.text.includes(":")) call.write(target);
  if (target && parsed.flags.some((f) => f.name.startsWith("--delete")) && isRoot(call, target))
    call.say(deny("it empties the project"));
  if (!parsed.has("-n", "--dry-run")) call.say(ask("it copies a tree", "changes"));
  return undefined;
}

function copyAll(reason: string): (call: CommandCall) => CommandOutput | undefined {
  return (call) => {
    const parsed = readFlags(call, {
      flags: "-cCdDpsTv -m: -o: -g: -t: -S: --mode: --owner: --group: --directory --target-directory: --strip-program!",
    });
    const { operands } = parsed;
    const directory = parsed.value("-t", "--target-directory");
    const isMaking = parsed.has("-d", "--directory");
    for (const source of directory ? operands : operands.slice(0, -1)) call.read(source);
    for (const target of isMaking ? operands : [directory ?? operands.at(-1) ?? field("")]) call.write(target);
    call.say(ask(reason));
    return undefined;
  };
}

function modes(reason: string): (call: CommandCall) => CommandOutput | undefined {
  return (call) => {
    const parsed = readFlags(call, {
      flags:
        "-RfcvhHLPbkwdn -m: -x: -M: -X: --recursive --verbose --changes --silent --quiet --reference:r --from: --dereference --no-dereference",
    });
    const isFirstMode = /^ch(?:mod|own|grp)$/.test(call.name) && !parsed.has("--reference");
    for (const f of parsed.operands.slice(isFirstMode ? 1 : 0)) call.write(f);
    if (/^[0-7]*[2467][0-7]{3}$|[ug]?\+[rwx]*s/.test(parsed.operands[0]?.text ?? "") && call.name === "chmod")
      call.say(deny("it makes a program run with the rights of its owner", "runs_code"));
    if (parsed.has("-R", "--recursive") && parsed.operands.slice(1).some((f) => isRoot(call, f)))
      call.say(askExact("it changes the whole project"));
    call.say(ask(reason));
    return undefined;
  };
}

function dd(call: CommandCall): undefined {
  let [count, block]: (string | undefined)[] = [undefined, "512"];
  for (const arg of call.args) {
    const [, name, value] = match(arg, /^(\w+)=(.*)$/ds) ?? [];
    if (!name || !value) {
      if (!["--help", "--version"].includes(arg.text)) call.say(ask(`dd ${arg.text} is not known`, "runtime"));
    } else if (name.text === "if") call.read({ ...arg, ...value });
    else if (name.text === "of") call.write({ ...arg, ...value });
    else if (name.text === "count") count = value.text;
    else if (name.text === "bs") block = value.text;
  }
  const isEndless = call.args.some((f) => /^if=\/dev\/(?:zero|u?random|full)$/.test(f.text)) && count === undefined;
  if (!call.args.some((f) => f.text.startsWith("of="))) return undefined;
  if (isEndless || (sizeInBytes(count) ?? 0) * (sizeInBytes(block) ?? 1) >= HUGE)
    call.say(askGrave("it fills the disk", "changes"));
  call.say(ask("dd writes raw data", "changes"));
  return undefined;
}

function splits(call: CommandCall, { operands }: Parsed): undefined {
  const [from, prefix] = operands;
  if (from && from.text !== "-") call.read(from);
  call.write(prefix ?? field("x"));
  return undefined;
}

function editor(call: CommandCall): undefined {
  for (const f of call.args) {
    if (/^(?:-c|\+|--cmd|-es?|-Es?|--eval|-S|--batch|-u|-f|-l|--load|--script)/.test(f.text) && f.text !== "+")
      call.say(deny("the editor is told to run something", "runs_code"));
    else if (!f.text.startsWith("-")) call.write(f);
  }
  const { stdin } = call.shell;
  if (stdin.kind === "text" && /^[ \t]*!|[^\n]!/m.test(stdin.text))
    call.say(deny("the editor is told to run something", "runs_code"));
  call.say(ask("it opens an editor"));
  return undefined;
}

function inPlace(call: CommandCall): undefined {
  for (const f of call.args) if (!f.text.startsWith("-")) call.write(f);
  return undefined;
}

/** Without a template with a folder it lies in /tmp, or in what `-p` names. */
function makesTemporary(call: CommandCall, { operands, has }: Parsed): CommandOutput | undefined {
  const [template] = operands;
  if (!has("-p")) call.write(template && !has("-t") ? template : field("/tmp/tmp.0"));
  return undefined;
}

function fills(call: CommandCall, size: string | undefined): undefined {
  if (isHuge(size)) call.say(askGrave("it fills the disk", "changes"));
}
