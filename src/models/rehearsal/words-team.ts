// The wording in English for teams and reminders; japanese-words-team.ts says the same in Japanese.

/** What a generic task of a team is about. */
export type Topic = "sources" | "tests" | "docs" | "config";

/** Who answers whom with which plan: as the team's notes name it. */
export interface PlanRequest {
  name: string;
  id: string;
  plan: string;
}

const TOPICS: Record<Topic, string> = {
  sources: "the source files",
  tests: "the tests",
  docs: "the documents",
  config: "the configuration files",
};

export const englishTeam = {
  overviewSubject: (file: string, topic: Topic) => `Write ${file}: an overview of ${TOPICS[topic]}`,
  overviewDescription: (file: string, pattern: string) =>
    `List the files that match ${pattern} in ${file}, at the root of the worktree.`,
  matePrompt: (plans: boolean) =>
    `Work on the tasks of the board, one at a time, each in its own worktree.${plans ? " Submit a plan before you claim a task." : ""}`,

  teamStep: (parts: string) => `Set up the team (${parts})`,
  teamParts: {
    tasks: (n: number) => `${n} task${n === 1 ? "" : "s"}`,
    worktrees: "worktrees",
    mates: (names: string) => `teammates ${names}`,
    plans: (names: string) => (names === "" ? "plans" : `plans of ${names}`),
  },
  needsStay:
    'Worktrees and teammates need a process that stays, and this one does not. Nothing was done. Start it with --stay: `holdfast -p --stay "…"`',
  sayTasks: (n: number) => `Creating ${n === 1 ? "the task" : `${n} tasks`}.`,
  tasksMade: "Tasks:",
  tasksFailed: (why: string) => `The tasks were not created: ${why}`,
  genericTasks: "(The tasks are general ones that fit any repository: I am not an AI. Name your own after a colon.)",
  sayWorktrees: "A worktree for each task.",
  worktreesMade: "Worktrees:",
  worktreeFailed: (name: string, why: string) => `The worktree ${name} was not created: ${why}`,
  sayMates: (names: string) => `Spawning ${names}.`,
  matesMade: "Teammates:",
  mateFailed: (name: string, why: string) => `${name} was not spawned: ${why}`,
  plansAwaited:
    "They submit plans first and claim nothing before that. Whether a plan is approved is your decision: I report each one.",
  sayPlans: (names: string) => `Asking ${names} for a plan.`,
  planAsked: (name: string, said: string) => `${name} was asked for a plan: ${said}`,
  planNotAsked: (name: string, why: string) => `${name} was not asked for a plan: ${why}`,
  noMates: "I know of no teammate here: spawn one first.",

  planArrived: ({ name, id }: PlanRequest) => `${name} asks for approval of a plan (${id}):`,
  yourDecision: ({ name, id }: PlanRequest) =>
    `The decision is yours: \`holdfast team approve ${id}\` or \`holdfast team reject ${id} "why"\`, in another terminal; \`holdfast team send lead "approve ${name}"\` tells me to.`,
  idle: (name: string, text: string) => `${name} is idle: ${text}`,
  message: (name: string, text: string) => `${name} says: ${text}`,

  reviewStep: (names: string, approve: boolean) =>
    `${approve ? "Approve" : "Reject"} the plan${names === "" ? "" : ` of ${names}`}`,
  everyone: "everyone",
  sayReview: (name: string, approve: boolean) => `${approve ? "Approving" : "Rejecting"} the plan of ${name}.`,
  reviewed: ({ name, id }: PlanRequest, approve: boolean) =>
    `The plan of ${name} (${id}) is ${approve ? "approved" : "rejected"}.`,
  reviewFailed: ({ name, id }: PlanRequest, why: string) => `The plan of ${name} (${id}) was not answered: ${why}`,
  noPlan: (name: string) => `No plan of ${name} waits for an answer.`,
  noPlans: "No plan waits for an answer.",
  whichPlan: (names: string) => `Several plans wait for an answer (${names}): say whose you mean, or “all plans”.`,
  feedbackWanted: (name: string) => `Say why, so that ${name} can make a better plan: “reject ${name}: why”.`,
  shutdownStep: (names: string) => `Shut down ${names}`,
  sayShutdown: (names: string) => `Asking ${names} to shut down.`,
  shutdownAsked: (name: string, said: string) => `${name} was asked to shut down: ${said}`,
  shutdownFailed: (name: string, why: string) => `${name} was not asked to shut down: ${why}`,
  messageStep: (name: string) => `Send ${name} a message`,
  sent: (name: string, said: string) => `Message to ${name}: ${said}`,
  notSent: (name: string, why: string) => `${name} got no message: ${why}`,

  remindStep: (what: string, when: string) => `Set a reminder (${when}): ${what}`,
  sayRemind: "Setting a reminder.",
  reminderPrompt: (what: string) => `Reminder: ${what}`,
  willRemind: (what: string, said: string) => `I will remind you: ${what}\n${said}`,
  remindHost: "It comes without input while a process stays (`--stay`); otherwise when this context is next taken up.",
  remindFailed: (what: string, why: string) => `No reminder was set (${what}): ${why}`,

  sayLook: "Looking at the board before I plan.",
  plan: (at: { tasks: string[]; files: string; feedback?: string }) =>
    [
      ...(at.feedback === undefined
        ? []
        : [
            `New plan. To the first one you said: “${at.feedback}”. I am a rehearsal model and take it along as it is.`,
          ]),
      "1. Claim one task that nobody has, and work only in its worktree.",
      ...(at.tasks.length > 0 ? ["   On the board now:", ...at.tasks.map((task) => `   - ${task}`)] : []),
      `2. Look at the files there with glob${at.files}, and write the one file that the task names.`,
      "3. Complete the task. If I do not understand it, I release it and say so to lead.",
      "Until this plan is approved I claim, run and change nothing.",
    ].join("\n"),
  filesSeen: (n: number) => ` (${n} now)`,
  planSubmitted: (said: string) => `My plan is submitted: ${said}\nI wait for the decision.`,
  planNotSubmitted: (why: string) => `My plan was not submitted: ${why}`,
  ready: "I am ready and take the next task of the board that fits.",
  approved: "My plan is approved.",
  sayClaimed: (id: string) => `Working on ${id}.`,
  worksIn: (dir: string) => `Worked in ${dir}.`,
  noDir: (why: string) => `Where I work could not be told: ${why}`,
  overviewTitle: (topic: Topic) => `# Overview of ${TOPICS[topic]}`,
  overviewIntro: (pattern: string, n: number) =>
    `Made by the rehearsal model of Holdfast (not an AI) from \`glob ${pattern}\`: ${n} file${n === 1 ? "" : "s"}.`,
  taskDone: (id: string, said: string) => `${id} is done: ${said}`,
  taskNotDone: (id: string, why: string) => `${id} could not be completed: ${why}`,
  doneNote: (file: string) => `${file} written`,
  notMine: (subject: string) =>
    `I am a rehearsal model and do not understand this task, so I wrote nothing: “${subject}”`,
  failedWork: (why: string) => `It did not work out: ${why}`,
  released: (id: string) => `I released ${id}.`,
  notReleased: (id: string, why: string) => `${id} could not be released: ${why}`,
  goodbye: "I shut down.",
  notAnswered: (why: string) => `The shutdown request could not be answered: ${why}`,
  mateAnswer: (text: string) =>
    `I got your message: “${text}”. I am the rehearsal model, not an AI: I work on tasks of the board, and on messages that are one of the requests I know.`,
  mateWaits: (text: string) =>
    `I got your message: “${text}”. I wait for the approval of my plan before I do anything.`,
  nothingToDo: "There is nothing for me to do.",
};
