// The wording of every answer in English; japanese-words.ts says the same in Japanese.
import type { Files, Intent } from "./request.ts";
import { teamPartsOf } from "./team-parts.ts";
import { englishTeam } from "./words-team.ts";

const s = (n: number): string => (n === 1 ? "" : "s");

export const english = {
  ...englishTeam,
  filesName: (f: Files) => `${f.label === "" ? "" : `${f.label} `}files${f.path ? ` in ${f.path}` : ""}`,

  introduction: "I am the offline rehearsal model, not an AI. I understand:",
  abilities: [
    "Create a todo list for inspecting this repo, then list Python files",
    "List TypeScript files in src (or Markdown, *.go, all files, …)",
    "Run npm install in the background and continue reading README.md",
    "Run `npm test`",
    "Read package.json",
    'Search for "agent loop" in src',
    "Use a subtask to find the test framework of this project",
    "Remind me of the meeting in 3 minutes",
    "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks. (with --stay)",
    "Approve alice · Reject bob: add tests · Shut down alice · Tell bob: hello",
    "Create a file notes.txt containing `hello`",
    "Replace `foo` with `bar` in notes.txt",
  ],
  advice:
    "Join them with “and” or “then”; put commands and texts in quotes or backticks. For anything else, configure a real model.",
  notUnderstood: (part: string) => `I did not understand this part, and did nothing from there on: “${part}”`,
  passedOver: (text: string) => `I took up only the last request. Not done: “${text}”`,
  nothingLeft: "Nothing is left to do of that request.",
  noTool: (name: string) => `The tool ${name} is not available here.`,
  stopped: (what: string) => `Stopped there. Not done: ${what}`,

  describe(intent: Intent): string {
    switch (intent.kind) {
      case "todo":
        return "Write the todo list";
      case "list":
        return `Find the ${english.filesName(intent.files)} (${intent.files.pattern})`;
      case "read":
        return `Read ${intent.path}`;
      case "run":
        return `Run ${intent.command}${intent.background ? " in the background" : ""}`;
      case "search":
        return `Search for ${intent.text}${intent.path ? ` in ${intent.path}` : ""}`;
      case "framework":
        return "Find the test framework";
      case "subtask":
        return `Subtask: ${intent.prompt}`;
      case "write":
        return `Write ${intent.path}`;
      case "edit":
        return `Edit ${intent.path}`;
      case "team":
        return english.teamStep(teamPartsOf(english, intent));
      case "review":
        return english.reviewStep(intent.names.join(", ").replace("*", english.everyone), intent.approve);
      case "shutdown":
        return english.shutdownStep(intent.names.join(", ") || english.everyone);
      case "message":
        return english.messageStep(intent.to);
      case "remind":
        return english.remindStep(intent.what, intent.when);
      case "report":
        return "Report what was found";
    }
  },
  /** What a single step is followed by in a todo list. */
  followUp: (intent: Intent): string =>
    intent.kind === "list"
      ? "Count them by folder"
      : intent.kind === "read"
        ? "Note its title and headings"
        : "Check the result",
  inspection: [
    "List the files of the repository",
    "Read the README",
    "Find the test framework",
    "Report what was found",
  ],
  generic: (subject: string) => [`Find out what is needed: ${subject || "the task"}`, "Do it", "Check the result"],
  genericAdvice:
    "(The items are general ones: I am not an AI. Name your own after a colon: “Create a todo list: one, two, three”.)",

  sayTodo: "A todo list first.",
  todoList: (done: number, of: number) => `Todo list (${done} of ${of} done):`,
  todoFailed: (why: string) => `The todo list could not be written: ${why}`,

  sayList: (f: Files) => `Looking for ${english.filesName(f)}.`,
  noFiles: (f: Files) => `There are no ${english.filesName(f)} (${f.pattern}).`,
  files: (f: Files, n: number) =>
    `${n} ${f.label === "" ? "" : `${f.label} `}file${s(n)}${f.path ? ` in ${f.path}` : ""}:`,
  more: (n: number) => `… and ${n} more`,
  byFolder: (counts: string) => `By folder: ${counts}`,
  listFailed: (f: Files, why: string) => `The ${english.filesName(f)} could not be listed: ${why}`,

  sayRead: (path: string) => `Reading ${path}.`,
  readSummary: (path: string, n: number) => `${path}: ${n} line${s(n)}`,
  emptyFile: (path: string) => `${path} is empty.`,
  title: (text: string) => `Title: ${text}`,
  headings: (list: string) => `First headings: ${list}`,
  begins: "It begins:",
  readFailed: (path: string, why: string) => `${path} could not be read: ${why}`,

  sayRun: (command: string, background: boolean) => `Running \`${command}\`${background ? " in the background" : ""}.`,
  started: (command: string, placeholder: string) => `\`${command}\` runs in the background: ${placeholder}`,
  ran: (command: string, code: string) => `\`${command}\` ended with exit code ${code}.`,
  runFailed: (command: string, why: string) => `\`${command}\` failed: ${why}`,
  noOutput: "It printed nothing.",
  output: "Output:",
  lastLines: (n: number) => `Output, the last ${n} lines:`,
  job: (id: string, status: string, code: string | undefined) =>
    `Background job ${id} ${ENDED[status] ?? status}${code === undefined ? "" : ` (exit code ${code})`}.`,
  note: (from: string, text: string) => `Note from ${from}: ${text}`,
  brought: (from: string, n: number) =>
    `With it came ${n} line${s(n)} from ${from}; I read nothing into ${n === 1 ? "it" : "them"}.`,
  noMcp: (part: string) => `“${part}”: MCP servers cannot be connected yet in this version. Nothing was done about it.`,

  saySearch: (text: string) => `Searching for “${text}”.`,
  matches: (text: string, n: number) => `“${text}”: ${n} line${s(n)} of matches`,
  noMatches: (text: string) => `“${text}” was not found.`,
  searchFailed: (text: string, why: string) => `The search for “${text}” failed: ${why}`,

  sayManifests: "Looking for the project's manifest.",
  sayEvidence: "Reading the manifest and searching for known test frameworks.",
  framework: (names: string) => `Test framework: ${names}`,
  evidence: "Evidence:",
  alsoSeen: (names: string) => `Also mentioned in the files: ${names}`,
  noFramework: "No known test framework was found.",
  lookedAt: (list: string) => `Looked at: ${list}`,
  noManifest: "There is no manifest (package.json, pyproject.toml, Cargo.toml, go.mod, …).",

  saySubtask: "Starting a subtask.",
  subtaskDone: (prompt: string) => `Subtask “${prompt}” answered:`,
  subtaskFailed: (prompt: string, why: string) => `Subtask “${prompt}” failed: ${why}`,
  noSubtask: "No subtask tool is available here, so I did it myself.",
  subtaskUnknown: (prompt: string) => `No subtask tool is available here, and I do not understand “${prompt}” myself.`,

  sayWrite: (path: string) => `Writing ${path}.`,
  written: (path: string, n: number) => `${path} written (${n} characters).`,
  writeFailed: (path: string, why: string) => `${path} was not written: ${why}`,
  sayEdit: (path: string) => `Editing ${path}.`,
  edited: (path: string, from: string, to: string) => `${path}: replaced “${from}” with “${to}”.`,
  editFailed: (path: string, why: string) => `${path} was not changed: ${why}`,
};

const ENDED: Record<string, string> = {
  unknown: "ended, how is unknown",
  killed: "was killed",
  timeout: "was killed at its time limit",
};

export type Words = typeof english;
