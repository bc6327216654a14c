// A disk for a test whose power can be cut: a file system in a file, mounted where only its own processes see it. Needs root.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface Disk {
  /** Where it is mounted. */
  at: string;
  /** What runs there begins with these words. */
  inside: string[];
  /**
   * The disk as it is now, in a new file: what programs wrote and nobody synced is not on it. Contract: `stopped` are the processes that write
   * to it; they stand still while it is copied, and stay so.
   */
  copyAtThisInstant(to: string, stopped: readonly number[]): Promise<void>;
  /** Contract: what runs there has ended before. */
  close(): Promise<void>;
}

const SIZE = 96 * 1024 * 1024;

export const canMountImages = (() => {
  try {
    const loop = "mkfs.ext4 -V && losetup -f && mount -t tmpfs none /mnt";
    execFileSync("unshare", ["--mount", "sh", "-ec", loop], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

export async function createDisk(image: string): Promise<Disk> {
  writeFileSync(image, "");
  truncateSync(image, SIZE);
  execFileSync("mkfs.ext4", ["-q", "-F", image]);
  return mountDisk(image);
}

/** Also of a copy: the journal is played back, as after a power cut. */
export async function mountDisk(image: string): Promise<Disk> {
  const at = `${image}.mounted`;
  mkdirSync(at, { recursive: true });
  // The mount is in the namespace of one sleeping process and goes with it. The journal commits when something is synced, and not by the clock.
  const mount = `mount -o loop,commit=300 '${image}' '${at}' && echo mounted && exec sleep infinity`;
  const keeper = spawn("unshare", ["--mount", "setpriv", "--pdeathsig", "KILL", "sh", "-ec", mount], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await mounted(keeper);
  return {
    at,
    inside: ["nsenter", "--mount", `--target=${keeper.pid}`],
    async copyAtThisInstant(to, stopped) {
      for (const pid of stopped) process.kill(pid, "SIGSTOP");
      for (const pid of stopped) while (!standsStill(pid)) await sleep(1);
      copyFileSync(image, to);
    },
    async close() {
      const gone = once(keeper, "exit");
      keeper.kill("SIGKILL");
      await gone;
    },
  };
}

async function mounted(keeper: ChildProcess): Promise<void> {
  const said = await Promise.race([
    once(keeper.stdout!, "data").then(() => true),
    once(keeper, "exit").then(() => false),
  ]);
  if (!said) throw new Error("the disk could not be mounted");
}

/** All its threads: one of them may be syncing. */
function standsStill(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
    return stat[stat.lastIndexOf(")") + 2] === "T";
  });
}
