// Whose state a folder goes on with where file systems are mounted.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { bin, type Exited, runCli, runProgram } from "./cli.ts";
import { at, everything, freshWorlds, look, MODEL, reached, serve, state, work, world } from "./project-world.ts";

freshWorlds();

/** Mounts of its own: nothing outside sees them. */
const canMount = (() => {
  try {
    execFileSync("unshare", ["--mount", "sh", "-c", "mount --bind /tmp /mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

/** Contract: on a build server the mounts must be there, or the tests fail. */
describe.skipIf(!canMount && process.env.CI !== "true")("mounts", () => {
  function inMounts(mounts: string, folder: string, args: string[], env: Record<string, string> = {}): Promise<Exited> {
    const script = `${mounts} && cd "$1" && shift && exec "$@"`;
    const command = ["--mount", "sh", "-ec", script, "sh", at(folder), process.execPath, bin, ...args];
    return runProgram("unshare", command, { cwd: world, state, env });
  }

  it("a bind mount shows the same contexts, tasks and schedules, beside the folder and in its stead", async () => {
    const env = await serve([
      { calls: [{ name: "bash", input: { command: "pwd >> effects.txt" } }] },
      { text: "ALL DONE" },
    ]);
    await work("p");
    fs.mkdirSync(at("b"));
    const bind = `mount --bind ${at("p")} ${at("b")}`;
    const beside = await inMounts(bind, "b", ["tasks", "ls"]);
    expect([beside.code, beside.stdout, beside.stderr.match(/found again/g)?.length]).toEqual([
      0,
      expect.stringContaining("a task"),
      1,
    ]);
    expect(await reached("p")).toEqual({ ...everything, said: [] });
    const opts = { cwd: at("p"), state, env: { ...env, HOLDFAST_CRASH_AT: "intent.durable:1" } };
    expect((await runCli(["-p", "go", ...MODEL], opts)).signal).toBe("SIGKILL");
    const hidden = `${bind} && mount -t tmpfs none ${at("p")}`;
    const instead = await inMounts(hidden, "b", ["-c", "-p", ...MODEL], env);
    expect([instead.code, instead.stdout.trim()]).toEqual([0, "ALL DONE"]);
    expect(fs.readFileSync(at("p/effects.txt"), "utf8")).toBe(`${at("b")}\n`);
    await look("p", "tasks", "ls");
    const roots = JSON.parse((await look("p", "contexts", "ls", "--json")).stdout).map(
      (one: { root: string }) => one.root,
    );
    expect(roots).toEqual([at("p"), at("p")]);
  });

  it("a read-only state directory says so in one line, and what is there can be read", async () => {
    await work("p");
    fs.mkdirSync(at("other"));
    const readOnly = `mount --bind ${state} ${state} && mount -o remount,ro,bind ${state}`;
    const fresh = await inMounts(readOnly, "other", ["tasks", "ls"]);
    expect([fresh.code, fresh.stderr]).toEqual([
      2,
      expect.stringMatching(/^holdfast: the state directory .* cannot be written .*--state.*\n$/),
    ]);
    const empty = `${readOnly} && export XDG_STATE_HOME=${state}/deeper/still`;
    expect((await inMounts(empty, "other", ["tasks", "ls"])).stderr).toMatch(/cannot be written .*read-only/i);
  });
});
