// The SQLite store passes the suite of every store.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { storeConformance } from "../../src/testing/store-conformance.ts";

storeConformance(
  {
    name: "sqlite",
    async create() {
      const folder = mkdtempSync(join(tmpdir(), "holdfast-store-"));
      return {
        open: (opts) => openSqliteStore(join(folder, "p.db"), opts),
        dispose: async () => rmSync(folder, { recursive: true }),
      };
    },
  },
  { describe, it, expect },
);
