import { describe, expect, it } from "vitest";
import { type Intent, type Mate, type Team, understand } from "../../src/models/rehearsal/request.ts";

const mates = (...names: string[]): Mate[] => names.map((name) => ({ name }));
const team = (part: Partial<Team>): Team => ({ kind: "team", tasks: 0, worktrees: false, mates: [], ...part });
const review = (names: string[], approve: boolean, feedback?: string): Intent =>
  feedback === undefined ? { kind: "review", names, approve } : { kind: "review", names, approve, feedback };
const remind = (when: string, what: string): Intent => ({ kind: "remind", when, what });
const message = (to: string, content: string): Intent => ({ kind: "message", to, content });

const both = team({ tasks: 2, worktrees: true, mates: mates("alice", "bob"), plans: [] });
const three = team({ tasks: 3, worktrees: true, mates: mates("alice", "bob", "carol"), plans: [] });

const ENGLISH: [string, Intent[]][] = [
  [
    "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.",
    [both],
  ],
  ["create 2 tasks and a worktree for each, spawn Alice and Bob and have them submit plans first", [both]],
  ["Make two tasks with worktrees, then spawn two teammates. They must submit plans before claiming tasks.", [both]],
  [
    "Create three tasks, create worktrees for each task, then spawn alice, bob and carol and ask them to submit a plan",
    [three],
  ],
  ["Create two tasks", [team({ tasks: 2 })]],
  ["create a task to fix the login", [team({ tasks: 1, subjects: ["fix the login"] })]],
  [
    "Create tasks: fix the bug, add tests. Create worktrees for them, then spawn alice as a reviewer and dan.",
    [
      team({
        tasks: 2,
        subjects: ["fix the bug", "add tests"],
        worktrees: true,
        mates: [{ name: "alice", role: "reviewer" }, { name: "dan" }],
      }),
    ],
  ],
  ["Spawn alice and read README.md", [team({ mates: mates("alice") }), { kind: "read", path: "README.md" }]],
  ["spawn alice with plan approval", [team({ mates: mates("alice"), plans: [] })]],
  ["Ask alice for a plan", [team({ plans: ["alice"] })]],
  ["approve alice", [review(["alice"], true)]],
  ["OK, approve alice's plan.", [review(["alice"], true)]],
  ["Approve the plans of alice and bob", [review(["alice", "bob"], true)]],
  ["approve both plans", [review(["*"], true)]],
  ["approve the plan", [review([], true)]],
  ["approve plan_alice_ab12", [review(["plan_alice_ab12"], true)]],
  ["reject bob: add tests and run them", [review(["bob"], false, "add tests and run them")]],
  [
    "approve alice and reject bob's plan because it is short",
    [review(["alice"], true), review(["bob"], false, "it is short")],
  ],
  ["shut down alice", [{ kind: "shutdown", names: ["alice"] }]],
  ["Ask bob to shut down: we are done", [{ kind: "shutdown", names: ["bob"], reason: "we are done" }]],
  ["shut down everyone", [{ kind: "shutdown", names: [] }]],
  ["tell bob: look, and read it", [message("bob", "look, and read it")]],
  ["send a message to alice saying `hi`", [message("alice", "hi")]],
  ["remind me of the meeting in 3 minutes.", [remind("in 3 minutes", "the meeting")]],
  ["In 3 minutes, remind me about the meeting", [remind("In 3 minutes", "the meeting")]],
  ["remind me in an hour and a half to stretch", [remind("in an hour and a half", "stretch")]],
  ["Please remind me tomorrow at 9 that the release is due", [remind("tomorrow at 9", "the release is due")]],
  ["set a reminder for the meeting on friday at 15:30", [remind("on friday at 15:30", "the meeting")]],
  ["remind me to check in at 5", [remind("at 5", "check in")]],
  [
    "remind me to run the tests and read the mail every weekday at 9",
    [remind("every weekday at 9", "run the tests and read the mail")],
  ],
  ["remind me of tea in 3 min and read a.md", [remind("in 3 min", "tea"), { kind: "read", path: "a.md" }]],
];

const JAPANESE: [string, Intent[]][] = [
  [
    "タスクを2つ作り、それぞれにワークツリーを作って、alice と bob を起動してください。タスクを取る前に計画を提出するよう頼んでください。",
    [both],
  ],
  ["二つのタスクとワークツリーを作成し、アリスとボブを起動して。先に計画を提出させて。", [both]],
  [
    "タスクを３つ作って、各タスクのワークツリーも作成し、alice、bob、carol を起動し、計画を提出するように伝えて",
    [three],
  ],
  ["タスク「A」と「B」を作って", [team({ tasks: 2, subjects: ["A", "B"] })]],
  ["チームメイトを2人起動して", [team({ mates: mates("alice", "bob") })]],
  ["alice に計画を提出するよう頼んで", [team({ plans: ["alice"] })]],
  ["アリスの計画を承認", [review(["alice"], true)]],
  ["計画をすべて承認してください", [review(["*"], true)]],
  [
    "alice の計画を承認して、bob の計画を却下: テストも書いて。早く。",
    [review(["alice"], true), review(["bob"], false, "テストも書いて。早く。")],
  ],
  ["bob の計画を「短い」という理由で却下して", [review(["bob"], false, "短い")]],
  ["alice を終了して", [{ kind: "shutdown", names: ["alice"] }]],
  ["bob に「こんにちは」と伝えて", [message("bob", "こんにちは")]],
  ["3分後に会議をリマインドして", [remind("3分後", "会議")]],
  ["会議を３分後にリマインドしてください。", [remind("3分後", "会議")]],
  ["三分後に、会議を思い出させて", [remind("三分後", "会議")]],
  ["明日の9時に会議のことを知らせて", [remind("明日の9時", "会議")]],
  ["毎日9時半に薬を飲むようリマインドして", [remind("毎日9時半", "薬を飲む")]],
  ["server を起動して", [{ kind: "run", command: "server", background: false }]],
];

describe("understanding a request about a team or a reminder", () => {
  it.each(ENGLISH)("reads %j", (text, intents) => expect(understand(text)).toEqual({ lang: "en", intents }));
  it.each(JAPANESE)("reads %j", (text, intents) => expect(understand(text)).toEqual({ lang: "ja", intents }));

  it.each([
    "create five tasks",
    "create worktrees for them",
    "create a task list",
    "spawn a shell",
    "spawn alice to fix the bug",
    "don't approve alice",
    "approve alice only if the tests pass",
    "do not shut down alice",
    "remind me of the meeting",
    "remind me in 3 minutes",
    "bob の計画は承認しない",
    "alice を終了しないで",
    "会議をリマインドして",
  ])("does not guess at %j", (text) => {
    const { intents, unknown } = understand(text);
    expect({ intents, understood: unknown === undefined }).toEqual({ intents: [], understood: false });
  });
});
