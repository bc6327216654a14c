// Killed at system calls, one by one, from the creation of a store to its close: no code of ours has to cooperate.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { all } from "../../src/testing/store-conformance-steps.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-calls-"));
const traced = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
const script = join(import.meta.dirname, "children", "appender.ts");
const STEP = process.env.HOLDFAST_LONG ? 1 : 9;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("SIGKILL at a system call", () => {
  for (const [call, last] of [
    ["pwrite64", 60],
    ["fsync", 9],
    ["link", 1],
  ] as const) {
    it.skipIf(!traced && !process.env.CI)(
      `${call}: all that was acknowledged is there, and at most one event more`,
      async () => {
        for (let nth = 1; nth <= last; nth += STEP) {
          const file = join(folder, `${call}-${nth}`, "p.db");
          const kill = ["-f", "-o", "/dev/null", "-e", `inject=${call}:signal=KILL:when=${nth}`];
          const { stdout } = spawnSync("strace", [...kill, process.execPath, script, file, "l", "4"], {
            encoding: "utf8",
          });
          const acknowledged = stdout.split("\n").filter(Boolean);
          if (!existsSync(file) && acknowledged.length === 0) continue;
          const store = await openSqliteStore(file);
          const found = (await all(store, "l")).map((one) => one.id);
          expect([found.slice(0, acknowledged.length), found.length <= acknowledged.length + 1]).toEqual([
            acknowledged,
            true,
          ]);
          expect([store.readOnly, (await store.verify()).damage]).toEqual([undefined, []]);
          await store.close();
        }
      },
      120_000,
    );
  }
});
