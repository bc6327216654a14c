// The words for what a server promises of what it has acknowledged.
import type { StoreDurability } from "../store.ts";

/** What is known of a server; undefined where it does not say. */
export interface ServerPromise {
  /** How many replicas confirm each write before it counts. */
  confirms: number;
  /** How many follow it now. */
  known: number;
  /** Others follow it, and one of them may take its place. */
  hasReplicas: boolean;
  /** When what was written reaches the disk. */
  disk: "before it counts" | "every second" | "now and then" | "never" | undefined;
  /** The settings that `disk` follows from, as the server calls them. */
  setting: string;
  /** What to set for `disk` to be "before it counts". */
  remedy: string;
}

export function durabilityOf({ confirms, known, hasReplicas, disk, setting, remedy }: ServerPromise): StoreDurability {
  const many = confirms === 1 ? "one replica confirms" : `${confirms} replicas confirm`;
  if (disk === undefined)
    return {
      class: "failover-may-lose",
      says: `the server does not say when it writes to its disk (${setting}): acknowledged work may be lost with it; ${remedy}`,
    };
  if (confirms > 0 && disk === "every second")
    return {
      class: "up-to-a-second",
      says: `up to a second of acknowledged work may be lost when the server loses its power and starts again, for its replicas follow it (${setting}); ${remedy}`,
    };
  if (confirms > 0 && disk === "before it counts")
    return {
      class: "replica-confirmed",
      says:
        confirms < known
          ? `${confirms} of ${known} replicas ${confirms === 1 ? "confirms" : "confirm"} each write before it counts: it survives the loss of the server, and its being cut off with such a replica where the Sentinels stand beside the servers (anywhere with replicas=${known})`
          : `${many} each write before it counts: it survives the loss of the server, though not of all of them at once`,
    };
  if (hasReplicas)
    return {
      class: "failover-may-lose",
      says:
        confirms > 0
          ? `${setting}: a server that starts again without its data empties its replicas too; ${remedy}`
          : "replicas follow without confirming (replicas=0): a failover may lose acknowledged work; give replicas=1 or more in the address",
    };
  if (disk === "before it counts")
    return {
      class: "power-safe",
      says: `each write is on the server's disk before it counts (${setting}), and survives a power cut`,
    };
  if (disk === "every second")
    return {
      class: "up-to-a-second",
      says: `up to a second of acknowledged work may be lost with the server's power (${setting}); ${remedy}`,
    };
  return {
    class: "failover-may-lose",
    says: `acknowledged work may be lost when the server stops (${setting}); ${remedy}`,
  };
}
