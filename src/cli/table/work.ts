// The tables of what agents work on and with: tasks, team, worker, cron, workflow, jobs.

import { type Command, verb } from "../command.ts";
import { count, text, texts, timeSpan, toggle } from "../flag.ts";
import { JSON_TOO, OF_CONTEXT, PLACE, WORK } from "../flags.ts";
import { KNOWLEDGE_COMMANDS } from "./knowledge.ts";
import { WORKTREES } from "./worktrees.ts";

const LOOK = { ...JSON_TOO, ...PLACE };
const REASON = { reason: text("TEXT", "why; it is kept") };
const tasks = () => import("../commands/tasks.ts");
const team = () => import("../commands/team.ts");
const cron = () => import("../commands/cron.ts");
const workflow = () => import("../commands/workflow.ts");
const jobs = () => import("../commands/jobs.ts");

const FIELDS = "FIELD is description, blockedBy (task_1,task_2), priority (low, normal, high), labels (a,b)";

/** A verb about one task, as `user`. */
const ofTask = (name: "release" | "done" | "cancel", help: string) =>
  verb({
    words: "TASK",
    help,
    flags: { ...REASON, ...LOOK },
    run: async (flags, [of]) => (await tasks()).atBoard(flags, (board, desk) => board[name](desk, of)),
  });

const TASKS: Command = {
  help: "the project's task board",
  also: ["task"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "[status=… owner=… label=…]",
      help: "what there is to do",
      flags: { all: toggle("all of them, however many"), ...LOOK },
      run: async (flags, words) => (await tasks()).atBoard(flags, (board, desk) => board.ls(desk, words)),
    }),
    show: verb({
      words: "TASK",
      help: "one of them, its history, its worktree and how to merge it",
      flags: LOOK,
      run: async (flags, [of]) => (await tasks()).atBoard(flags, (board, desk) => board.show(desk, of)),
    }),
    add: verb({
      words: "SUBJECT [FIELD=VALUE …]",
      help: "one more",
      more: `${FIELDS}.\n\n  holdfast tasks add "Write the API" blockedBy=task_1 priority=high`,
      flags: LOOK,
      run: async (flags, [of, ...words]) => (await tasks()).atBoard(flags, (board, desk) => board.add(desk, of, words)),
    }),
    update: verb({
      words: "TASK [FIELD=VALUE …]",
      help: "change it",
      more: `${FIELDS};\nalso subject, status, owner, worktree, blockedBy+=TASK, blockedBy-=TASK. An empty value takes it away.`,
      flags: { ...REASON, ...LOOK },
      run: async (flags, [of, ...words]) =>
        (await tasks()).atBoard(flags, (board, desk) => board.update(desk, of, words)),
    }),
    claim: verb({
      words: "TASK",
      help: "take it, as user",
      flags: LOOK,
      run: async (flags, [of]) => (await tasks()).atBoard(flags, (board, desk) => board.claim(desk, of)),
    }),
    release: ofTask("release", "give it back"),
    done: ofTask("done", "it is complete; says what that unblocked"),
    cancel: ofTask("cancel", "it is not to be done"),
    rm: verb({
      words: "TASK",
      help: "remove it",
      flags: { force: toggle("also when others wait for it or someone works on it"), ...LOOK },
      run: async (flags, [of]) => (await tasks()).atBoard(flags, (board, desk) => board.rm(desk, of)),
    }),
    graph: verb({
      words: "",
      help: "what waits for what",
      flags: { all: toggle("also what is complete"), ...PLACE },
      run: async (flags) => (await tasks()).atBoard(flags, (board, desk) => board.graph(desk)),
    }),
    export: verb({
      words: "DIR",
      help: "as task_*.json files",
      flags: { force: toggle("also over files that are there"), ...PLACE },
      run: async (flags, [of]) => (await tasks()).atBoard(flags, (board, desk) => board.export(desk, of)),
    }),
    import: verb({
      words: "DIR",
      help: "from task_*.json files",
      flags: PLACE,
      run: async (flags, [of]) => (await tasks()).atBoard(flags, (board, desk) => board.import(desk, of)),
    }),
  },
};

