// Many processes, one store: no update is lost, nobody starves.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "holdfast-contention-"));
const PROCESSES = 8;
const TIMES = 500;

afterAll(() => rmSync(folder, { recursive: true }));

describe("eight processes that raise one counter", () => {
  it("lose no update and wait no longer than they may", async () => {
    const file = join(folder, "p.db");
    const child = join(import.meta.dirname, "children", "counter.ts");
    const children = Array.from({ length: PROCESSES }, () =>
      run(process.execPath, [child, file, String(TIMES)], { maxBuffer: 1 << 26 }),
    );
    const reports = (await Promise.all(children)).map(
      ({ stdout }) => JSON.parse(stdout) as { waits: number[]; conflicts: number },
    );
    const waits = reports.flatMap((report) => report.waits).sort((a, b) => a - b);
    const conflicts = reports.reduce((sum, report) => sum + report.conflicts, 0);
    const p99 = waits[Math.floor(waits.length * 0.99)]!;
    const worst = waits.at(-1)!;
    console.log(
      `contention: ${waits.length} appends, ${conflicts} conflicts, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms`,
    );

    const store = await openSqliteStore(file);
    const values: number[] = [];
    for await (const event of store.read("shared")) values.push((event.data as { value: number }).value);
    expect(values).toEqual(Array.from({ length: PROCESSES * TIMES }, (_, i) => i + 1));
    expect((await store.verify()).damage).toEqual([]);
    await store.close();
    // In the usual suite other tests take the processors away; the long one runs this alone.
    const slack = process.env.HOLDFAST_LONG ? 1 : 5;
    expect({ p99: p99 < 60 * slack, worst: worst < 500 * slack }).toEqual({ p99: true, worst: true });
  }, 120_000);
});

describe("six processes that open, append and close all the time", () => {
  it("find no damage that is none, and lose nothing", async () => {
    const file = join(folder, "churn", "p.db");
    const child = join(import.meta.dirname, "children", "churner.ts");
    await Promise.all(Array.from({ length: 6 }, () => run(process.execPath, [child, file, "25"])));
    const store = await openSqliteStore(file);
    expect([store.readOnly, await store.head("shared"), (await store.verify()).damage]).toEqual([undefined, 150, []]);
    await store.close();
  }, 60_000);
});
