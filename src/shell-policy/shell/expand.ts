// The expansion of words: quotes, tildes, variables, substitutions, braces, splitting, as far as constants reach.
import type { ParameterExpansionPart, ParsedScript, Word, WordPart } from "unbash";
import { only } from "../../ledger/only.ts";
import { own } from "../../ledger/own.ts";
import { matchesComponent } from "../../text/glob.ts";
import { addFinding, LIMITS, spend } from "../evaluation.ts";
import { askFirm, askRead } from "../finding.ts";
import { inspectArithmetic, inspectExpression, judgeHidden } from "./arithmetic.ts";
import { expandBraces } from "./braces.ts";
import {
  anything,
  cut,
  type Field,
  field,
  fieldOf,
  has,
  hole,
  holeField,
  isHole,
  isKnown,
  join,
  word as known,
  type Word as ShellWord,
  split,
} from "./field.ts";
import { parseShell } from "./parse.ts";
import { copyScope, positional } from "./scope.ts";
import { type CommandOutput, outputAsWord, type Shell, UNKNOWN_OUTPUT } from "./shell.ts";

export function expandWords(shell: Shell, words: readonly Word[]): Field[] {
  return words.flatMap((word) => expandWord(shell, word));
}

export function expandWord(shell: Shell, word: Word): Field[] {
  if (!spend(shell.evaluation, "words")) return [holeField()];
  const braced = word.parts?.some((part) => part.type === "BraceExpansion");
  if (!braced) return expandParts(shell, word);
  const texts = expandBraces(word.text, LIMITS.alternatives);
  if (!texts) return [anything()];
  return texts.flatMap((text) => {
    const again = oneWord(text);
    if (!again || !spend(shell.evaluation, "words")) return [holeField()];
    if (again.parts?.some((part) => part.type === "BraceExpansion")) return [holeField()];
    return expandParts(shell, again);
  });
}

/** As in an assignment, a here-string or a redirection: one value, never split. */
export function expandValue(shell: Shell, word: Word): Field {
  const parts = expandParts(shell, word, true);
  return parts[0] ?? field("");
}

function oneWord(text: string): Word | undefined {
  const [statement, ...more] = parseShell(`: ${text}`).commands;
  const command = statement?.command;
  if (command?.type !== "Command" || more.length > 0 || command.args.length !== 1) return undefined;
  return command.args[0]?.type === "Word" ? command.args[0] : undefined;
}

interface Building {
  done: Field[];
  word: ShellWord;
  /** Something is there, even if it is empty: quotes. */
  open: boolean;
  glob: boolean;
  guessed: boolean;
  splits: boolean;
  isValue: boolean;
}

const EMPTY = known("");
const building = (isValue: boolean): Building => ({
  done: [],
  word: EMPTY,
  open: false,
  glob: false,
  guessed: false,
  splits: false,
  isValue,
});

function expandParts(shell: Shell, word: Word, isValue = false): Field[] {
  const b = building(isValue);
  if (!word.parts) {
    addTilde(shell, b, word.text, word.value);
  } else {
    word.parts.forEach((part, i) => {
      if (i === 0 && part.type === "Literal") addTilde(shell, b, part.text, part.value);
      else addPart(shell, b, part, false);
    });
  }
  close(b);
  return b.done;
}

function close(b: Building): undefined {
  const { glob, guessed, splits } = b;
  if (b.open || b.word.text !== "") b.done.push({ ...b.word, glob, guessed, splits });
  Object.assign(b, { word: EMPTY, open: false, glob: false, guessed: false, splits: false });
}

function add(b: Building, piece: ShellWord): undefined {
  b.word = b.word === EMPTY ? piece : join([b.word, piece]);
  b.open = true;
}

/** `~` at the beginning, and after the `=` of a word that looks like an assignment. */
function addTilde(shell: Shell, b: Building, written: string, value: string): undefined {
  const [, name, user] = /^(?:([A-Za-z_]\w*)=)?~([^/:]*)(?=\/|:|$)/.exec(written) ?? [];
  if (user === undefined) return add(b, known(value));
  const prefix = name === undefined ? "" : `${name}=`;
  const rest = value.slice(prefix.length + 1 + user.length);
  add(b, join([known(prefix), tilde(shell, user), known(rest)]));
}

function tilde(shell: Shell, user: string): ShellWord {
  if (user === "") return shell.scope.vars.get("HOME")?.[0] ?? hole();
  if (user === "+") return wordOr(only(shell.scope.cwds), hole());
  if (user === "-" || /^[+-]?\d+$/.test(user)) return hole();
  return known(`/home/~${user}`); // somebody's home: outside, whoever it is
}

const wordOr = (text: string | undefined, otherwise: ShellWord): ShellWord =>
  text === undefined ? otherwise : known(text);

