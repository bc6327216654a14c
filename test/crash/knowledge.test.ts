// Memory, skills and what is said beside an input, over kills: what was done is what the model is told, once, and nothing that it was to be told is lost.
import fs from "node:fs";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { type Exit, inCopy, openWorld, type World } from "./driver.ts";
import { at } from "./points.ts";

let world: World;
afterEach(() => world.close());

const eventsOf = (ledger: string) =>
  inCopy(world.stateDir, async (store) => {
    const events: { type: string; data: Record<string, unknown> }[] = [];
    for await (const { type, data } of store.read(ledger)) events.push({ type, data: data as Record<string, unknown> });
    return events;
  });
const context = async () => (await world.look()).contexts[0]!;
const results = async () =>
  (await context()).events.flatMap(({ type, data }) =>
    type === "tool.finished" ? (data as { content: { text: string }[] }).content.map(({ text }) => text) : [],
  );
const resume = async (way = {}): Promise<Exit> => world.run(["-p", "-r", (await context()).id], way);
const killed = { code: null, signal: "SIGKILL", hung: false };

it("a call of remember that was killed behind its effect is answered by what it did, and the reply that asked for it is there", async () => {
  const own = { name: "package-manager", description: "x", words: "use pnpm" };
  const worded = { name: "ports", description: "x", text: "The API runs on 4010." };
  world = await openWorld(({ round, attempt }) => {
    const name = attempt > 1 ? { name: "another" } : {};
    if (round > 1) return { text: "Done." };
    return { calls: [{ name: "remember", input: { ...(round === 0 ? own : worded), ...name } }] };
  });
  world.settings({ hooks: {} }); // a hook makes what was said durable before it runs
  expect(await world.run(["-p", "use pnpm"], at("effect.done"))).toMatchObject(killed);
  expect(await resume(at("effect.done", 2))).toMatchObject(killed);
  expect((await resume()).code).toBe(0);
  const [kept, proposed, ...more] = await eventsOf("memory");
  expect([kept, proposed, more]).toMatchObject([
    { type: "memory.kept", data: { name: "package-manager", text: "use pnpm" } },
    { type: "memory.proposed", data: { name: "ports" } },
    [],
  ]);
  const id = proposed!.data.id as string;
  expect(await results()).toEqual([
    "Remembered: package-manager.",
    `Proposed as ${id}: it is remembered when the user accepts it (holdfast memory accept ${id}).`,
  ]);
  expect(world.server.log().requests.map(({ round }) => round)).toEqual([0, 1, 2]);
});

it("what was said beside an input is said again, and a skill's command not run again, when the input was not taken in", async () => {
  world = await openWorld([{ text: "Done." }]);
  const write = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(world.dir, file)), { recursive: true });
    fs.writeFileSync(path.join(world.dir, file), text);
  };
  const folder = "$(basename $" + "{CLAUDE_SKILL_DIR})";
  const command = (name: string) => `!\`echo ${folder} $1 >> effects.log; echo said by ${name}\``;
  for (const name of ["deploy", "start"])
    write(`.claude/skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: x\n---\nOf it: ${command(name)}\n`);
  write(".claude/agents/worker.md", "---\nname: worker\ndescription: x\nskills: [start]\n---\nWork.\n");
  expect((await world.run(["memory", "add", "ports", "The API runs on 4010."])).code).toBe(0);
  // The skill of the person's prompt has run; that of the agent's type has just begun.
  expect(await world.run(["-p", "/deploy now", "--agent", "worker"], at("job.spawned", 2))).toMatchObject(killed);
  expect((await resume()).code).toBe(0);
  const sent = JSON.stringify(world.server.log().requests.map(({ body }) => body.messages));
  expect(fs.readFileSync(path.join(world.project, "effects.log"), "utf8").trim().split("\n").sort()).toEqual([
    "deploy now",
    "start",
  ]);
  const count = (text: string) => sent.split(text).length - 1;
  expect({
    memory: count("- ports: The API runs on 4010."),
    day: count("Today is "),
    deploy: count("said by deploy\\n"),
    start: count("[may have run, outcome unknown: `ARGUMENTS=''; "),
  }).toEqual({ memory: 1, day: 1, deploy: 1, start: 1 });
});

it("the files of memory follow what a killed process has kept, and a full place for them takes nothing away", async () => {
  world = await openWorld([{ text: "Done." }]);
  expect((await world.run(["memory", "add", "tabs", "I prefer tabs."])).code).toBe(0);
  expect(await world.run(["memory", "add", "ports", "On 4010."], at("append.committed"))).toMatchObject(killed);
  const dir = path.join(world.stateDir, "memory");
  const files = () => fs.readdirSync(dir).filter((name) => !name.endsWith(".lock"));
  fs.writeFileSync(path.join(dir, "ports.md.77.tmp"), "of the one that was killed");
  expect(files().sort()).toEqual(["MEMORY.md", "ports.md.77.tmp", "tabs.md"]);
  expect((await world.run(["-p", "hello"])).code).toBe(0);
  expect(files().sort()).toEqual(["MEMORY.md", "ports.md", "tabs.md"]);
  expect(fs.readFileSync(path.join(dir, "MEMORY.md"), "utf8")).toContain("- [ports](ports.md): On 4010.");
  fs.rmSync(dir, { recursive: true });
  fs.writeFileSync(dir, "no folder can be here");
  const { code, stdout, stderr } = await world.run(["memory", "forget", "ports"]);
  expect([code, stdout]).toEqual([0, "Forgotten: ports\n"]);
  expect(stderr).toMatch(/^holdfast: memory is kept, but not its files: .*\n$/);
});
