import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { gitEnvironment, runGit, startGit } from "../../src/file-snapshots/git.ts";
import { tempDir } from "../house.ts";
import { gitStateOf, openWorld, treeOf, type World } from "./world.ts";

const NOTHING = { changed: [], removed: [], created: [], conflicts: [], left: [] };

/** Save, change a lot, restore: the tree is back and the repository's own state is the same to the byte and the millisecond. */
async function roundTrip(world: World, gitDirs: string[]): Promise<void> {
  const { root, keeper, write } = world;
  const before = treeOf(root);
  const state = gitDirs.map(gitStateOf);
  const mark = await keeper.save();
  await keeper.settled();
  for (const file of Object.keys(before).filter((f) => before[f]!.startsWith("file"))) write(file, `changed ${file}`);
  write("added/later", "x");
  const again = await keeper.save();
  await keeper.restore(mark);
  await keeper.collect([mark, again]);
  expect(treeOf(root)).toEqual(before);
  expect(gitDirs.map(gitStateOf)).toEqual(state);
  expect(await keeper.verify(mark)).toMatchObject({ ok: true, bad: [] });
}

describe("the user's repository", () => {
  it("stays as it is with a dirty index", async () => {
    const world = openWorld();
    world.write("a", "committed");
    world.git("add", "-A");
    world.git("commit", "-qm", "x");
    world.write("a", "staged");
    world.write("new", "staged");
    world.git("add", "-A");
    world.write("a", "in the folder");
    await roundTrip(world, [path.join(world.root, ".git")]);
  });

  it("stays as it is during a rebase with conflicts", async () => {
    const world = openWorld();
    const { git, write } = world;
    const commit = (text: string) => {
      write("a", text);
      git("add", "-A");
      git("commit", "-qm", text);
    };
    commit("base");
    git("checkout", "-qb", "side");
    commit("side");
    git("checkout", "-q", "main");
    commit("main");
    expect(() => git("rebase", "side")).toThrow();
    expect(fs.existsSync(path.join(world.root, ".git/rebase-merge"))).toBe(true);
    await roundTrip(world, [path.join(world.root, ".git")]);
  });

  it("stays as it is in a worktree, where .git is a file", async () => {
    const first = openWorld();
    for (let i = 0; i < 300; i++) first.write(`d${i % 7}/f${i}`, `file ${i}`);
    first.git("add", "-A");
    first.git("commit", "-qm", "x");
    const root = path.join(tempDir("worktree"), "tree");
    first.git("worktree", "add", "-q", root);
    const world = openWorld({ root });
    expect(fs.statSync(path.join(root, ".git")).isFile()).toBe(true);
    const dotGit = fs.readFileSync(path.join(root, ".git"), "utf8");
    await roundTrip(world, [path.join(first.root, ".git")]);
    expect(fs.readFileSync(path.join(root, ".git"), "utf8")).toBe(dotGit);
  });

  it("may have no commits, be no repository, or be a folder of one", async () => {
    const empty = openWorld();
    empty.write("a", "1");
    await roundTrip(empty, [path.join(empty.root, ".git")]);
    const none = openWorld({ git: false });
    none.write("a/b", "1");
    await roundTrip(none, []);
    const whole = openWorld();
    whole.write(".gitignore", "/sub/ignored\n");
    whole.write("sub/ignored", "1");
    whole.write("sub/kept", "1");
    whole.git("add", "-A");
    whole.git("commit", "-qm", "x");
    const sub = openWorld({ root: path.join(whole.root, "sub") });
    expect(await sub.keeper.save()).toMatchObject({ files: 1 });
  });

  it("may say what it wants in its configuration: nothing of it runs", async () => {
    const world = openWorld();
    const { root, git, write } = world;
    const canary = path.join(tempDir("canary"), "ran");
    const command = `touch ${canary}; cat`;
    write(
      ".gitattributes",
      "* filter=evil text=auto eol=crlf ident diff=evil working-tree-encoding=UTF-16LE\n*.enc working-tree-encoding=UTF-16\n",
    );
    write("lf.txt", "one\ntwo\n$Id$\n");
    write("crlf.txt", "one\r\ntwo\r\n");
    for (const [key, value] of [
      ["core.fsmonitor", `touch ${canary}`],
      ["core.hooksPath", path.join(root, "hooks")],
      ["core.sshCommand", `touch ${canary}`],
      ["core.pager", `touch ${canary}`],
      ["core.excludesFile", path.join(root, "lf.txt")],
      ["core.autocrlf", "true"],
      ["core.worktree", "/"],
      ["alias.cat-file", `!touch ${canary}`],
      ["alias.pack-objects", `!touch ${canary}`],
      ["filter.evil.clean", command],
      ["filter.evil.smudge", command],
      ["filter.evil.process", command],
      ["filter.evil.required", "true"],
      ["diff.evil.textconv", command],
      ["diff.external", `touch ${canary}`],
      ["uploadpack.packObjectsHook", `touch ${canary}`],
    ])
      fs.appendFileSync(
        path.join(root, ".git/config"),
        `[${key!.split(".").slice(0, -1).join(' "')}${key!.split(".").length > 2 ? '"' : ""}]\n\t${key!.split(".").at(-1)} = "${value}"\n`,
      );
    for (const hook of ["post-index-change", "pre-commit", "reference-transaction", "post-checkout"])
      write(`hooks/${hook}`, `#!/bin/sh\ntouch ${canary}\n`, 0o755);
    for (let i = 0; i < 300; i++) write(`many/f${i}`, `file ${i}\n`);
    // The canary itself works: git as a person runs it here sings.
    expect(() => git("--work-tree=.", "add", "lf.txt")).toThrow();
    expect(fs.existsSync(canary)).toBe(true);
    fs.rmSync(canary);
    await roundTrip(world, [path.join(root, ".git")]);
    expect(fs.existsSync(canary)).toBe(false);
  });

  it("is not asked for another git by the environment or by its own folders", async () => {
    const { root, write } = openWorld();
    const canary = path.join(tempDir("canary"), "ran");
    write("bin/git", `#!/bin/sh\ntouch ${canary}\n`, 0o755);
    const env = {
      PATH: `${root}/bin:.:relative:/usr/bin:/bin`,
      GIT_DIR: root,
      GIT_SSH_COMMAND: "x",
      GIT_TRACE: "1",
      LD_PRELOAD: "x",
    };
    const given = gitEnvironment({ avoid: root }, env);
    expect({
      path: given.PATH,
      other: Object.keys(given).filter((k) => ["GIT_DIR", "GIT_SSH_COMMAND", "GIT_TRACE", "LD_PRELOAD"].includes(k)),
    }).toEqual({
      path: "/usr/bin:/bin",
      other: [],
    });
    const bare = path.join(root, ".git");
    expect((await runGit({ gitDir: bare, avoid: root, args: ["rev-parse", "--git-dir"] })).toString().trim()).toBe(
      bare,
    );
    await expect(runGit({ gitDir: bare, args: ["no-such-command"] })).rejects.toMatchObject({ code: "disk" });
    // What git says is told by its cause, not by the last of its hints.
    await expect(runGit({ gitDir: bare, args: ["rev-parse", "no-such-name"] })).rejects.toMatchObject({
      message: expect.stringMatching(
        /^git rev-parse did not work: fatal: ambiguous argument 'no-such-name'[^\n]*tree\.$/,
      ),
    });
    const stopped = startGit({ gitDir: bare, args: ["cat-file", "--batch"], signal: AbortSignal.timeout(20) });
    await expect(stopped.ended).rejects.toMatchObject({ code: "disk" });
    expect(fs.existsSync(canary)).toBe(false);
  });

  it("may bring a .git file or an alternates file that lead astray", async () => {
    for (const dotGit of ["gitdir: /nonexistent\n", "gitdir: /etc\n", "nonsense", ""]) {
      const { root, keeper, write } = openWorld({ git: false });
      fs.writeFileSync(path.join(root, ".git"), dotGit);
      for (let i = 0; i < 200; i++) write(`f${i}`, `${i}`);
      expect(await keeper.save()).toMatchObject({ files: 200, left: [] });
    }
    const { root, keeper, write } = openWorld();
    fs.writeFileSync(path.join(root, ".git/objects/info/alternates"), '/etc\n/nonexistent\n"unclosed\n../../../..\n');
    fs.writeFileSync(path.join(root, ".git/index"), Buffer.from("DIRC\0\0\0\x02\xff\xff\xff\xffgarbage", "latin1"));
    write(".gitignore", "ignored\n");
    write("ignored", "x");
    for (let i = 0; i < 200; i++) write(`f${i}`, `${i}`);
    const mark = await keeper.save();
    await keeper.settled();
    expect(mark).toMatchObject({ files: 201, left: [] });
    expect(await keeper.verify(mark)).toMatchObject({ ok: true });
  });
});

