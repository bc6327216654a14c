// Owns folded snapshots: a shortcut that is only ever used when it verifies.
import { promisify } from "node:util";
import { zstdCompress, zstdDecompressSync } from "node:zlib";
import { bytesSum, sameBytes } from "../checksum.ts";
import type { Seq, Store } from "../store.ts";
import type { Connection } from "./connection.ts";
import { ledgerRow } from "./rows.ts";

interface SnapshotRow {
  seq: Seq;
  data: Uint8Array;
  sum: Uint8Array;
}

const compress = promisify(zstdCompress);
/** Two programs with different folds may share a ledger; older folds than these are left behind by upgrades. */
const KEPT_FOLDS = 3;

export function createSnapshot(db: Connection, ledger: string, fold: string): ReturnType<Store["snapshot"]> {
  return {
    async load() {
      return db.read(() => {
        const row = ledgerRow(db, ledger);
        const found =
          row && db.get<SnapshotRow>("SELECT seq, data, sum FROM snapshots WHERE n = ? AND fold = ?", row.n, fold);
        if (!found || found.seq > row.head || !sameBytes(found.sum, bytesSum([ledger, fold, found.seq], found.data)))
          return undefined;
        try {
          return { seq: found.seq, state: JSON.parse(zstdDecompressSync(found.data).toString()) };
        } catch {
          return undefined;
        }
      });
    },
    async save(seq, state) {
      const data = await compress(Buffer.from(JSON.stringify(state)));
      await db.write(() => {
        const row = ledgerRow(db, ledger);
        if (!row || row.head < seq) return;
        const sql = "INSERT OR REPLACE INTO snapshots (n, fold, seq, saved_at, data, sum) VALUES (?, ?, ?, ?, ?, ?)";
        db.run(sql, row.n, fold, seq, Date.now(), data, bytesSum([ledger, fold, seq], data));
        const newest = "SELECT fold FROM snapshots WHERE n = ? ORDER BY saved_at DESC LIMIT ?";
        db.run(`DELETE FROM snapshots WHERE n = ? AND fold NOT IN (${newest})`, row.n, row.n, KEPT_FOLDS);
      });
    },
  };
}
