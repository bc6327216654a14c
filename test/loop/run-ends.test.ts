// The ends of a run as a program sees it: two that iterate, a harness that is closed, and what is no input.
import { afterEach, expect, test } from "vitest";
import { createHarness } from "../../src/harness.ts";
import { parseTemplate } from "../../src/hub.ts";
import { isHoldfastError } from "../../src/ledger/error.ts";
import type { HarnessEvent } from "../../src/run-result.ts";
import { type House, openHouse } from "../house.ts";

let house: House;
afterEach(() => house?.close());

/** As a program in JavaScript calls it. */
// biome-ignore lint/suspicious/noExplicitAny: that is what is tried
const untyped = (value: unknown): any => value;

const failed = async (work: () => unknown): Promise<{ code: string; message: string }> => {
  try {
    await work();
  } catch (error) {
    return { code: isHoldfastError(error) ? error.code : "none", message: (error as Error).message };
  }
  return { code: "none", message: "it was not refused" };
};

test("one loop at a time iterates a run: a second one is refused, and both end", async () => {
  house = await openHouse([{ text: "done" }]);
  const run = await house.harness.run("Say done.");
  const read = async () => {
    const seen: HarnessEvent[] = [];
    for await (const event of run) seen.push(event);
    return seen;
  };
  const first = read();
  expect(await failed(read)).toEqual({ code: "invalid", message: expect.stringContaining("iterated already") });
  expect((await first).length).toBeGreaterThan(3);
  // After its end, or a break, another one may look: there is nothing left.
  expect(await read()).toEqual([]);
});

test("a loop that breaks off leaves the rest to the next one", async () => {
  house = await openHouse([{ text: "done" }]);
  const run = await house.harness.run("Say done.");
  await run.result;
  let before = 0;
  for await (const _ of run) {
    before++;
    break;
  }
  let after = 0;
  for await (const _ of run) after++;
  expect([before, after > 2]).toEqual([1, true]);
});

test("closing a harness in the middle of a run says so; after it nothing runs, and another harness goes on", async () => {
  house = await openHouse([{ text: "An answer in pieces.", faults: [{ pauseAt: 1 }] }]);
  const run = await house.harness.run("Answer.");
  await house.server.paused();
  const ended = failed(() => run.result);
  const closing = house.harness.close();
  house.server.release();
  await closing;
  expect(await ended).toEqual({
    code: "closed",
    message: `the harness was closed while ${run.context} ran: run it again to go on where it stopped`,
  });
  expect(await failed(() => house.harness.run("More."))).toEqual({
    code: "closed",
    message: "this harness is closed: create another one",
  });
  const again = await house.again();
  const next = await again.run(undefined, { context: run.context });
  expect((await next.result).text).toBe("An answer in pieces.");
  await next.taken.release();
});

test("what is no harness, no input and no template is refused in one line", async () => {
  house = await openHouse([{ text: "done" }]);
  expect(await failed(() => createHarness(untyped({})))).toEqual({
    code: "invalid",
    message: expect.stringMatching(/^createHarness needs model .*, store .*, root .*, jobsDir /),
  });
  expect((await failed(() => createHarness(untyped(undefined)))).code).toBe("invalid");
  expect(await failed(() => house.harness.run(untyped(5)))).toEqual({
    code: "invalid",
    message: "run takes a text or a list of contents, not number",
  });
  expect((await failed(() => parseTemplate(untyped({ text: "x" })))).code).toBe("invalid");
  expect((await failed(() => parseTemplate(untyped("x")))).code).toBe("invalid");
});
