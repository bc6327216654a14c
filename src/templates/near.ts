// Owns the guess which name was meant.
import { nearestName } from "../text/similarity.ts";
import { quotedSource } from "./source.ts";

/** ` (did you mean "topic"?)` or "". */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const near = nearestName(wanted, names);
  return near === undefined ? "" : ` (did you mean ${quotedSource(near)}?)`;
}
