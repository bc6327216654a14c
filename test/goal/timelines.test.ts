// A goal outlives the turn it was set in: an interrupt, a compaction, a fork, a restore and its undo.
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openContexts } from "../../src/contexts/index.ts";
import { goalIn } from "../../src/mechanisms/goal/events.ts";
import { isGoalQuestion } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";
import { atCommandLine, goalFactsIn, inTurn, scriptOf } from "./script.ts";

const GOAL = "the tests pass";

test("an interrupt while it is judged keeps it; a resume goes on with it", async () => {
  const judges = inTurn({ text: "met", faults: [{ pauseAt: 0 }] }, "met, because they do");
  const { start, run, server, events } = await atCommandLine(scriptOf({ works: inTurn("Done."), judges }));
  const running = start(["--goal", GOAL, "go"]);
  await server.paused();
  running.child.kill("SIGINT");
  expect((await running.exited).code).toBe(130);
  expect(goalFactsIn(await events())).toEqual([`given · ${GOAL}`, "told"]);
  const resumed = await run(["-c"]);
  expect([resumed.code, resumed.stderr.includes("the goal is met: they do")]).toEqual([0, true]);
  expect(goalFactsIn(await events()).slice(2)).toEqual(["judged · met · they do", "ended · met · they do"]);
});

async function inHouse() {
  let verdict = "nonsense";
  const house = await openHouse(scriptOf({ works: inTurn("Done."), judges: () => ({ text: verdict }) }));
  onTestFinished(() => house.close());
  const contexts = await openContexts({ store: house.store });
  /** The goal as it stands after that was said. */
  const say = async (context: string | undefined, text: string) => {
    const run = await house.harness.run(text, { ...(context && { context }) });
    const { goal } = await run.result;
    const now = goalIn(run.taken.agent.turn).goal?.condition;
    await run.taken.release();
    return { context: run.context, goal, now };
  };
  const standsIn = async (context: string) => (await say(context, "/goal")).now;
  return { house, contexts, say, standsIn, answerWith: (text: string) => (verdict = text) };
}

test("a restore goes to the goal that was set there, back and forth, and that one is judged on", async () => {
  const { contexts, say, standsIn, answerWith } = await inHouse();
  const { context } = await say(undefined, "hello");
  const opened = (await contexts.get(context))!;
  await opened.checkpoint("none");
  await say(context, `/goal ${GOAL}`);
  await opened.checkpoint("set");
  await say(context, "/goal another");
  await opened.checkpoint("replaced");
  await opened.restore("set", { files: false, data: false });
  expect(await standsIn(context)).toBe(GOAL);
  await opened.restore("none", { files: false, data: false });
  expect(await standsIn(context)).toBeUndefined();
  await opened.restore("replaced", { files: false, data: false });
  expect(await standsIn(context)).toBe("another");
  answerWith("met, because it is so");
  expect((await say(context, "go on")).goal).toMatchObject({ condition: "another", verdict: "met" });
  await opened.restore("set", { files: false, data: false });
  expect(await standsIn(context)).toBe(GOAL);
});

test("a fork goes on with it, and what it comes to there is not said of the original", async () => {
  const { contexts, say, standsIn, answerWith, house } = await inHouse();
  const { context } = await say(undefined, `/goal ${GOAL}`);
  const opened = (await contexts.get(context))!;
  await opened.checkpoint("here");
  const fork = await opened.fork("here");
  answerWith("met");
  expect((await say(fork.id, "go on")).goal).toEqual({ condition: GOAL, verdict: "met", why: "", judgements: 3 });
  expect([await standsIn(fork.id), await standsIn(context)]).toEqual([undefined, GOAL]);
  expect(house.server.log().invalid).toEqual([]);
});

test("what is imported brings none: nobody here has asked for it", async () => {
  const { run, holdfast, cwd } = await atCommandLine(scriptOf({ works: inTurn("Done."), judges: inTurn("nonsense") }));
  await run([`/goal ${GOAL}`]);
  const [{ id }] = JSON.parse((await holdfast("contexts", "ls", "--json")).stdout);
  const file = path.join(cwd, "kept.jsonl");
  await holdfast("contexts", "export", id, file);
  await holdfast("contexts", "rm", id, "--force");
  expect((await holdfast("contexts", "import", file)).code).toBe(0);
  const [imported] = JSON.parse((await holdfast("contexts", "ls", "--json")).stdout);
  expect((await run(["-r", imported.id, "/goal"])).stdout).toBe("No goal is set; /goal CONDITION sets one.\n");
});

test("compaction keeps it: the sheet says it, and it is judged on", async () => {
  const works = (nth: number) => ({
    text: `reply ${nth} `.repeat(1_500),
    usage: { input: 4_000 * (nth + 1), output: 1 },
  });
  let isMet = false;
  const judges = () => ({ text: isMet ? "met" : "nonsense" });
  const house = await openHouse(scriptOf({ works, judges }), { contextTokens: 24_000 });
  onTestFinished(() => house.close());
  let context: string | undefined;
  for (let n = 0; n < 7; n++) {
    const run = await house.harness.run(n === 0 ? `/goal ${GOAL}` : `prompt ${n} ${"words ".repeat(200)}`, {
      ...(context && { context }),
    });
    await run.result;
    context = run.context;
    await run.taken.release();
  }
  const compacted = (await house.events(context!)).filter(({ type }) => type === "context.compacted");
  expect(compacted.length).toBeGreaterThan(0);
  const last = house.server.log().requests.findLast((one) => !isGoalQuestion(one))!;
  const seen = JSON.stringify(last.body.messages);
  expect(seen.includes(`your turn goes on until it is met: ${GOAL}`)).toBe(true);
  isMet = true;
  const run = await house.harness.run("go on", { context: context! });
  expect((await run.result).goal).toMatchObject({ condition: GOAL, verdict: "met" });
});
