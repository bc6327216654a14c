// Results of one round that are more than the window together: the largest are shown by their ends, and each is one recall away.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";

const WINDOW = 32_000;
const WIDE = 12;

test.each(["the window is known", "the server refuses"])("twelve files of 25 kB at once: %s", async (how) => {
  let refused = 0;
  const script = ({ round, body, attempt }: ScriptRequest): ScriptRound => {
    const sent = JSON.stringify(body).length;
    const usage = { input: Math.round(sent / 4), output: 10 };
    if (sent > WINDOW * 4) {
      refused++;
      const fault = { status: 400, message: "prompt is too long: 3 tokens > 2 maximum" };
      return { text: "", faults: [...Array(attempt - 1).fill(null), fault] };
    }
    const paths = Array.from({ length: WIDE }, (_, n) => `f${n}.txt`);
    if (round === 0) return { calls: paths.map((path) => ({ name: "read_file", input: { path } })), usage };
    if (round === 1) return { calls: [{ name: "recall", input: { ref: "c3", offset: 120, limit: 3 } }], usage };
    return { text: "done", usage };
  };
  const house = await openHouse(script, { ...(how === "the window is known" && { contextTokens: WINDOW }) });
  onTestFinished(() => house.close());
  for (let n = 0; n < WIDE; n++) {
    const lines = Array.from({ length: 250 }, (_, i) => `file ${n} line ${i + 1} ${"z".repeat(80)}\n`);
    fs.writeFileSync(path.join(house.root, `f${n}.txt`), lines.join(""));
  }
  const run = await house.harness.run("read them all");
  expect((await run.result).reason).toBe("done");
  await run.taken.release();
  const { requests, invalid } = house.server.log();
  expect([invalid, refused > 0]).toEqual([[], how !== "the window is known"]);
  const shown = requests.at(-1)!.body.messages.filter(({ role }: { role: string }) => role === "tool");
  expect(shown.length).toBe(WIDE + 1);
  const whole = shown.filter(({ content }: { content: string }) => content.length > 20_000).length;
  expect([whole > 0, whole < WIDE]).toEqual([true, true]);
  expect(shown[2].content).toMatch(/left out, because the results of this round do not fit; recall c3, by parts/);
  expect(shown.at(-1).content).toContain("file 2 line 120 ");
});
