import { execFileSync } from "node:child_process";
import { afterEach, expect, it } from "vitest";
import { type House, openHouse } from "../house.ts";

let house: House;
afterEach(() => house.close());

it("an agent is told the day and the branch with its first input, and again when one of them changed; the system prompt stays", async () => {
  house = await openHouse(() => ({ text: "ok" }), { surroundings: true });
  const git = (...args: string[]) => execFileSync("git", args, { cwd: house.root });
  git("init", "-q", "-b", "main");
  const go = async (context?: string) => {
    const run = await house.harness.run("go", context === undefined ? {} : { context });
    await run.result;
    await run.taken.release();
    return run.context;
  };
  const context = await go();
  await go(context);
  git("checkout", "-q", "-b", "feature/x");
  await go(context);
  const sent = house.server.log().requests.map(({ body }) => body.messages as { role: string; content: unknown }[]);
  const told = sent.map((messages) => JSON.stringify(messages.filter(({ role }) => role === "user")));
  const branches = (text: string) => [...text.matchAll(/The git branch is (\S+?)\.\\n/g)].map(([, branch]) => branch);
  expect(told.map(branches)).toEqual([["main"], ["main"], ["main", "feature/x"]]);
  expect(told[0]).toMatch(/Today is \d{4}-\d\d-\d\d\./);
  expect(new Set(sent.map(([system]) => JSON.stringify(system))).size).toBe(1);
});