describe("objects of the project", () => {
  function committed(n = 400): World {
    const world = openWorld();
    for (let i = 0; i < n; i++) world.write(`d${i % 9}/f${i}`, `content of file ${i}\n`.repeat(20));
    world.git("add", "-A");
    world.git("commit", "-qm", "x");
    return world;
  }

  it("are borrowed at first and the checkpoint's own soon after: the project may throw its own away", async () => {
    for (const packed of [true, false]) {
      const world = committed();
      if (packed) world.git("gc", "-q");
      const before = treeOf(world.root);
      const mark = await world.keeper.save();
      expect(fs.readFileSync(path.join(world.state, "borrowed"), "utf8").split("\n").length).toBeGreaterThan(200);
      await world.keeper.settled();
      expect(fs.readFileSync(path.join(world.state, "borrowed"), "utf8")).toBe("");
      fs.rmSync(path.join(world.root, ".git"), { recursive: true });
      for (const file of fs.readdirSync(world.root)) fs.rmSync(path.join(world.root, file), { recursive: true });
      await world.again().restore(mark);
      expect(treeOf(world.root)).toEqual(before);
    }
  });

  it("that vanish before they were copied are kept from the files that still have them", async () => {
    const world = committed();
    const { root, keeper, state } = world;
    const stopped = path.join(state, "git/objects/pack");
    const mark = await keeper.save();
    fs.rmSync(path.join(root, ".git/objects"), { recursive: true });
    await keeper.settled();
    await world.again().save();
    expect(await keeper.verify(mark)).toMatchObject({ ok: true, bad: [] });
    expect(fs.readdirSync(stopped).length).toBeGreaterThan(0);
  });

  it.each(["another", "none"])(
    "that are not what their names say (%s) are noticed when they are copied",
    async (what) => {
      const world = committed(300);
      const { root, keeper, git } = world;
      const oid = git("rev-parse", "HEAD:d0/f0").trim();
      const other = git("rev-parse", "HEAD:d1/f1").trim();
      const file = (o: string) => path.join(root, ".git/objects", o.slice(0, 2), o.slice(2));
      fs.chmodSync(file(oid), 0o644);
      if (what === "another") fs.copyFileSync(file(other), file(oid));
      else fs.writeFileSync(file(oid), "no object at all");
      const mark = await keeper.save();
      await keeper.settled();
      fs.rmSync(path.join(root, ".git"), { recursive: true });
      expect(await keeper.verify(mark)).toMatchObject({ ok: true, bad: [] });
      fs.rmSync(path.join(root, "d0"), { recursive: true });
      await keeper.restore(mark);
      expect(world.read("d0/f0")).toBe("content of file 0\n".repeat(20));
    },
  );
});

