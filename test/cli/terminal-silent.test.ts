// The terminal while its store does not answer: keys are taken, it is said since when, nothing that was typed is lost, and one can leave.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasTmux, startTmux } from "../front/terminal/tmux.ts";
import { hasRedis, startRedis } from "../ledger/redis-server.ts";
import { scratch } from "../turn.ts";

async function sit({ leaseMs, args = [] }: { leaseMs: number; args?: string[] }) {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const state = scratch(onTestFinished);
  const cwd = path.join(fs.realpathSync(scratch(onTestFinished)), "proj");
  fs.mkdirSync(cwd);
  const script = path.join(state, "script.yaml");
  fs.writeFileSync(script, JSON.stringify({ rounds: ["One.", "Two.", "Three."].map((text) => ({ text })) }));
  const env = { HOLDFAST_STATE: server.url("p"), HOLDFAST_LEASE_MS: String(leaseMs) };
  const start = (...more: string[]) => {
    const started = startTmux({ dir: state, cwd, args: ["--model", `rehearsal:${script}`, ...args, ...more], env });
    onTestFinished(() => started.close());
    return started;
  };
  const terminal = start();
  await terminal.until("/help");
  terminal.type("alpha");
  await terminal.until("One.");
  return { server, terminal, start };
}

const SILENT = /the store has not answered since \d\d:\d\d:\d\d/;

describe.runIf(hasTmux && hasRedis())("a terminal whose store does not answer", { timeout: 90_000 }, () => {
  test("what is typed is shown and kept, and is answered once the store answers", async () => {
    const { server, terminal } = await sit({ leaseMs: 15_000 });
    server.freeze();
    terminal.type("beta");
    await terminal.until(/> beta · being recorded/);
    await terminal.until(SILENT);
    terminal.keys("-l", "gamma");
    await terminal.until((shown) => shown.includes("gamma"), { ms: 2_000 });
    server.thaw();
    await terminal.until("Two.");
    const after = await terminal.until((shown) => !SILENT.test(shown));
    expect([after.includes("gamma"), after.includes("being recorded")]).toEqual([true, false]);
  });

  test("Ctrl-C twice leaves; what was not recorded is printed", async () => {
    const { server, terminal } = await sit({ leaseMs: 15_000 });
    server.freeze();
    terminal.type("beta");
    await terminal.until(SILENT);
    const begun = performance.now();
    terminal.keys("C-c");
    await terminal.until("Ctrl-C once more leaves", { ms: 2_000 });
    terminal.keys("C-c");
    const end = await terminal.until("ended with 0", { ms: 8_000 });
    console.log(`left after ${Math.round(performance.now() - begun)} ms`);
    expect([end.includes("Not known to be recorded: beta"), /left without waiting for it/.test(end)]).toEqual([
      true,
      true,
    ]);
  });

  test("Ctrl-C twice leaves also where nothing was typed", async () => {
    const { server, terminal } = await sit({ leaseMs: 15_000 });
    server.freeze();
    terminal.keys("C-c");
    await terminal.until("Ctrl-C once more leaves", { ms: 2_000 });
    terminal.keys("C-c");
    await terminal.until("ended with 0", { ms: 8_000 });
  });

  test("a lease that ran out meanwhile is taken again, and the terminal goes on", async () => {
    const { server, terminal } = await sit({ leaseMs: 1_500 });
    server.freeze();
    await sleep(4_000);
    terminal.type("beta");
    await terminal.until(/> beta · being recorded/);
    server.thaw();
    await terminal.until("Two.", { ms: 40_000 });
    terminal.type("gamma");
    await terminal.until("Three.");
  });

  test("a context that another machine holds: it is said who, and Ctrl-C twice ends the waiting", async () => {
    const { server, terminal, start } = await sit({ leaseMs: 15_000 });
    terminal.keys("C-d");
    const [context] = /ctx_\w+/.exec(await terminal.until(/-r ctx_\w+[\s\S]*ended with 0/)) ?? [];
    const holder = { machine: "box-2", boot: "another", pid: 4711, startedAt: "1", interactive: false };
    const row = ["holder", JSON.stringify(holder), "renewals", "100", "lasts", "60000"];
    server.cli("HSET", `hf:{p}:lease:agent:${context}/lead`, ...row);
    const again = start("-r", context!);
    const said = (await again.until(/60 s at most/)).replace(/\s+/g, " ");
    expect(said).toContain(`process 4711 of another machine or container (box-2) is at work in ${context}: waiting`);
    again.keys("C-c");
    await again.until("Ctrl-C once more leaves", { ms: 2_000 });
    again.keys("C-c");
    await again.until(/ended with \d/, { ms: 8_000 });
  });

  test("in plain lines it is said once, and once more when the store answers", async () => {
    const { server, terminal } = await sit({ leaseMs: 15_000, args: ["--screen-reader"] });
    server.freeze();
    terminal.type("beta");
    await terminal.until(SILENT);
    server.thaw();
    await terminal.until("Two.");
    const shown = await terminal.until("the store answers again");
    expect(shown.match(new RegExp(SILENT, "g"))).toHaveLength(1);
  });
});