const TEAM_FLAGS = { ...OF_CONTEXT, ...LOOK };

const TEAM: Command = {
  help: "teammates, their messages and plans",
  also: ["teams"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "who is there and does what",
      flags: { all: toggle("also who has shut down"), ...TEAM_FLAGS },
      run: async (flags) => (await team()).ls(flags),
    }),
    show: verb({
      words: "[NAME]",
      help: "one of them: where it works, what it said last",
      flags: { all: toggle("also who has shut down"), ...TEAM_FLAGS },
      run: async (flags, [name]) => (await team()).show(flags, name),
    }),
    send: verb({
      words: "NAME TEXT …",
      help: "a message to one, to lead, or to * (all of them)",
      flags: TEAM_FLAGS,
      run: async (flags, words) => (await team()).send(flags, words),
    }),
    plans: verb({
      words: "",
      help: "what waits for your review",
      flags: { all: toggle("also what was answered"), ...TEAM_FLAGS },
      run: async (flags) => (await team()).plans(flags),
    }),
    approve: verb({
      words: "PLAN [TEXT …]",
      help: "it may begin; PLAN is its id or who wrote it",
      flags: TEAM_FLAGS,
      run: async (flags, words) => (await team()).review(flags, words, "approve"),
    }),
    reject: verb({
      words: "PLAN TEXT …",
      help: "it may not; TEXT says why, and its author plans again",
      flags: TEAM_FLAGS,
      run: async (flags, words) => (await team()).review(flags, words, "reject"),
    }),
    shutdown: verb({
      words: "NAME [TEXT …]",
      help: "ask it to end",
      flags: { ...REASON, ...TEAM_FLAGS },
      run: async (flags, words) => (await team()).shutdown(flags, words),
    }),
  },
};

const WORKER: Command = {
  help: "host teams, schedules and interrupted workflows until Ctrl-C",
  also: ["workers"],
  verbs: {
    "": verb({
      words: "[DIR …]",
      help: "host teams, schedules and interrupted workflows of these projects (default: this one) until Ctrl-C",
      flags: {
        concurrency: count("N", "so many agents at once, of all projects together (default 8)"),
        drain: timeSpan("TIME", "how long a round may take to its end when it is told to end (default 30s)"),
        acceptEscalated: toggle("take up contexts that were started with a wider --permission-mode, in that mode"),
        acceptLoss: toggle("host on a store whose settings may lose what it has acknowledged"),
        ...WORK,
      },
      run: async (flags, dirs) => (await import("../commands/worker.ts")).worker(flags, dirs),
    }),
  },
};

const MONITOR: Command = {
  help: "a page in the browser: what waits for you, all contexts, any moment of each",
  also: ["page", "ui"],
  verbs: {
    "": verb({
      words: "[DIR …]",
      help: "serve it on this machine's loopback until Ctrl-C, for these projects (default: all of yours)",
      more: "The address holds a token: whoever has it may answer for you. /metrics is for Prometheus.",
      flags: {
        port: count("N", "where it listens (default 7433, or any that is free)"),
        open: toggle("open it in the browser"),
        ...JSON_TOO,
        ...PLACE,
      },
      run: async (flags, dirs) => (await import("../commands/monitor.ts")).monitor(flags, dirs),
    }),
  },
};

const OF_TRACES = {
  all: toggle("all contexts of this project"),
  since: timeSpan("TIME", "only turns that ended within this time, such as 7d; of all contexts, where none is named"),
};
const traces = () => import("../commands/traces.ts");

