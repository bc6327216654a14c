// What each mechanism of the house carries over a compaction, from real facts folded by all of them.
import { expect, test } from "vitest";
import { contextEvents } from "../../src/contexts/events.ts";
import { mechanismsOf } from "../../src/harness.ts";
import { createCodec } from "../../src/ledger/events.ts";
import { createFold } from "../../src/ledger/fold.ts";
import { carriedBy, nothing, saidMark } from "../../src/loop/carry.ts";
import { loopEvents } from "../../src/loop/events.ts";
import { noteText } from "../../src/loop/marks.ts";
import type { Turn } from "../../src/loop/seams.ts";
import { acrossTimelines } from "../../src/loop/timelines.ts";
import { transcript, transcriptIn } from "../../src/loop/transcript.ts";
import { noUsage } from "../../src/models/model.ts";

const instructions = { home: "/nowhere", configHome: "/nowhere", trusted: true };
const WHERE = { root: "/p", jobsDir: "/nowhere/jobs", instructions };

test("every mechanism of the house says what of it must survive, or that nothing does, whatever it is told to do", async () => {
  const never = async () => {
    throw new Error("not asked for");
  };
  const catalogue = { about: never, list: never, problems: () => [], define: never };
  const more = { board: never, runner: never, contexts: never, catalogue: catalogue as never };
  for (const mechanisms of [mechanismsOf(WHERE), mechanismsOf({ ...WHERE, ...more })]) {
    expect(mechanisms.filter(({ carry }) => carry === undefined).map(({ name }) => name)).toEqual([]);
    expect(mechanisms.filter(({ carry }) => carry === nothing).map(({ name }) => name)).toEqual([
      "agents",
      "limits",
      "recovery",
      "budget",
      "compaction",
      "prompt-cache",
      "checkpoints",
      "output",
      "redaction",
      "person-commands",
      "own-tools",
    ]);
  }
});

type FactOf = [type: string, data: unknown, actor?: string];

/** What an agent sees after these facts, by all mechanisms. */
function after(facts: readonly FactOf[], agent = "lead") {
  const mechanisms = mechanismsOf(WHERE);
  const definitions = [contextEvents, loopEvents, ...mechanisms.flatMap(({ events }) => (events ? [events] : []))];
  const codec = createCodec(definitions.map((events) => ({ events })));
  const slices = mechanisms.flatMap(({ name, fold }) => (fold ? [[name, acrossTimelines(fold)] as const] : []));
  const fold = createFold({ transcript, ...Object.fromEntries(slices) });
  const state = facts.reduce((before, [type, data, actor = "lead"], i) => {
    const seq = i + 1;
    const stored = codec.encode({ type, data, actor });
    return fold.apply(before, { touches: [], ...stored, id: `evt_${seq}`, seq, at: seq } as never);
  }, fold.initial());
  const mine = transcriptIn(state).agents[agent]!;
  const turn = {
    ...{ context: "ctx_1", agent, root: "/p", cwd: mine.cwd, state: mine },
    slice: <T>(name: string) => state.slices[name] as T,
    emit: ({ text }: { text: string }) => expect.unreachable(text),
  } as unknown as Turn;
  return async (shown: readonly string[] = [], window = 100_000): Promise<Record<string, string>> => {
    const all = await carriedBy(mechanisms, turn, { window, shows: (ref) => shown.includes(ref) });
    return Object.fromEntries(all.map(({ origin, text }) => [origin, text]));
  };
}

const input = (id: string, texts: string[], origin = "user"): FactOf[] => [
  ["input.received", { inputId: id, agent: "lead", content: [{ type: "text", text: texts[0] }], origin }],
  ["input.taken", { inputId: id, content: texts.map((text) => ({ type: "text", text })) }],
];
const called = (callId: string, name: string, args: unknown, text: string, more: object = {}): FactOf[] => [
  [
    "reply.received",
    { model: "m", parts: [{ type: "call", id: callId, name, input: args }], finish: "calls", usage: noUsage() },
  ],
  ["tool.started", { callId, name, input: args, effect: "internal", cwd: "/p" }],
  ["tool.finished", { callId, name, content: [{ type: "text", text }], isError: false, durationMs: 1, ...more }],
];

const RULES = "Rules of the project, for web, from web/AGENTS.md: follow them there.\n\nNo inline styles.";
const SKILL = '<skill name="deploy">\nSteps.\n</skill>';
const MEMORY = noteText("memory", "- ports: The API runs on 4010.");
const BEGUN: FactOf[] = [
  ["context.created", { root: "/p", title: "t", version: "0" }],
  ["agent.created", { name: "lead", cwd: "/p" }],
  ["turn.started", { turnId: "t1", cause: "input" }],
];

