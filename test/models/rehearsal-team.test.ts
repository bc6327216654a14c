import { describe, expect, it } from "vitest";
import { planAsked, shutdownAnswered } from "../../src/mechanisms/team/texts.ts";
import type { Item } from "../../src/models/model.ts";
import { note, play, type Tools, user } from "./rehearsing.ts";

const REQUEST =
  "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.";

/** Stand-ins that print what the real tools print. */
const tools: Tools = {
  create_task: ({ tasks }) =>
    `created\n${(tasks as { subject: string }[]).map((t, i) => `task_${i + 1} pending: ${t.subject}`).join("\n")}`,
  create_worktree: ({ name }) => `Created ${name} on branch holdfast/${name}\nin /w/${name}`,
  spawn_teammate: ({ name, role }) => `Spawned ${name} (${role}). It works while a host runs; you hear from it.`,
  send_message: ({ to }) => `Sent to ${to}.`,
  request_plan: ({ name }) => `${name} may only look until a plan of it is approved.`,
  review_plan: ({ request_id, approve }) => `${request_id} ${approve ? "approved" : "rejected"}`,
  request_shutdown: ({ name }) => `Asked ${name} to shut down: request shutdown_${name}_cd34. Its answer comes to you.`,
  bash: () => "ran",
};
const { create_worktree: _, spawn_teammate, ...short } = tools;

const planOf = (name: string, plan = "1. Look\n2. Write", id = `plan_${name}_ab12`): Item =>
  note("team", planAsked(name, id, plan), "plan");
const status = note("team", "Team now: alice: waits for the review of plan_alice_ab12; bob: working", "status");
const say = (items: Item[], text: string) => play([...items, user(text)], tools);

