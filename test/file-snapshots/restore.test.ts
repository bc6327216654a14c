import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { openFileKeeper } from "../../src/file-snapshots/index.ts";
import { tempDir } from "../house.ts";
import { openWorld, treeOf } from "./world.ts";

const NOTHING = { changed: [], removed: [], created: [], conflicts: [], left: [] };

describe("a restore", () => {
  it("skips and names what somebody else changed since, unless forced", async () => {
    const { keeper, write, read } = openWorld();
    for (const file of ["mine", "theirs", "gone"]) write(file, "0");
    const mark = await keeper.save();
    write("mine", "agent");
    write("added", "agent");
    const expect_ = await keeper.save();
    write("theirs", "person");
    write("new", "person");
    const done = await keeper.restore(mark, { expect: expect_ });
    expect(done).toEqual({
      ...NOTHING,
      changed: ["mine"],
      removed: ["added"],
      conflicts: [
        { path: "new", why: "changed by somebody else" },
        { path: "theirs", why: "changed by somebody else" },
      ],
    });
    expect([read("theirs"), read("new")]).toEqual(["person", "person"]);
    await keeper.restore(mark, { expect: expect_, force: true });
    expect(await keeper.diff(mark, "now")).toEqual([]);
  });

  it("never goes through a link that leaves the root", async () => {
    const { root, keeper, write } = openWorld();
    const outside = tempDir("outside");
    write("dir/file", "kept");
    write("dir/sub/file", "kept");
    const before = treeOf(root);
    const mark = await keeper.save();
    fs.rmSync(path.join(root, "dir"), { recursive: true });
    fs.symlinkSync(outside, path.join(root, "dir"));
    fs.mkdirSync(path.join(outside, "sub"));
    fs.writeFileSync(path.join(outside, "file"), "theirs");
    await keeper.restore(mark);
    expect(treeOf(root)).toEqual(before);
    expect(treeOf(outside)).toMatchObject({ file: expect.stringContaining("file"), "sub/": "dir 755" });
    expect(fs.readFileSync(path.join(outside, "file"), "utf8")).toBe("theirs");
    expect(fs.readdirSync(path.join(outside, "sub"))).toEqual([]);
  });

  it("writes into folders without write permission and gives them their mode back", async () => {
    const { root, keeper, write } = openWorld();
    write("locked/file", "1");
    fs.chmodSync(path.join(root, "locked"), 0o555);
    const before = treeOf(root);
    const mark = await keeper.save();
    fs.chmodSync(path.join(root, "locked"), 0o755);
    fs.rmSync(path.join(root, "locked"), { recursive: true });
    await keeper.restore(mark);
    expect(treeOf(root)).toEqual(before);
    fs.chmodSync(path.join(root, "locked"), 0o755);
    write("locked/file", "2");
    fs.chmodSync(path.join(root, "locked"), 0o555);
    await keeper.restore(mark);
    expect(treeOf(root)).toEqual(before);
  });

  it("removes what a killed one left behind", async () => {
    const { root, keeper, write } = openWorld();
    write("a", "1");
    const mark = await keeper.save();
    write("a", "2");
    write(".holdfast-restore-1-abc", "half");
    expect(await keeper.restore(mark)).toEqual({ ...NOTHING, changed: ["a"] });
    expect(Object.keys(treeOf(root))).toEqual(["a"]);
  });

  it("refuses an id that is none, and one that is gone", async () => {
    const { keeper, write } = openWorld();
    write("a", "1");
    const mark = await keeper.save();
    await expect(keeper.restore({ ...mark, id: "--all" })).rejects.toMatchObject({ code: "invalid" });
    await expect(keeper.restore({ ...mark, id: "0".repeat(40) })).rejects.toMatchObject({ code: "damaged" });
  });

  it("of very many files, read by two threads, comes back and has the same name every time, in a repository and outside", async () => {
    let answers = 0;
    const count = (worker: Worker) => worker.on("message", () => answers++);
    process.on("worker", count);
    onTestFinished(() => void process.off("worker", count));
    for (const git of [true, false]) {
      const { root, keeper, write, git: run } = openWorld({ git, limits: { budgetMs: 60_000 } });
      for (let i = 0; i < 2_500; i++)
        write(i < 1_700 ? `flat/f${i}` : `deep/d${i % 90}/f${i}`, `content ${i % 2_400}\n`);
      write("deep/big", Buffer.alloc(3_000_000, "x"), 0o755);
      write("deep/\u00fcber", "\u00fc");
      write("deep/too-big", Buffer.alloc(10_000_001));
      fs.symlinkSync("big", path.join(root, "deep/link"));
      if (git) {
        run("add", "flat");
        run("commit", "-qm", "x");
      }
      const before = treeOf(root);
      const mark = await keeper.save();
      expect({ ...mark, id: "", ms: 0 }).toMatchObject({
        files: 2_503,
        left: [{ path: "deep/too-big", why: "over 10 MB" }],
        partial: false,
      });
      fs.rmSync(path.join(root, "flat"), { recursive: true });
      fs.rmSync(path.join(root, "deep/big"));
      await keeper.restore(mark);
      expect(treeOf(root)).toEqual(before);
      await keeper.settled();
      expect(await keeper.verify(mark)).toMatchObject({ ok: true, bad: [] });
      expect((await keeper.save()).id).toEqual(mark.id);
      const elsewhere = openFileKeeper({ root, dir: tempDir("state"), limits: { budgetMs: 60_000 } });
      expect((await elsewhere.save()).id).toEqual(mark.id);
    }
    expect(answers > 0).toBe(os.availableParallelism() > 1);
  });
});
