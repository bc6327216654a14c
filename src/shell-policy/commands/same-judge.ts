// The short form for many commands that are judged alike.
import type { Commands, Judge } from "./call.ts";

/** `names` are separated by spaces. */
export function lookupNames(names: string, judge: Judge): Commands {
  return Object.fromEntries(names.split(" ").map((name) => [name, judge]));
}
