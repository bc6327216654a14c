// The names that no file tool writes by itself: git's own files, settings of agents. Pure.
import { own } from "../ledger/own.ts";

const REASONS: Record<string, string> = {
  ".git": "git runs what is in there",
  ".claude": "it holds settings of an agent",
  ".holdfast": "it holds settings of an agent",
};

/** Names that a file system may show for `.git`: short names of Windows. */
const ALIASES: Record<string, string> = { "git~1": ".git", "claude~1": ".claude", "holdfa~1": ".holdfast" };

/** Why the path is protected, or undefined. Contract: real components, relative to what was opened for the call. */
export function isProtected(relativeComponents: string[]): string | undefined {
  for (const component of relativeComponents) {
    const name = folded(component);
    const reason = own(REASONS, own(ALIASES, name) ?? name);
    if (reason) return reason;
  }
  return undefined;
}

/** As the most forgiving file system compares: case, compatible and invisible characters, trailing dots and spaces, streams. */
function folded(component: string): string {
  if (/^[a-z0-9._-]*[a-z0-9_-]$/.test(component)) return component;
  return component
    .normalize("NFKC")
    .replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .replace(/(?<=.):.*$/s, "")
    .replace(/[. ]+$/, "")
    .toLowerCase();
}