describe("nested repositories", () => {
  it("come back as plain files, and their own state is never touched or removed", async () => {
    const world = openWorld();
    const { root, keeper, write } = world;
    fs.mkdirSync(path.join(root, "inner"));
    const inner = openWorld({ root: path.join(root, "inner") });
    inner.git("init", "-q");
    inner.write("file", "inner");
    inner.git("add", "-A");
    inner.git("commit", "-qm", "x");
    inner.write("untracked", "inner");
    const late = path.join(root, "late");
    const before = treeOf(root);
    const state = gitStateOf(path.join(inner.root, ".git"));
    const mark = await keeper.save();
    expect(mark).toMatchObject({ files: 2, left: [] });
    inner.write("file", "changed");
    inner.write("more", "x");
    fs.rmSync(path.join(inner.root, "untracked"));
    fs.mkdirSync(late);
    openWorld({ root: late }).git("init", "-q");
    write("late/file", "x");
    const done = await keeper.restore(mark);
    expect(done).toEqual({
      ...NOTHING,
      changed: ["inner/file"],
      created: ["inner/untracked"],
      removed: ["inner/more", "late/file"],
    });
    expect(gitStateOf(path.join(inner.root, ".git"))).toEqual(state);
    expect(fs.existsSync(path.join(late, ".git/HEAD"))).toBe(true);
    fs.rmSync(late, { recursive: true });
    expect(treeOf(root)).toEqual(before);
  });

  it("in the place of a file stay, with a reason", async () => {
    const { root, keeper, write } = openWorld();
    write("thing", "a file");
    const mark = await keeper.save();
    fs.rmSync(path.join(root, "thing"));
    fs.mkdirSync(path.join(root, "thing/.git"), { recursive: true });
    for (const force of [false, true]) {
      const done = await keeper.restore(mark, { force });
      expect(done).toEqual({
        ...NOTHING,
        left: [{ path: "thing", why: "a folder with other content is in its place" }],
      });
    }
    expect(fs.existsSync(path.join(root, "thing/.git"))).toBe(true);
  });
});

