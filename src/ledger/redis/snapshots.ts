// Folded snapshots in Redis: a shortcut that is only ever used when it verifies.
import { bytesSum, hex } from "../checksum.ts";
import { KEPT_VERSIONS, packSnapshot, unpackSnapshot } from "../snapshot-bytes.ts";
import type { Seq, Snapshots } from "../store.ts";
import type { Argument } from "./connection.ts";
import type { RedisLink } from "./link.ts";

/** `SEQ:SUM:` and the packed state. */
function withSum(ledger: string, key: string, { seq, data }: { seq: Seq; data: Uint8Array }): Buffer {
  return Buffer.concat([Buffer.from(`${seq}:${hex(bytesSum([ledger, key, seq], data))}:`), data]);
}

/** Undefined: it fails its checksum. */
export function snapshotFrom(ledger: string, key: string, bytes: Buffer): { seq: Seq; data: Buffer } | undefined {
  const colon = bytes.indexOf(":");
  const end = bytes.indexOf(":", colon + 1);
  const seq = Number(bytes.subarray(0, colon).toString());
  const data = bytes.subarray(end + 1);
  return withSum(ledger, key, { seq, data }).equals(bytes) ? { seq, data } : undefined;
}

export function createRedisSnapshots(link: RedisLink, ledger: string): Snapshots {
  return {
    async load(keys) {
      const found = new Map<string, { seq: Seq; state: unknown }>();
      if (keys.length === 0) return found;
      const head = Number((await link.command(["HGET", `${link.prefix}ledger:${ledger}`, "head"])) ?? 0);
      const answer = await link.command(["HMGET", `${link.prefix}snapshots:${ledger}`, ...keys], { bytes: true });
      for (const [i, key] of keys.entries()) {
        const bytes: unknown = Array.isArray(answer) ? answer[i] : undefined;
        const one = Buffer.isBuffer(bytes) ? snapshotFrom(ledger, key, bytes) : undefined;
        if (!one || one.seq > head) continue;
        try {
          found.set(key, { seq: one.seq, state: unpackSnapshot(one.data) });
        } catch {
          // Left out: what it would have said is folded from the events.
        }
      }
      return found;
    },
    async save(seq, states, sum = "") {
      const args: Argument[] = [link.prefix, ledger, String(seq), sum, String(KEPT_VERSIONS)];
      for (const [key, state] of states) args.push(key, withSum(ledger, key, { seq, data: await packSnapshot(state) }));
      if (states.size > 0) await link.step("saveSnapshots", args);
    },
  };
}
