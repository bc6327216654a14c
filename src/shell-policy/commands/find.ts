// Find and fd: looking, and what they delete or start on everything they find.
import { resolve } from "node:path";
import { own } from "../../ledger/own.ts";
import { ask, askExact, deny } from "../finding.ts";
import { looksForSecrets } from "../protected.ts";
import { type Field, field, hole, isKnown, join, replaceAll, word } from "../shell/field.ts";
import { judgeField } from "../shell/paths.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { mayBecomeFlags, type Parsed, readFlags } from "./flags.ts";
import { NAMES_OUTPUT, namesUnlessSecret, SHOWS_HIDDEN } from "./search.ts";

export const FIND: Commands = { find, fd: fdLike, fdfind: fdLike };

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
  return list.split(" ").map((one) => [one, count]);
}
const FIND_RUNS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
const FIND_WRITES = new Set(["-fprint", "-fprint0", "-fls", "-fprintf"]);

function find(call: CommandCall): CommandOutput | undefined {
  const { args } = call;
  let isPlain = true;
  let hasStarted = false;
  if (args.some(mayBecomeFlags))
    call.say(askExact("a word that is only known at run time may delete or run", "runtime"));
  for (let i = 0; ; i++) {
    const arg = args[i];
    if (!arg) break;
    const { text } = arg;
    if (!hasStarted && !/^[-(!,]/.test(text)) {
      call.look(arg);
      continue;
    }
    const count = own(FIND_WORDS, text);
    if (count !== undefined) {
      if (!/^-(?:[HLP]|O\d|[EXxsd])$/.test(text)) hasStarted = true;
      i += count;
      continue;
    }
    hasStarted = true;
    isPlain = false;
    if (FIND_RUNS.has(text)) {
      const end = args.findIndex((f, at) => at > i && (f.text === ";" || f.text === "+"));
      startsOnEach(call, args.slice(i + 1, end < 0 ? undefined : end), placesOf(args));
      i = end < 0 ? args.length : end;
    } else if (text === "-delete") deletesFound(call);
    else if (FIND_WRITES.has(text)) {
      const target = args[++i];
      if (target) call.write(target);
      call.say(askExact(`find ${text} writes a file`, "changes"));
      if (text === "-fprintf") i++;
    } else if (text === "-files0-from") call.read(args[++i] ?? field("-"));
    else call.say(ask(`find ${text} is not known to only read`));
  }
  if (!isPlain) return undefined;
  return namesUnlessSecret(call, findsHidden(args) ? { kind: "allNames" } : NAMES_OUTPUT);
}

/** `-name '*.ts'` finds nothing hidden that holds secrets. */
const findsHidden = (args: readonly Field[]): boolean =>
  !args.some((arg, i) => /^-i?name$/.test(args[i - 1]?.text ?? "") && /^(?:\*\.|[A-Za-z0-9])[\w.*-]+$/.test(arg.text));

/** Where it begins to look. */
function placesOf(args: readonly Field[]): Field[] {
  const rest = args.filter((f) => !/^-(?:[HLP]|O\d)$/.test(f.text));
  const end = rest.findIndex((f) => /^[-(!,]/.test(f.text));
  const places = end < 0 ? rest : rest.slice(0, end);
  return places.length > 0 ? places : [field(".")];
}

/** As `rm` does: inside the project it is asked, outside and of what is protected it is refused. */
function deletesFound(call: CommandCall): undefined {
  for (const place of placesOf(call.args)) {
    const patterns = call.args.filter((_, i) => /^-i?(?:name|path|wholename)$/.test(call.args[i - 1]?.text ?? ""));
    const named = patterns.map((f) => ({ ...place, ...join([place, f], "/"), glob: true }));
    for (const f of [place, ...patterns.filter((one) => one.text.includes("/")), ...named]) {
      const verdict = judgeField(call.shell, f, "edit");
      if (verdict.firm || verdict.decision === "deny") call.say(verdict);
    }
    if (!isNarrowed(call.args) && holdsProject(call, place))
      call.say(deny("find deletes everything in the project", "changes"));
  }
  call.say(askExact("find deletes what it finds", "changes"));
}

/** Some test has to hold, and it is one that not every file passes. */
function isNarrowed(args: readonly Field[]): boolean {
  let depth = 0;
  let isNarrow = false;
  for (const [i, { text }] of args.entries()) {
    if (text === "(") depth++;
    else if (text === ")") depth--;
    else if (/^(?:-o|-or|,)$/.test(text) && depth === 0) return false;
    const isNegated = /^(?:!|-not)$/.test(args[i - 1]?.text ?? "");
    const value = args[i + 1]?.text ?? "";
    const isByName = /^-i?(?:name|path|wholename|regex)$/.test(text) && /[^*?.[\]!^]/.test(value);
    if (!isNegated && (isByName || /^-(?:empty|[acm](?:time|min)|newer\w*|size)$/.test(text))) isNarrow = true;
  }
  return isNarrow;
}

function holdsProject({ shell: { evaluation, scope } }: CommandCall, place: Field): boolean {
  if (!isKnown(place)) return true;
  return (scope.cwds ?? [evaluation.world.cwd]).some((cwd) => {
    const at = resolve(cwd, place.text);
    return evaluation.roots.some((root) => root === at || root.startsWith(at === "/" ? "/" : `${at}/`));
  });
}

/** `-not -path './.git/*'`. */
const isLeftOut = (args: readonly Field[], at: number): boolean => /^(?:!|-not)$/.test(args[at - 2]?.text ?? "");

const DELETES = /^(?:.*\/)?(?:rm|rmdir|unlink|shred|trash)$/;

/** What is started on each file; the files are those of the project as far as the places are. */
function startsOnEach(call: CommandCall, command: Field[], places: Field[]): undefined {
  const isInside = places.every((p) => !/^[/~]|\.\./.test(p.text));
  const isHidden = findsHidden(call.args) ? "allNames" : "names";
  const base = hole(
    isInside && !call.args.some((f, i) => looksForSecrets(f.text) && !isLeftOut(call.args, i)) ? isHidden : "unknown",
  );
  const { findings } = call.shell.evaluation;
  const from = findings.length;
  call.run(command.map((f) => ({ ...f, ...replaceAll(f, "{}", base) })));
  const isDeleting = DELETES.test(command[0]?.text ?? "");
  if (isDeleting) deletesFound(call);
  else if (findings.slice(from).some((f) => f.decision !== "allow"))
    for (const place of places) {
      const verdict = judgeField(call.shell, place, "edit");
      if (verdict.firm || verdict.decision === "deny") call.say(verdict);
    }
  call.say(askExact(`${call.name} starts a command on everything it finds`, isDeleting ? "changes" : "runs_code"));
}

const FD_FLAGS =
  "-HIuUsiLgFap0l1qhV -d: -t: -e: -E: -c: -j: -S: -o: -x! -X! --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --list-details --follow --full-path --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --color: --threads: --size: --changed-within: --changed-before: --max-results: --print0 --no-ignore-vcs --strip-cwd-prefix? --path-separator: --base-directory:d --search-path:d --exec! --exec-batch! --regex --and: --owner: --quiet --show-errors --one-file-system --prune --version --help --ignore-file:r";

function fdLike(call: CommandCall): CommandOutput | undefined {
  const at = call.args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(arg.text));
  const own = at < 0 ? call : { ...call, args: call.args.slice(0, at) };
  const parsed: Parsed = readFlags(own, { flags: FD_FLAGS, isNumeric: true });
  const [pattern, ...places] = parsed.operands;
  for (const place of places) call.look(place);
  if (at < 0) return namesUnlessSecret(call, SHOWS_HIDDEN.test(call.text) ? { kind: "allNames" } : NAMES_OUTPUT);
  const command = call.args.slice(at + 1).map((f) => (/^\{.*\}$/.test(f.text) ? { ...f, ...word("{}") } : f));
  const isOpen = !command.some((f) => f.text.includes("{}"));
  const asFind = [field("-name"), pattern ?? field("*")];
  startsOnEach(
    { ...call, args: [...places, ...asFind] },
    isOpen ? [...command, field("{}")] : command,
    places.length > 0 ? places : [field(".")],
  );
  return undefined;
}
