// Sed: which of its little programs only print.
import { ask, askExact, deny } from "../finding.ts";
import { field, fill, has, isKnown } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { readFlags } from "./flags.ts";
import { passOn } from "./text.ts";

const FLAGS =
  "-nErsuz -e: -f~ -l: -i? --quiet --silent --regexp-extended --separate --unbuffered --null-data --expression: --file~ --line-length: --in-place? --posix --debug --sandbox --follow-symlinks --version --help";

export const SED: Commands = { sed, gsed: sed };

function sed(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, { flags: FLAGS });
  const given = parsed.flags.filter((flag) => flag.name === "-e" || flag.name === "--expression");
  const isInline = given.length > 0 || parsed.has("-f", "--file");
  const programs = isInline ? given.map((flag) => flag.value ?? field("")) : parsed.operands.slice(0, 1);
  const files = parsed.operands.slice(isInline ? 0 : 1);
  if (parsed.has("-f", "--file")) call.say(askExact("the program of sed comes from a file"));
  for (const program of programs) {
    if (isKnown(program)) judgeProgram(call, program.text);
    else if (has(program, "unknown", "names", "allNames") || !/^[\d,$p]+$/.test(fill(program, "0")))
      call.say(ask("the program of sed is only known at run time", "runtime"));
  }
  const isInPlace = parsed.has("-i", "--in-place");
  for (const file of files) (isInPlace ? call.write : call.read)(file);
  const isFilter = !isInPlace && programs.every((f) => /^[\d,$;pd ]+$/.test(f.text));
  return isFilter ? passOn(call, parsed, isInline ? 0 : 1) : undefined;
}

/** A place in the program: what stands before it has been read. */
interface Reading {
  readonly program: string;
  at: number;
}

/** What the sticky pattern finds at the place; it is passed. */
function skip(reading: Reading, pattern: RegExp): string {
  pattern.lastIndex = reading.at;
  const [found = ""] = pattern.exec(reading.program) ?? [];
  reading.at += found.length;
  return found;
}

const restOfLine = (reading: Reading): string => skip(reading, /[^\n]*/y).trim();

/** Whether the line ends with a backslash that is not itself escaped: the next one belongs to it. */
const goesOn = (reading: Reading): boolean => /(?:^|[^\\])(?:\\\\)*\\$/.test(skip(reading, /[^\n]*/y));

/** Reads the program command by command; what it cannot read is asked. */
function judgeProgram(call: CommandCall, program: string): undefined {
  const reading: Reading = { program, at: 0 };
  while (reading.at < program.length) {
    skip(reading, /[\s;}]*/y);
    if (reading.at >= program.length) return;
    if (!skipAddress(reading) || (skip(reading, /\s*,\s*/y) !== "" && !skipAddress(reading))) return unreadable(call);
    skip(reading, /[\s!]*/y);
    const command = program[reading.at++];
    switch (command) {
      case undefined:
      case "{":
        break;
      case "#":
        restOfLine(reading);
        break;
      case "a":
      case "i":
      case "c":
        while (goesOn(reading) && reading.at < program.length) reading.at++;
        break;
      case "b":
      case "t":
      case "T":
      case ":":
        skip(reading, /[^;\n}]*/y);
        break;
      case "r":
      case "R":
        call.read(field(restOfLine(reading)));
        break;
      case "w":
      case "W":
        writesFile(call, restOfLine(reading));
        break;
      case "e":
        return call.say(deny("the program of sed runs a command", "runs_code"));
      case "y":
      case "s":
        if (!substitution(call, reading, command)) return unreadable(call);
        break;
      default:
        if (!"dDgGhHnNpPxz=lqQF".includes(command)) return unreadable(call);
        skip(reading, /\s*\d*/y);
    }
  }
}

function writesFile(call: CommandCall, path: string): undefined {
  call.write(field(path));
  call.say(askExact("the program of sed writes a file", "changes"));
}

/** False where one begins that does not end. */
function skipAddress(reading: Reading): boolean {
  if (skip(reading, /(?:\d+(?:~\d+)?|\$|[+~]\d+)/y) !== "") return true;
  const { program } = reading;
  const open = program[reading.at];
  if (open !== "/" && open !== "\\") return true;
  if (open === "\\") reading.at++;
  const end = findDelimiter(program, program.charAt(reading.at), reading.at + 1);
  if (end < 0) return false;
  reading.at = end + 1;
  skip(reading, /[IM]*/y);
  return true;
}

/** `s/a/b/flags` or `y/a/b/`, behind its letter. False where it cannot be read. */
function substitution(call: CommandCall, reading: Reading, command: "s" | "y"): boolean {
  const { program } = reading;
  const delimiter = program[reading.at];
  if (delimiter === undefined || delimiter === "\n" || delimiter === "\\") return false;
  const middle = findDelimiter(program, delimiter, reading.at + 1, command === "s");
  const end = middle < 0 ? -1 : findDelimiter(program, delimiter, middle + 1, false);
  if (end < 0) return false;
  reading.at = end + 1;
  if (command === "y") return true;
  const flags = skip(reading, /[a-zA-Z0-9]*/y);
  const writes = flags.indexOf("w");
  const plain = writes < 0 ? flags : flags.slice(0, writes);
  if (plain.includes("e")) call.say(deny("the program of sed runs what it replaced", "runs_code"));
  if (/[^gpiImMe\d]/.test(plain)) return false;
  if (writes < 0) return true;
  writesFile(call, (flags.slice(writes + 1) + restOfLine(reading)).trim());
  return true;
}

/** Delimiters inside brackets do not count in a pattern. */
function findDelimiter(program: string, delimiter: string, from: number, hasBrackets = true): number {
  for (let i = from; i < program.length; i++) {
    const c = program[i];
    if (c === "\\") i++;
    else if (c === delimiter) return i;
    else if (c === "[" && hasBrackets) {
      const end = endOfSet(program, i);
      // A delimiter inside a set does not count; where it did, the set would be open and sed would stop.
      if (end < 0) return -1;
      i = end;
    }
  }
  return -1;
}

/** `[]a]`, `[^]a]` and `[[:alpha:]]` hold brackets themselves. */
function endOfSet(program: string, from: number): number {
  const set = /\[\^?\]?(?:\[([:.=])[^\]\n]*\1\]|\[(?![:.=])|[^\][\n])*\]/y;
  set.lastIndex = from;
  const m = set.exec(program);
  return m ? from + m[0].length - 1 : -1;
}

const unreadable = (call: CommandCall): undefined =>
  call.say(ask("the program of sed is not known to only print", "runtime"));
