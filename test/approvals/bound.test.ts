// A yes holds for what was shown: tool, input, directory, tree. In another directory it is asked again, across a kill too.
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openProject } from "../../src/contexts/index.ts";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { runCli, startCli } from "../cli/cli.ts";
import { scratch } from "../tools/turn.ts";

interface Listed {
  requestId: string;
  context: string;
  agent: string;
  callId: string;
  tool: string;
  input: { command: string };
  cwd: string;
  root: string;
  code: string;
  reason: string;
}

/** One reply that goes to another directory, then runs a program by the same words as before. */
function setUp(calls = ["cd vendor/evil", "./work.sh"]) {
  const cwd = realpathSync(scratch(onTestFinished));
  const state = scratch(onTestFinished);
  const evil = join(cwd, "vendor/evil");
  mkdirSync(evil, { recursive: true });
  for (const dir of [cwd, evil]) writeFileSync(join(dir, "work.sh"), "#!/bin/sh\necho ran >> times\n", { mode: 0o755 });
  const script = join(state, "script.yaml");
  const reply = calls.map((command) => ({ name: "bash", input: { command } }));
  writeFileSync(script, JSON.stringify({ rounds: [{ calls: reply }, { text: "finished" }] }));
  const opts = { cwd, state };
  const args = ["--model", `rehearsal:${script}`, "--approvals", "wait"];
  const pending = async (): Promise<Listed[]> => JSON.parse((await runCli(["approve", "--json"], opts)).stdout);
  const untilAsked = async (past?: Listed): Promise<Listed> => {
    for (;;) {
      const next = (await pending()).find((r) => r.requestId !== past?.requestId);
      if (next) return next;
      await sleep(20);
    }
  };
  const ran = () => [cwd, evil].map((dir) => existsSync(join(dir, "times")));
  return { cwd, evil, opts, args, pending, untilAsked, ran };
}

test("an approval shown for one directory never runs in another: it is asked again, with that directory shown", async () => {
  const { cwd, evil, opts, args, untilAsked, ran } = setUp();
  const run = startCli(["-p", "go", ...args], opts);
  const first = await untilAsked();
  expect([first.input.command, first.cwd]).toEqual(["./work.sh", cwd]);
  await runCli(["approve", first.requestId, "--remember"], opts);
  await Promise.race([untilAsked(first), run.exited]);
  expect(ran()).toEqual([false, false]);
  const second = await untilAsked(first);
  expect([first.root, second.root]).toEqual([cwd, cwd]);
  expect([second.input, second.reason, second.code, second.cwd]).toEqual([first.input, first.reason, first.code, evil]);
  expect((await runCli(["approve"], opts)).stdout).toContain(`bash in ${evil}`);
  const late = await runCli(["approve", first.requestId], opts); // the question before is void
  expect([late.code, late.stderr]).toEqual([2, expect.stringContaining("no request")]);
  expect(ran()).toEqual([false, false]);
  await runCli(["deny", second.requestId], opts);
  expect([(await run.exited).code, ran()]).toEqual([0, [false, false]]);
});

test("an answer recorded before kill -9 for one directory does not serve in another after the resume", async () => {
  const { evil, opts, args, untilAsked, pending, ran } = setUp();
  // Killed when the change of directory is durable: the yes for the program was given before it, for the project.
  const first = startCli(["-p", "go", ...args], { ...opts, env: { HOLDFAST_CRASH_AT: "results.durable" } });
  const asked = await untilAsked();
  await runCli(["approve", asked.requestId], opts);
  expect((await first.exited).signal).toBe("SIGKILL");
  const second = startCli(["-p", "-r", asked.context, ...args], opts);
  await Promise.race([untilAsked(asked), second.exited]);
  expect(ran()).toEqual([false, false]);
  const again = await untilAsked(asked);
  expect([again.callId, again.cwd, ran()]).toEqual([asked.callId, evil, [false, false]]);
  expect((await pending()).map((r) => r.requestId)).toEqual([again.requestId]);
  await runCli(["approve", again.requestId], opts); // and this one holds here
  expect([(await second.exited).code, ran()]).toEqual([0, [false, true]]);
});

test("an answer of an older version, which does not say for which tree, is asked again", async () => {
  const { cwd, opts, args, untilAsked, ran } = setUp(["./work.sh"]);
  const first = startCli(["-p", "go", ...args], opts);
  const asked = await untilAsked();
  first.child.kill("SIGKILL");
  await first.exited;
  const old = {
    requestId: "apr_old",
    callId: asked.callId,
    tool: "bash",
    input: asked.input,
    cwd,
    reason: asked.reason,
  };
  const store = await openSqliteStore(
    openProject({ cwd, env: { HOME: opts.state, XDG_STATE_HOME: opts.state } }).ledgerFile,
  );
  try {
    await store.append([
      {
        ledger: asked.context,
        events: [
          { type: "approval.asked", v: 1, actor: asked.agent, data: { ...old, firm: false } },
          {
            type: "approval.answered",
            v: 1,
            actor: "user",
            data: { requestId: "apr_old", decision: "allow", remember: true, from: "another terminal" },
          },
        ],
      },
    ]);
  } finally {
    await store.close();
  }
  const second = startCli(["-p", "-r", asked.context, ...args], opts);
  await Promise.race([untilAsked(asked), second.exited]);
  expect(ran()[0]).toBe(false);
  const again = await untilAsked(asked);
  expect([again.requestId === "apr_old", again.cwd, ran()[0]]).toEqual([false, cwd, false]);
  await runCli(["deny", again.requestId], opts);
  expect([(await second.exited).code, ran()[0]]).toEqual([4, false]);
});
