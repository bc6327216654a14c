// The last look before a rule or a mode lifts anything: every word that the command's own judge has not looked at, taken as a path.
import { resolve } from "node:path";
import { bringsCode, choicesIn, isFetchedCode, type ProgramChoice, startsPrograms } from "../commands/chooses.ts";
import { type Called, unusualFlags } from "../commands/ordinary.ts";
import { isSystemPlace, isText } from "../commands/prose.ts";
import { type Evaluation, spend } from "../evaluation.ts";
import { askExact, deny, type PolicyVerdict, strictest } from "../finding.ts";
import { isOwnTemporary, judgePlace, type PathUse } from "../path-verdict.ts";
import { type Field, fill, type Word } from "./field.ts";
import { type WordPiece, wordPieces } from "./pieces.ts";
import type { Shell } from "./shell.ts";

/** What the judge of a command leaves to this look, and what it knows of the command. */
export interface WordCheck {
  name: string;
  /** The subcommand, where it is not among the arguments. */
  sub?: string;
  /** Where its relative paths begin. */
  shell: Shell;
  args: readonly Field[];
  /** Only these words; absent: all but those that were judged as what they are, a command or a place in a container. */
  only?: Field[];
  judged: Set<Word>;
  /** A program in the language of the command. */
  code?: Set<Field>;
  /** What it is given it sends to another machine. */
  sends?: boolean;
  /** It runs code of the project in any case. */
  runsProject?: boolean;
  /** Nobody knows what it does with its words. */
  isUnknown?: boolean;
  /** The command that it starts for the user: `npx vitest run`. */
  started?: Called;
  /** What it is given may be code or settings that run. */
  mayLoad?: boolean;
  /** It only reads the files that it is given. */
  onlyReads?: boolean;
}

export interface Swept {
  /** Said whatever lifts it. */
  always: PolicyVerdict[];
  /** Said when a rule with a wildcard would lift it: whoever wrote that rule did not mean this. */
  beforeRules: PolicyVerdict[];
  /** Flags that no rule with a wildcard means, unless it names them. */
  unusual: string[];
}

export function sweep(look: WordCheck): Swept {
  const { shell, args, name } = look;
  const { evaluation, scope } = shell;
  const swept: Swept = {
    always: [],
    beforeRules: [],
    unusual: [look, look.started].flatMap((one) => (one ? unusualFlags(one) : [])),
  };
  const { stdin } = shell;
  if (look.isUnknown && stdin.kind === "text" && startsPrograms(stdin.text))
    swept.always.push(chosen("program", name, stdin.text.slice(0, 80)));
  const cwd = scope.cwds?.[0] ?? evaluation.world.cwd;
  for (const [at, f] of args.entries()) {
    if (look.only ? !look.only.includes(f) : look.judged.has(f)) continue;
    if (isText(name, args, at)) continue;
    const before = args[at - 1]?.text ?? "";
    const word = fill(f, { unknown: "", names: "name", allNames: "name", plain: "0" });
    const choices = look.code?.has(f) ? [] : choicesIn(word, before, look);
    for (const choice of choices) swept.always.push(chosen(choice, name, word));
    if (isFetchedCode(args, at, look.runsProject === true)) swept.always.push(chosen("source", name, word));
    if (bringsCode(before, word)) swept.always.push(chosen("program", name, `${before} ${word}`));
    for (const piece of wordPieces(word, before, evaluation.world.home, cwd)) {
      if (!spend(evaluation, "swept")) return swept;
      judgePiece(look, piece, swept);
    }
  }
  return swept;
}

const chosen = (choice: ProgramChoice, name: string, word: string): PolicyVerdict =>
  choice === "program"
    ? askExact(`${name} is told what to run: ${word}`, "runs_code")
    : askExact(`${name} is told to take it from elsewhere: ${word}`, "network");

/** By its name the value is written. */
const WRITES =
  /^-[oO]$|^--?(?:out|coverprofile|dest|export|write|save|dump|log|basetemp|.*(?:output|outfile|outdir|out-dir|out-file|log-file|logfile|report|-dest|destination|target-dir|install-dir))/i;

function judgePiece(look: WordCheck, piece: WordPiece, swept: Swept): undefined {
  const { path, flag, isInText } = piece;
  const { evaluation, scope } = look.shell;
  const isAbsolute = path.startsWith("/");
  const isBare = !path.includes("/") && !path.startsWith(".");
  if (isInText && /[*?[\]^$+]/.test(path) && !isPersonal(evaluation, path)) return; // a pattern
  for (const cwd of isAbsolute ? ["/"] : (scope.cwds ?? [evaluation.world.cwd])) {
    if ((isBare || piece.isCompound) && evaluation.world.kind(resolve(cwd, path)) === "missing") continue;
    const use: PathUse = { access: "read", path, cwd, isCommand: true };
    const read = judgePlace(evaluation, use);
    const isWritten = WRITES.test(flag) && !isInText;
    const edit =
      isInText || (look.onlyReads && !isWritten) ? undefined : judgePlace(evaluation, { ...use, access: "edit" });
    const verdict = edit && isWritten ? strictest(edit, read) : read;
    if (verdict.code === "rule" && verdict.decision !== "allow") swept.always.push(verdict);
    else if (verdict.code === "secret" && verdict.firm) judgeSecret(look, piece, verdict, swept);
    else if (verdict.code === "device" && !isInText) swept.always.push(verdict);
    else if (verdict.code === "outside") judgeOutside(look, piece, verdict, swept);
    else if (edit?.code === "protected" && edit.firm) (isWritten ? swept.always : swept.beforeRules).push(edit);
    else if (look.mayLoad && !isWritten && isAbsolute && isOwnTemporary(evaluation, resolve(path)))
      swept.always.push(
        askExact(`${look.name} uses what lies in /tmp, which anything may have written: ${path}`, "temporary"),
      );
  }
}

/** What it is for: variables of terraform are read by terraform. */
const isOwnFile = (program: string, path: string): boolean =>
  /^(?:terraform|tofu)$/.test(program) && /\.tfvars(?:\.json)?$/.test(path) && !/^[/~]|\.\./.test(path);

function judgeSecret(look: WordCheck, { path }: WordPiece, verdict: PolicyVerdict, swept: Swept): undefined {
  if (verdict.decision === "deny") swept.always.push(verdict);
  else if (isOwnFile(look.name, path)) return;
  else if (look.sends) swept.always.push(deny("it would send a secret away", "secret"));
  else swept.beforeRules.push(verdict);
}

function judgeOutside(
  look: WordCheck,
  { path, flag, isInText }: WordPiece,
  verdict: PolicyVerdict,
  swept: Swept,
): undefined {
  const { evaluation } = look.shell;
  if (isInText && !isPersonal(evaluation, path)) return;
  if (verdict.decision === "deny") return void swept.always.push(verdict);
  if (!isSystemPlace(flag, path) && isOfThisMachine(evaluation, path))
    swept.always.push(askExact(`${look.name} uses what lies outside the project: ${path}`, "outside"));
}

/** In a text `/usr` and `/api/users` are words; the home, and the way out, are meant. */
const isPersonal = ({ home, world }: Evaluation, path: string): boolean =>
  path.startsWith("..") || path.startsWith(`${world.home}/`) || path.startsWith(`${home}/`);

/** `/api/users` is a path of some server: nothing of that name lies here. */
function isOfThisMachine({ world }: Evaluation, path: string): boolean {
  if (!path.startsWith("/")) return true;
  const top = path.split("/").find((part) => part !== "" && part !== "." && part !== "..");
  return top === undefined || world.kind(`/${top}`) !== "missing";
}
