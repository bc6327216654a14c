// Folded snapshots in SQLite: a shortcut that is only ever used when it verifies.
import { bytesSum, hex, sameBytes } from "../checksum.ts";
import { KEPT_VERSIONS, packSnapshot, snapshotName, unpackSnapshot } from "../snapshot-bytes.ts";
import type { Seq, Snapshots } from "../store.ts";
import type { Connection } from "./connection.ts";
import { ledgerRow, sumAt } from "./rows.ts";

interface SnapshotRow {
  fold: string;
  seq: Seq;
  data: Uint8Array;
  sum: Uint8Array;
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
          found.set(fold, { seq, state: unpackSnapshot(data) });
        } catch {
          // Left out: what it would have said is folded from the events.
        }
      }
      return found;
    },
    async save(seq, states, sum) {
      const packed: { key: string; data: Uint8Array }[] = [];
      for (const [key, state] of states) packed.push({ key, data: await packSnapshot(state) }); // one after another: each takes memory
      await db.write(() => {
        const row = ledgerRow(db, ledger);
        if (!row || row.head < seq) return;
        const there = sum === undefined ? undefined : sumAt(db, row, seq);
        if (sum !== undefined && !(there && hex(there) === sum)) return; // of a past that is gone
        const now = Date.now();
        for (const { key, data } of packed) {
          const sql = "INSERT OR REPLACE INTO snapshots (n, fold, seq, saved_at, data, sum) VALUES (?, ?, ?, ?, ?, ?)";
          db.run(sql, row.n, key, seq, now, data, bytesSum([ledger, key, seq], data));
        }
        const known = db.all<{ fold: string }>("SELECT fold FROM snapshots WHERE n = ? ORDER BY saved_at DESC", row.n);
        const versions = new Map<string, number>();
        for (const { fold } of known) {
          const count = (versions.get(snapshotName(fold)) ?? 0) + 1;
          versions.set(snapshotName(fold), count);
          if (count > KEPT_VERSIONS) db.run("DELETE FROM snapshots WHERE n = ? AND fold = ?", row.n, fold);
        }
      });
    },
  };
}
