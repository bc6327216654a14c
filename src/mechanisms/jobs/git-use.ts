// How much of a repository a command may change.
import type { JobSpec } from "./port.ts";

/**
 * `none`: nothing. `work`: what most commands of git change. `sequence`: besides, what git keeps of work that stops in the middle and
 * is gone on with later. That is a list of commands for somebody's next `git rebase --continue`: nothing else may write it.
 */
export type GitUse = "none" | "work" | "sequence";

/** Commands of git that stop in the middle; a pull may be a rebase. */
const SEQUENCES = new Set(["rebase", "am", "cherry-pick", "revert", "bisect", "pull"]);
/** Of git's own flags those with a value of their own. */
const WITH_VALUE = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"]);
const WORD = /\s*(?:([;&|(){}\n]+)|((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s;&|(){}"'\\])+))/y;

/** Whether it is git that the command runs is the gate's word, never its text. */
export function gitUse({ command, grants }: JobSpec): GitUse {
  if (grants?.git !== true) return "none";
  return subcommands(command).some((name) => SEQUENCES.has(name)) ? "sequence" : "work";
}

/** Of every `git` that stands where a command begins. */
function subcommands(command: string): string[] {
  const found: string[] = [];
  let state: "begins" | "git" | "value" | "other" = "begins";
  for (let at = 0; at < command.length; at = WORD.lastIndex) {
    WORD.lastIndex = at;
    const [, operator, word = ""] = WORD.exec(command) ?? [];
    if (WORD.lastIndex === 0) break; // an open quote
    if (operator !== undefined) state = "begins";
    else if (state === "begins" && !/^\w+=/.test(word)) state = word === "git" ? "git" : "other";
    else if (state === "value") state = "git";
    else if (state === "git" && word.startsWith("-")) state = WITH_VALUE.has(word) ? "value" : "git";
    else if (state === "git") {
      found.push(word);
      state = "other";
    }
  }
  return found;
}
