// A disk that is full or fails: nothing half recorded, said at once, and the store goes on when there is room again.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/ledger/sqlite/index.ts";
import { all, code, event, failure } from "../../src/testing/store-conformance-steps.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-disk-"));
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]).status === 0;
const traced =
  spawnSync("strace", ["-V"]).status === 0 && spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
const script = join(import.meta.dirname, "children", "appender.ts");
const plain = mkdtempSync(join(tmpdir(), "holdfast-trace-"));

beforeAll(() => {
  if (process.env.CI && !(mounted && traced)) throw new Error("these tests need root (tmpfs) and strace");
});
afterAll(() => {
  if (mounted) execFileSync("umount", [folder]);
  rmSync(folder, { recursive: true, force: true });
  rmSync(plain, { recursive: true, force: true });
});

describe("a full disk", () => {
  it.skipIf(!mounted)("is said at once, records nothing, and is survived", async () => {
    const store = await openSqliteStore(join(folder, "p.db"));
    await store.append([{ ledger: "l", events: [event(1)] }]);
    const filler = join(folder, "filler");
    const fill = failure((async () => writeFileSync(filler, Buffer.alloc(2 << 20)))());
    expect(((await fill) as NodeJS.ErrnoException).code).toEqual("ENOSPC");
    const noise = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7919 + (i >> 3) * 104729) & 255));
    const error = (await failure(store.append([{ ledger: "l", events: [event(2)] }], { blobs: [noise] }))) as Error & {
      code: string;
    };
    expect([error.code, error.message.includes("nothing was recorded")]).toEqual(["disk", true]);
    expect([(await all(store, "l")).length, store.readOnly]).toEqual([1, undefined]);
    rmSync(filler);
    expect(await code(store.append([{ ledger: "l", events: [event(2)] }], { blobs: [noise] }))).toEqual("ok");
    expect([(await all(store, "l")).length, (await store.verify()).damage]).toEqual([2, []]);
    await store.close();
  });
});

describe("the calls an append makes", () => {
  it.skipIf(!traced)("are one fsync each, and few for creating a store", () => {
    const count = (times: number) => {
      const file = join(plain, `n${times}`, "p.db");
      const log = join(plain, `n${times}.trace`);
      const args = ["-f", "-o", log, "-e", "trace=fsync,fdatasync"];
      spawnSync("strace", [...args, process.execPath, script, file, "l", String(times)]);
      return readFileSync(log, "utf8").match(/ f(data)?sync\(/g)?.length ?? 0;
    };
    const [few, many] = [count(1), count(201)];
    console.log(`fsyncs: ${few} for create, one append and close; ${(many - few) / 200} for each further append`);
    expect([many - few, few <= 7]).toEqual([200, true]);
  });

  it.skipIf(!traced)("that fail with an input/output error acknowledge nothing that is not there", async () => {
    for (const when of [6, 7, 9, 14]) {
      const file = join(plain, `eio${when}`, "p.db");
      const inject = ["-f", "-o", "/dev/null", "-e", `inject=fsync:error=EIO:when=${when}`];
      const { stdout, stderr } = spawnSync("strace", [...inject, process.execPath, script, file, "l", "20"], {
        encoding: "utf8",
      });
      const acknowledged = stdout.trim().split("\n").filter(Boolean);
      expect(stderr.includes("nothing was recorded")).toEqual(true);
      const store = await openSqliteStore(file);
      const found = (await all(store, "l")).map((one) => one.id);
      expect(acknowledged.filter((id) => !found.includes(id))).toEqual([]);
      expect([store.readOnly, (await store.verify()).damage]).toEqual([undefined, []]);
      await store.close();
    }
  });
});
