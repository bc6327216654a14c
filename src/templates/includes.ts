// Which files a template may name: beside it or below it, never above, never itself again.
import { posix } from "node:path";
import { problem, quotedSource, type Source } from "./source.ts";

/** Gives the text of a file below the template's directory, undefined when there is none. `from` is the file that asks. */
export type Include = (path: string, from: string) => string | undefined;

/** The path as written, normalised: relative, no `..`, no empty segments. */
export function includePath(source: Source, at: number, written: string): string {
  const refuse = (what: string): Error =>
    problem(
      source,
      at,
      `${quotedSource(written)} ${what}`,
      "Name a file beside or below the template, such as parts/rules.md.",
      {
        code: "refused",
      },
    );
  if (/[\u0000-\u001f\u007f]/.test(written)) throw refuse("has control characters in it");
  if (written.includes("\\")) throw refuse("has a backslash in it");
  if (written.startsWith("/") || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(written)) throw refuse("is not a relative path");
  const segments = written.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw refuse("leads out of the template's directory");
  if (segments.length === 0) throw refuse("names no file");
  return segments.join("/");
}

/** The path below the directory of the first template, for a file named by the template at `from`. */
export const below = (from: string, path: string): string => posix.join(posix.dirname(from), path);