describe("collect", () => {
  it("throws away what no mark needs and keeps what one does", async () => {
    const world = openWorld({ limits: { graceMs: -1 } });
    const { root, keeper, write } = world;
    write("same", "same");
    write("a", "one");
    const one = await keeper.save();
    write("a", Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i * 7919) >> 7)));
    const two = await keeper.save();
    fs.rmSync(path.join(root, "a"));
    const three = await keeper.save();
    await keeper.settled();
    const { freed } = await keeper.collect([one, three]);
    expect(freed).toBeGreaterThan(10_000);
    await expect(keeper.verify(two)).rejects.toMatchObject({ code: "damaged" });
    expect([await keeper.verify(one), await keeper.verify(three)]).toMatchObject([{ ok: true }, { ok: true }]);
    await keeper.restore(one);
    expect([world.read("a"), world.read("same")]).toEqual(["one", "same"]);
    // What was thrown away and is there again is kept again.
    await keeper.collect([]);
    const four = await keeper.save();
    expect(await world.again().verify(four)).toMatchObject({ ok: true });
    expect(four.id).toBe(one.id);
  });

  it("spares marks of the last minutes: another process may have made them", async () => {
    const { keeper, write } = openWorld();
    write("a", "1");
    const mark = await keeper.save();
    await keeper.collect([]);
    expect(await keeper.verify(mark)).toMatchObject({ ok: true });
  });

  it("keeps what many saves made in few packs", async () => {
    const { keeper, write, state } = openWorld();
    const marks = [];
    for (let i = 0; i < 60; i++) {
      write("a", `${i}`);
      marks.push(await keeper.save());
    }
    await keeper.settled();
    const packs = fs.readdirSync(path.join(state, "git/objects/pack")).filter((n) => n.endsWith(".pack"));
    expect(packs.length).toBeLessThan(49);
    for (const mark of [marks[0]!, marks[30]!, marks[59]!])
      expect(await keeper.verify(mark)).toMatchObject({ ok: true });
  });

  it("verify names the files whose content is damaged, and a restore leaves them", async () => {
    const { keeper, write, state, again } = openWorld();
    write("a", "1");
    await keeper.save();
    write("b", "2");
    const before = new Set(fs.readdirSync(path.join(state, "git/objects/pack")));
    const mark = await keeper.save();
    const pack = path.join(state, "git/objects/pack");
    const fresh = fs.readdirSync(pack).find((n) => !before.has(n) && n.endsWith(".pack"))!;
    const bytes = fs.readFileSync(path.join(pack, fresh));
    fs.chmodSync(path.join(pack, fresh), 0o644);
    fs.writeFileSync(path.join(pack, fresh), bytes.fill(0, 14, 20));
    expect(await again().verify(mark)).toMatchObject({
      ok: false,
      bad: [{ path: "b", why: "its content is missing or damaged" }],
    });
    write("b", "other");
    expect(await again().restore(mark)).toEqual({
      ...NOTHING,
      left: [{ path: "b", why: "its content is gone from the checkpoint" }],
    });
  });
});