test("what each of them knows, for the lead", async () => {
  const carried = after([
    ...BEGUN,
    ["note.added", { origin: "hook", text: "House rule: ask before you deploy." }],
    ["skill.loaded", { name: "deploy", source: "s", hash: "h", by: "person", mark: saidMark(SKILL) }],
    ["memory.shown", { memories: [{ name: "ports", at: 5 }], mark: saidMark(MEMORY) }],
    ["surroundings.said", { day: "2026-11-17", branch: "main" }],
    ...input("inp_1", ["/deploy now", SKILL, MEMORY]),
    ...called("c1", "load_skill", { name: "tabs" }, '<skill name="tabs">\nTabs.\n</skill>'),
    ["skill.loaded", { name: "tabs", source: "s", hash: "h", by: "model", callId: "c1" }],
    ["note.added", { origin: "instructions", text: RULES }],
    ["instructions.shown", { file: "web/AGENTS.md", hash: "h", mark: saidMark(noteText("instructions", RULES)) }],
    ...called("c2", "bash", { command: "rm -rf build" }, "denied", {
      denied: "the user said: keep\nbuild",
      isError: true,
    }),
    ["agent.moved", { cwd: "/p/web" }],
    [
      "approval.asked",
      {
        requestId: "apr_1",
        callId: "c9",
        tool: "bash",
        input: { command: "npm publish" },
        cwd: "/p",
        reason: "r",
        firm: true,
      },
      "alice",
    ],
    [
      "todo.written",
      {
        todos: [
          { id: 1, content: "one", status: "completed" },
          { id: 2, content: "two", status: "in_progress" },
        ],
      },
    ],
    ["task.held", { task: "task_1", subject: "Look" }],
    ["task.held", { task: "task_2", subject: "Gone" }],
    ["task.dropped", { task: "task_2" }],
    ["task.entered", { task: "task_1", path: "/w/one" }],
    ["worktree.created", { name: "one", path: "/w/one", branch: "b", commit: "c", task: "task_1" }],
    ["worktree.created", { name: "two", path: "/w/two", branch: "b", commit: "c" }],
    ["worktree.kept", { name: "two", path: "/w/two", branch: "b", note: "" }],
    ["worktree.created", { name: "three", path: "/w/three", branch: "b", commit: "c" }],
    ["worktree.removed", { name: "three", path: "/w/three", branch: "b", head: "c" }],
    ["agent.created", { name: "alice", cwd: "/p" }],
    ["team.joined", { name: "alice", role: "writes", requirePlan: true }],
    ["plan.submitted", { requestId: "plan_alice_1", plan: "1. Look\n2. Write" }, "alice"],
    ["shutdown.requested", { requestId: "shutdown_alice_1", name: "alice", reason: "" }],
    ["file.seen", { path: "/p/a.ts", hash: "aaaaaaaaaaaaaaaa", callId: "c3", how: "read" }],
    ["file.seen", { path: "/p/b\n.ts", hash: "bbbbbbbbbbbbbbbb", callId: "c4", how: "read" }],
    ["file.seen", { path: "/p/a.ts", hash: "cccccccccccccccc", callId: "c5", how: "wrote" }],
    ["file.seen", { path: "/elsewhere/c", hash: "dddddddddddddddd", inputId: "inp_1" }],
    [
      "job.started",
      { jobId: "job_1", callId: "c6", command: "npm run dev\n# it", dir: "/d", boot: "b", background: true },
    ],
    ["job.started", { jobId: "job_2", callId: "c6", command: "true", dir: "/d", boot: "b", background: true }],
    ["job.ended", { jobId: "job_2", status: "completed", durationMs: 1, tail: "" }],
    [
      "cron.created",
      {
        scheduleId: "cron_1",
        prompt: "look at CI",
        when: "daily",
        expression: "0 9 * * *",
        zone: "UTC",
        missed: "once",
        jitterMs: 0,
        by: "agent lead",
        createdAt: 0,
        next: 32_400_000,
        armed: null,
      },
    ],
    [
      "subagent.started",
      { parent: "lead", callId: "c7", type: "explorer", description: "find it", depth: 1, task: { prompt: "p" } },
      "lead.c7",
    ],
    ["hub.asked", { type: "x", exports: { report: { type: "object" }, list: {} } }],
    ["hub.exported", { keys: ["list"] }],
    ...called("c8", "connect_mcp", { name: "docs" }, "Connected to docs."),
  ]);
  expect(await carried()).toEqual({
    identity: "Your current directory: /p/web",
    instructions: RULES,
    hooks: "House rule: ask before you deploy.",
    skills: `Skills you have loaded, the last one first:\n<skill name="tabs">\nTabs.\n</skill>\n${SKILL}`,
    permissions:
      'Calls of yours that were refused, the last one first:\n- c2 bash {"command":"rm -rf build"}: the user said: keep\\nbuild',
    approvals: 'Calls that wait for a person\'s approval:\n- apr_1: alice, c9 bash {"command":"npm publish"}',
    todo: "Your open todos (1 of 2 are done):\n[>] two",
    tasks:
      "Tasks of the board that you have claimed and not completed (get_task says all of one):\n- task_1: Look\nFor task_1 you work in the worktree /w/one; commit there.",
    worktrees: "Worktrees that you made:\n- one in /w/one (for task_1)\n- two in /w/two (kept for review)",
    team: "Team now: alice: waits for the review of plan_alice_1\nalice was asked to shut down (shutdown_alice_1) and has not answered.\nalice waits for your review (review_plan, request_id plan_alice_1) of a plan:\n  | 1. Look\n  | 2. Write",
    files: [
      "Files you know, with the beginning of their sha256 when you last saw them:",
      "- a.ts cccccccccccc written by c5, read by c3",
      "- /elsewhere/c dddddddddddd brought by an input",
      "- b\\n.ts bbbbbbbbbbbb read by c4",
    ].join("\n"),
    jobs: "Your commands in the background; you are told when one ends:\n- job_1, begun by c6: npm run dev\\n# it",
    cron: 'Your schedules:\n- cron_1 next Thu 1970-01-01 09:00 UTC; cron "0 9 * * *": look at CI',
    subagents:
      "Your subtasks in the background; each report comes to you by itself:\n- lead.c7 (explorer), begun by c7: find it",
    hub: 'Still to be handed in with export_to_context, each as its JSON Schema says:\n- report: {"type":"object"}\nHanded in: list',
    mcp: "Connected to docs.",
    memory: "- ports: The API runs on 4010.",
    surroundings: "As you were told last: Today is 2026-11-17. The git branch is main.",
  });
  const inView = await carried(["u1", "u2", "u3", "c1", "c8"]);
  const gone = ["instructions", "hooks", "skills", "mcp", "memory"].filter((name) => name in inView);
  expect(gone).toEqual([]);
});

