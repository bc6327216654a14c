// Several processes, one context: nothing is lost, a killed one is found at once, and big data stays out of memory.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LONG } from "../crash/counts.ts";
import { openWorld, type World } from "./world.ts";

const run = promisify(execFile);
const child = (name: string) => join(import.meta.dirname, "children", `${name}.ts`);
const PROCESSES = 8;
/** What is published of it (docs/contexts.md) is measured with 500. */
const TIMES = LONG ? 500 : 80;

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.dispose());

describe("eight processes that read, change and write shared keys", () => {
  it.each([1, 4])(
    "lose nothing (%i keys)",
    async (keys) => {
      const context = await world.contexts.create({ task: "count" });
      const children = Array.from({ length: PROCESSES }, () =>
        run(process.execPath, [child("merger"), world.file, context.id, String(TIMES), String(keys)]),
      );
      await Promise.all(children.map((one) => once(one.child.stdout!, "data")));
      for (const one of children) one.child.stdin!.end();
      const waits = (await Promise.all(children))
        .flatMap(({ stdout }) => JSON.parse(stdout.split("\n")[1]!) as number[])
        .sort((a, b) => a - b);
      const at = (share: number) => waits[Math.floor(waits.length * share)]!.toFixed(1);
      console.log(
        `${keys} keys: ${waits.length} merges, median ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${waits.at(-1)!.toFixed(1)} ms`,
      );
      const values = await Promise.all(Array.from({ length: keys }, (_, k) => context.read(`counter ${k}`)));
      expect(values).toEqual(Array.from({ length: keys }, () => (PROCESSES * TIMES) / keys));
      expect((await world.contexts.verify(context.id)).ok).toEqual(true);
    },
    120_000,
  );
});

describe("a process killed while it worked", () => {
  it("leaves its context interrupted at once, with its last checkpoint, ready to be taken up", async () => {
    const context = await world.contexts.create({ task: "long work" });
    const worker = spawn(process.execPath, [child("worker"), world.file, context.id], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(worker.stdout, "data");
    expect((await world.contexts.list())[0]!.status).toEqual("running");
    expect(await world.contexts.resumable()).toEqual([]);
    const before = Date.now();
    worker.kill("SIGKILL");
    await once(worker, "exit");
    const [found] = await world.contexts.resumable();
    expect(found).toMatchObject({
      id: context.id,
      title: "long work",
      status: "interrupted",
      checkpoint: { name: "phase 1" },
    });
    expect(found!.interruptedAt <= before && found!.interruptedAt > before - 60_000).toEqual(true);
    const work = await context.begin();
    expect([work.takenUp, await context.read("phase")]).toEqual([true, 2]);
    await context.restore("phase 1");
    expect(await context.read("phase")).toEqual(1);
    await work.end("done");
    expect((await world.contexts.list())[0]!.status).toEqual("completed");
  });
});

describe("nine megabytes of shared data", () => {
  it("stay out of the memory of a process that shares them", async () => {
    const { stdout } = await run(process.execPath, ["--expose-gc", child("sharer"), world.file, "20"]);
    expect(Number(stdout)).toBeLessThan(50_000); // of 500,000 characters each
  });

  it("stay out of the memory of a process that reads a part", async () => {
    const empty = await world.contexts.create({ task: "empty" });
    const full = await world.contexts.create({ task: "full" });
    for (let k = 0; k < 363; k++) {
      const rows = Array.from({ length: 290 }, (_, i) => ({
        id: `${k}-${i}`,
        text: `row ${i} of key ${k}, with ${(i * 7919 + k) % 104729} in it`,
        value: Math.sqrt(i * k),
      }));
      await full.share(`key ${k}`, { rows });
    }
    const bytes = (await full.details()).bytes;
    const read = async (id: string) =>
      JSON.parse((await run(process.execPath, [child("reader"), world.file, id])).stdout);
    const [without, withData] = [await read(empty.id), await read(full.id)];
    const ratio = withData.peakKib / without.peakKib;
    console.log(
      `${(bytes / 1e6).toFixed(1)} MB shared: peak ${withData.peakKib} KiB, empty ${without.peakKib} KiB: ${ratio.toFixed(2)}`,
    );
    expect([withData.keys, withData.part]).toEqual([363, ["104-0", "104-1"]]);
    expect(bytes).toBeGreaterThan(7_000_000);
    expect(ratio).toBeLessThan(1.5);
  }, 60_000);
});
