// A network of machines for a test: network namespaces on one switch, each of which can be cut off and healed. Needs root.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

/** One end of a cable. What runs here begins with these words. */
interface Machine {
  name: string;
  address: string;
  inside: string[];
}

export interface Network {
  machine(name: string): Machine;
  /** Contract: what they send to others is not answered any more, and nobody is told. They reach each other, and each itself. */
  cut(...names: string[]): void;
  heal(...names: string[]): void;
  close(): void;
}

const MAINLAND = "mainland";
const ISLAND = "island";
const NAMED = "/run/netns";
const OURS = /^hf-(\d+)-/;
let made = 0;

const ip = (...args: string[]): void => void execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });

/** Whether this system lets us make namespaces of the network, and servers to put there. */
export const canCut = (() => {
  try {
    execFileSync(
      "unshare",
      ["--net", "sh", "-c", "ip link add name one type veth peer name two && redis-server --version"],
      {
        stdio: "ignore",
      },
    );
    return true;
  } catch {
    return false;
  }
})();

/** Contract: on a build server that runs as root the namespaces must be there, or the tests that need them fail. */
export const mustCut = process.env.CI === "true" && process.getuid?.() === 0;

export function openNetwork(names: readonly string[]): Network {
  removeLeftOver();
  const prefix = `hf-${process.pid}-${made++}-`;
  const middle = `${prefix}switch`;
  const all = [middle];
  const close = () => {
    for (const name of all) execFileSync("ip", ["netns", "del", name], { stdio: "ignore" });
    all.length = 0;
  };
  // Done at the switch: a machine keeps its address and its cable, and nothing is refused; packets are lost.
  const connect = (some: readonly string[], to: string) => {
    for (const name of some) ip("-n", middle, "link", "set", "dev", name, "master", to);
  };
  try {
    ip("netns", "add", middle);
    for (const bridge of [MAINLAND, ISLAND]) {
      ip("-n", middle, "link", "add", "name", bridge, "type", "bridge");
      ip("-n", middle, "link", "set", "dev", bridge, "up");
    }
    for (const [i, name] of names.entries()) {
      const own = prefix + name;
      ip("netns", "add", own);
      all.unshift(own);
      ip("-n", middle, "link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", own);
      ip("-n", middle, "link", "set", "dev", name, "master", MAINLAND, "up");
      ip("-n", own, "address", "add", `${addressOf(i)}/24`, "dev", "eth0");
      ip("-n", own, "link", "set", "dev", "lo", "up");
      ip("-n", own, "link", "set", "dev", "eth0", "up");
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    machine: (name) => ({
      name,
      address: addressOf(names.indexOf(name)),
      inside: ["nsenter", `--net=${NAMED}/${prefix}${name}`],
    }),
    cut: (...some) => connect(some, ISLAND),
    heal: (...some) => connect(some, MAINLAND),
    close,
  };
}

const addressOf = (place: number): string => `10.77.0.${place + 1}`;

/** Of test processes that were killed. */
function removeLeftOver(): void {
  if (!existsSync(NAMED)) return;
  for (const name of readdirSync(NAMED)) {
    const pid = OURS.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      execFileSync("ip", ["netns", "del", name], { stdio: "ignore" });
  }
}
