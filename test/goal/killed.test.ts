// Killed around a verdict: one that was recorded is not asked for again, one that was not is asked for once more.
import { expect, test } from "vitest";
import { atCommandLine, goalFactsIn, inTurn, scriptOf, writes } from "./script.ts";

const works = inTurn(writes("a.txt"), "I wrote a.", writes("b.txt"), "I wrote b.");
const judges = inTurn("not yet, because b.txt is missing", "met, because both are there");

const RECORDED = [
  "given · both files are written",
  "told",
  "judged · not_yet · b.txt is missing",
  "judged · met · both are there",
  "ended · met · both are there",
];

/** What the evaluator says goes by what is there: a question that is repeated is answered the same. */
const script = () =>
  scriptOf({
    works: (_, { round, body }) => works(round, { body } as never),
    judges: (_, { body }) => judges(JSON.stringify(body.messages).includes("I wrote b.") ? 1 : 0, { body } as never),
  });

test.each([
  ["before the first verdict is recorded", "goal.answered:1", 3],
  ["after it, before the model is told", "goal.recorded:1", 2],
  ["before the last verdict is recorded", "goal.answered:2", 3],
  ["after it, before the turn has ended", "goal.recorded:2", 2],
])("%s", async (_, point, asked) => {
  const { run, events, questions, holdfast, server } = await atCommandLine(script());
  const killed = await run(["--goal", "both files are written", "write them"], { env: { HOLDFAST_CRASH_AT: point } });
  expect(killed.signal).toBe("SIGKILL");
  const resumed = await run(["-c", "--output-format", "json"]);
  const { goal, result } = JSON.parse(resumed.stdout);
  expect([resumed.code, result, questions().length]).toEqual([0, "I wrote b.", asked]);
  expect(goalFactsIn(await events())).toEqual(RECORDED);
  const told = (await events()).filter(
    ({ type, data }) => type === "note.added" && (data as { kind?: string }).kind === "not_yet",
  );
  expect([told.length, server.log().invalid]).toEqual([1, []]);
  const ended = point !== "goal.recorded:2";
  expect(goal?.verdict).toBe(ended ? "met" : undefined);
  expect((await holdfast("replay", "--all")).stdout).toContain(" 0 differences");
});
