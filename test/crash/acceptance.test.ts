// The acceptance case: kill -9 while a command runs. The command goes on, and the resume reports its own output and exit code.
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { killNow, openWorld, until, type World } from "./driver.ts";

/** A supervisor may need a moment to end after its last command. */
async function left(world: World): Promise<number[]> {
  await until(() => world.processes().length === 0, 3_000);
  return world.processes();
}

test("kill -9 during a command: the resume reports that command's own output and exit code, and it ran once", async () => {
  const command = "touch running; sleep 2; echo effect >> f; echo its own words; exit 3";
  const world = await openWorld([{ calls: [{ name: "bash", input: { command } }] }, { text: "It ended." }]);
  try {
    const at = (name: string) => path.join(world.project, name);
    const first = world.start(["-p", "Run it"]);
    expect(await until(() => fs.existsSync(at("running")))).toBe(true);
    first.child.kill("SIGKILL");
    const killed = await first.ended;
    const effectBefore = fs.existsSync(at("f"));
    const context = (await world.look()).contexts[0]!.id;
    const resumed = await world.run(["-p", "-r", context]);
    const { requests, invalid } = world.server.log();
    const result = requests.at(-1)!.body.messages.at(-1);
    expect({
      killed: killed.signal,
      effectBefore,
      exit: resumed.code,
      answer: resumed.stdout,
      effects: fs.readFileSync(at("f"), "utf8"),
      rounds: requests.map((r) => r.round),
      invalid,
      role: result.role,
      ownWords: result.content.includes("its own words"),
      ownExitCode: /\b3\b/.test(result.content),
      processes: await left(world),
    }).toEqual({
      killed: "SIGKILL",
      effectBefore: false,
      exit: 0,
      answer: "It ended.\n",
      effects: "effect\n",
      rounds: [0, 1],
      invalid: [],
      role: "tool",
      ownWords: true,
      ownExitCode: true,
      processes: [],
    });
  } finally {
    await world.close();
  }
});

test("kill -9 of the harness and of its command: the outcome is said to be unknown, and the command is not run again", async () => {
  const command = "echo effect >> f; touch running; sleep 60";
  const world = await openWorld([{ calls: [{ name: "bash", input: { command } }] }, { text: "I see." }]);
  try {
    const at = (name: string) => path.join(world.project, name);
    const first = world.start(["-p", "Run it"]);
    expect(await until(() => fs.existsSync(at("running")))).toBe(true);
    for (const pid of world.processes()) killNow(pid);
    await first.ended;
    const resumed = await world.run(["-p", "-r", (await world.look()).contexts[0]!.id]);
    const { requests, invalid } = world.server.log();
    expect({
      exit: resumed.code,
      effects: fs.readFileSync(at("f"), "utf8"),
      unknown: requests.at(-1)!.body.messages.at(-1).content.includes("unknown"),
      rounds: requests.map((r) => r.round),
      invalid,
      processes: await left(world),
    }).toEqual({ exit: 0, effects: "effect\n", unknown: true, rounds: [0, 1], invalid: [], processes: [] });
  } finally {
    await world.close();
  }
});
