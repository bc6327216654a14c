// A goal through the command line: a turn goes on until an evaluator says that it is over, within bounds.
import { expect, test } from "vitest";
import { isGoalQuestion, type ScriptRequest } from "../../src/testing/model-server-script.ts";
import { atCommandLine, goalFactsIn, inTurn, scriptOf, writes } from "./script.ts";

const GOAL = ["--goal", "both files are written"];
const usage = { input: 100, output: 7 };

test("met at once: one question, exit code 0, and the evaluator's call is counted", async () => {
  const judges = inTurn({ text: "met, because both were written", usage });
  const { run, events, server } = await atCommandLine(scriptOf({ works: inTurn({ text: "Done.", usage }), judges }));
  const { code, stdout, stderr } = await run([...GOAL, "write them"]);
  expect([code, stdout]).toEqual([0, "Done.\n"]);
  expect(stderr).toContain("· the goal is met: both were written\n");
  expect(stderr).toContain("· 1 round · 200 tokens in, 14 out ·");
  expect(goalFactsIn(await events())).toEqual([
    "given · both files are written",
    "told",
    "judged · met · both were written",
    "ended · met · both were written",
  ]);
  expect(server.log().invalid).toEqual([]);
});

test("not yet twice, then met: the reason is said to the model, and the turn goes on", async () => {
  const works = inTurn(writes("a.txt"), "I wrote a.", writes("b.txt"), "I wrote b.", "Both are there.");
  const judges = inTurn("not yet, because b.txt is missing", "Not yet, because nobody looked", "met");
  const { run, questions, server } = await atCommandLine(scriptOf({ works, judges }));
  const { code, stdout } = await run([...GOAL, "write them", "--output-format", "json"]);
  const { goal, is_error, num_turns, result } = JSON.parse(stdout);
  expect({ code, goal, is_error, num_turns, result }).toEqual({
    code: 0,
    goal: { condition: "both files are written", verdict: "met", why: "", judgements: 3 },
    is_error: false,
    num_turns: 5,
    result: "Both are there.",
  });
  expect(questions().length).toBe(3);
  const last = JSON.stringify(server.log().requests.findLast((one) => !isGoalQuestion(one))!.body.messages);
  expect(last).toContain(
    "The goal is not met yet, because b.txt is missing\\nGo on until it is: both files are written",
  );
  expect(last).not.toContain("is this condition met?");
});

test("the question stands behind what the model has seen, with the same system prompt and tools, and nothing it asks for is run", async () => {
  const works = inTurn(writes("a.txt"), "Done.");
  const judges = inTurn(
    { text: "met", calls: [{ name: "write_file", input: { path: "b.txt", content: "x" } }] },
    "met",
  );
  const { run, server, events } = await atCommandLine(scriptOf({ works, judges }));
  expect((await run([...GOAL, "write them"])).code).toBe(0);
  const bodies = server.log().requests.map(({ body }) => body);
  const [, before, question] = bodies;
  expect([question.tools, question.messages.slice(0, before.messages.length)]).toEqual([before.tools, before.messages]);
  expect(question.messages.length).toBe(before.messages.length + 2);
  const started = (await events()).filter(({ type }) => type === "tool.started");
  expect([started.length, goalFactsIn(await events()).slice(2)]).toEqual([
    1,
    [
      "judged · failed · the evaluator's answer had not the form that was asked for",
      "judged · met · ",
      "ended · met · ",
    ],
  ]);
});

test("impossible: the goal is over, and the exit code says that it is not so", async () => {
  const judges = inTurn("impossible, because the disk is read-only");
  const { run, questions } = await atCommandLine(scriptOf({ works: inTurn("I cannot."), judges }));
  const { code, stdout, stderr } = await run([...GOAL, "write them"]);
  expect([code, stdout, questions().length]).toEqual([1, "I cannot.\n", 1]);
  expect(stderr).toContain("✗ the goal is impossible: the disk is read-only\n");
  const again = await run(["-c", "/goal"]);
  expect([again.code, again.stdout, questions().length]).toEqual([
    0,
    "No goal is set; /goal CONDITION sets one. Of the last one (both files are written): the goal is impossible: the disk is read-only\n",
    1,
  ]);
});

