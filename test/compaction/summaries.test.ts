// A conversation of long texts, where lines for results are not enough: what the model is asked for, and what comes of whatever it says.
import { describe, expect, onTestFinished, test } from "vitest";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";

const WINDOW = 24_000;
const PROMPTS = 26;
const DECISION = "We keep port 8021, because 8020 is taken.";
const FIRST = "First of all: call the product Kelp.";

const lastText = (body: ScriptRequest["body"]): string => JSON.stringify(body.messages.at(-1));
const isQuestion = (body: ScriptRequest["body"]): boolean => lastText(body).includes("will be left out to make room");
const sizeOf = (body: unknown): number => JSON.stringify(body).length;

async function converse(summary: (nth: number) => ScriptRound, prompts = PROMPTS) {
  let asked = 0;
  const script = ({ body, round }: ScriptRequest): ScriptRound => {
    const usage = { input: Math.round(sizeOf(body) / 4), output: 1 };
    if (isQuestion(body)) return { ...summary(++asked), usage };
    return { text: `${round === 0 ? DECISION : ""} ${`reply ${round} `.repeat(400)}`, usage };
  };
  const house = await openHouse(script, { contextTokens: WINDOW });
  onTestFinished(() => house.close());
  let context: string | undefined;
  for (let n = 0; n < prompts; n++) {
    const said = n === 0 ? FIRST : `prompt ${n}: ${"words ".repeat(100)}`;
    const run = await house.harness.run(said, { ...(context && { context }) });
    expect((await run.result).reason).toBe("done");
    context = run.context;
    await run.taken.release();
  }
  const { requests, invalid } = house.server.log();
  expect(invalid).toEqual([]);
  const epochs = (await house.events(context!)).filter(({ type }) => type === "context.compacted");
  const bodies = requests.map((request) => request.body);
  const messages = (body: ScriptRequest["body"]): string[] => body.messages.map((one: unknown) => JSON.stringify(one));
  return { house, context: context!, bodies, epochs, messages };
}

describe("whatever the model says of what goes", () => {
  const over = "x".repeat(60_000);
  const kinds: [string, (nth: number) => ScriptRound][] = [
    ["something of use", (nth) => ({ text: `Summary ${nth}: all is well.` })],
    ["next to nothing", () => ({ text: "Work is in progress." })],
    ["nothing", () => ({ text: "" })],
    ["that it will not", () => ({ text: "I cannot.", finish: "refused" })],
    ["a call", () => ({ calls: [{ name: "read_file", input: { path: "x" } }] })],
    ["far too much", () => ({ text: over })],
  ];
  test.each(kinds)("%s: the conversation goes on, and what was asked and decided is in view", async (_, summary) => {
    const { bodies, epochs } = await converse(summary);
    expect(epochs.length).toBeGreaterThanOrEqual(2);
    const last = JSON.stringify(bodies.at(-1));
    expect([last.includes("call the product Kelp"), last.includes("port 8021"), last.includes(over)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(Math.max(...bodies.map(sizeOf)) / 4).toBeLessThan(WINDOW);
  });
});

test("a summary is asked for on what was sent already, once for its rounds, from the originals, and its text never changes", async () => {
  const { bodies, epochs, messages, house, context } = await converse((nth) => ({ text: `SUMMARY-${nth} is this.` }));
  const questions = bodies.flatMap((body, at) => (isQuestion(body) ? [at] : []));
  expect(questions.length).toBe(epochs.length);
  for (const at of questions) {
    const [before, question] = [bodies[at - 1], bodies[at]];
    expect([question.system, question.tools]).toEqual([before.system, before.tools]);
    const shared = messages(before).filter((one, i) => one === messages(question)[i]).length;
    expect(shared).toBe(messages(before).length);
    expect(lastText(question).length / sizeOf(question)).toBeLessThan(0.05);
  }
  const used = (await house.events(context)).filter(({ type }) => type === "reply.aside");
  expect(used.length).toBe(questions.length);
  const shown = bodies.filter((body) => !isQuestion(body)).map((body) => JSON.stringify(body));
  for (const [i] of epochs.entries()) {
    const text = `SUMMARY-${i + 1} is this.`;
    const first = shown.findIndex((one) => one.includes(text));
    expect(shown.slice(first).every((one) => one.split(text).length === 2)).toBe(true);
  }
});
