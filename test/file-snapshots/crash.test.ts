import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openWorld, treeOf, type World } from "./world.ts";

const keeperFile = path.resolve("src/file-snapshots/index.ts");

function run({ root, state }: World, code: string, crashAt?: string): ChildProcess {
  const script = `import { openFileKeeper } from ${JSON.stringify(keeperFile)};
    const keeper = openFileKeeper({ root: ${JSON.stringify(root)}, dir: ${JSON.stringify(state)}, limits: { graceMs: -1 } });
    ${code}`;
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...(crashAt ? { HOLDFAST_CRASH_AT: crashAt } : {}) };
  return spawn(process.execPath, ["--input-type=module", "-e", script], { env, stdio: ["ignore", "pipe", "inherit"] });
}

async function ended(child: ChildProcess): Promise<{ signal: string | null; out: string }> {
  let out = "";
  child.stdout!.on("data", (text) => {
    out += text;
  });
  return new Promise((resolve) => child.on("close", (_, signal) => resolve({ signal, out })));
}

function filled(opts: { git: boolean } = { git: true }): World {
  const world = openWorld(opts);
  for (let i = 0; i < 600; i++) world.write(`d${i % 13}/f${i}`, `file ${i} `.repeat(50));
  if (opts.git) {
    world.git("add", "-A");
    world.git("commit", "-qm", "x");
  }
  for (let i = 0; i < 50; i++) world.write(`new${i}`, `new ${i}`);
  return world;
}

describe("a kill -9", () => {
  it.each(["files.pack.written", "files.idx.written", "files.kept", "files.copied"])(
    "of a save at %s leaves nothing that breaks the next one",
    async (point) => {
      const world = filled();
      const before = treeOf(world.root);
      const { signal } = await ended(run(world, "await keeper.save(); await keeper.settled();", point));
      expect(signal).toBe("SIGKILL");
      const mark = await world.keeper.save();
      expect(mark).toMatchObject({ files: 650, left: [], partial: false });
      await world.keeper.settled();
      expect(await world.keeper.verify(mark)).toMatchObject({ ok: true, bad: [] });
      fs.rmSync(path.join(world.root, ".git"), { recursive: true });
      for (const file of fs.readdirSync(world.root)) fs.rmSync(path.join(world.root, file), { recursive: true });
      await world.again().restore(mark);
      expect(treeOf(world.root)).toEqual(before);
    },
  );

  it("at any moment of saves in a row loses no mark that was given", async () => {
    const world = filled({ git: false });
    const given: string[] = [];
    for (let round = 0; round < 6; round++) {
      const child = run(
        world,
        `import fs from "node:fs";
         for (let i = 0; ; i++) {
           fs.writeFileSync(${JSON.stringify(path.join(world.root, "changing"))}, "${round}:" + i);
           const mark = await keeper.save();
           fs.writeSync(1, JSON.stringify(mark) + "\\n");
         }`,
      );
      const all = ended(child);
      for (let marks = 0; marks <= round % 2; marks++)
        await Promise.race([all, new Promise((resolve) => child.stdout!.once("data", resolve))]);
      expect(child.exitCode).toBeNull();
      await sleep(round * 17);
      child.kill("SIGKILL");
      given.push(...(await all).out.split("\n").filter((line) => line.endsWith("}")));
    }
    expect(given.length).toBeGreaterThan(6);
    const last = await world.keeper.save();
    expect(last).toMatchObject({ files: 651, partial: false });
    for (const line of [given[0]!, given[given.length >> 1]!, given.at(-1)!])
      expect(await world.keeper.verify(JSON.parse(line))).toMatchObject({ ok: true, bad: [] });
    await world.keeper.settled();
    expect(await world.again().verify(last)).toMatchObject({ ok: true });
  });

  it("in the middle of writing a pack leaves nothing that is taken for one", async () => {
    const world = filled();
    const packs = path.join(world.state, "git", "objects", "pack");
    await world.keeper.save();
    await world.keeper.settled();
    for (const kind of ["pack", "idx"]) fs.writeFileSync(path.join(packs, `tmp_1_pack-${"0".repeat(40)}.${kind}`), "");
    world.write("new0", "changed");
    const mark = await world.again().save();
    expect(await world.again().verify(mark)).toMatchObject({ ok: true, bad: [] });
  });

  it("of a collect loses nothing that is needed", async () => {
    const world = filled({ git: false });
    const one = await world.keeper.save();
    world.write("new0", "changed");
    await world.keeper.save();
    await world.keeper.settled();
    const { signal } = await ended(run(world, `await keeper.collect([${JSON.stringify(one)}]);`, "files.collected"));
    expect(signal).toBe("SIGKILL");
    expect(await world.again().verify(one)).toMatchObject({ ok: true });
    await world.again({ graceMs: -1 }).collect([one]);
    expect(await world.again().verify(one)).toMatchObject({ ok: true });
  });

  it("of a restore is finished by the next one", async () => {
    const world = filled({ git: false });
    const before = treeOf(world.root);
    const mark = await world.keeper.save();
    for (let i = 0; i < 50; i++) world.write(`new${i}`, "changed");
    await world.keeper.settled();
    const { signal } = await ended(run(world, `await keeper.restore(${JSON.stringify(mark)});`, "files.restored:7"));
    expect(signal).toBe("SIGKILL");
    const changed = Array.from({ length: 50 }, (_, i) => world.read(`new${i}`)).filter((text) => text === "changed");
    expect(changed.length).toBe(43);
    await world.again().restore(mark);
    expect(treeOf(world.root)).toEqual(before);
  });
});
