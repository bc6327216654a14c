// Owns paths as commands name them: fields that may be partly unknown, globs, several possible current directories.
import { record } from "../court.ts";
import { allow, ask, askExact, askRead, compare, type Verdict } from "../finding.ts";
import { judgePath, type PathUse } from "../path-place.ts";
import { ALL_NAMES, type Field, isKnown, NAMES, PLAIN, show, UNKNOWN } from "./field.ts";
import type { Shell } from "./shell.ts";

export function readField(shell: Shell, f: Field, text = show(f), isNameOnly = false): undefined {
  record(shell.court, text, judgeField(shell, f, "read", isNameOnly));
}

export function writeField(shell: Shell, f: Field, text = show(f), isEntry = false): undefined {
  record(shell.court, text, judgeField(shell, f, "edit", false, isEntry));
}

export function judgeField(
  shell: Shell,
  f: Field,
  access: "read" | "edit",
  isNameOnly = false,
  isEntry = false,
): Verdict {
  const known = f.text.replaceAll(PLAIN, access === "read" ? "0" : "*");
  const use = { access, isNameOnly, isEntry };
  if (known.includes(UNKNOWN)) return unknownPlace(shell, f, known, access);
  if (known.includes(NAMES) || known.includes(ALL_NAMES)) {
    if (access === "edit") return askExact("which files it changes is only known at run time", "runtime");
    return judgeAll(shell, { ...use, path: known.replaceAll(NAMES, "name").replaceAll(ALL_NAMES, "name") });
  }
  if (access === "edit" && f.glob && /[*?[][^/]*\//.test(known)) {
    return [
      judgeAll(shell, { ...use, path: known }),
      ask("which directory it changes is only known at run time", "runtime"),
    ].sort(compare)[0]!;
  }
  const verdict = judgeAll(shell, { ...use, path: known });
  if (!f.guessed) return verdict;
  const guess =
    access === "read"
      ? askRead("the path is only known at run time", "runtime")
      : askExact("the path is only known at run time", "runtime");
  return [verdict, guess].sort(compare)[0]!;
}

/** What is known of the beginning may already decide. */
function unknownPlace(shell: Shell, f: Field, text: string, access: "read" | "edit"): Verdict {
  const runtime = "the path is only known at run time";
  const unsure = access === "read" ? askRead(runtime, "runtime") : askExact(runtime, "runtime");
  const prefix = text.slice(0, text.indexOf(UNKNOWN));
  const directory = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const rest = text.slice(text.indexOf(UNKNOWN)).replaceAll(UNKNOWN, "");
  const verdicts = [unsure];
  if (directory !== "" && !f.guessed) {
    const at = judgeAll(shell, { access, path: directory });
    if (at.firm) verdicts.push(at);
  }
  // `$x/.git/config`: the end is known, whatever the beginning.
  if (rest !== "" && !rest.startsWith("..")) {
    const end = judgeAll(shell, { access, path: `./${rest}` });
    if (end.firm) verdicts.push(end);
  }
  return verdicts.sort(compare)[0]!;
}

function judgeAll(shell: Shell, use: Omit<PathUse, "cwd" | "isCommand">): Verdict {
  const { court, scope } = shell;
  if (use.path.startsWith("/")) return judgePath(court, { ...use, cwd: "/", isCommand: true });
  if (!scope.cwds) {
    return use.access === "read"
      ? askRead("the current directory is not known", "runtime")
      : askExact("the current directory is not known", "runtime");
  }
  return scope.cwds.map((cwd) => judgePath(court, { ...use, cwd, isCommand: true })).sort(compare)[0] ?? allow();
}

/** Whether the field certainly leads outside, or to the project itself or above. */
export function endangersProject(shell: Shell, f: Field): boolean {
  if (!isKnown(f) && !f.guessed) return false;
  const { court, scope } = shell;
  const text = f.text.replace(/\/(?:\*|\.\*|\{.*\})?$/, "") || "/";
  return (scope.cwds ?? [court.world.cwd]).some((cwd) => {
    const way = judgePath(court, { access: "edit", path: text, cwd });
    return way.decision === "deny";
  });
}
