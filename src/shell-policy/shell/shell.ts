// Owns the words between the parts that judge a shell command: the running shell, and what a command prints.
import type { ParsedScript } from "unbash";
import type { Court } from "../evaluation.ts";
import { type Field, hole, type Word, word } from "./field.ts";
import type { Scope } from "./scope.ts";

/** What is known of what a command prints, or of what it is given on its input. */
export type Output =
  | { kind: "text"; text: string }
  | { kind: "names" } // of files of the project
  | { kind: "allNames" } // the same, hidden ones too
  | { kind: "plain" } // a number, a date: no slash, no flag
  | { kind: "network" }
  | { kind: "endless" } // it never stops: `yes`, /dev/zero
  | { kind: "decoded" } // from base64 and the like
  | { kind: "unknown" };

export const UNKNOWN_OUTPUT: Output = { kind: "unknown" };

export interface Shell {
  court: Court;
  scope: Scope;
  /** What positions of nodes refer to. */
  source: string;
  depth: number;
  stdin: Output;
  /** Inside a loop that ends by nothing it says, or after very many rounds. */
  isEndless?: boolean;
  /** Judges a script in this shell's scope. */
  runScript(shell: Shell, script: ParsedScript, source: string): Output;
  /** Judges a command whose words are known. */
  runFields(shell: Shell, fields: Field[]): Output;
}

export function outputAsWord(output: Output): Word {
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
