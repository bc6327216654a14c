// Awk: which of its programs only print.
import { ask, askExact, askFirm, deny } from "../finding.ts";
import { field, isKnown } from "../shell/field.ts";
import type { CommandOutput } from "../shell/shell.ts";
import type { CommandCall, Commands } from "./call.ts";
import { readFlags } from "./flags.ts";

const FLAGS =
  "-F: -v: -f~ -i! -l! -E! -e: -o! -d! -p! -D! -nNOstbcCgkrRSPVh --field-separator: --assign: --file~ --include! --load! --exec! --source: --pretty-print! --dump-variables! --profile! --debug! --posix --traditional --re-interval --sandbox --version --help --csv";

export const AWK: Commands = { awk, gawk: awk, mawk: awk, nawk: awk };

function awk(call: CommandCall): CommandOutput | undefined {
  const parsed = readFlags(call, { flags: FLAGS, stopsAtOperand: true });
  const sources = parsed.flags.filter((f) => f.name === "-e" || f.name === "--source").map((f) => f.value);
  const isInline = sources.length > 0 || parsed.has("-f", "--file");
  const programs = isInline ? sources : parsed.operands.slice(0, 1);
  if (parsed.has("-f", "--file")) call.say(askExact("the program of awk comes from a file"));
  for (const program of programs) {
    if (program && isKnown(program)) judgeProgram(call, program.text);
    else call.say(ask("the program of awk is only known at run time", "runtime"));
  }
  for (const operand of parsed.operands.slice(isInline ? 0 : 1)) {
    if (!/^[A-Za-z_]\w*=/.test(operand.text) && operand.text !== "-") call.read(operand);
  }
  return undefined;
}

function judgeProgram(call: CommandCall, program: string): undefined {
  const bare = withoutTexts(program);
  if (bare === undefined) {
    const runs = /\bsystem\s*\(/.test(program);
    return call.say(
      runs
        ? deny("the program of awk runs commands", "runs_code")
        : ask("the program of awk cannot be read", "unreadable"),
    );
  }
  if (/\bsystem\s*\(/.test(bare)) return call.say(deny("the program of awk runs commands", "runs_code"));
  if (/(?:^|[^|])\|(?!\|)|\|&/.test(bare)) return call.say(deny("the program of awk pipes to or from a command"));
  if (/@\s*(?:load|include|namespace|[A-Za-z_]\w*\s*\()/.test(bare))
    return call.say(deny("the program of awk loads code", "runs_code"));
  if (/\bgetline\b/.test(bare)) {
    call.say(ask("the program of awk reads other files"));
    for (const [, path = ""] of program.matchAll(/getline[^<;}\n]{0,80}<\s*"([^"\\]*)"/g)) call.read(field(path));
  }
  if (/\bENVIRON\b|\bPROCINFO\b/.test(bare)) call.say(askFirm("the program of awk reads the environment", "secret"));
  if (/\b(?:ARGV|SYMTAB|FUNCTAB)\b/.test(bare)) call.say(ask("the program of awk changes what it reads"));
  if (printsToFile(bare))
    call.say({ ...deny("the program of awk writes files", "changes"), firm: false, lift: "exact" });
}

/** In `print a > b` the sign writes a file; inside parentheses and elsewhere it compares. */
function printsToFile(bare: string): boolean {
  let isPrinting = false;
  let depth = 0;
  // After these a statement goes on in the next line.
  const joined = bare.replace(/(,|&&|\|\|)[ \t]*\n\s*/g, "$1 ");
  for (const [token] of joined.matchAll(/[A-Za-z_]\w*|[()[\]{};>\n]/g)) {
    if (token === "print" || token === "printf") {
      isPrinting = true;
      depth = 0;
    } else if (token === "(" || token === "[") depth++;
    else if (token === ")" || token === "]") depth--;
    else if (token === ">" && isPrinting && depth <= 0) return true;
    else if (depth <= 0 && (token === ";" || token === "}" || token === "\n")) isPrinting = false;
  }
  return false;
}

/** `print > "/dev/stderr"` writes no file. */
const STREAM = /^"\/dev\/(?:stderr|stdout|null)"$/;

/** After an operand a slash divides; after anything else it begins a regular expression. */
const BEFORE_REGEX =
  /(?:^|[^\w$)\]"./\s+-]|\n|(?:^|[^+])\+|(?:^|[^-])-|\b(?:return|print|printf|else|do|in|case|exit|getline))[ \t]*$/;

/** `(a) / b` divides, `if (a) /b/` matches; so with `a++ / b`: it matters where a quote stands between the slashes. */
const EITHER = /(?:[)/]|\+\+|--)[ \t]*$/;

/** The program with strings and regular expressions emptied; undefined where it could be read in two ways. Comments stay: they hide nothing. */
function withoutTexts(source: string): string | undefined {
  const program = source.replace(/\\\r?\n/g, " ");
  let out = "";
  for (let at = 0; at < program.length; at++) {
    const c = program.charAt(at);
    const isRegex = c === "/" && BEFORE_REGEX.test(out.slice(-20));
    if (c === "/" && !isRegex && EITHER.test(out.slice(-20))) {
      const either = program.slice(at, closing(program, "/", at + 1) + 1);
      if (either.includes('"')) return undefined;
      out += either || c;
      at += Math.max(0, either.length - 1);
      continue;
    }
    if (c !== '"' && !isRegex) {
      out += c;
      continue;
    }
    const end = closing(program, c, at + 1);
    if (end < 0) return undefined;
    if (STREAM.test(program.slice(at, end + 1)) && /^[ \t]*(?:[;}\n]|$)/.test(program.slice(end + 1)))
      out = out.replace(/>{1,2}[ \t]*$/, "");
    out += c + c;
    at = end;
  }
  return out;
}

function closing(program: string, quote: string, from: number): number {
  for (let at = from; at < program.length; at++) {
    if (program[at] === "\\") at++;
    else if (program[at] === quote) return at;
    else if (program[at] === "\n") return -1;
  }
  return -1;
}
