// What somebody sees first: where this is, and, in a project without a past, what can be tried.
import { homedir } from "node:os";
import { printable } from "../../front/presentation/printable.ts";
import type { Style } from "../../front/presentation/style.ts";
import { VERSION } from "../../version.ts";
import type { OpenState } from "../open.ts";

const shownFolder = (root: string): string => {
  const home = homedir();
  return root === home || root.startsWith(`${home}/`) ? `~${root.slice(home.length)}` : root;
};

export const headingLine = ({ project }: OpenState, style: Style): string =>
  `${style.bold("holdfast")} ${VERSION} · ${printable(shownFolder(project.root))} · ${style.dim("/help")}`;

const TO_TRY = [
  "Create a todo list for inspecting this repo, then use a subtask to find its test framework",
  "Run `sleep 20; date` in the background and continue reading README.md",
  "remind me of the meeting in 3 minutes",
  "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.",
  "I prefer tabs. Remember that.",
];

/** Contract: said once, before the first prompt of a project. */
export const thingsToTry = (style: Style): string[] => [
  "",
  style.dim("Things to try (kill this at any moment: holdfast -c goes on):"),
  ...TO_TRY.map((one, i) => `  ${style.dim(`${i + 1}.`)} ${one}`),
  style.dim("  What works on this machine, and what does not: /doctor"),
];
