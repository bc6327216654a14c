// Flags: the short language in which tables say which flags a command knows, and reading a call by it.
import { allow, ask, askExact, deny, type PolicyVerdict } from "../finding.ts";
import { beginsWithHole, cut, type Field, has } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Judge } from "./call.ts";

/**
 * The flags of a command, separated by spaces. `-abc` are three without a value, `-n:` takes one, `--color?` may take one
 * after `=`, `-f:r` takes a path that is read, `-o:w` one that is written, `-C:d` a directory that is only looked at.
 * A flag with `!` is refused: it runs a program or writes where no one looks. One with `~` is asked about.
 */
type FlagText = string;

type Value = "none" | "text" | "optional" | "read" | "write" | "look" | "refused" | "asked";
const SUFFIX: Record<string, Value> = {
  "": "none",
  ":": "text",
  "?": "optional",
  ":r": "read",
  ":w": "write",
  ":d": "look",
  "!": "refused",
  "~": "asked",
};

const compiled = new Map<FlagText, Map<string, Value>>();

export function compileFlags(text: FlagText): Map<string, Value> {
  let flags = compiled.get(text);
  if (flags) return flags;
  flags = new Map();
  for (const token of text.split(/\s+/).filter(Boolean)) {
    const [, name, suffix = ""] = /^(--?[^:?!~]+|-\?)(:[rwd]?|\?|!|~)?$/.exec(token) ?? [];
    const value = SUFFIX[suffix];
    if (name === undefined || value === undefined) throw new Error(`the flag ${token} of the table cannot be read`);
    if (name.startsWith("--")) flags.set(name, value);
    else for (const letter of name.slice(1)) flags.set(`-${letter}`, value);
  }
  compiled.set(text, flags); // one entry for each table row: it does not grow
  return flags;
}

interface Given {
  name: string;
  value?: Field;
}
export interface Parsed {
  flags: Given[];
  operands: Field[];
  has(...names: string[]): boolean;
  value(...names: string[]): Field | undefined;
}

export interface FlagOptions {
  flags: FlagText;
  /** `-20` is a number of lines. */
  isNumeric?: boolean;
  /** Words after the first operand belong to another command. */
  stopsAtOperand?: boolean;
  /** Beyond these flags it changes something, and `ordinary.ts` says which of those a rule means. */
  mayChange?: boolean;
  /** `-name value` instead of `-n -a -m -e`. */
  hasLongSingles?: boolean;
}

/** Reads the flags, says what they do, and gives the rest. */
export function readFlags(call: CommandCall, opts: FlagOptions): Parsed {
  const known = compileFlags(opts.flags);
  const given: Given[] = [];
  const operands: Field[] = [];
  const { args } = call;
  if (isRisky(known) && args.some(mayBecomeFlags))
    call.say(askExact("a word that is only known at run time may be a flag", "runtime"));
  for (let i = 0; ; i++) {
    const arg = args[i];
    if (!arg) break;
    const { text } = arg;
    if (text === "--") {
      operands.push(...args.slice(i + 1));
      break;
    }
    if (!text.startsWith("-") || text === "-") {
      if (isRisky(known) && beginsWithHole(arg, "unknown"))
        call.say(askExact("a word that is only known at run time may be a flag", "runtime"));
      operands.push(arg);
      if (opts.stopsAtOperand) {
        operands.push(...args.slice(i + 1));
        break;
      }
      continue;
    }
    if (opts.isNumeric && /^-\d+$/.test(text)) continue;
    const taken =
      text.startsWith("--") || opts.hasLongSingles
        ? readLong(call, opts, arg, args[i + 1])
        : readShort(call, opts, arg, args[i + 1]);
    given.push(...taken.given);
    if (taken.usesNext) i++;
  }
  return {
    flags: given,
    operands,
    has: (...names) => given.some((flag) => names.includes(flag.name)),
    value: (...names) => given.findLast((flag) => names.includes(flag.name))?.value,
  };
}

const isRisky = (known: Map<string, Value>): boolean =>
  [...known.values()].some((v) => v === "refused" || v === "write");

/** Also as the value of another flag: it may be split into several words. */
export const mayBecomeFlags = (f: Field): boolean =>
  (f.splits && (f.guessed || has(f, "unknown"))) || (f.guessed && f.text.startsWith("-"));

interface Taken {
  given: Given[];
  usesNext: boolean;
}

