// Folded snapshots in SQLite: a shortcut that is only ever used when it verifies.
import { promisify } from "node:util";
import { zstdCompress, zstdDecompressSync } from "node:zlib";
import { bytesSum, sameBytes } from "../checksum.ts";
import type { Seq, Snapshots } from "../store.ts";
import type { Connection } from "./connection.ts";
import { ledgerRow } from "./rows.ts";

interface SnapshotRow {
  fold: string;
  seq: Seq;
  data: Uint8Array;
  sum: Uint8Array;
}

const compress = (text: Buffer): Promise<Buffer> => promisify(zstdCompress)(text);
/** Most slices are small: packing them costs more than it saves. */
const PACKED_FROM = 8_192;
/** What packed data begins with; text of JSON never does. */
const PACKED = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Two versions of Holdfast may share a ledger. */
const KEPT_VERSIONS = 2;

const nameOf = (key: string): string => key.slice(0, key.indexOf("@"));

async function pack(state: unknown): Promise<Uint8Array> {
  const text = Buffer.from(JSON.stringify(state));
  return text.length < PACKED_FROM ? text : compress(text);
}

function unpack(data: Uint8Array): unknown {
  const isPacked = PACKED.equals(data.subarray(0, PACKED.length));
  return JSON.parse((isPacked ? zstdDecompressSync(data) : Buffer.from(data)).toString());
}

export function createSnapshots(db: Connection, ledger: string): Snapshots {
  return {
    async load(keys) {
      const found = new Map<string, { seq: Seq; state: unknown }>();
      const rows = db.read(() => {
        const row = ledgerRow(db, ledger);
        if (!row) return [];
        const sql = `SELECT fold, seq, data, sum FROM snapshots WHERE n = ? AND fold IN (${keys.map(() => "?").join()})`;
        return db.all<SnapshotRow>(sql, row.n, ...keys).filter((one) => one.seq <= row.head);
      });
      for (const { fold, seq, data, sum } of await rows) {
        if (!sameBytes(sum, bytesSum([ledger, fold, seq], data))) continue;
        try {
          found.set(fold, { seq, state: unpack(data) });
        } catch {
          // Left out: what it would have said is folded from the events.
        }
      }
      return found;
    },
    async save(seq, states) {
      const packed: { key: string; data: Uint8Array }[] = [];
      for (const [key, state] of states) packed.push({ key, data: await pack(state) }); // one after another: each takes memory
      await db.write(() => {
        const row = ledgerRow(db, ledger);
        if (!row || row.head < seq) return;
        const now = Date.now();
        for (const { key, data } of packed) {
          const sql = "INSERT OR REPLACE INTO snapshots (n, fold, seq, saved_at, data, sum) VALUES (?, ?, ?, ?, ?, ?)";
          db.run(sql, row.n, key, seq, now, data, bytesSum([ledger, key, seq], data));
        }
        const known = db.all<{ fold: string }>("SELECT fold FROM snapshots WHERE n = ? ORDER BY saved_at DESC", row.n);
        const versions = new Map<string, number>();
        for (const { fold } of known) {
          const count = (versions.get(nameOf(fold)) ?? 0) + 1;
          versions.set(nameOf(fold), count);
          if (count > KEPT_VERSIONS) db.run("DELETE FROM snapshots WHERE n = ? AND fold = ?", row.n, fold);
        }
      });
    },
  };
}
