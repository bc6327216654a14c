// A context that a person's terminal holds: whoever else wants it is told so, and only who names it takes it over.
import fs from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { hasTmux, startTmux, type Tmux } from "../front/terminal/tmux.ts";
import { scratch } from "../turn.ts";
import { runCli, startCli } from "./cli.ts";

const LEASE_MS = 1_500;
const env = { HOLDFAST_LEASE_MS: String(LEASE_MS) };

interface Sat {
  terminal: Tmux;
  start: (args: string[]) => Tmux;
  place: { cwd: string; state: string; env: Record<string, string> };
  context: string;
}

/** A terminal in which something was said. */
async function sit(): Promise<Sat> {
  const state = scratch(onTestFinished);
  const cwd = path.join(fs.realpathSync(scratch(onTestFinished)), "proj");
  fs.mkdirSync(cwd);
  const script = path.join(state, "script.yaml");
  fs.writeFileSync(script, JSON.stringify({ rounds: ["One.", "Two.", "Three."].map((text) => ({ text })) }));
  const start = (args: string[]) => {
    const terminal = startTmux({ dir: state, cwd, args: ["--model", `rehearsal:${script}`, ...args], env });
    onTestFinished(() => terminal.close());
    return terminal;
  };
  const terminal = start([]);
  await terminal.until("/help");
  terminal.type("alpha");
  await terminal.until("One.");
  const place = { cwd, state, env };
  const [listed] = JSON.parse((await runCli(["contexts", "ls", "--json"], place)).stdout) as { id: string }[];
  return { terminal, start, place, context: listed!.id };
}

const lives = (pid: number): boolean =>
  fs.existsSync(`/proc/${pid}/stat`) && !/\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"));

describe.runIf(hasTmux)("a context that is open in a terminal", { timeout: 60_000 }, () => {
  test("a terminal that is stopped past its lease is not taken by a worker; who names the context takes it, and is told", async () => {
    const { terminal, place, context } = await sit();
    const pid = terminal.pid();
    process.kill(pid, "SIGSTOP");
    const scheduled = await runCli(["cron", "add", "in 1 second", "wake up", "-r", context], place);
    expect(scheduled.code, scheduled.stderr).toBe(0);
    await sleep(2 * LEASE_MS);
    const worker = startCli(["worker", "--model", "rehearsal"], place);
    await sleep(3_000);
    const afterWorker = lives(pid);
    worker.child.kill("SIGTERM");
    await worker.exited;
    const unnamed = await runCli(["-p", "-r"], place);
    const afterUnnamed = lives(pid);
    const named = await runCli(["-p", "-r", context, "go on"], place);
    expect({
      afterWorker,
      unnamed: unnamed.code,
      afterUnnamed,
      named: [named.code, named.stderr.includes(`was open in a stopped terminal (process ${pid}): that one was ended`)],
      afterNamed: lives(pid),
    }).toEqual({ afterWorker: true, unnamed: 2, afterUnnamed: true, named: [0, true], afterNamed: false });
  });

  test("a second terminal is told how to work on a copy, and that works as it is said; /resume stays where it is", async () => {
    const { start, place, context } = await sit();
    const second = start(["-r", context]);
    // As the terminal breaks it: without blanks.
    const refused = (await second.until("ended with 2")).replace(/\s+/g, "");
    expect(refused).toContain(`orworkonacopyofit:holdfast-r${context}--fork-session--cwd${place.cwd}`);
    const copy = start(["-r", context, "--fork-session"]);
    await copy.until("One.");
    copy.type("beta");
    await copy.until("Two.");
    copy.type("/resume");
    await copy.until("Go on with");
    copy.keys("Down", "Enter");
    await copy.until("work on a copy of it");
    copy.type("gamma");
    await copy.until("Three.");
    const all = JSON.parse((await runCli(["contexts", "ls", "--json"], place)).stdout) as { id: string }[];
    expect(all).toHaveLength(2);
  });

  test("where there is nothing to go on with, it is said how the terminal begins", async () => {
    const { start } = await sit();
    const elsewhere = fs.realpathSync(scratch(onTestFinished));
    const none = start(["-c", "--cwd", elsewhere]);
    const said = (await none.until("ended with 2")).replace(/\s+/g, "");
    expect(said).toContain(`goonwithhere:startonewith\`holdfast--cwd${elsewhere}"…"\``);
  });
});
