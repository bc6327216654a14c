// The server behind a store: its version, whether it may throw data away, what it promises.
import { HoldfastError, isHoldfastError } from "../error.ts";
import { durabilityOf } from "../networked/durability.ts";
import type { StoreDurability, StoreUnfit } from "../store.ts";
import type { RedisLink } from "./link.ts";
import { fieldsOf } from "./reading.ts";

const AT_LEAST = 7;

export interface Server {
  durability: StoreDurability;
  /** How many replicas shall confirm each write. */
  replicas: number;
  /** Why it takes no writes now. */
  unfit?: StoreUnfit;
  /** Its name and version. */
  name: string;
}

/** Contract: throws `refused` for a server that is too old or that throws data away. */
export async function inspectServer(link: RedisLink, leftMs: () => number): Promise<Server> {
  const { shown, replicas: wanted } = link.address;
  const info = infoOf(String(await link.command(["INFO"], { leftMs })));
  const version = info.redis_version ?? "";
  if (Number.parseInt(version, 10) < AT_LEAST)
    throw new HoldfastError("refused", `the server of ${shown} is Redis ${version}: it takes ${AT_LEAST}.0 or newer`);
  const policy = info.maxmemory_policy;
  if (policy !== undefined && policy !== "noeviction")
    throw new HoldfastError(
      "refused",
      `the server of ${shown} throws data away when its memory is full (maxmemory-policy ${policy}): set maxmemory-policy noeviction`,
    );
  const settings = await settingsOf(link, leftMs);
  const connected = Number(info.connected_slaves ?? 0);
  const least = Number(settings?.["min-replicas-to-write"] ?? 0);
  const replicas = wanted ?? Math.max(least, connected > 0 ? 1 : 0);
  const isOn = info.aof_enabled === "1";
  const sync = settings?.appendfsync;
  const durability = durabilityOf({
    confirms: replicas,
    known: connected,
    hasReplicas: connected > 0 || replicas > 0 || link.address.sentinelName !== undefined,
    disk: isOn ? (sync === undefined ? undefined : (DISK[sync] ?? "now and then")) : "now and then",
    setting: isOn ? `appendfsync ${sync ?? "cannot be asked for: CONFIG is forbidden"}` : "appendonly no",
    remedy: isOn ? "set appendfsync always" : "set appendonly yes and appendfsync always",
  });
  // Valkey says the version of Redis that it speaks, and its own beside it.
  const name = info.valkey_version ? `Valkey ${info.valkey_version}` : `Redis ${version}`;
  const most = Number(info.maxmemory ?? 0);
  const used = most > 0 ? `, ${Math.round((Number(info.used_memory ?? 0) / most) * 100)} % of its memory used` : "";
  const unfit = unfitness(info, { connected, replicas });
  return { durability, replicas, name: name + used, ...(unfit !== undefined && { unfit }) };
}

function unfitness(
  info: Record<string, string>,
  { connected, replicas }: { connected: number; replicas: number },
): StoreUnfit | undefined {
  if (connected < replicas)
    return {
      why: `${replicas} of its replicas are to confirm each write, and ${connected} follow it, so that none counts`,
      remedy: "start the replicas, or give a smaller replicas=N in the address",
    };
  const most = Number(info.maxmemory ?? 0);
  // As the server itself counts before it says OOM.
  const used = Number(info.used_memory ?? 0) - Number(info.mem_not_counted_for_evict ?? 0);
  if (most === 0 || used < most) return undefined;
  return { why: "its memory is full, so that nothing more is written", remedy: "raise the server's maxmemory" };
}

const DISK: Record<string, "before it counts" | "every second"> = {
  always: "before it counts",
  everysec: "every second",
};

/** Undefined where a managed server forbids the question. */
async function settingsOf(link: RedisLink, leftMs: () => number): Promise<Record<string, string> | undefined> {
  try {
    const names = ["appendfsync", "min-replicas-to-write"];
    return fieldsOf(await link.command(["CONFIG", "GET", ...names], { leftMs }));
  } catch (error) {
    if (isHoldfastError(error, "refused")) return undefined;
    throw error;
  }
}

function infoOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^([a-z_0-9]+):(.*?)\r?$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
}
