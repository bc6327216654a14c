// A host that hangs: it lives, and renews nothing. After its lease another one has ended it and goes on.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { type Fleet, openFleet } from "./fleet.ts";
import { call, seenIn } from "./world.ts";

let fleet: Fleet;
afterEach(async () => {
  vi.unstubAllEnvs();
  await fleet?.close();
});

test("teammates of a stopped host go on in another one when its lease is over, and nothing is done twice", async () => {
  vi.stubEnv("HOLDFAST_LEASE_MS", "1500");
  fleet = await openFleet({
    mates: ["alice"],
    tasks: [],
    workers: 1,
    script(request) {
      const { agent, last, since } = seenIn(request);
      if (agent === "lead" && last === "begin" && since === 0)
        return call("spawn_teammate", { name: "alice", role: "worker", prompt: "Hello" });
      if (agent === "alice" && since === 0) return call("bash", { command: "sleep 2; echo once >> done" });
      return { text: "Ready." };
    },
  });
  const of = async (type: string) => (await fleet.events()).filter((e) => e.actor === "alice" && e.type === type);
  const until = async (type: string) => {
    for (let i = 0; i < 400 && (await of(type)).length === 0; i++) await sleep(50);
    expect((await of(type)).length).toBe(1);
  };
  await until("tool.started");
  const [hung] = fleet.workers;
  const ended = new Promise((resolve) => hung!.once("exit", (_, signal) => resolve(signal)));
  process.kill(hung!.pid!, "SIGSTOP");
  fleet.start(1);
  await until("turn.ended");
  expect(await ended).toBe("SIGKILL");
  expect((await of("tool.finished")).map((e) => (e.data as { isError: boolean }).isError)).toEqual([false]);
});
