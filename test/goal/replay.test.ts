// A recorded run with a goal replays: the verdicts are those of the recording, and what follows from them is computed anew.
import { expect, onTestFinished, test } from "vitest";
import { readRecording } from "../../src/replay/recording.ts";
import { houseOf, replayEvents } from "../../src/replay/replay.ts";
import { openHouse } from "../house.ts";
import { atCommandLine, inTurn, scriptOf, writes } from "./script.ts";

const works = inTurn(writes("a.txt"), "I wrote a.", writes("b.txt"), "I wrote b.");
const broken = { faults: Array(9).fill({ status: 400, message: "no" }) };

const RUNS: [string, Parameters<typeof inTurn>, string[]][] = [
  [
    "beside a prompt: not yet, then met",
    ["not yet, because b is missing", "met"],
    ["--goal", "both are there", "write"],
  ],
  ["typed: impossible", ["impossible, because of the disk"], ["/goal both are there"]],
  ["not of the form, then met with a reason", ["Well.", "met, because I looked"], ["/goal both are there"]],
  ["never of the form", ["Well."], ["/goal both are there"]],
  ["the call fails twice", [broken], ["/goal both are there"]],
  ["nothing is called", ["not yet, because b is missing"], ["/goal both are there", "--disallowedTools", "Edit"]],
];

test.each(RUNS)("%s", async (_, says, args) => {
  const { run, holdfast, questions } = await atCommandLine(scriptOf({ works, judges: inTurn(...says) }));
  await run(args);
  await run(["-c", "/goal"]);
  await run(["-c", "/goal clear"]);
  await run(["-c", "hello"]);
  const asked = questions().length;
  const replayed = await holdfast("replay", "--all");
  expect([replayed.stdout.match(/ (\d+) compared, .*/)?.[0], replayed.code, questions().length]).toEqual([
    expect.stringMatching(/^ [1-9]\d+ compared, 0 differences$/),
    0,
    asked,
  ]);
});

test("a budget holds for the evaluator too: it ends the turn as always, and such a run replays", async () => {
  const judges = inTurn("not yet, because more is wanted");
  const house = await openHouse(scriptOf({ works: (nth) => works(nth % 2, {} as never), judges }), {
    budget: { rounds: 4 },
  });
  onTestFinished(() => house.close());
  const run = await house.harness.run("write", { goal: "more" });
  const { reason, budget, goal } = await run.result;
  const { requests } = house.server.log();
  expect([reason, budget, goal?.verdict, requests.length]).toEqual(["limit", "rounds", "not_yet", 4]);
  const events = await readRecording(house.store, houseOf().codec, run.context);
  const { differences, compared } = await replayEvents(run.context, events);
  expect([differences, compared > 10]).toEqual([[], true]);
});