const TRACES: Command = {
  help: "what was done as OpenTelemetry traces",
  also: ["trace"],
  bare: "show",
  more: "A process that has OTEL_EXPORTER_OTLP_ENDPOINT sends its turns by itself as they end. Texts go with them only where\nOTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is true.",
  verbs: {
    show: verb({
      words: "[CONTEXT …]",
      help: "the requests as JSON, a line each (default: of the newest context); nothing is sent",
      flags: { ...OF_TRACES, ...LOOK },
      run: async (flags, contexts) => (await traces()).showTraces(flags, contexts),
    }),
    send: verb({
      words: "[CONTEXT …]",
      help: "send what is recorded to OTEL_EXPORTER_OTLP_ENDPOINT; once more is harmless",
      flags: { ...OF_TRACES, ...LOOK },
      run: async (flags, contexts) => (await traces()).sendTraces(flags, contexts),
    }),
  },
};

const CRON: Command = {
  help: "what is scheduled",
  also: ["crons", "schedule", "schedules"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "all schedules, and when they are due",
      flags: LOOK,
      run: async (flags) => (await cron()).ls(flags),
    }),
    add: verb({
      words: "WHEN PROMPT …",
      help: 'WHEN is "in 3 minutes", "every weekday at 9", cron\'s own form',
      more: '  holdfast cron add "every weekday at 9" "Summarise what changed since yesterday"',
      flags: { ...OF_CONTEXT, ...LOOK },
      run: async (flags, words) => (await cron()).add(flags, words),
    }),
    rm: verb({
      words: "SCHEDULE",
      help: "cancel it",
      flags: LOOK,
      run: async (flags, [id]) => (await cron()).rm(flags, id),
    }),
  },
};

const WORKFLOW: Command = {
  help: "phases of agents over one context; each finished phase is kept",
  also: ["workflows"],
  bare: "ls",
  verbs: {
    run: verb({
      words: "FILE",
      help: "begin one",
      flags: { input: texts("KEY=VALUE", "what it is given"), ...JSON_TOO, ...WORK },
      run: async (flags, [file]) => (await workflow()).run(flags, file),
    }),
    ls: verb({
      words: "",
      help: "all of them, and how far they are",
      flags: LOOK,
      run: async (flags) => (await workflow()).ls(flags),
    }),
    show: verb({
      words: "CONTEXT",
      help: "its phases and what came of them",
      flags: LOOK,
      run: async (flags, [id]) => (await workflow()).show(flags, id),
    }),
    retry: verb({
      words: "CONTEXT",
      help: "go on with it: only what failed, and what depends on it",
      flags: {
        repeat: text("PHASE,…", "these too, although they are finished"),
        input: texts("KEY=VALUE", "what it is given"),
        ...JSON_TOO,
        ...WORK,
      },
      run: async (flags, [id]) => (await workflow()).retry(flags, id),
    }),
    input: verb({
      words: "CONTEXT KEY=VALUE …",
      help: "what a phase waits for",
      flags: LOOK,
      run: async (flags, [id, ...given]) => (await workflow()).input(flags, id, given),
    }),
  },
};

const JOBS: Command = {
  help: "commands that run in the background",
  also: ["job"],
  bare: "ls",
  verbs: {
    ls: verb({
      words: "",
      help: "all of this project, also those of a process that died",
      flags: LOOK,
      run: async (flags) => (await jobs()).ls(flags),
    }),
    show: verb({
      words: "JOB",
      help: "one of them, with what it printed",
      flags: LOOK,
      run: async (flags, [id]) => (await jobs()).show(flags, id),
    }),
    kill: verb({
      words: "JOB",
      help: "end it, and all it started",
      flags: LOOK,
      run: async (flags, [id]) => (await jobs()).kill(flags, id),
    }),
  },
};

/** In the order of help. */
export const WORK_COMMANDS: Readonly<Record<string, Command>> = {
  tasks: TASKS,
  team: TEAM,
  worktrees: WORKTREES,
  worker: WORKER,
  monitor: MONITOR,
  traces: TRACES,
  ...KNOWLEDGE_COMMANDS,
  cron: CRON,
  workflow: WORKFLOW,
  jobs: JOBS,
};
