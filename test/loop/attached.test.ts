// Seams are always attached: what a house passes through does not depend on what it is told to do.
import fs from "node:fs";
import { afterEach, expect, test } from "vitest";
import { mechanismsOf } from "../../src/harness.ts";
import type { HarnessOptions } from "../../src/harness-options.ts";
import type { Mechanism } from "../../src/loop/seams.ts";
import { harmlessHooks } from "../environment.ts";
import { openHouse } from "../house.ts";

/** Every seam, and what a gate is made of, by mechanism. */
const attachedIn = (mechanisms: readonly Mechanism[]) =>
  Object.fromEntries(
    mechanisms.map(({ name, seams = {} }) => [
      name,
      [...Object.keys(seams), ...Object.keys(seams.gate ?? {}).map((part) => `gate.${part}`)].sort(),
    ]),
  );

const before = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

test("a house with every option and one with none attach the same seams", async () => {
  const where = { root: "/", jobsDir: "/nowhere/jobs" };
  for (const name of Object.keys(process.env)) if (/KEY|TOKEN|SECRET|PASS/.test(name)) delete process.env[name];
  const bare = attachedIn(mechanismsOf(where));
  process.env.OPENAI_API_KEY = "sk-proj-Zk3vR9xWq2LmT7uYp0sDfGhJ1kQwErTy";
  const never = async () => {
    throw new Error("not asked for");
  };
  const all: Required<Omit<HarnessOptions, "model" | "store" | "mechanisms">> = {
    ...where,
    isOwnFolder: () => true,
    permissionMode: "bypass",
    permissions: {},
    inProcessHooks: [{ event: "PermissionRequest", run: () => undefined }],
    env: { A: "1" },
    approvals: { wait: true },
    hooks: harmlessHooks(),
    sandbox: { bwrap: "/usr/bin/bwrap", root: "/", home: "/nowhere", dir: "/nowhere/sandbox" },
    maxRounds: 3,
    budget: { rounds: 3 },
    instructions: { home: "/nowhere", configHome: "/nowhere/config", trusted: true },
    surroundings: true,
    memory: {},
    skills: { places: [] },
    mcp: { servers: [] },
    agents: {},
    subagents: { maxDepth: 1 },
    openModel: never,
    fallbackModels: [never],
    systemPrompt: "You are a tester.",
    appendSystemPrompt: "more",
    files: never,
    contexts: never,
    board: never,
    team: { offer: true },
    worktrees: { dir: "/nowhere/worktrees", offer: true },
    cron: {},
    tools: [],
  };
  const catalogue = { about: never, list: never, problems: () => [], define: never };
  const full = attachedIn(mechanismsOf({ ...all, catalogue: catalogue as never, runner: never, agentsIn: never }));
  expect(full).toEqual(bare);
  expect(bare.redaction).toEqual(["tool"]);
  expect(bare.hooks).toEqual(["ask", "gate", "gate.judge", "gate.rewrite", "input", "intake", "model", "stop", "tool"]);
});

test("the house of the tests is that of production: a key of real length is hidden, hooks run, commands are shut in", async () => {
  const command = "cat key.txt; readlink /proc/self/ns/pid";
  const house = await openHouse([{ calls: [{ name: "bash", input: { command } }] }, { text: "Seen." }]);
  try {
    fs.writeFileSync(`${house.root}/key.txt`, `${process.env.OPENAI_API_KEY}\n`);
    const run = await house.harness.run("Look");
    await run.result;
    const all = [];
    for await (const event of house.store.read(run.context)) all.push(event);
    const hooks = all.flatMap((e) => (e.type === "hook.ran" ? [(e.data as { event: string }).event] : []));
    const shown = JSON.stringify(house.server.log().requests[1]!.body.messages.at(-1));
    expect({ hooks, key: process.env.OPENAI_API_KEY!.length > 40 }).toEqual({
      hooks: ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"],
      key: true,
    });
    expect(shown).toContain("[redacted OPENAI_API_KEY]");
    if (house.sandboxed) expect(shown).not.toContain(fs.readlinkSync("/proc/self/ns/pid"));
    expect(shown).not.toContain(process.env.OPENAI_API_KEY);
  } finally {
    await house.close();
  }
});
