// What people and peers say may be larger than the window: it is shown by its ends, and the conversation goes on.
import { expect, onTestFinished, test } from "vitest";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";

const WINDOW = 16_000;

test.each(["the window is known", "the server refuses"])("texts of 40 kB, one after the other: %s", async (how) => {
  let refused = 0;
  const script = ({ body, attempt }: ScriptRequest): ScriptRound => {
    const sent = JSON.stringify(body).length;
    if (sent > WINDOW * 4) {
      refused++;
      const fault = { status: 400, message: "prompt is too long: 3 tokens > 2 maximum" };
      return { text: "", faults: [...Array(attempt - 1).fill(null), fault] };
    }
    return { text: "read", usage: { input: Math.round(sent / 4), output: 10 } };
  };
  const house = await openHouse(script, { ...(how === "the window is known" && { contextTokens: WINDOW }) });
  onTestFinished(() => house.close());
  let context: string | undefined;
  for (const [n, size] of [40_000, 40_000, 100_000, 300].entries()) {
    const text = `begin-${n} ${"w".repeat(size)} end-${n}`;
    const run = await house.harness.run(text, { ...(context && { context }) });
    expect([n, (await run.result).reason]).toEqual([n, "done"]);
    context = run.context;
    await run.taken.release();
    const last = JSON.stringify(house.server.log().requests.at(-1)!.body);
    expect([last.includes(`begin-${n} `), last.includes(` end-${n}`)]).toEqual([true, true]);
  }
  expect([house.server.log().invalid, refused > 0]).toEqual([[], how !== "the window is known"]);
});
