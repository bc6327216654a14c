// The words between the parts that judge a shell command: the running shell, and what a command prints.
import type { ParsedScript } from "unbash";
import type { Evaluation } from "../evaluation.ts";
import { type CommandLine, hole, type Word, word } from "./field.ts";
import type { ShellScope } from "./scope.ts";

/** What is known of what a command prints, or of what it is given on its input. */
export type CommandOutput =
  | { kind: "text"; text: string }
  | { kind: "names" } // of files of the project
  | { kind: "allNames" } // the same, hidden ones too
  | { kind: "plain" } // a number, a date: no slash, no flag
  | { kind: "network" }
  | { kind: "endless" } // it never stops: `yes`, /dev/zero
  | { kind: "decoded" } // from base64 and the like
  | { kind: "unknown" };

export const UNKNOWN_OUTPUT: CommandOutput = { kind: "unknown" };

export interface Shell {
  evaluation: Evaluation;
  scope: ShellScope;
  /** What positions of nodes refer to. */
  source: string;
  depth: number;
  stdin: CommandOutput;
  /** Inside a loop that ends by nothing it says, or after very many rounds. */
  isEndless?: boolean;
  /** Judges a script in this shell's scope. */
  runScript(shell: Shell, script: ParsedScript, source: string): CommandOutput;
  /** Judges a command whose words are known. */
  runFields(shell: Shell, fields: CommandLine): CommandOutput;
}

export function outputAsWord(output: CommandOutput): Word {
  switch (output.kind) {
    case "text":
      return word(output.text.replace(/\n+$/, ""));
    case "names":
      return hole("names");
    case "allNames":
      return hole("allNames");
    case "plain":
      return hole("plain");
    default:
      return hole();
  }
}
