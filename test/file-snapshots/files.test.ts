import { execFileSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openFileKeeper } from "../../src/file-snapshots/index.ts";
import { tempDir } from "../house.ts";
import { openWorld, treeOf } from "./world.ts";

const NOTHING = { changed: [], removed: [], created: [], conflicts: [], left: [] };

describe("a checkpoint of files", () => {
  it("of an unchanged folder is written once, whichever context asks, since whenever", async () => {
    const { state, keeper, write, again } = openWorld();
    write("a.txt", "a\n");
    const [later, much] = [Date.now() + 60_000, Date.now() + 120_000];
    const first = await keeper.save({ since: later });
    const packs = () => fs.readdirSync(path.join(state, "git/objects/pack"));
    const before = packs();
    const second = await again().save({ since: much });
    expect(second.id).toBe(first.id);
    expect(packs()).toEqual(before);
  });

  it("brings back content, modes, links, empty folders, deleted and untracked files, and removes what came since", async () => {
    const { root, keeper, write, git } = openWorld();
    write("src/tracked.ts", "tracked\n");
    write("crlf.txt", "one\r\ntwo\r\n\rthree\n");
    write("binary", Buffer.from([0, 255, 13, 10, 0, 128]));
    write("secret.key", "key", 0o600);
    write("run.sh", "#!/bin/sh\n", 0o750);
    write("readonly", "x", 0o444);
    write("empty", "");
    write("deep/er/still/file", "deep");
    fs.mkdirSync(path.join(root, "hollow/inner"), { recursive: true });
    fs.mkdirSync(path.join(root, "private"), { mode: 0o700 });
    fs.symlinkSync("crlf.txt", path.join(root, "link"));
    fs.symlinkSync("nowhere/at/all", path.join(root, "dangling"));
    fs.symlinkSync("src", path.join(root, "to-folder"));
    fs.symlinkSync("/etc", path.join(root, "outside"));
    git("add", "src", "crlf.txt");
    git("commit", "-qm", "x");
    const before = treeOf(root);
    const mark = await keeper.save();
    expect({ ...mark, id: "", ms: 0, at: 0 }).toEqual({
      id: "",
      at: 0,
      files: 12,
      bytes: 78,
      left: [],
      partial: false,
      ms: 0,
    });
    expect(JSON.stringify(mark).length).toBeLessThan(300);

    write("src/tracked.ts", "changed\n");
    write("crlf.txt", "one\ntwo\n");
    fs.chmodSync(path.join(root, "secret.key"), 0o644);
    fs.chmodSync(path.join(root, "private"), 0o755);
    fs.rmSync(path.join(root, "binary"));
    fs.rmSync(path.join(root, "deep"), { recursive: true });
    fs.rmSync(path.join(root, "hollow"), { recursive: true });
    fs.rmSync(path.join(root, "link"));
    fs.writeFileSync(path.join(root, "link"), "a file now");
    fs.rmSync(path.join(root, "to-folder"));
    fs.mkdirSync(path.join(root, "to-folder"));
    write("to-folder/new", "new");
    fs.rmSync(path.join(root, "empty"));
    fs.mkdirSync(path.join(root, "empty"));
    write("later/on/file", "later");
    const dry = await keeper.restore(mark, { dryRun: true });
    const done = await keeper.restore(mark);

    expect(treeOf(root)).toEqual(before);
    expect(dry).toEqual(done);
    expect(done).toEqual({
      changed: ["crlf.txt", "empty", "link", "private", "secret.key", "src/tracked.ts", "to-folder"],
      removed: ["later", "later/on", "later/on/file", "to-folder/new"],
      created: ["binary", "deep", "deep/er", "deep/er/still", "deep/er/still/file", "hollow", "hollow/inner"],
      conflicts: [],
      left: [],
    });
    expect(await keeper.restore(mark)).toEqual(NOTHING);
  });

  it("touches nothing that does not differ", async () => {
    const { root, keeper, write } = openWorld();
    write("same", "same");
    write("other", "other");
    const mark = await keeper.save();
    const before = fs.statSync(path.join(root, "same"), { bigint: true });
    write("other", "changed");
    await keeper.restore(mark);
    const after = fs.statSync(path.join(root, "same"), { bigint: true });
    expect([after.ino, after.ctimeNs]).toEqual([before.ino, before.ctimeNs]);
  });

  it("can be undone, redone and taken by another process", async () => {
    const { root, keeper, write, again } = openWorld();
    write("a", "1");
    const one = await keeper.save();
    write("a", "2");
    write("b", "2");
    const two = await keeper.save();
    const later = treeOf(root);
    await keeper.settled();
    const other = again();
    await other.restore(one);
    expect(Object.keys(treeOf(root))).toEqual(["a"]);
    await other.restore(JSON.parse(JSON.stringify(two)));
    expect(treeOf(root)).toEqual(later);
  });

  it("does not hold what was removed before the next process looked, however young it was when it was kept", async () => {
    const { root, keeper, write, git, again } = openWorld();
    write(".gitignore", "*.log\n");
    write("tracked.log", "ignored, and tracked all the same");
    git("add", "-f", "tracked.log");
    write("deep/er/young", "kept the moment it was written");
    write("young", "likewise");
    await keeper.save();
    await keeper.settled();
    const gone = ["deep/er/young", "tracked.log", "young"];
    for (const name of gone) fs.rmSync(path.join(root, name));
    const other = again();
    const without = await other.save();
    expect(await other.diff(without, "now")).toEqual([]);
    expect(without.files).toBe(1);
  });

  it("sees a change that leaves size and time as they were", async () => {
    const { root, keeper, write } = openWorld();
    write("a", "one");
    const stat = fs.statSync(path.join(root, "a"));
    const one = await keeper.save();
    write("a", "two");
    fs.utimesSync(path.join(root, "a"), stat.atime, stat.mtime);
    const two = await keeper.save();
    expect(await keeper.diff(one, two)).toEqual([{ path: "a", kind: "changed" }]);
  });

  it("keeps names that are not UTF-8 or have newlines, quotes and spaces", async () => {
    const { root, keeper } = openWorld();
    const names = [
      Buffer.from([0x66, 0xff, 0xfe]),
      Buffer.from("new\nline"),
      Buffer.from(' "q" '),
      Buffer.from("grüße"),
    ];
    const dir = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xe9])]);
    fs.mkdirSync(dir);
    for (const name of names) {
      fs.writeFileSync(Buffer.concat([dir, Buffer.from("/"), name]), name);
      fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), name);
    }
    fs.symlinkSync(names[0]!, `${root}/link`);
    const before = treeOf(root);
    const mark = await keeper.save();
    for (const name of names) fs.rmSync(Buffer.concat([Buffer.from(`${root}/`), name]));
    fs.rmSync(dir, { recursive: true });
    const done = await keeper.restore(mark);
    expect(treeOf(root)).toEqual(before);
    expect(done.created).toContain("f\\xff\\xfe");
    expect(done.created).toContain("grüße");
    expect(await keeper.restore(mark, { paths: ["grüße"] })).toEqual(NOTHING);
  });

  it("restores only the paths it is asked for", async () => {
    const { keeper, write, read } = openWorld();
    write("src/a", "1");
    write("src/b", "1");
    write("src2", "1");
    const mark = await keeper.save();
    for (const file of ["src/a", "src/b", "src2", "src/c"]) write(file, "2");
    expect(await keeper.restore(mark, { paths: ["src"] })).toEqual({
      ...NOTHING,
      changed: ["src/a", "src/b"],
      removed: ["src/c"],
    });
    expect(read("src2")).toBe("2");
    await expect(keeper.restore(mark, { paths: ["../x"] })).rejects.toThrow("../x lies outside the project");
  });

  it("tells what differs between two checkpoints and now", async () => {
    const { root, keeper, write } = openWorld();
    write("a", "1");
    write("b", "1");
    write("c", "1");
    const one = await keeper.save();
    write("a", "2");
    fs.chmodSync(path.join(root, "b"), 0o600);
    fs.rmSync(path.join(root, "c"));
    fs.mkdirSync(path.join(root, "d"));
    const two = await keeper.save();
    const changes = [
      { path: "a", kind: "changed" },
      { path: "b", kind: "mode" },
      { path: "c", kind: "removed" },
      { path: "d", kind: "added" },
    ];
    expect(await keeper.diff(one, two)).toEqual(changes);
    expect(await keeper.diff(one, "now")).toEqual(changes);
    expect(await keeper.diff(two, "now")).toEqual([]);
  });

  it("leaves out and names big files, sockets and FIFOs, and never removes them", async () => {
    const { root, keeper, write } = openWorld({ limits: { maxFileBytes: 1_000 } });
    write("big", "x".repeat(1_001));
    write("small", "x");
    execFileSync("/bin/sh", ["-c", 'exec mkfifo "$0"', path.join(root, "fifo")]);
    const server = net.createServer().listen(path.join(root, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    const mark = await keeper.save();
    expect(mark.left.sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: "big", why: "over 0 MB" },
      { path: "fifo", why: "not a regular file" },
      { path: "socket", why: "not a regular file" },
    ]);
    write("big", "small by now"); // a checkpoint that did not know its content does not remove it
    write("new", "x");
    expect(await keeper.restore(mark)).toEqual({ ...NOTHING, removed: ["new"] });
    server.close();
    expect(Object.keys(treeOf(root)).filter((p) => p !== "socket")).toEqual(["big", "fifo", "small"]);
  });

  it("names files and folders that cannot be read", async () => {
    const { root, write } = openWorld({ git: false });
    const state = path.join(tempDir("state"), "files");
    write("open", "x");
    write("closed", "x", 0o000);
    write("shut/file", "x");
    fs.chmodSync(path.join(root, "shut"), 0o000);
    const script = `import { openFileKeeper } from ${JSON.stringify(path.resolve("src/file-snapshots/index.ts"))};
      const mark = await openFileKeeper({ root: ${JSON.stringify(root)}, dir: ${JSON.stringify(state)} }).save();
      console.log(JSON.stringify(mark));`;
    const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    fs.mkdirSync(state, { recursive: true });
    for (const dir of [root, path.dirname(state)]) fs.chmodSync(dir, 0o755);
    fs.chmodSync(state, 0o777);
    const env = { PATH: process.env.PATH };
    const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      ...asNobody,
      env,
      encoding: "utf8",
    });
    fs.chmodSync(path.join(root, "shut"), 0o755);
    const mark = JSON.parse(out);
    expect({
      files: mark.files,
      left: mark.left.sort((a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1)),
    }).toEqual({
      files: 1,
      left: [
        { path: "closed", why: "cannot be read" },
        { path: "shut", why: "cannot be read" },
      ],
    });
  });

  it("keeps nothing of the home directory, of what lies above it, and of /", async () => {
    const home = process.env.HOME;
    const here = tempDir("home");
    process.env.HOME = path.join(here, "me");
    fs.mkdirSync(process.env.HOME);
    try {
      for (const root of [process.env.HOME, here, "/"]) {
        const keeper = openFileKeeper({ root, dir: path.join(tempDir("state"), "files") });
        const mark = await keeper.save();
        expect({ files: mark.files, partial: mark.partial, left: mark.left[0]!.path }).toEqual({
          files: 0,
          partial: true,
          left: root,
        });
        expect(await keeper.restore(mark)).toEqual({ ...NOTHING, left: [mark.left[0]] });
      }
    } finally {
      process.env.HOME = home;
    }
  });

  it("says partial when the time is over, removes nothing by it, and goes on where it stopped", async () => {
    const { root, keeper, write, again } = openWorld({ git: false, limits: { budgetMs: -1 } });
    write("a/file", "1");
    const mark = await keeper.save();
    expect({ files: mark.files, partial: mark.partial }).toEqual({ files: 0, partial: true });
    expect(await keeper.restore(mark)).toEqual(NOTHING);
    expect(Object.keys(treeOf(root))).toEqual(["a/", "a/file"]);
    expect(await again({ budgetMs: 2_000 }).save()).toMatchObject({ files: 1, partial: false });
  });

  it("stops when it is told to, and the next one works", async () => {
    const { keeper, write } = openWorld();
    write("a", "1");
    await expect(keeper.save({ signal: AbortSignal.abort() })).rejects.toThrow("aborted");
    expect(await keeper.save()).toMatchObject({ files: 1 });
  });

  it("queues saves, also of two keepers at once", async () => {
    const { keeper, write, again } = openWorld();
    for (let i = 0; i < 200; i++) write(`f${i}`, String(i));
    const other = again();
    const marks = await Promise.all([keeper.save(), other.save(), keeper.save(), other.save()]);
    expect(new Set(marks.map((m) => m.id)).size).toBe(1);
    expect(await keeper.verify(marks[3]!)).toMatchObject({ ok: true, bad: [] });
  });

  it("that cannot be written says so, and the next one holds everything", async () => {
    const { root, state, keeper, write } = openWorld();
    write("a", "1");
    await keeper.save();
    const packs = path.join(state, "git/objects/pack");
    fs.renameSync(packs, `${packs}.away`);
    fs.writeFileSync(packs, "");
    write("b", "2");
    await expect(keeper.save()).rejects.toMatchObject({ code: "disk" });
    fs.rmSync(packs);
    fs.renameSync(`${packs}.away`, packs);
    const before = treeOf(root);
    const mark = await keeper.save();
    fs.rmSync(path.join(root, "b"));
    await keeper.restore(mark);
    expect(treeOf(root)).toEqual(before);
  });

  it("leaves its own state out when that lies inside the root", async () => {
    const root = tempDir("files");
    const keeper = openFileKeeper({ root, dir: path.join(root, "state/files") });
    fs.writeFileSync(path.join(root, "a"), "1");
    const mark = await keeper.save();
    expect(mark.files).toBe(1);
    fs.writeFileSync(path.join(root, "a"), "2");
    await keeper.restore(mark);
    expect(await keeper.verify(mark)).toMatchObject({ ok: true });
  });

  it("does not hold a file that went between two processes, however shortly it had been there", async () => {
    const { root, keeper, write, again } = openWorld();
    write("dir/goes", "1");
    const mark = await keeper.save();
    await keeper.settled();
    fs.rmSync(path.join(root, "dir/goes"));
    const other = again();
    const later = await other.save();
    expect([await other.diff(mark, later), await other.diff(later, "now")]).toEqual([
      [{ path: "dir/goes", kind: "removed" }],
      [],
    ]);
  });
});