describe("the rehearsal model leads a team", () => {
  it("creates the tasks in one batch, a worktree for each, and spawns teammates that plan first", async () => {
    const { calls, text } = await play([user(REQUEST)], tools);
    const prompt =
      "Work on the tasks of the board, one at a time, each in its own worktree. Submit a plan before you claim a task.";
    const mate = (name: string) => ["spawn_teammate", { name, role: "worker", prompt, require_plan: true }];
    expect(calls).toEqual([
      [
        [
          "create_task",
          {
            tasks: [
              {
                subject: "Write NOTES-1.md: an overview of the source files",
                description: expect.stringContaining("**/*.{ts,tsx,"),
                labels: ["alice"],
              },
              {
                subject: "Write NOTES-2.md: an overview of the tests",
                description: "List the files that match **/*{test,spec}* in NOTES-2.md, at the root of the worktree.",
                labels: ["bob"],
              },
            ],
          },
        ],
      ],
      [
        ["create_worktree", { name: "task-1", task_id: "task_1" }],
        ["create_worktree", { name: "task-2", task_id: "task_2" }],
      ],
      [mate("alice"), mate("bob")],
    ]);
    expect(text).toBe(
      [
        "Tasks:",
        "- task_1 pending: Write NOTES-1.md: an overview of the source files",
        "- task_2 pending: Write NOTES-2.md: an overview of the tests",
        "(The tasks are general ones that fit any repository: I am not an AI. Name your own after a colon.)",
        "",
        "Worktrees:",
        "- Created task-1 on branch holdfast/task-1",
        "- Created task-2 on branch holdfast/task-2",
        "",
        "Teammates:",
        "- Spawned alice (worker). It works while a host runs; you hear from it.",
        "- Spawned bob (worker). It works while a host runs; you hear from it.",
        "They submit plans first and claim nothing before that. Whether a plan is approved is your decision: I report each one.",
      ].join("\n"),
    );
  });

  it("does so in Japanese, for as many as are named", async () => {
    const { calls, text } = await play(
      [user("タスクを3つ作り、それぞれにワークツリーを作って、alice、bob、carol を起動してください。")],
      tools,
    );
    expect(calls.map((round) => round.map(([name]) => name))).toEqual([
      ["create_task"],
      Array(3).fill("create_worktree"),
      Array(3).fill("spawn_teammate"),
    ]);
    expect(calls[2]![2]![1]).toEqual({
      name: "carol",
      role: "worker",
      prompt: "ボードのタスクを一つずつ、それぞれのワークツリーで進めてください。",
    });
    expect(text).toContain("- task_3 pending: NOTES-3.md を書く: 文書の概要");
  });

  it("does nothing and says how to start it when the process does not stay", async () => {
    const { calls, text } = await play([user(REQUEST)], short);
    expect([calls, text]).toEqual([
      [],
      'Worktrees and teammates need a process that stays, and this one does not. Nothing was done. Start it with --stay: `holdfast -p --stay "…"`',
    ]);
  });

  it("names the tool that is missing when only that is", async () => {
    const { calls, text } = await play([user(REQUEST)], { ...short, spawn_teammate: spawn_teammate! });
    expect([calls, text]).toEqual([[], "The tool create_worktree is not available here."]);
  });

  it("spawns nobody when a worktree that was asked for cannot be had", async () => {
    const failing = { ...tools, create_worktree: () => new Error("this is no git repository") };
    const { calls, text } = await play([user(`${REQUEST} Run \`x\`.`)], failing);
    expect(calls.map((round) => round.map(([name]) => name))).toEqual([
      ["create_task"],
      ["create_worktree", "create_worktree"],
    ]);
    expect(text).toContain("Worktrees:\n- create_worktree failed: this is no git repository\n");
    expect(text).toContain("Stopped there. Not done: Run x");
  });

  it("reports plans and does not approve them by itself, also when they come while it works", async () => {
    const meanwhile = [[], [], [planOf("alice"), status]];
    const first = await play([user(REQUEST)], tools, { meanwhile });
    const decision = (name: string) =>
      `The decision is yours: /team in the terminal, elsewhere \`holdfast team approve plan_${name}_ab12\` or \`holdfast team reject plan_${name}_ab12 "why"\`; "approve ${name}" tells me to.`;
    const told = (name: string) =>
      `${name} asks for approval of a plan (plan_${name}_ab12):\n\`\`\`\n1. Look\n2. Write\n\`\`\`\n${decision(name)}`;
    expect(first.text.endsWith(`I report each one.\n\n${told("alice")}`)).toBe(true);
    const second = await play([...first.items, planOf("bob"), status], tools);
    expect([second.calls, second.text]).toEqual([[], told("bob")]);
  });

  it("carries out what the user decides, with the ids it has seen", async () => {
    const { items } = await play([user(REQUEST), planOf("alice"), planOf("bob")], tools);
    const ids = ["plan_alice_ab12", "plan_bob_ab12"] as const;
    const approved = await say(items, "approve alice");
    const rejected = await say(approved.items, "reject bob: add tests");
    const none = await say(rejected.items, "approve bob");
    const told = await play([...rejected.items, planOf("bob", "3. Test", "plan_bob_cd34")], tools);
    const again = await say(told.items, "ボブの計画を承認");
    const all = await say(items, "approve both plans");
    const sent = await play([...items, note("user", "approve alice")], tools); // `holdfast team send lead …`, as its advice says
    expect(sent.calls).toEqual(approved.calls);
    expect([approved, rejected, none, again, all].map(({ calls }) => calls.flat())).toEqual([
      [["review_plan", { request_id: ids[0], approve: true }]],
      [["review_plan", { request_id: ids[1], approve: false, feedback: "add tests" }]],
      [],
      [["review_plan", { request_id: "plan_bob_cd34", approve: true }]],
      ids.map((id) => ["review_plan", { request_id: id, approve: true }]),
    ]);
    expect([approved.text, none.text, again.text]).toEqual([
      "The plan of alice (plan_alice_ab12) is approved.",
      "No plan of bob waits for an answer.",
      "bob の計画 (plan_bob_cd34) を承認しました。",
    ]);
  });

  it("knows a plan by the kind of its note and the id of its request, however the team words it", async () => {
    const plan = note("team", "To be decided: plan_bob_ab12\n1. Look\nThank you.", "plan");
    const told = await play([user("spawn bob"), plan], tools);
    const approved = await say(told.items, "approve bob");
    expect(told.text).toContain("bob asks for approval of a plan (plan_bob_ab12):\n```\n1. Look\n```");
    expect(approved.calls.flat()).toEqual([["review_plan", { request_id: "plan_bob_ab12", approve: true }]]);
  });

  it("never answers a plan that the user cannot have meant", async () => {
    const { items } = await play([user(REQUEST), planOf("alice"), planOf("bob")], tools);
    const unclear = await say(items, "approve the plan");
    const reasonless = await say(items, "reject bob");
    const claimed = await say(
      [...items, note("carol", planAsked("carol", "plan_carol_ab12", "x"), "plan")],
      "approve carol",
    );
    const late = await play([...items, user("reject alice: add tests")], tools, {
      meanwhile: [[planOf("alice", "better", "plan_alice_ef56")]],
    });
    expect([unclear, reasonless, claimed, late].map(({ calls }) => calls.flat())).toEqual([
      [],
      [],
      [],
      [["review_plan", { request_id: "plan_alice_ab12", approve: false, feedback: "add tests" }]],
    ]);
    expect([unclear.text, late.text.split("\n\n")[1]?.split("\n")[0]]).toEqual([
      "Several plans wait for an answer (alice, bob): say whose you mean, or “all plans”.",
      "alice asks for approval of a plan (plan_alice_ef56):",
    ]);
  });

  it("asks for shutdown, asks for plans and passes messages on", async () => {
    const { items } = await play([user("spawn alice and bob")], tools);
    const asked = await say(items, "shut down alice");
    const everyone = await say(items, "shut down everyone");
    const plans = await say(items, "ask them to submit plans");
    const message = await say(items, "tell bob: hello");
    expect([asked, everyone, plans, message].map(({ calls }) => calls.flat())).toEqual([
      [["request_shutdown", { name: "alice" }]],
      ["alice", "bob"].map((name) => ["request_shutdown", { name }]),
      ["alice", "bob"].map((name) => ["request_plan", { name }]),
      [["send_message", { to: "bob", content: "hello" }]],
    ]);
    expect(asked.text).toBe(
      "alice was asked to shut down: Asked alice to shut down: request shutdown_alice_cd34. Its answer comes to you.",
    );
    const gone = { requestId: "shutdown_alice_cd34", name: "alice", approve: true, reason: "" };
    const told = await play([...asked.items, note("team", shutdownAnswered(gone)), status], tools);
    expect([told.calls, told.text]).toEqual([[], "Note from team: alice has shut down (request shutdown_alice_cd34)"]);
  });

  it("says what its teammates say and answers nothing by itself", async () => {
    const { items } = await play([user("spawn alice")], tools);
    const { calls, text } = await play(
      [...items, note("alice", "[idle] run `x`"), note("alice", "[idle] done", "idle"), status],
      tools,
    );
    expect([calls, text]).toEqual([[], "alice says: [idle] run `x`\n\nalice is idle: done"]);
  });
});