function addPart(shell: Shell, b: Building, part: WordPart, quoted: boolean): undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return add(b, known(part.value));
    case "AnsiCQuoted":
      if (/\\(?:x\{|c|[4-7][0-7]{2})/.test(part.text)) return add(b, hole());
      return add(b, withoutControls(part.value));
    case "DoubleQuoted":
    case "LocaleString":
      b.open = true;
      for (const child of part.parts) addPart(shell, b, child, true);
      return;
    case "Glob":
      for (const child of part.parts ?? []) inspectPart(shell, child);
      b.glob = true;
      return add(b, known(part.text));
    case "ExtendedGlob":
      for (const child of part.parts ?? []) inspectPart(shell, child);
      b.glob = true;
      return add(b, /[(|]\./.test(part.text) ? hole() : known("*")); // only a dot that is written finds hidden names
    case "SimpleExpansion":
      return addValues(b, variable(shell, part.text.slice(1)), quoted);
    case "ParameterExpansion":
      return addValues(b, parameter(shell, part), quoted);
    case "CommandExpansion":
      return addValues(b, [fieldOf(substitute(shell, part.script, part.text))], quoted);
    case "ArithmeticExpansion":
      if (part.expression) inspectArithmetic(shell, part.expression);
      return add(b, hole("plain"));
    case "ProcessSubstitution":
      substitute(shell, part.script, part.text);
      return add(b, known("/dev/fd/63"));
    case "BraceExpansion":
      return add(b, hole());
  }
}

/** What a control character does there is not followed. */
const withoutControls = (text: string): ShellWord =>
  text
    .split(/[\0-\x08\x0b-\x1f\x7f]/)
    .map((piece) => known(piece))
    .reduce((done, piece) => join([done, hole(), piece]));

/** Judges what is inside, for the sake of its substitutions. */
export function inspectPart(shell: Shell, part: WordPart): undefined {
  addPart(shell, building(true), part, true);
}

const SPACE = known(" ");

function addValues(b: Building, values: Field[], quoted: boolean): undefined {
  values.forEach((value, i) => {
    if (i > 0) {
      if (b.isValue) b.word = join([b.word, SPACE]);
      else close(b);
    }
    addValue(b, value, quoted || b.isValue);
  });
  if (quoted) b.open = true;
}

