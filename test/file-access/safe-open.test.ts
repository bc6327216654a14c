import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { permitOf } from "../../src/file-access/permit.ts";
import { holdFolder } from "../../src/file-access/pinned-folder.ts";
import { isProtected } from "../../src/file-access/protected-names.ts";
import { hold, readHeld, release } from "../../src/file-access/safe-open.ts";
import { createFiles } from "../../src/mechanisms/files/index.ts";
import { scratch, testTurn } from "../turn.ts";

function setUp() {
  const base = scratch(onTestFinished);
  const root = join(base, "proj");
  for (const dir of ["proj/src", "outside"]) mkdirSync(join(base, dir), { recursive: true });
  writeFileSync(join(root, "src/a.ts"), "inside");
  writeFileSync(join(base, "outside/s.txt"), "secret");
  symlinkSync("src/a.ts", join(root, "in"));
  symlinkSync("../outside/s.txt", join(root, "out"));
  symlinkSync("../outside", join(root, "d"));
  symlinkSync("loop", join(root, "loop"));
  execFileSync("bash", ["-c", `mkfifo ${join(root, "pipe")}`]);
  return { base, root, permit: permitOf({ root, grants: {} }) };
}

// Both ways: by the kernel's names, and by comparing where there are none.
test.each([true, false])("what is opened is judged by where it is (through /proc: %s)", (viaProc) => {
  const { root, permit } = setUp();
  const said = (name: string, more: object = {}): unknown => {
    try {
      const held = hold(permit, join(root, name), { shown: name, viaProc, ...more });
      if (!held) return undefined;
      try {
        return held.stat.isFile() ? [held.real, readHeld(held, name).toString()] : held.real;
      } finally {
        release(held);
      }
    } catch (error) {
      return (error as Error).message;
    }
  };
  const file = [join(root, "src/a.ts"), "inside"];
  expect([said("src/a.ts"), said("in"), said("src"), said("none"), said("src/a.ts/x")]).toEqual([
    file,
    file,
    join(root, "src"),
    undefined,
    undefined,
  ]);
  const outside = (name: string) => `${name} is outside ${root}`;
  expect([said("out"), said("d/s.txt"), said("d/none"), said("../outside")]).toEqual(
    ["out", "d/s.txt", "d/none", "../outside"].map(outside),
  );
  expect([said("in", { exact: true }), said("loop"), said(".git/x", { writes: true })]).toEqual([
    "in was changed by someone else at this moment; look again",
    "loop leads through too many links",
    ".git/x is protected from file tools: git runs what is in there",
  ]);
  expect(said("pipe")).toBe(viaProc ? join(root, "pipe") : "pipe is not a regular file");
});

test.each([true, false])("a held folder stays the one that was judged (through /proc: %s)", (viaProc) => {
  const { base, root } = setUp();
  const dir = join(root, "new/deep");
  expect(holdFolder(dir, { shown: "x", viaProc })).toBeUndefined();
  const folder = holdFolder(dir, { shown: "x", viaProc, create: true })!;
  onTestFinished(() => release(folder));
  renameSync(dir, join(root, "moved"));
  symlinkSync(join(base, "outside"), dir);
  if (viaProc) {
    folder.confirm();
    writeFileSync(folder.at("x"), "here");
    expect(readFileSync(join(root, "moved/x"), "utf8")).toBe("here");
  } else expect(() => folder.confirm()).toThrow("x was changed by someone else at this moment; look again");
  expect(() => holdFolder(dir, { shown: "x", viaProc })).toThrow(/not a directory|changed by someone else/);
  expect(() => holdFolder(join(root, "d/sub"), { shown: "x", viaProc, create: true })).toThrow(
    /not a directory|changed by someone else/,
  );
  expect(readdirSync(join(base, "outside"))).toEqual(["s.txt"]);
});

test.runIf(process.platform === "linux")("no call leaves a file open, whether done or refused", async () => {
  const { root } = setUp();
  const turn = testTurn([createFiles()], { root });
  const open = () =>
    readdirSync("/proc/self/fd")
      .map((fd) => target(fd))
      .filter((t) => t.startsWith(root));
  for (const path of [
    "src/a.ts",
    "in",
    "out",
    "d",
    "d/s.txt",
    "loop",
    "pipe",
    "none",
    "src",
    ".git/x",
    "new/n/x",
    "a\0",
  ]) {
    await turn.call("read_file", { path });
    await turn.call("write_file", { path, content: "x" });
    await turn.call("edit_file", { path, old_text: "i", new_text: "x" });
    await turn.call("glob", { pattern: "*", path });
    await turn.call("grep", { pattern: "x", path });
  }
  expect(open()).toEqual([]);
});

function target(fd: string): string {
  try {
    return realpathSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
}

test("protected names are known in every disguise, and only those", () => {
  const cases: Record<string, boolean> = {
    ".git": true,
    ".git/config": true,
    "a/b/.GIT/hooks/x": true,
    ".giT": true,
    ".git.": true,
    ".git /x": true,
    ".git::$INDEX_ALLOCATION/x": true,
    "git~1/x": true,
    ".g\u200cit": true,
    ".ｇｉｔ/x": true,
    ".claude/settings.json": true,
    ".Holdfast/x": true,
    ".gitignore": false,
    ".github/x": false,
    "git/x": false,
    "x.git/config": false,
    ".holdfast-0123.tmp": false,
    ".claude.md": false,
    "": false,
    "...": false,
  };
  expect(Object.fromEntries(Object.keys(cases).map((p) => [p, isProtected(p.split("/")) !== undefined]))).toEqual(
    cases,
  );
});

test("a place outside is written with its grant, and not without", async () => {
  const { base, root } = setUp();
  const turn = testTurn([createFiles()], { root });
  const path = join(base, "outside/new.txt");
  const input = { path, content: "x" };
  expect(await turn.call("write_file", input)).toEqual({ content: `${path} is outside ${root}`, isError: true });
  const granted = await turn.call("write_file", input, { grants: { paths: [path] } });
  expect([granted.content, readFileSync(path, "utf8")]).toEqual([`Created ${path} (1 bytes)`, "x"]);
});