function readLong(call: CommandCall, opts: FlagOptions, arg: Field, next: Field | undefined): Taken {
  const known = compileFlags(opts.flags);
  const equals = arg.text.indexOf("=");
  const written = equals < 0 ? arg.text : arg.text.slice(0, equals);
  const whole = known.has(written) ? undefined : unabbreviated(known, written);
  if (whole !== undefined) call.say(unknownFlag(call.name, written, opts));
  const name = whole ?? written;
  const kind = known.get(name);
  const inline = equals < 0 ? undefined : { ...arg, ...cut(arg, equals + 1) };
  if (kind === undefined && call.args.length === 1 && /^--(?:help|version)$/.test(arg.text))
    return { given: [{ name }], usesNext: false };
  if (kind === undefined || (kind === "none" && inline)) {
    call.say(unknownFlag(call.name, name, opts));
    call.rest.only?.push(arg, ...(next ? [next] : []));
    return { given: [{ name, value: inline }], usesNext: false };
  }
  if (kind === "refused" || kind === "asked") sayFlag(call, kind, name, [arg, next]);
  const takes = kind !== "none" && kind !== "optional" && kind !== "refused" && kind !== "asked";
  const value = inline ?? (takes ? next : undefined);
  useValue(call, kind, value);
  return { given: [{ name, value }], usesNext: takes && !inline && next !== undefined };
}

/** GNU tools take any unique beginning: it is asked, and means what the strictest of the whole names means. */
function unabbreviated(known: Map<string, Value>, name: string): string | undefined {
  if (!/^--\w/.test(name)) return undefined;
  const fitting = [...known].filter(([flag]) => flag.startsWith(name));
  return (["refused", "write", "asked", "read"] as const)
    .map((kind) => fitting.find(([, value]) => value === kind)?.[0])
    .concat(fitting[0]?.[0])
    .find((flag) => flag !== undefined);
}

function readShort(call: CommandCall, opts: FlagOptions, arg: Field, next: Field | undefined): Taken {
  const known = compileFlags(opts.flags);
  const given: Given[] = [];
  for (let at = 1; at < arg.text.length; at++) {
    const name = `-${arg.text[at]}`;
    const kind = known.get(name);
    if (kind === undefined) {
      call.say(unknownFlag(call.name, arg.text, opts));
      call.rest.only?.push(arg, ...(next ? [next] : []));
      return { given: [...given, { name }], usesNext: false };
    }
    if (kind === "refused" || kind === "asked") sayFlag(call, kind, name, [arg, next]);
    if (kind === "none" || kind === "asked") {
      given.push({ name });
      continue;
    }
    const rest = cut(arg, arg.text[at + 1] === "=" ? at + 2 : at + 1);
    const takesNext = rest.text === "" && kind !== "optional" && kind !== "refused";
    const value = rest.text !== "" ? { ...arg, ...rest } : takesNext ? next : undefined;
    useValue(call, kind, value);
    return { given: [...given, { name, value }], usesNext: takesNext && next !== undefined };
  }
  return { given, usesNext: false };
}

/** What such a flag is given is looked at as what nobody knows. */
function sayFlag(call: CommandCall, kind: "refused" | "asked", name: string, words: (Field | undefined)[]): undefined {
  call.say(kind === "refused" ? refusedFlag(call.name, name) : ask(`${call.name} ${name} needs a person`));
  call.rest.only?.push(...words.filter((f) => f !== undefined));
}

function useValue(call: CommandCall, kind: Value, value: Field | undefined): undefined {
  if (!value) return;
  if (kind === "read") call.read(value);
  else if (kind === "write") call.write(value);
  else if (kind === "look") call.look(value);
}

const unknownFlag = (command: string, name: string, { mayChange = false }: FlagOptions): PolicyVerdict =>
  (mayChange ? ask : askExact)(`${command} ${name} is not a flag known to only read`);
const refusedFlag = (command: string, name: string): PolicyVerdict =>
  deny(`${command} ${name} can run programs or write files`, "runs_code");

export interface TableRow extends FlagOptions {
  /** What the words that are not flags are. Default: files that are read. */
  operands?: "read" | "look" | "write" | "text" | "none";
  /** The first so many words are text: a pattern, a program. */
  texts?: number;
  /** Ask for the whole command, whatever the flags. */
  asks?: string;
  prints?: CommandOutput;
  finish?: (call: CommandCall, parsed: Parsed) => CommandOutput | undefined;
}

/** A command described by its table row alone. */
export function fromTable(row: TableRow): Judge {
  return (call) => {
    const parsed = readFlags(call, row);
    const operands = parsed.operands.slice(row.texts ?? 0);
    for (const operand of operands) useOperand(call, row.operands ?? "read", operand);
    if (row.asks) call.say(ask(row.asks));
    return row.finish?.(call, parsed) ?? (row.prints?.kind === "plain" && repeatsPaths(call) ? undefined : row.prints);
  };
}

/** What it prints may then hold a path or a protected name: `date +../x`, `expr .mcp.json`, `seq -f .git 1`. */
const repeatsPaths = (call: CommandCall): boolean =>
  call.args.some((f) => f.holes.length > 0 || /\/|\.\.|(?:^\+?|\s|%[nt])\.|\.(?:md|ya?ml|conf)\b/i.test(f.text));

function useOperand(call: CommandCall, how: NonNullable<TableRow["operands"]>, operand: Field): undefined {
  if (how === "none" || how === "text") call.rest.only?.push(operand);
  if (how === "none") call.say(ask(`${call.name} ${operand.text} is not known to only read`));
  else if (how === "text") call.say(allow());
  else if (operand.text !== "-" || how === "write") call[how](operand);
}
