// Paths as commands name them: fields that may be partly unknown, globs, several possible current directories.
import { resolve } from "node:path";
import { addFinding } from "../evaluation.ts";
import { allow, ask, askExact, askRead, type PolicyVerdict, strictest } from "../finding.ts";
import { judgePath, type PathUse } from "../path-verdict.ts";
import { cut, type Field, fill, has, isKnown, showField, type Word } from "./field.ts";
import type { Shell } from "./shell.ts";

export function readField(shell: Shell, f: Field, text = showField(f), isNameOnly = false): undefined {
  addFinding(shell.evaluation, text, judgeField(shell, f, "read", isNameOnly));
}

export function writeField(shell: Shell, f: Field, text = showField(f), isEntry = false): undefined {
  addFinding(shell.evaluation, text, judgeField(shell, f, "edit", false, isEntry));
}

export function judgeField(
  shell: Shell,
  f: Field,
  access: "read" | "edit",
  isNameOnly = false,
  isEntry = false,
): PolicyVerdict {
  const use = { access, isNameOnly, isEntry };
  const unknown = f.holes.find((one) => one.kind === "unknown");
  if (unknown) return unknownPlace(shell, f, unknown.at, access);
  const known = likely(f, access);
  if (has(f, "names", "allNames")) {
    if (access === "edit") return askExact("which files it changes is only known at run time", "runtime");
    return judgeAll(shell, { ...use, path: known });
  }
  if (access === "edit" && f.glob && /[*?[][^/]*\//.test(known)) {
    return strictest(
      judgeAll(shell, { ...use, path: known }),
      ask("which directory it changes is only known at run time", "runtime"),
    );
  }
  const verdict = judgeAll(shell, { ...use, path: known });
  if (!f.guessed) return verdict;
  const guess =
    access === "read"
      ? askRead("the path is only known at run time", "runtime")
      : askExact("the path is only known at run time", "runtime");
  return strictest(verdict, guess);
}

/** The path with something in place of what is not known: a name of the project, a number. */
const likely = (f: Word, access: "read" | "edit", unknown = ""): string =>
  fill(f, { unknown, names: "name", allNames: "name", plain: access === "read" ? "0" : "*" });

/** What is known of the beginning may already decide; `at` is the first place that is not. */
function unknownPlace(shell: Shell, f: Field, at: number, access: "read" | "edit"): PolicyVerdict {
  const runtime = "the path is only known at run time";
  const unsure = access === "read" ? askRead(runtime, "runtime") : askExact(runtime, "runtime");
  const prefix = likely(cut(f, 0, at), access);
  const directory = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const rest = likely(cut(f, at), access);
  const firm: PolicyVerdict[] = [];
  if (directory !== "" && !f.guessed) {
    const start = judgeAll(shell, { access, path: directory });
    if (start.firm) firm.push(start);
  }
  // `$x/.git/config`: the end is known, whatever the beginning.
  if (rest !== "" && !rest.startsWith("..")) {
    const end = judgeAll(shell, { access, path: `./${rest}` });
    if (end.firm) firm.push(end);
  }
  return strictest(unsure, ...firm);
}

function judgeAll(shell: Shell, use: Omit<PathUse, "cwd" | "isCommand">): PolicyVerdict {
  const { evaluation, scope } = shell;
  if (use.path.startsWith("/")) return judgePath(evaluation, { ...use, cwd: "/", isCommand: true });
  if (!scope.cwds) {
    return use.access === "read"
      ? askRead("the current directory is not known", "runtime")
      : askExact("the current directory is not known", "runtime");
  }
  const [first, ...more] = scope.cwds.map((cwd) => judgePath(evaluation, { ...use, cwd, isCommand: true }));
  return first ? strictest(first, ...more) : allow();
}

/** Whether something lies where the known part of the field leads. */
export function isThere({ evaluation, scope }: Shell, f: Field): boolean {
  if (has(f, "names", "allNames", "plain")) return false;
  return (scope.cwds ?? []).some((cwd) => evaluation.world.kind(resolve(cwd, fill(f, ""))) !== "missing");
}

/** Whether the field certainly leads outside, or to the project itself or above. */
export function endangersProject(shell: Shell, f: Field): boolean {
  if (!isKnown(f) && !f.guessed) return false;
  if (f.holes.length > 0) return true; // one of several, and not known: the worst is assumed
  const { evaluation, scope } = shell;
  const text = f.text.replace(/\/(?:\*|\.\*|\{.*\})?$/, "") || "/";
  return (scope.cwds ?? [evaluation.world.cwd]).some((cwd) => {
    const way = judgePath(evaluation, { access: "edit", path: text, cwd });
    return way.decision === "deny";
  });
}