test.each([
  ["praise", "I believe the goal is met."],
  ["two lines", "met, because it is\nnot yet, because it is not"],
  ["no reason", "not yet"],
])(
  "an answer without the form (%s) is asked for twice and never counts as met; the goal stays set",
  async (_, text) => {
    const { run, questions } = await atCommandLine(scriptOf({ works: inTurn("Done."), judges: inTurn(text) }));
    const { code, stdout, stderr } = await run([...GOAL, "write them", "--output-format", "json"]);
    expect([code, questions().length, JSON.parse(stdout).goal]).toEqual([
      1,
      2,
      {
        condition: "both files are written",
        verdict: "failed",
        why: "the evaluator's answer had not the form that was asked for",
        judgements: 2,
      },
    ]);
    expect(stderr).toContain("the goal could not be judged, 2 times in a row");
    expect((await run(["-c", "/goal"])).stdout).toContain(
      "The goal: both files are written\nJudged 2 times, last: not judged",
    );
  },
);

test("a failing call of the evaluator counts as a failed judgement; gone on with, the goal is judged again", async () => {
  let isBroken = true;
  const judges = () => (isBroken ? { faults: Array(9).fill({ status: 400, message: "no" }) } : { text: "met" });
  const { run, questions } = await atCommandLine(scriptOf({ works: inTurn("Done."), judges }));
  const { code, stderr } = await run([...GOAL, "write them"]);
  expect([code, questions().length]).toEqual([1, 2]);
  expect(stderr).toContain("the goal could not be judged, 2 times in a row");
  isBroken = false;
  const later = await run(["-c"]);
  expect([later.code, questions().length]).toEqual([0, 3]);
  expect(later.stderr).toContain("the goal is met");
});

test("three times not yet with nothing called in between: not reached", async () => {
  const judges = inTurn("not yet, because a", "not yet, because b", "not yet, because c", "met");
  const { run, questions } = await atCommandLine(scriptOf({ works: inTurn("I would rather not."), judges }));
  const { code, stdout, stderr } = await run([...GOAL, "write them", "-q"]);
  expect([code, stdout, questions().length]).toEqual([1, "I would rather not.\n", 3]);
  expect(stderr).toBe("the goal is not reached: 3 times not yet with nothing called in between: c\n");
});

test("twenty judgements are the most, however busy the agent is", async () => {
  const works = (nth: number) => (nth % 2 === 0 ? writes(`f${nth}.txt`) : { text: `I wrote f${nth - 1}.txt` });
  const { run, questions } = await atCommandLine(
    scriptOf({ works, judges: inTurn("not yet, because more is wanted") }),
  );
  const { code, stdout } = await run([...GOAL, "write them", "--output-format", "json"]);
  const { goal, is_error, errors } = JSON.parse(stdout);
  expect([code, questions().length, is_error, goal.verdict, goal.judgements]).toEqual([1, 20, true, "not_reached", 20]);
  expect(errors).toEqual(["the goal is not reached: judged 20 times, which is the limit: more is wanted"]);
});

test("the limit on rounds holds, and a question is no round", async () => {
  const script = () => scriptOf({ works: inTurn("Done."), judges: inTurn("not yet, because of this", "met") });
  const stopped = await (await atCommandLine(script())).run([...GOAL, "write them", "--max-rounds", "1"]);
  expect([stopped.code, stopped.stderr.includes("stopped after 1 round")]).toEqual([3, true]);
  const met = await (await atCommandLine(script())).run([...GOAL, "write them", "--max-rounds", "2"]);
  expect(met.code).toBe(0);
});

test("where no goal is set nothing is recorded of goals, and nothing is asked", async () => {
  const asked = (request: ScriptRequest) => ({ text: isGoalQuestion(request) ? "met" : "Done." });
  const { run, events, server } = await atCommandLine(asked);
  const { stdout } = await run(["write them", "--output-format", "json"]);
  expect([Object.hasOwn(JSON.parse(stdout), "goal"), server.log().requests.length]).toEqual([false, 1]);
  expect((await events()).filter(({ type }) => type.startsWith("goal.") || type === "reply.aside")).toEqual([]);
});

test("an empty goal and one that is too long are wrong usage", async () => {
  const { run, server } = await atCommandLine(scriptOf({ works: inTurn("Done."), judges: inTurn("met") }));
  const [empty, long] = [await run(["--goal", " ", "x"]), await run(["--goal", "x".repeat(4_001), "x"])];
  expect([empty.code, long.code, server.log().requests.length]).toEqual([2, 2, 0]);
  expect(long.stderr).toContain("a goal has at most 4000 characters, and this one 4001");
});
