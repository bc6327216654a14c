// Kills and faults at system calls, without any change of the code. Only the main thread is traced: that is where the
// store writes, its calls are counted exactly, and the jobs that it starts are left alone.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Exit, openWorld, type Way } from "./driver.ts";
import type { Scenario } from "./scenarios.ts";

export const CALLS = ["fdatasync", "fsync", "rename", "link", "pwrite64"] as const;
export type Call = (typeof CALLS)[number];

export const hasStrace = (() => {
  try {
    execFileSync("strace", ["-qq", "-o", "/dev/null", "true"]);
    return true;
  } catch {
    return false;
  }
})();

const strace = (...flags: string[]) => ["strace", "-qq", "-o", "/dev/null", ...flags];

export const killAtCall = (call: Call, n: number): Way => ({
  wrap: strace("-e", `trace=${call}`, "-e", `inject=${call}:signal=KILL:when=${n}`),
});

export const NOT_DELIVERED = "the fault was not delivered";

/** `lasting`: from the n-th call on every one fails, as on a full disk. A fault that never came is a complaint: it proves nothing. */
export function failAtCall(call: Call, n: number, error: "EIO" | "ENOSPC", lasting: boolean): Way {
  const log = path.join(os.tmpdir(), `holdfast-fault-${randomUUID()}`);
  const inject = `inject=${call}:error=${error}:when=${n}${lasting ? "+" : ""}`;
  return {
    wrap: ["strace", "-qq", "-o", log, "-e", `trace=${call}`, "-e", inject],
    complaint(exit) {
      const delivered = fs.readFileSync(log, "utf8").includes("(INJECTED)");
      fs.rmSync(log);
      return delivered ? diskComplaint(exit) : NOT_DELIVERED;
    },
  };
}

/** Contract: a failed run says so in one line that names the disk, without a stack, and offers nothing that was not saved. */
function diskComplaint({ code, signal, stderr }: Exit): string | undefined {
  if (signal) return `died by ${signal}`;
  if (code === 0) return undefined;
  const said = stderr.split("\n").filter((line) => line.startsWith("holdfast: "));
  if (said.length !== 1) return `${said.length} error lines: ${stderr}`;
  if (!/disk|no space|I\/O|i\/o/.test(said[0]!)) return `does not name the disk: ${stderr}`;
  if (/^ +at /m.test(stderr)) return `a stack: ${stderr}`;
  return stderr.includes("Take it up again") ? `a resume hint: ${stderr}` : undefined;
}

let warm = false;

/** The first run of a new build writes Node's compile cache: renames that no later run makes. */
async function warmUp(scenario: Scenario): Promise<void> {
  if (warm) return;
  const world = await openWorld(scenario.rounds, scenario.door);
  scenario.setUp?.(world.project);
  await world.run(["-p", scenario.prompt]);
  await world.close();
  warm = true;
}

/** How often each call is made in the run that comes after `before`. */
export async function countCalls(scenario: Scenario, before: Way[] = []): Promise<Record<Call, number>> {
  await warmUp(scenario);
  const world = await openWorld(scenario.rounds, scenario.door);
  try {
    scenario.setUp?.(world.project);
    const log = path.join(world.dir, "calls.log");
    const words = ["-p", scenario.prompt];
    for (const way of before) {
      await world.run(words, way);
      const context = (await world.look()).contexts[0]?.id;
      if (context) words.splice(1, words.length, "-r", context);
    }
    await world.run(words, { wrap: ["strace", "-qq", "-o", log, "-e", `trace=${CALLS.join(",")}`] });
    const text = fs.readFileSync(log, "utf8");
    const count = (call: Call) => text.match(new RegExp(`^${call}\\(`, "gm"))?.length ?? 0;
    return Object.fromEntries(CALLS.map((call) => [call, count(call)])) as Record<Call, number>;
  } finally {
    await world.close();
  }
}
