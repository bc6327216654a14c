import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openContexts, RESULTS } from "../../src/contexts/index.ts";
import { runWorkflow } from "../../src/workflow/run.ts";
import { workflowStatus } from "../../src/workflow/status.ts";
import { LONG } from "../crash/counts.ts";
import { tempDir } from "../house.ts";
import { crashFlow, playCrash } from "./crash.ts";
import { fakeRunner } from "./fake.ts";

const CHILD = path.join(import.meta.dirname, "run-process.ts");
/** What an undisturbed run asks the model for, whatever the order between siblings. */
const ALL_REQUESTS = [
  ...["collect.1/0", "collect.1/1", "side.1/0", "side.2/0", "review.1/0", "review.2/0", "publish.1/0"],
  ...["generate.1.0/0", "generate.1.0/1", "generate.1.1/0", "generate.1.1/1"],
  ...["generate.2.0/0", "generate.2.0/1", "generate.2.1/0", "generate.2.1/1"],
].sort();

interface World {
  file: string;
  id: string;
  dir: string;
}

async function openWorld(): Promise<World> {
  const state = tempDir("workflow");
  const file = path.join(state, "ledger.db");
  const contexts = await openContexts({ file });
  const { id } = await contexts.create({ task: "crash" });
  await contexts.close();
  return { file, id, dir: path.join(state, "agents") };
}

function start({ file, id, dir }: World, opts: { crashAt?: string; delayMs?: number } = {}) {
  const env = { ...process.env, ...(opts.crashAt && { HOLDFAST_CRASH_AT: opts.crashAt }) };
  const child = spawn(process.execPath, [CHILD, file, id, dir, String(opts.delayMs ?? 0)], { env });
  let out = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (out += chunk));
  const exit = new Promise<{ signal: string | null; out: string }>((resolve) =>
    child.on("close", (_, signal) => resolve({ signal, out: out.trim() })),
  );
  return { child, exit };
}

const requestsOf = ({ dir }: World): string[] =>
  fs.existsSync(path.join(dir, "requests.log"))
    ? fs.readFileSync(path.join(dir, "requests.log"), "utf8").trim().split("\n")
    : [];

/** Asked for, and no answer was recorded: these may be asked for again, nothing else. */
function inFlight(world: World): string[] {
  return requestsOf(world).filter((one) => {
    const [agent, round] = one.split("/") as [string, string];
    const file = path.join(world.dir, `${agent}.json`);
    return !fs.existsSync(file) || JSON.parse(fs.readFileSync(file, "utf8")).rounds <= Number(round);
  });
}

/** Everything that must be the same however often it was killed. */
async function look({ file, id }: World) {
  const contexts = await openContexts({ file });
  const context = await contexts.get(id);
  const all = (await context.read(RESULTS)) as { phase: string; agent: string; item?: number }[];
  const results = all.filter((one) => one.item === undefined);
  const run = (await workflowStatus(context))!;
  const seen = {
    state: run.state,
    status: (await contexts.list())[0]!.status,
    phases: run.phases.map(({ id: phase, state, runs, round }) => `${phase} ${state} ${runs} ${round}`),
    results: results.map(({ agent }) => agent).sort(),
    items: all.flatMap(({ agent, item }) => (item === undefined ? [] : `${agent} item ${item}`)).sort(),
    ordered: results.map(({ phase }) => phase).filter((one) => one !== "side"),
    checkpoints: (await context.checkpoints()).map(({ note }) => note).sort(),
    code: await context.read("code"),
    authors: (await context.history("code")).map(({ author }) => author),
  };
  await contexts.close();
  return seen;
}

const WHOLE = {
  state: "done",
  status: "completed",
  phases: ["collect done 1 1", "generate done 2 2", "side done 2 1", "review done 2 2", "publish done 1 1"],
  results: ["collect.1", "generate.1", "generate.2", "publish.1", "review.1", "review.2", "side.2"],
  items: ["generate.1.0 item 0", "generate.1.1 item 1", "generate.2.0 item 0", "generate.2.1 item 1"],
  ordered: ["collect", "generate", "review", "generate", "review", "publish"],
  checkpoints: ["collect.1", "generate.1", "generate.2", "publish.1", "review.1", "review.2", "side.2"].map(
    (one) => `workflow:${one}`,
  ),
  code: ["code of generate.2.0", "code of generate.2.1"],
  authors: ["generate.1", "generate.2"],
};

/** In this process: it takes the work up from one that is dead. */
async function resume({ file, id, dir }: World): Promise<string> {
  const contexts = await openContexts({ file });
  const context = await contexts.get(id);
  const { runner } = fakeRunner(dir, playCrash);
  const { state } = await runWorkflow({ workflow: crashFlow(), context, runner });
  await contexts.close();
  return state;
}

/** Kills at the n-th passing until a run passes it no more often; what is wrong after the resume, by n. */
async function killedAt(point: string, step: number): Promise<{ kills: number; wrong: string[] }> {
  const wrong: string[] = [];
  for (let n = 1, kills = 0; ; n += step, kills++) {
    const world = await openWorld();
    const first = await start(world, { crashAt: `${point}:${n}` }).exit;
    if (first.signal !== "SIGKILL") return { kills, wrong };
    const open = inFlight(world);
    try {
      expect(await resume(world)).toBe("done");
      expect(await look(world)).toEqual(WHOLE);
      expect(requestsOf(world).sort()).toEqual([...ALL_REQUESTS, ...open].sort());
    } catch (error) {
      wrong.push(`${n}: ${(error as Error).message}`);
    }
    fs.rmSync(path.dirname(world.file), { recursive: true });
  }
}

describe("a workflow whose process is killed", () => {
  it("runs to its end undisturbed, and once more without any model request", async () => {
    const world = await openWorld();
    expect(await start(world).exit).toEqual({ signal: null, out: "done" });
    expect(await look(world)).toEqual(WHOLE);
    expect(requestsOf(world).sort()).toEqual(ALL_REQUESTS);
    expect(await start(world).exit).toEqual({ signal: null, out: "done" });
    expect(await look(world)).toEqual(WHOLE);
    expect(requestsOf(world)).toHaveLength(ALL_REQUESTS.length);
  });

  // Durable is durable: in the long run at every write, before and after it; otherwise at every third.
  for (const point of LONG ? ["append.before-commit", "append.committed"] : ["append.committed"])
    it(`ends as if nothing had happened after kill -9 at any ${point}`, { timeout: 600_000 }, async () => {
      const { kills, wrong } = await killedAt(point, LONG ? 1 : 3);
      expect(wrong).toEqual([]);
      expect(kills).toBeGreaterThan(8);
    });

  it("repeats at most the requests in flight when killed from outside in the middle of a phase", async () => {
    const world = await openWorld();
    const { child, exit } = start(world, { delayMs: 150 });
    while (!requestsOf(world).includes("generate.1.0/1")) await sleep(5);
    child.kill("SIGKILL");
    expect((await exit).signal).toBe("SIGKILL");
    const open = inFlight(world);
    expect(open).toContain("generate.1.0/1");
    const contexts = await openContexts({ file: world.file });
    expect((await contexts.resumable()).map(({ id, status, checkpoint }) => [id, status, checkpoint?.name])).toEqual([
      [world.id, "interrupted", expect.stringMatching(/^(collect|side)$/)],
    ]);
    await contexts.close();
    expect((await start(world).exit).out).toBe("done");
    expect(await look(world)).toEqual(WHOLE);
    expect(requestsOf(world).sort()).toEqual([...ALL_REQUESTS, ...open].sort());
  });
});