test("a teammate knows what it owes, what became of its plan and whether it is to shut down; others know nothing of that", async () => {
  const facts: FactOf[] = [
    ...BEGUN,
    ["agent.created", { name: "alice", cwd: "/p" }],
    ["team.joined", { name: "alice", role: "writes", requirePlan: true }],
  ];
  const team = async (...more: FactOf[]) => (await after([...facts, ...more], "alice")()).team;
  const submitted: FactOf = ["plan.submitted", { requestId: "plan_1", plan: "Look" }, "alice"];
  const reviewed = (approve: boolean, feedback: string): FactOf => [
    "plan.reviewed",
    { requestId: "plan_1", approve, feedback },
  ];
  const owes = "A plan is wanted of you (submit_plan): until one is approved you may only look.";
  expect([
    await team(),
    await team(submitted),
    await team(submitted, reviewed(false, "more tests")),
    await team(submitted, reviewed(true, ""), [
      "shutdown.requested",
      { requestId: "s_1", name: "alice", reason: "over" },
    ]),
    (await after([...facts, submitted, ["agent.created", { name: "lead.c1", cwd: "/p" }]], "lead.c1")()).team,
  ]).toEqual([
    owes,
    "Your plan plan_1 waits for its review:\n  | Look",
    `${owes}\nYour plan plan_1 was rejected by lead (more tests):\n  | Look`,
    "lead asks you to shut down, request s_1: over\nAnswer with answer_shutdown.\nYour plan plan_1 was approved by lead:\n  | Look",
    undefined,
  ]);
});

test("each keeps to its share: whole while there is room, then by reference, then counted", async () => {
  const skill = (n: number): FactOf[] => [
    ...called(`c${n}`, "load_skill", {}, `<skill name="s${n}">\n${"x".repeat(9_000)}\n</skill>`),
    ["skill.loaded", { name: `s${n}`, source: "s", hash: "h", by: "model", callId: `c${n}` }],
  ];
  const seen = (n: number): FactOf => [
    "file.seen",
    { path: `/p/f${n}`, hash: "a".repeat(64), callId: `c${n}`, how: "read" },
  ];
  const carried = after([
    ...BEGUN,
    ...[1, 2, 3, 4].flatMap(skill),
    ...Array.from({ length: 300 }, (_, n) => seen(n)),
    [
      "todo.written",
      { todos: Array.from({ length: 300 }, (_, id) => ({ id, content: `todo number ${id}`, status: "pending" })) },
    ],
  ]);
  const { skills = "", files = "", todo = "" } = await carried();
  expect(skills.replaceAll(/x+/g, "x").split("\n")).toEqual([
    "Skills you have loaded, the last one first:",
    '<skill name="s4">',
    "x",
    "</skill>",
    '<skill name="s3">',
    "x",
    "</skill>",
    "- s2: recall c2 before work it is for",
    "- s1: recall c1 before work it is for",
  ]);
  const last = (text: string) => [
    text.split("\n")[1],
    text.split("\n").at(-1)?.replace(/\d+/, "N"),
    text.length < 5_100,
  ];
  expect([last(files), last(todo)]).toEqual([
    ["- f299 aaaaaaaaaaaa read by c299", "- and N more files: recall finds one by its path", true],
    ["[ ] todo number 0", "and N more", true],
  ]);
  expect(Object.values(await carried([], 20_000)).join("").length).toBeLessThanOrEqual(7_000);
});
