// What holds for all that follows, over five conversations' worth of overflows and a resume: a skill's text, and the rules of a folder.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { HarnessOptions } from "../../src/harness-options.ts";
import type { ScriptRequest, ScriptRound } from "../../src/testing/model-server-script.ts";
import { openHouse } from "../house.ts";

const WINDOW = 60_000;
const ROUNDS = 60;
const reads = (file: string): ScriptRound => ({ calls: [{ name: "read_file", input: { path: file } }] });

it("a loaded skill and a folder's rules are in every request after them, however often room is made", async () => {
  let round = -1; // of the conversation, whatever of it a request shows
  const script = ({ body }: ScriptRequest): ScriptRound => {
    const isTooLong = JSON.stringify(body).length > WINDOW;
    const faults = isTooLong ? [{ status: 400, message: "prompt is too long: 3 tokens > 2 maximum" }] : [];
    if (!isTooLong) round++;
    const next = [{ calls: [{ name: "load_skill", input: { name: "tabs" } }] }, reads("web/rule.txt")][round];
    const end = round === ROUNDS / 2 || round >= ROUNDS;
    return {
      ...(next ?? (end ? { text: "so far" } : reads(`f${round}.txt`))),
      ...(faults.length > 0 && { faults: [...faults, ...faults, ...faults] }),
    };
  };
  const places: NonNullable<HarnessOptions["skills"]>["places"] = [];
  const instructions = { home: "/nowhere", configHome: "/nowhere/config", trusted: true };
  const skills = { places, isApproved: () => true };
  const house = await openHouse(script, { skills, instructions });
  onTestFinished(() => house.close());
  execFileSync("git", ["init", "-q"], { cwd: house.root });
  const dir = path.join(house.root, ".claude/skills");
  (places as unknown[]).push({ dir, shown: ".claude/skills", kind: "skill", repository: { root: house.root } });
  const write = (name: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(house.root, name)), { recursive: true });
    fs.writeFileSync(path.join(house.root, name), text);
  };
  const body = `body-of-tabs ${"always tabs, never spaces. ".repeat(60)}`;
  write(".claude/skills/tabs/SKILL.md", `---\nname: tabs\ndescription: For tabs.\n---\n${body}\n`);
  write("web/AGENTS.md", "rule-of-web");
  write("web/rule.txt", "x\n");
  for (let n = 0; n <= ROUNDS; n++) write(`f${n}.txt`, `${n} ${"y".repeat(90)}\n`.repeat(100));
  const first = await house.harness.run("go");
  expect((await first.result).reason).toBe("done");
  await first.taken.release();
  await house.harness.close();
  const again = await house.again();
  onTestFinished(() => again.close());
  const second = await again.run("go on", { context: first.context });
  expect((await second.result).reason).toBe("done");
  const sent = house.server.log().requests.map((request) => JSON.stringify(request.body.messages));
  const elisions = (await house.events(first.context)).filter(({ type }) => type === "context.compacted").length;
  expect(elisions).toBeGreaterThanOrEqual(5);
  expect(sent.slice(2).every((one) => one.includes("always tabs, never spaces. always tabs"))).toBe(true);
  expect(sent.slice(3).every((one) => one.includes("rule-of-web"))).toBe(true);
  expect(sent.at(-1)!.length).toBeLessThan(WINDOW);
});
