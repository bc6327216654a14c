// Folders that stand in a store to which other machines write: the monitor and the commands touch only those that are the project's.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Overview } from "../../../src/front/monitor/api.ts";
import { newId } from "../../../src/ledger/id.ts";
import { openRedisStore } from "../../../src/ledger/redis/index.ts";
import type { EventInput } from "../../../src/ledger/store.ts";
import { runCli } from "../../cli/cli.ts";
import { hasRedis, startRedis } from "../../ledger/redis-server.ts";
import { scratch } from "../../turn.ts";
import { startMonitor } from "./running-monitor.ts";
import { makeWaiting } from "./waiting.ts";

const SECRET = "the victim's own words";

/** A project on a server with a context and a checkpoint with files, and a folder of somebody else. */
async function world() {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const cwd = fs.realpathSync(scratch(onTestFinished));
  const victim = fs.realpathSync(scratch(onTestFinished));
  fs.writeFileSync(path.join(victim, "diary.txt"), `${SECRET}\n`);
  fs.writeFileSync(path.join(cwd, "own.txt"), "own\n");
  const opts = { cwd, state: scratch(onTestFinished), env: { HOLDFAST_STATE: redis.url("shop") } };
  expect((await runCli(["-p", "list Markdown files"], opts)).code).toBe(0);
  const [info] = JSON.parse((await runCli(["contexts", "ls", "--json"], opts)).stdout) as { id: string }[];
  expect((await runCli(["contexts", "checkpoint", info!.id, "before"], opts)).code).toBe(0);
  const store = await openRedisStore(redis.url("shop"));
  onTestFinished(() => store.close());
  return { opts, cwd, victim, store, context: info!.id };
}

const notOwn = (folder: string) =>
  `the context names ${folder}, which is no folder of this project on this machine: no files are read or changed there`;

test.runIf(hasRedis())(
  "a folder that was forged into a context is neither read nor written, by the page and by the commands",
  { timeout: 90_000 },
  async () => {
    const { opts, cwd, victim, store, context } = await world();
    const before = await runCli(["contexts", "diff", context, "before"], opts);
    expect([before.code, before.stderr]).toEqual([0, "Nothing differs.\n"]);
    const moved: EventInput = { type: "context.moved", v: 1, actor: "user", data: { from: cwd, to: victim } };
    await store.append([{ ledger: context, events: [moved], summary: { root: victim } }]);
    const monitor = await startMonitor(opts);
    const { contexts } = await monitor.json<Overview>("/api/overview");
    const at = `${contexts[0]!.project}/c/${context}`;
    const checkpoints = await monitor.json<{ seq: number; name: string }[]>(`/api/p/${at}/checkpoints`);
    const { seq } = checkpoints.find(({ name }) => name === "before")!;
    const shown = await (await monitor.get(`/api/p/${at}/files?from=${seq}`)).text();
    expect(shown).toContain(notOwn(victim));
    const restored = await monitor.act(at, {
      ...{ action: "restore", seq: await store.head(context), force: true },
      parts: { conversation: false, data: false, files: true },
    });
    expect(await restored.json()).toEqual({ ok: false, code: "refused", says: notOwn(victim) });
    for (const verb of [["diff"], ["restore", "--only", "files", "--force"]]) {
      const [name = "", ...flags] = verb;
      const { code, stdout, stderr } = await runCli(["contexts", name, context, "before", ...flags], opts);
      expect([name, code === 0, stdout, stderr]).toEqual([name, false, "", `holdfast: ${notOwn(victim)}\n`]);
    }
    expect(fs.readdirSync(victim)).toEqual(["diary.txt"]);
  },
);

test.runIf(hasRedis())(
  "what a forged question would change is not read from folders of others",
  { timeout: 90_000 },
  async () => {
    const { opts, cwd, victim, store } = await world();
    const { context } = await makeWaiting(store, { root: cwd, title: "forged" });
    const asked = (file: string, folder: string): EventInput => ({
      type: "approval.asked",
      actor: "lead",
      data: {
        ...{ requestId: newId("apr"), callId: newId("c"), tool: "write_file", cwd: folder, root: folder },
        ...{
          input: { path: file, content: "new\n" },
          code: "ask",
          reason: "it changes a file",
          firm: false,
          rules: [],
        },
      },
    });
    const events = [
      asked("own.txt", cwd),
      asked("diary.txt", victim),
      asked(path.relative(cwd, path.join(victim, "diary.txt")), cwd),
    ];
    await store.append([{ ledger: context, events }]);
    const monitor = await startMonitor(opts);
    const { needs } = await monitor.json<Overview>("/api/overview");
    const said = needs.flatMap((need) => (need.kind === "approval" ? need.lines : []));
    expect(needs.filter(({ kind }) => kind === "approval")).toHaveLength(3);
    expect([said.some((line) => line.includes("-own")), said.join("\n").includes(SECRET)]).toEqual([true, false]);
    const { stdout } = await runCli(["approve", "ls"], opts);
    expect([stdout.includes("-own"), stdout.includes(SECRET)]).toEqual([true, false]);
  },
);
