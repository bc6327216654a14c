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

/** Reads the program command by command; what it cannot read is asked. */
function judgeProgram(call: CommandCall, program: string): undefined {
  let at = 0;
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const m = pattern.exec(program);
    if (!m) return "";
    at += m[0].length;
    return m[0];
  };
  const line = () => skip(/[^\n]*/y).trim();
  /** Whether the line ends with a backslash that is not itself escaped: the next one belongs to it. */
  const goesOn = () => /(?:^|[^\\])(?:\\\\)*\\$/.test(skip(/[^\n]*/y));
  while (at < program.length) {
    skip(/[\s;}]*/y);
    if (at >= program.length) return;
    if (!skipAddress() || (skip(/\s*,\s*/y) !== "" && !skipAddress())) return unreadable(call);
    skip(/[\s!]*/y);
    const command = program[at++];
    switch (command) {
      case undefined:
      case "{":
        break;
      case "#":
        line();
        break;
      case "a":
      case "i":
      case "c":
        while (goesOn() && at < program.length) at++;
        break;
      case "b":
      case "t":
      case "T":
      case ":":
        skip(/[^;\n}]*/y);
        break;
      case "r":
      case "R":
        call.read(field(line()));
        break;
      case "w":
      case "W":
        call.write(field(line()));
        call.say(askExact("the program of sed writes a file", "changes"));
        break;
      case "e":
        return call.say(deny("the program of sed runs a command", "runs_code"));
      case "y":
      case "s":
        if (!substitution(command)) return unreadable(call);
        break;
      default:
        if (!"dDgGhHnNpPxz=lqQF".includes(command)) return unreadable(call);
        skip(/\s*\d*/y);
    }
  }

  function skipAddress(): boolean {
    if (skip(/(?:\d+(?:~\d+)?|\$|[+~]\d+)/y) !== "") return true;
    const open = program[at];
    if (open !== "/" && open !== "\\") return true;
    if (open === "\\") at++;
    const end = skipTo(program[at]!, at + 1);
    if (end < 0) return false;
    at = end + 1;
    skip(/[IM]*/y);
    return true;
  }

  function substitution(command: string): boolean {
    const delimiter = program[at];
    if (delimiter === undefined || delimiter === "\n" || delimiter === "\\") return false;
    const middle = skipTo(delimiter, at + 1, command === "s");
    const end = middle < 0 ? -1 : skipTo(delimiter, middle + 1, false);
    if (end < 0) return false;
    at = end + 1;
    if (command === "y") return true;
    const flags = skip(/[a-zA-Z0-9]*/y);
    const writes = flags.indexOf("w");
    if (flags.slice(0, writes < 0 ? undefined : writes).includes("e"))
      call.say(deny("the program of sed runs what it replaced", "runs_code"));
    if (/[^gpiImMe\d]/.test(writes < 0 ? flags : flags.slice(0, writes))) return false;
    if (writes < 0) return true;
    call.write(field((flags.slice(writes + 1) + line()).trim()));
    call.say(askExact("the program of sed writes a file", "changes"));
    return true;
  }

  /** Delimiters inside brackets do not count in a pattern. */
  function skipTo(delimiter: string, from: number, hasBrackets = true): number {
    for (let i = from; i < program.length; i++) {
      const c = program[i];
      if (c === "\\") i++;
      else if (c === delimiter) return i;
      else if (c === "[" && hasBrackets) {
        const end = endOfSet(i);
        // A delimiter inside a set does not count; where it did, the set would be open and sed would stop.
        if (end < 0) return -1;
        i = end;
      }
    }
    return -1;
  }

  /** `[]a]`, `[^]a]` and `[[:alpha:]]` hold brackets themselves. */
  function endOfSet(from: number): number {
    const set = /\[\^?\]?(?:\[([:.=])[^\]\n]*\1\]|\[(?![:.=])|[^\][\n])*\]/y;
    set.lastIndex = from;
    const m = set.exec(program);
    return m ? from + m[0].length - 1 : -1;
  }
}

const unreadable = (call: CommandCall): undefined =>
  call.say(ask("the program of sed is not known to only print", "runtime"));
