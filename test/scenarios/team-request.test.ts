// Request 3 of the specification, offline, as a user sees it: tasks, worktrees, plans before claims, approval from another terminal.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { StoredEvent } from "../../src/ledger/store.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { openScenario } from "./project.ts";

const REQUESTS = {
  English:
    "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.",
  Japanese:
    "タスクを2つ作り、それぞれにワークツリーを作って、alice と bob を起動してください。タスクを取る前に計画を提出するよう頼んでください。",
};

const FLAGS = ["--stay", "--permission-mode", "acceptEdits"];
const data = <T>(event: StoredEvent) => event.data as T;

for (const [language, request] of Object.entries(REQUESTS)) {
  test(`${language}: nobody acts before approval; who is approved works in its own worktree; kill -9 between changes nothing`, {
    timeout: 90_000,
  }, async () => {
    const { opts, git, json, context, events, worktrees } = await openScenario({
      "main.py": "print('hi')\n",
      "test_main.py": "def test(): pass\n",
    });
    let running = startCli(["-p", request, ...FLAGS], opts);
    const until = async (holds: () => Promise<boolean>) => {
      for (const from = Date.now(); !(await holds()); await sleep(50)) {
        if (Date.now() - from > 30_000)
          throw new Error(`it did not come to that: ${JSON.stringify((await events()).slice(-5))}`);
      }
    };
    const again = async () => {
      running.child.kill("SIGKILL");
      await running.exited;
      running = startCli(["-p", "-r", (await context())!, ...FLAGS], opts);
    };
    const plans = async () => (await json("team", "plans")) as { requestId: string; by: string; plan: string }[];
    const acts = async (name: string) =>
      (await events()).filter(
        (e) =>
          e.actor === name &&
          e.type === "tool.started" &&
          ["bash", "write_file", "edit_file", "claim_task"].includes(data<{ name: string }>(e).name),
      );

    await until(async () => (await plans()).length === 2);
    await again();
    const tasks = await json("tasks", "ls");
    expect(tasks.map((t: { status: string; worktree: string | null }) => [t.status, t.worktree !== null])).toEqual([
      ["pending", true],
      ["pending", true],
    ]);
    expect(git("worktree", "list").trim().split("\n").length).toBe(3);
    expect([await acts("alice"), await acts("bob")]).toEqual([[], []]);

    const [alice] = (await plans()).filter((p) => p.by === "alice");
    const [bob] = (await plans()).filter((p) => p.by === "bob");
    expect((await runCli(["team", "approve", alice!.requestId], opts)).code).toBe(0);
    await until(async () =>
      (await json("tasks", "ls", "--all")).some((t: { status: string }) => t.status === "completed"),
    );
    await again();
    const bash = (await events()).filter(
      (e) => e.actor === "alice" && e.type === "tool.finished" && data<{ name: string }>(e).name === "bash",
    );
    const shown = data<{ content: { text: string }[] }>(bash[0]!).content[0]!.text;
    expect(path.dirname(shown.split("\n")[0]!)).toBe(fs.realpathSync(worktrees));
    expect(git("status", "--porcelain")).toBe("");
    expect(await acts("bob")).toEqual([]);

    expect((await runCli(["team", "reject", bob!.requestId, "name the files"], opts)).code).toBe(0);
    await until(async () => (await plans()).some((p) => p.by === "bob" && p.requestId !== bob!.requestId));
    const [second] = (await plans()).filter((p) => p.by === "bob");
    expect(second!.plan).toContain("name the files");
    expect(await acts("bob")).toEqual([]);
    await again();

    expect((await runCli(["team", "shutdown", "alice"], opts)).code).toBe(0);
    await until(async () => (await events()).some((e) => e.type === "shutdown.answered"));
    const [asked, answered] = ["shutdown.requested", "shutdown.answered"].map(
      async (type) => data<{ requestId: string }>((await events()).find((e) => e.type === type)!).requestId,
    );
    expect(await answered).toBe(await asked);

    expect((await runCli(["team", "approve", second!.requestId], opts)).code).toBe(0);
    const { code } = await running.exited;
    expect(code).toBe(0);
    const done = await json("tasks", "ls", "--all");
    expect(done.map((t: { status: string }) => t.status)).toEqual(["completed", "completed"]);
    expect(git("status", "--porcelain")).toBe("");
    const delivered = (await events()).filter((e) => e.type === "inbox.delivered");
    const ids = delivered.flatMap((e) => data<{ ids: string[] }>(e).ids.map((id) => `${e.actor} ${id}`));
    expect(ids.length).toBe(new Set(ids).size);
  });
}
