import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isIgnored, parseRules } from "../../src/file-snapshots/ignore.ts";
import { gitEnv, openWorld, treeOf, type World } from "./world.ts";

const NOTHING = { changed: [], removed: [], created: [], conflicts: [], left: [] };

/** The files that a save keeps. */
async function kept({ keeper, again }: World): Promise<string[]> {
  const none = await again({ budgetMs: -1 }).save();
  const mark = await keeper.save();
  const changes = await keeper.diff(none, mark);
  return changes.map((c) => c.path).sort();
}

describe("ignored files", () => {
  it("are left out as git leaves them out, tracked ones stay in", async () => {
    const world = openWorld();
    const { root, git, write } = world;
    write(".gitignore", "*.log\nnode_modules/\n/build\n!keep.log\nforced/\n");
    write("sub/.gitignore", "local\n*.txt\n!/a.txt\n");
    fs.writeFileSync(path.join(root, ".git/info/exclude"), "private\n");
    for (const file of [
      "a.log",
      "keep.log",
      "node_modules/x/y.js",
      "build/out",
      "sub/build/in",
      "sub/local",
      "sub/a.txt",
    ])
      write(file, file);
    for (const file of ["sub/deep/a.txt", "private", "forced/yes", "forced/no", "tracked.log"]) write(file, file);
    git("add", "-f", "forced/yes", "tracked.log");
    expect(await kept(world)).toEqual([
      ".gitignore",
      "forced/yes",
      "keep.log",
      "sub/.gitignore",
      "sub/a.txt",
      "sub/build/in",
      "sub/deep", // a folder is kept without what is ignored in it
      "tracked.log",
    ]);
  });

  it("are never removed or overwritten by a restore, whichever rules changed since", async () => {
    const { root, keeper, write, read } = openWorld();
    write(".gitignore", "secret\n");
    write("secret", "mine");
    write("cache/data", "old");
    const mark = await keeper.save();
    write(".gitignore", "cache/\nout/\n"); // no longer ignored: secret; ignored by now: cache, out
    write("out/result", "built");
    write("cache/data", "new");
    const done = await keeper.restore(mark);
    expect(done).toEqual({
      ...NOTHING,
      changed: [".gitignore"],
      conflicts: [{ path: "cache/data", why: "no checkpoint holds what is there now: move it away first" }],
    });
    expect([read("secret"), read("out/result"), read("cache/data")]).toEqual(["mine", "built", "new"]);
    await keeper.restore(mark, { force: true, paths: ["cache"] });
    expect(read("cache/data")).toBe("old");
    expect(Object.keys(treeOf(root))).toContain("out/result");
  });

  it("keep a folder alive that a restore would remove, and stand in the way of a file with a reason", async () => {
    const { keeper, write, read, root } = openWorld();
    write(".gitignore", "*.o\n");
    write("was-file", "x");
    const mark = await keeper.save();
    write("lib/a.o", "object");
    write("lib/a.c", "source");
    fs.rmSync(path.join(root, "was-file"));
    write("was-file/b.o", "object");
    const done = await keeper.restore(mark);
    expect({ removed: done.removed, left: done.left[0] }).toEqual({
      removed: ["lib/a.c"],
      left: { path: "was-file", why: "a folder with other content is in its place" },
    });
    expect([read("lib/a.o"), read("was-file/b.o")]).toEqual(["object", "object"]);
  });

  it("are judged in linear time, whatever a repository writes", () => {
    const list = parseRules(`${"*a".repeat(60)}b\n/${"**/".repeat(40)}x\n${"[a-z]*".repeat(40)}0\n`);
    const started = performance.now();
    expect(isIgnored({ base: "", list }, `${"a/".repeat(100)}${"a".repeat(250)}`, false)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it("are the same that git says, for any rules", async () => {
    const part = fc.constantFrom(
      "a",
      "b",
      "ab",
      "a.c",
      "*",
      "**",
      "?",
      "[ab]",
      "[!a]",
      "a*",
      "*.c",
      "\\a",
      "[[:alpha:]]",
      "a**b",
      "[a",
      "#",
      " ",
    );
    const pattern = fc
      .tuple(
        fc.constantFrom("", "!", "/", "!/", "\\"),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("", "/", " ", "\\ ", "\r"),
      )
      .map(([head, parts, tail]) => head + parts.join("/") + tail);
    const rules = fc.array(pattern, { maxLength: 5 }).map((list) => list.join("\n"));
    const world = openWorld();
    const names = ["a", "b", "ab", "a.c", "aab", "b.c", "#", "aa"];
    for (const x of names) {
      world.write(`f${x}`, "x");
      world.write(`${x}/${x}`, "x");
      for (const y of ["a", "b.c", "axb"]) world.write(`${x}/d${y}/${y}`, "x");
      for (const y of ["abb", "c"]) world.write(`${x}/${y}/a/b`, "x");
    }
    await fc.assert(
      fc.asyncProperty(rules, rules, async (top, inner) => {
        world.write(".gitignore", top);
        world.write("a/.gitignore", inner);
        const out = execFileSync("git", ["ls-files", "-o", "--exclude-standard", "-z"], {
          cwd: world.root,
          env: gitEnv,
          encoding: "utf8",
        });
        const said = out.split("\0").filter(Boolean).sort();
        const found = (await kept(world)).filter((f) => fs.statSync(path.join(world.root, f)).isFile());
        expect(found).toEqual(said);
      }),
      { numRuns: 60, examples: [["", "[a/[[:alpha:]]/a"]] },
    );
  });
});