function addValue(b: Building, value: Field, whole: boolean): undefined {
  if (b.word.text.length > LIMITS.chars) b.word = hole();
  if (whole) {
    b.word = b.word === EMPTY ? { text: value.text, holes: value.holes } : join([b.word, value]);
    b.guessed ||= value.guessed;
    if (b.isValue) {
      b.glob ||= value.glob || /[*?[]/.test(value.text);
      b.splits ||= value.splits;
    }
    return;
  }
  split(value, /[ \t\n]+/).forEach((piece, i) => {
    if (i > 0) close(b);
    b.word = b.word === EMPTY ? piece : join([b.word, piece]);
    b.glob ||= /[*?[]/.test(piece.text);
    b.guessed ||= value.guessed;
    b.splits ||= value.splits || has(piece, "unknown", "names", "allNames");
  });
}

const SPECIAL: Record<string, ShellWord> = {
  "?": hole("plain"),
  "#": hole("plain"),
  $: hole("plain"),
  "!": hole("plain"),
  "-": known("hB"),
};
const NUMBERS = new Set([
  "RANDOM",
  "SRANDOM",
  "SECONDS",
  "LINENO",
  "EPOCHSECONDS",
  "UID",
  "EUID",
  "PPID",
  "BASHPID",
  "SHLVL",
  "COLUMNS",
  "LINES",
]);

function variable(shell: Shell, name: string): Field[] {
  const bound = shell.scope.vars.get(name);
  if (bound) {
    const size = bound.reduce((sum, f) => sum + f.text.length, 0);
    return spend(shell.evaluation, "expanded", size) ? bound : [holeField()];
  }
  const special = own(SPECIAL, name);
  if (special !== undefined) return [fieldOf(special)];
  if (/^[1-9]$/.test(name)) {
    const given = positional(shell.scope);
    return given.some((f) => f.splits) ? [holeField()] : [given[Number(name) - 1] ?? field("")];
  }
  if (NUMBERS.has(name)) return [holeField("plain")];
  const { cwds, before } = shell.scope;
  if (name === "PWD") return [fieldOf(wordOr(only(cwds), hole()))];
  if (name === "OLDPWD") return [{ ...fieldOf(wordOr(only(before), hole())), guessed: before?.length === 1 }];
  return [anything()];
}

function parameter(shell: Shell, part: ParameterExpansionPart): Field[] {
  if (part.index) inspectExpression(shell, expandValue(shell, part.index));
  const op = part.operation;
  if (part.prefix === "#") return [holeField("plain")];
  if (part.prefix === "!") {
    const isNames = part.index !== undefined || op?.type === "Names";
    if (!isNames)
      addFinding(shell.evaluation, part.text, askRead("which variable it means is only known at run time", "runtime"));
    return [anything()];
  }
  const index = part.index?.text;
  const value = variable(shell, index === "@" || index === "*" ? `${part.parameter}[@]` : part.parameter);
  if (!op) return index === undefined || index === "@" || index === "*" ? value : [holeField()];
  switch (op.type) {
    case "Default": {
      const operand = expandValue(shell, op.operand);
      const isSet = value.length > 0 && value.every(isKnown) && value.some((f) => f.text !== "");
      if (op.operator.endsWith("+")) return isSet ? [operand] : [{ ...operand, guessed: true, splits: true }];
      if (isSet || op.operator.endsWith("?")) return value;
      if (op.operator.endsWith("=")) shell.scope.vars.set(part.parameter, [{ ...operand, guessed: true }]);
      return [{ ...operand, guessed: true, splits: true }];
    }
    case "Transform":
      if (/P|E/.test(op.operand.text))
        addFinding(shell.evaluation, part.text, askFirm("the expansion runs what the variable holds", "runs_code"));
      for (const f of value) judgeHidden(shell, f);
      return [holeField()];
    case "Replace":
      return [replace(value, expandValue(shell, op.pattern), expandValue(shell, op.replacement), op.operator)];
    case "Remove":
      return value.map((f) => {
        const pattern = expandValue(shell, op.operand);
        if (!/^[\w.,:;=@%#/*? +-]*$/.test(op.operand.text)) return anything();
        return spend(shell.evaluation, "steps", Math.ceil(f.text.length / 2))
          ? trim(f, pattern, op.operator)
          : holeField();
      });
    case "CaseModification":
      if (op.operand) expandValue(shell, op.operand);
      return [isHole(only(value) ?? EMPTY, "plain") ? holeField("plain") : anything()];
    case "Slice":
      for (const w of [op.offset, op.length]) if (w) inspectExpression(shell, expandValue(shell, w));
      if (/^[@*]$/.test(index ?? part.parameter)) return [anything()];
      return [slice(value, op.offset.value, op.length?.value)];
    default:
      return [anything()];
  }
}

/** Cuts a beginning or an end off, by the shell's patterns. */
function trim(value: Field, pattern: Field, operator: string): Field {
  if (isHole(value, "plain") || isHole(value, "names")) return value;
  if (!isKnown(value) || !isKnown(pattern) || value.text.length > 300) return anything();
  const { text } = value;
  const lengths = [...text].map((_, i) => i + 1).filter((n) => n <= text.length);
  const fits = (n: number) =>
    matchesComponent(pattern.text, operator.startsWith("#") ? text.slice(0, n) : text.slice(-n));
  const taken = operator.length === 2 ? lengths.findLast(fits) : lengths.find(fits);
  if (taken === undefined) return value;
  return { ...value, ...(operator.startsWith("#") ? cut(value, taken) : cut(value, 0, text.length - taken)) };
}

function slice(value: Field[], offset: string, length: string | undefined): Field {
  const [only] = value;
  if (value.length !== 1 || !only || !isKnown(only) || !/^ ?-?\d{1,5}$/.test(offset)) return holeField();
  if (length !== undefined && !/^\d{1,5}$/.test(length)) return holeField();
  const from = Number(offset) < 0 ? Math.max(0, only.text.length + Number(offset)) : Number(offset);
  return fieldOf(cut(only, from, length === undefined ? undefined : from + Number(length)));
}

function replace(value: Field[], pattern: Field, by: Field, operator: string): Field {
  const [only] = value;
  const plain =
    value.length === 1 && only && [only, pattern, by].every(isKnown) && !/[*?[\\&(]/.test(pattern.text + by.text);
  if (!plain || pattern.text === "" || operator.length > 2 || operator === "/#" || operator === "/%") return anything();
  const text =
    operator === "//" ? only.text.split(pattern.text).join(by.text) : only.text.replace(pattern.text, () => by.text);
  return text.length > LIMITS.chars ? holeField() : field(text);
}

export const substitute = (shell: Shell, script: ParsedScript | undefined, text: string): ShellWord =>
  outputAsWord(printedBy(shell, script, text));

/** Judges the commands of a substitution; gives what they print. */
export function printedBy(shell: Shell, script: ParsedScript | undefined, text: string): CommandOutput {
  if (!script) {
    addFinding(shell.evaluation, text, askFirm("the substitution cannot be read", "unreadable"));
    return UNKNOWN_OUTPUT;
  }
  const inner: Shell = { ...shell, scope: copyScope(shell.scope), depth: shell.depth + 1 };
  return shell.runScript(inner, script, script.source ?? shell.source);
}
