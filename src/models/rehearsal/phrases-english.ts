// What the rehearsal model says in English. How a template is filled in: phrases.ts.
export const ENGLISH = {
  introduction: "I am the offline rehearsal model, not an AI. I understand:",
  abilities: `Create a todo list for inspecting this repo, then list Python files
List TypeScript files in src (or Markdown, *.go, all files, …)
Run npm install in the background and continue reading README.md
Run \`npm test\`
Read package.json
Search for "agent loop" in src
Use a subtask to find the test framework of this project
Connect to the docs MCP server and search for agent loop (where one is configured)
Load the code-review skill and review the last commit (where there is one)
I prefer tabs. Remember that. · What do you remember?
Remind me of the meeting in 3 minutes
Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks. (with --stay)
Approve alice · Reject bob: add tests · Shut down alice · Tell bob: hello
Create a file notes.txt containing \`hello\`
Replace \`foo\` with \`bar\` in notes.txt`,
  advice:
    "Join them with “and” or “then”; put commands and texts in quotes or backticks. For anything else, configure a real model.",
  notUnderstood: "I did not understand this part, and did nothing from there on: “{part}”",
  noServers: "MCP server {server}: none is configured here. Nothing was done about it.",
  serverFound: "Found by {server} for {query}:",
  noSkills: "There are no skills here, and none named {name}. Nothing was done about it.",
  skillLoaded: "Loaded the skill {name}. It says:",
  remembered: "Remembered, in your words: {words}",
  nothingRemembered: "Nothing is remembered of this project.",
  recalled: "Remembered of this project:",
  passedOver: "I took up only the last request. Not done: “{text}”",
  nothingLeft: "Nothing is left to do of that request.",
  nothingToDo: "There is nothing for me to do.",
  failed: "{name} failed: {why}",
  noTool: "The tool {name} is not available here.",
  stopped: "Stopped there. Not done: {what}",

  do_todo: "Write the todo list",
  do_list: "Find the {label|@ |}files{path| in @|} ({pattern})",
  do_read: "Read {path}",
  do_run: "Run {command}{background| in the background|}",
  do_search: "Search for {text}{path| in @|}",
  do_framework: "Find the test framework",
  do_subtask: "Subtask: {prompt}",
  do_write: "Write {path}",
  do_edit: "Edit {path}",
  do_server: "Connect to the MCP server {server}{query| and search for @|}",
  do_skill: "Load the skill {name}",
  do_remember: "Remember: {words}",
  do_recall: "Say what is remembered",
  do_remind: "Set a reminder ({when}): {what}",
  do_team:
    "Set up the team{tasks|, @ task|, tasks: @}{worktrees|, worktrees|}{mates|, teammates: @|}{plans|, plans first|}",
  do_review: "{approve|Approve|Reject} the plan{names| of @|}",
  do_shutdown: "Shut down {names|@|everyone}",
  do_message: "Send {to} a message",
  do_report: "Report what was found",

  /** What a single step is followed by in a todo list: of a list, a read, any other. */
  followUps: "Count them by folder\nNote its title and headings\nCheck the result",
  inspection: "List the files of the repository\nRead the README\nFind the test framework\nReport what was found",
  generic: "Find out what is needed: {subject|@|the task}\nDo it\nCheck the result",
  genericAdvice:
    "(The items are general ones: I am not an AI. Name your own after a colon: “Create a todo list: one, two, three”.)",
  todoList: "Todo list ({done} of {all} done):",

  noFiles: "There are no {label|@ |}files{path| in @|} ({pattern}).",
  files: "{n} {label|@ |}{n|file|files}{path| in @|}:",
  more: "… and {n} more",
  byFolder: "By folder: {counts}",
  readSummary: "{path}: {n} {n|line|lines}",
  emptyFile: "{path} is empty.",
  title: "Title: {text}",
  headings: "First headings: {list}",
  begins: "It begins:",
  matches: "“{text}”: {n} {n|line|lines} of matches",
  noMatches: "“{text}” was not found.",
  written: "{path} written ({n} characters).",
  edited: "{path}: replaced “{oldText}” with “{newText}”.",

  started: "`{command}` runs in the background: {placeholder}",
  ran: "`{command}` ended with exit code {code}.",
  runFailed: "`{command}` failed: {why}",
  noOutput: "It printed nothing.",
  output: "Output{last|, the last @ lines|}:",
  job: "Background job {id} {status}{code| (exit code @)|}.",
  /** Completed, failed, killed, at its time limit, unknown. */
  statuses: "completed\nfailed\nwas killed\nwas killed at its time limit\nended, how is unknown",
  note: "Note from {from}: {text}",
  brought: "With it came {n} {n|line|lines} from {from}; I read nothing into {n|it|them}.",

  framework: "Test framework: {names}",
  evidence: "Evidence:",
  alsoSeen: "Also mentioned in the files: {names}",
  noFramework: "No known test framework was found.",
  lookedAt: "Looked at: {list}",
  noManifest: "There is no manifest (package.json, pyproject.toml, Cargo.toml, go.mod, …).",
  subtaskDone: "Subtask “{prompt}” answered:",
  noSubtask: "No subtask tool is available here, so I did it myself.",
  subtaskUnknown: "No subtask tool is available here, and I do not understand “{prompt}” myself.",

  reminder: "Reminder: {what}",
  willRemind:
    "I will remind you: {what}\n{said}\nIt comes without input while a process stays (the terminal, `--stay`); otherwise when this context is next taken up.",

  /** Of the general tasks, in the order of their patterns. */
  topics: "the source files\nthe tests\nthe documents\nthe configuration files",
  overview: "Write {file}: an overview of {topic}",
  overviewMore: "List the files that match {pattern} in {file}, at the root of the worktree.",
  overviewHead:
    "# Overview of {topic}\n\nMade by the rehearsal model of Holdfast (not an AI) from `glob {pattern}`: {n} {n|file|files}.",
  overviewDone: "{file} written",
  matePrompt:
    "Work on the tasks of the board, one at a time, each in its own worktree.{plans| Submit a plan before you claim a task.|}",
  needsStay:
    'Worktrees and teammates need a process that stays, and this one does not. Nothing was done. Start it with --stay: `holdfast -p --stay "…"`',
  tasksMade: "Tasks:",
  genericTasks: "(The tasks are general ones that fit any repository: I am not an AI. Name your own after a colon.)",
  worktreesMade: "Worktrees:",
  matesMade: "Teammates:",
  plansAwaited:
    "They submit plans first and claim nothing before that. Whether a plan is approved is your decision: I report each one.",
  noMates: "I know of no teammate here: spawn one first.",
  planArrived: "{name} asks for approval of a plan ({id}):",
  yourDecision:
    'The decision is yours: /team in the terminal, elsewhere `holdfast team approve {id}` or `holdfast team reject {id} "why"`; "approve {name}" tells me to.',
  idle: "{name} is idle: {text}",
  message: "{name} says: {text}",
  reviewed: "The plan of {name} ({id}) is {approve|approved|rejected}.",
  noPlan: "No plan{name| of @|} waits for an answer.",
  whichPlan: "Several plans wait for an answer ({names}): say whose you mean, or “all plans”.",
  feedbackWanted: "Say why, so that {name} can make a better plan: “reject {name}: why”.",
  shutdownAsked: "{name} was asked to shut down: {said}",

  newPlan: "New plan. To the first one you said: “{feedback}”. I am a rehearsal model and take it along as it is.",
  plan: `1. Claim one task that nobody has, and work only in its worktree.{tasks|
   On the board now:
@|}
2. Look at the files there with glob{files| (@ now)|}, and write the one file that the task names.
3. Complete the task. If I do not understand it, I release it and say so to lead.
Until this plan is approved I claim, run and change nothing.`,
  planSubmitted: "My plan is submitted: {said}\nI wait for the decision.",
  approved: "My plan is approved.",
  ready: "I am ready and take the next task of the board that fits.",
  worksIn: "Worked in {dir}.",
  taskDone: "{id} is done: {said}",
  notUnderstoodTask: "I am a rehearsal model and do not understand this task, so I wrote nothing: “{subject}”",
  released: "I released {id}.",
  goodbye: "I shut down.",
  gotMessage:
    "I got your message: “{text}”. {waits|I wait for the approval of my plan before I do anything.|I am the rehearsal model, not an AI: I work on tasks of the board, and on messages that are one of the requests I know.}",
} as const;
