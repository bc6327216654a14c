// Machines for a test: each has a network and processes of its own, and can be cut off, healed and lost. Needs root.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface Machine {
  /** A process on it; ended with it. */
  start(command: string, args: string[], opts: StartOptions): ChildProcess;
  /** Of its processes: part of the name under which they hold leases. */
  pidNamespace(): string;
  /** What it sends is not answered any more, and nobody is told. */
  cut(): void;
  heal(): void;
  /** Everything on it is gone at once; what is started later is on another one. */
  lose(): Promise<void>;
}

interface StartOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  log: number;
  /** A file with the machine's own name. */
  machineId: string;
}

export interface Machines {
  /** The address of this process as they see it. */
  address: string;
  all: Machine[];
  close(): Promise<void>;
}

const NAMED = "/run/netns";
const OURS = /^hf(\d+)[0-9a-f]{2}n/;

const ip = (...args: string[]): void => void execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });

/** Whether this system lets us make machines, and a server for them. */
export const canMakeMachines = (() => {
  try {
    const probe = "ip link add name one type veth peer name two && redis-server --version && nsenter --version";
    execFileSync("unshare", ["--net", "--pid", "--fork", "sh", "-c", probe], { stdio: "ignore" });
    return true;
  } catch {
    return process.env.CI === "true"; // there it fails, it is not skipped
  }
})();

export async function openMachines(count: number): Promise<Machines> {
  removeLeftOver();
  const bridge = `hf${process.pid}${randomBytes(1).toString("hex")}`; // names of devices are short
  const prefix = `${bridge}n`;
  const subnet = `10.${128 + randomInt(100)}.${randomInt(250)}`;
  ip("link", "add", "name", bridge, "type", "bridge");
  ip("address", "add", `${subnet}.1/24`, "dev", bridge);
  ip("link", "set", "dev", bridge, "up");
  const names: string[] = [];
  const machines: { machine: Machine; end(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(machines.map(({ end }) => end()));
    for (const name of names) execFileSync("ip", ["netns", "del", name], { stdio: "ignore" });
    ip("link", "del", bridge);
  };
  try {
    for (let at = 0; at < count; at++) {
      const name = `${prefix}${at}`;
      ip("netns", "add", name);
      names.push(name);
      ip("link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", name);
      ip("link", "set", "dev", name, "master", bridge, "up");
      ip("-n", name, "address", "add", `${subnet}.${at + 10}/24`, "dev", "eth0");
      ip("-n", name, "link", "set", "dev", "lo", "up");
      ip("-n", name, "link", "set", "dev", "eth0", "up");
      machines.push(await boot(name, bridge));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { address: `${subnet}.1`, all: machines.map(({ machine }) => machine), close };
}

/** The first process of a machine: when it goes, all others do. */
async function boot(name: string, bridge: string): Promise<{ machine: Machine; end(): Promise<void> }> {
  const powerOn = async () => {
    const args = [`--net=${NAMED}/${name}`, "unshare", "--pid", "--fork", "--kill-child", "sleep", "infinity"];
    const outer = spawn("nsenter", args, { stdio: "ignore" });
    for (;;) {
      const inner = childOf(outer.pid!);
      if (inner !== undefined) return { outer, inner };
      await sleep(5);
    }
  };
  let power = await powerOn();
  const end = async () => {
    const gone = once(power.outer, "exit");
    process.kill(power.inner, "SIGKILL");
    await gone;
  };
  const machine: Machine = {
    start(command, args, { cwd, env, log, machineId }) {
      const named = ["sh", "-c", 'mount --bind "$1" /etc/machine-id && shift && exec "$@"', "sh", machineId];
      const inside = ["--target", String(power.inner), "--net", "--pid", "unshare", "--mount-proc", ...named];
      return spawn("nsenter", [...inside, command, ...args], { cwd, env, stdio: ["ignore", "ignore", log] });
    },
    pidNamespace: () => /\[(\d+)\]/.exec(readlinkSync(`/proc/${power.inner}/ns/pid`))?.[1] ?? "",
    cut: () => ip("link", "set", "dev", name, "nomaster"),
    heal: () => ip("link", "set", "dev", name, "master", bridge),
    async lose() {
      await end();
      power = await powerOn();
    },
  };
  return { machine, end };
}

function childOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    const [child] = text.split(" ");
    if (!child || !readFileSync(`/proc/${child}/cmdline`, "utf8").startsWith("sleep")) return undefined;
    return Number(child);
  } catch {
    return undefined;
  }
}

/** Of test processes that were killed. */
function removeLeftOver(): void {
  for (const name of existsSync(NAMED) ? readdirSync(NAMED) : []) {
    const pid = OURS.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    execFileSync("ip", ["netns", "del", name], { stdio: "ignore" });
    try {
      ip("link", "del", name.replace(/n\d+$/, ""));
    } catch {} // it went before
  }
}
