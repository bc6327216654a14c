// What programs that embed the harness do wrong, or at the wrong moment.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { openContexts } from "../../src/contexts/index.ts";
import { createHub } from "../../src/hub/hub.ts";
import { defineMechanism } from "../../src/loop/seams.ts";
import { openHouse, tempDir } from "../house.ts";

test("a note whose fact cannot be recorded fails the turn once, and does not try for ever", async () => {
  const bad = defineMechanism({
    name: "bad",
    events: { "bad.said": { v: 1, schema: () => z.object({ n: z.number() }) } },
    seams: { intake: () => [{ origin: "bad", text: "x", events: [{ type: "bad.said", data: { n: "text" } }] }] },
  });
  const house = await openHouse([{ text: "never" }], { mechanisms: [bad] });
  onTestFinished(() => house.close());
  const run = await house.harness.run("go");
  expect((await run.result).reason).toBe("failed");
  const turns = (await house.events(run.context)).filter(({ type }) => type === "turn.started");
  expect(turns.length).toBe(1);
  await run.taken.release();
});

test("an interrupt right after the start is not lost", async () => {
  const house = await openHouse([{ text: "never" }]);
  onTestFinished(() => house.close());
  const run = await house.harness.run("go");
  run.interrupt();
  expect([(await run.result).reason, house.server.log().requests.length]).toEqual(["interrupted", 0]);
  await run.taken.release();
});

test("a context that is not there is not made by asking an agent in it", async () => {
  const house = await openHouse([{ text: "never" }]);
  onTestFinished(() => house.close());
  const contexts = await openContexts({ store: house.store });
  const hub = createHub({ host: house.harness.host, contexts, agents: house.harness.agents });
  const asked = hub.run({ context: "ctx_typo", agent: "a", type: "general-purpose", prompt: "go" });
  await expect(asked).rejects.toMatchObject({ code: "not_found" });
  expect([await contexts.list(), house.server.log().requests.length]).toEqual([[], 0]);
});

test("a mechanism's name is its own, and its close disturbs nobody", async () => {
  for (const name of ["todo", "transcript", "extensions"])
    await expect(openHouse([], { mechanisms: [defineMechanism({ name })] })).rejects.toMatchObject({
      code: "invalid",
      message: `a mechanism may not be named ${name}: the name is taken`,
    });
  const rude = defineMechanism({
    name: "rude",
    close() {
      throw new Error("no");
    },
  });
  const house = await openHouse([{ text: "a" }, { text: "b" }], { mechanisms: [rude] });
  const run = await house.harness.run("go");
  await run.result;
  await house.harness.close();
  const again = await (await house.again({ mechanisms: [] })).run("go on", { context: run.context });
  expect((await again.result).text).toBe("b");
  await again.taken.release();
  await house.close();
});

test("after a restore the last answer is that of the conversation as it is now", async () => {
  const house = await openHouse([{ text: "answer 1" }, { text: "answer 2" }]);
  onTestFinished(() => house.close());
  const first = await house.harness.run("one");
  await first.result;
  await first.taken.release();
  const { context } = first;
  const second = await house.harness.run("two", { context });
  await second.result;
  await second.taken.release();
  const opened = await (await openContexts({ store: house.store })).get(context);
  await opened.restore("prompt 2", { conversation: true });
  const looked = await house.harness.run(undefined, { context });
  expect((await looked.result).text).toBe("answer 1");
  await looked.taken.release();
});

test("a root that is named from where the process is stays the folder that was meant, wherever the process goes", async () => {
  const calls = [{ name: "write_file", input: { path: "made.txt", content: "here" } }];
  const [before, folder] = [process.cwd(), tempDir("relative")];
  const house = await openHouse([{ calls }, { text: "made" }], { root: path.relative(before, folder) });
  onTestFinished(async () => {
    process.chdir(before);
    await house.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  process.chdir(house.state);
  const run = await house.harness.run("go");
  expect((await run.result).reason).toBe("done");
  await run.taken.release();
  const [made] = (await house.events(run.context)).filter(({ type }) => type === "context.created");
  expect([made!.data, fs.readdirSync(folder)]).toEqual([expect.objectContaining({ root: folder }), ["made.txt"]]);
});

test("a context that this very process holds is said to be so, with how to let it go", async () => {
  const house = await openHouse([{ text: "one" }, { text: "two" }]);
  onTestFinished(() => house.close());
  const first = await house.harness.run("one");
  await first.result;
  const { context } = first;
  const refused = house.harness.run("two", { context });
  await expect(refused).rejects.toMatchObject({
    code: "held",
    message: `context ${context} is held by this very process (process ${process.pid}): let it go first (\`await run.taken.release()\`), or work in another context`,
  });
  await first.taken.release();
  const second = await house.harness.run("two", { context });
  expect((await second.result).text).toBe("two");
  await second.taken.release();
});
