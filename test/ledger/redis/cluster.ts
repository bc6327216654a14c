// A Redis that fails over: a master, two replicas and three Sentinels, on machines of a network.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Network } from "./network.ts";
import { ALWAYS, type RedisServer, startSentinel, startServer } from "./servers.ts";

/** The machines of the servers; the first one is the master at first. */
export const SERVERS = ["one", "two", "three"] as const;
export type ServerName = (typeof SERVERS)[number];

const NAME = "store";
const PORT = 6379;
const SENTINEL_PORT = 26379;

export interface Cluster {
  isMaster(name: ServerName): boolean;
  /** Resolves when that one is the master, and both others follow it. */
  whole(master: ServerName): Promise<void>;
  place(replicas: number): string;
  close(): Promise<void>;
}

export interface ClusterOptions {
  network: Network;
  dir: string;
  settings: Record<string, string>;
  /** The machines of the Sentinels. */
  sentinelsAt: readonly string[];
}

export async function startCluster({ network, dir, settings, sentinelsAt }: ClusterOptions): Promise<Cluster> {
  const servers = new Map<ServerName, RedisServer>();
  const sentinels: RedisServer[] = [];
  const close = async () => {
    await Promise.all([...servers.values(), ...sentinels].map((server) => server.kill()));
  };
  const serverOf = (name: ServerName): RedisServer => {
    const server = servers.get(name);
    if (!server) throw new Error(`${name} was not started`);
    return server;
  };
  const isMaster = (name: ServerName) => serverOf(name).ask("ROLE").startsWith("master");
  const whole = (name: ServerName) =>
    until(
      () =>
        (
          serverOf(name)
            .ask("INFO", "replication")
            .match(/role:master|state=online/g) ?? []
        ).length === 3,
    );
  try {
    for (const name of SERVERS) {
      const { inside, address } = network.machine(name);
      const follows: Record<string, string> = name === "one" ? {} : { replicaof: `${serverOf("one").address} ${PORT}` };
      const how = { ...ALWAYS, "repl-diskless-sync-delay": "0", ...settings, ...follows };
      servers.set(name, await startServer({ dir: join(dir, name), inside, address, port: PORT, settings: how }));
    }
    await whole("one");
    for (const name of sentinelsAt) {
      const { inside, address } = network.machine(name);
      const at = { dir: join(dir, `${name}-sentinel`), inside, address, port: SENTINEL_PORT };
      sentinels.push(await startSentinel({ ...at, of: serverOf("one"), name: NAME, quorum: 2 }));
    }
    await until(() => sentinels.every(knowsAll));
  } catch (error) {
    await close();
    throw error;
  }
  const hosts = sentinels.map(({ address }) => `${address}:${SENTINEL_PORT}`).join(",");
  return {
    isMaster,
    whole,
    place: (replicas) => `redis+sentinel://${hosts}/${NAME}?project=p&replicas=${replicas}`,
    close,
  };
}

function knowsAll(sentinel: RedisServer): boolean {
  const said = sentinel.ask("SENTINEL", "MASTER", NAME).split("\n");
  const after = (key: string) => Number(said[said.indexOf(key) + 1]);
  return after("num-slaves") === 2 && after("num-other-sentinels") === 2;
}

/** Half a minute at most. A server that changes its role drops who asks it: then it is asked again. */
export async function until(isSo: () => boolean): Promise<void> {
  const isSoNow = () => {
    try {
      return isSo();
    } catch {
      return false;
    }
  };
  for (let tries = 0; !isSoNow(); tries++) {
    if (tries > 600) throw new Error(`it did not happen: ${isSo}`);
    await sleep(50);
  }
}
