// The decision which project a folder belongs to: on real folders where they can be had, on invented ones where a file system is needed that is not.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  adoptProject,
  findProject,
  listProjects,
  openContexts,
  openProject,
  type Project,
  settleMovedRoots,
} from "../../src/contexts/index.ts";
import { type Here, isImageOf, isSameElsewhere, isSameThere, lookHere } from "../../src/contexts/project/here.ts";
import { isFolderOf } from "../../src/contexts/project/links.ts";
import { matchHere } from "../../src/contexts/project/match.ts";
import { type FolderRecord, writePlace } from "../../src/contexts/project/places.ts";
import { mechanismsOf } from "../../src/harness.ts";
import { openLedger } from "../../src/ledger/ledger.ts";
import { openStore } from "../../src/ledger/open-store.ts";
import { contextState } from "../../src/loop/agent.ts";
import { readers } from "../../src/loop/host.ts";
import { tempDir } from "../house.ts";

let world: string;
let state: string;

beforeEach(() => {
  world = tempDir("projects");
  state = tempDir("state");
});
afterEach(() => {
  fs.rmSync(world, { recursive: true, force: true });
  fs.rmSync(state, { recursive: true, force: true });
});

/** Where its ledgers are. */
function fileOf({ ledgers }: Project): string {
  return "file" in ledgers ? ledgers.file : expect.fail("it is no file");
}

const at = (...names: string[]) => path.join(world, ...names);
const open = (folder: string): Project => openProject({ cwd: at(folder), state });
const folder = (name: string): string => fs.mkdirSync(at(name), { recursive: true }) ?? at(name);
const git = (name: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: at(name), stdio: "pipe" });
const repository = (name: string) => {
  folder(name);
  git(name, "init", "-q");
  git(name, "commit", "-q", "--allow-empty", "-m", "first");
};
/** As if there had been work in it. */
const used = (project: Project): Project => {
  fs.writeFileSync(fileOf(project), "");
  return project;
};

describe("what a folder is", () => {
  it("at one path: another birth time is another folder, whatever its inode; another device number is a new mount", () => {
    const cases: [string, string, boolean][] = [
      ["1:10:500", "1:10:500", true],
      ["1:10:500", "1:10:900", false], // made anew with the inode of the old one
      ["1:10:500", "1:11:900", false],
      ["1:10:500", "2:10:500", true],
      ["1:10:500", "1:11:500", false],
      ["1:10:0", "1:10:0", true], // the file system tells no birth times: the inode must do
      ["1:10:0", "1:11:0", false],
      ["1:10:0", "2:10:0", false],
      ["1:10:0", "1:10:500", true], // it tells them now
    ];
    for (const [was, now, same] of cases) expect([was, now, isSameThere(was, now)]).toEqual([was, now, same]);
  });

  it("at another path: all three must agree, and be known", () => {
    expect(isSameElsewhere("1:10:500", "1:10:500")).toBe(true);
    for (const now of ["2:10:500", "1:11:500", "1:10:501"]) expect(isSameElsewhere("1:10:500", now)).toBe(false);
    expect(isSameElsewhere("1:10:0", "1:10:0")).toBe(false);
    expect([isImageOf("1:10:500", "2:10:500"), isImageOf("1:10:0", "2:10:0")]).toEqual([true, false]);
  });

  it("a submodule is believed when its git directory names it back, and is a project of its own either way", () => {
    repository("source");
    repository("main");
    git("main", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at("source"), "sub");
    const modules = at("main/.git/modules/sub");
    expect(lookHere(at("main/sub")).git).toMatchObject({ kind: "submodule", commonPath: modules });
    const sub = open("main/sub");
    expect(open("main").stateDir).not.toBe(sub.stateDir);
    fs.writeFileSync(path.join(modules, "config"), "[core]\n\tworktree = /elsewhere\n");
    expect(lookHere(at("main/sub"))).toMatchObject({ unproven: modules });
    expect(open("main/sub").stateDir).toBe(sub.stateDir);
    for (const worktree of ["../../../sub", '"../../../sub"', `${at("main/sub")}  `]) {
      const config = `[core]\n\tbare = false\n[other]\n\tworktree = no\n[core]\n\tworktree = ${worktree}\n`;
      fs.writeFileSync(path.join(modules, "config"), config);
      expect([worktree, lookHere(at("main/sub")).git?.kind]).toEqual([worktree, "submodule"]);
    }
  });

  it("a worktree with relative pointers is one too; a link to a folder is the folder", () => {
    repository("main");
    git("main", "worktree", "add", "-q", "../wt");
    fs.writeFileSync(at("wt/.git"), "gitdir: ../main/.git/worktrees/wt\n");
    fs.writeFileSync(at("main/.git/worktrees/wt/gitdir"), "../../../../wt/.git\n");
    expect(lookHere(at("wt")).git).toMatchObject({ kind: "worktree", commonPath: at("main/.git") });
    fs.symlinkSync(at("main"), at("link"));
    expect(open("link")).toMatchObject({ root: at("main"), stateDir: open("main").stateDir });
  });
});

describe("file systems that are not at hand", () => {
  const place = (more: Partial<FolderRecord> = {}): FolderRecord => ({
    id: "an-id",
    project: "abc",
    self: "1:10:500",
    paths: ["/x/a"],
    ...more,
  });
  const here = (top: string, topId: string): Here => ({ cwd: top, cwdId: topId, top, topId, olderKey: top });

  beforeEach(() => {
    fs.mkdirSync(path.join(state, "projects/abc"), { recursive: true });
    fs.writeFileSync(path.join(state, "projects/abc/project.json"), '{"id":"an-id","path":"/x/a","first":{}}');
    fs.writeFileSync(path.join(state, "projects/abc/ledger.db"), "");
  });

  it("a new device number at the same path says nothing and asks nothing", () => {
    writePlace(state, place());
    expect(matchHere(state, here("/x/a", "7:10:500"))).toMatchObject({
      kind: "known",
      place: { project: "abc", self: "7:10:500" },
      changed: true,
      instead: [{ self: "1:10:500" }],
    });
  });

  it("a snapshot at another path asks, an inode used again asks", () => {
    writePlace(state, place());
    expect(matchHere(state, here("/x/snapshot", "7:10:500"))).toMatchObject({ kind: "unclear", doubt: "image" });
    expect(matchHere(state, here("/x/a", "1:10:900"))).toMatchObject({ kind: "unclear", doubt: "replaced" });
    expect(matchHere(state, here("/x/b", "1:10:900"))).toEqual({ kind: "none" });
  });

  it("without birth times the same path and inode are the folder, and a move asks", () => {
    writePlace(state, place({ self: "1:10:0" }));
    expect(matchHere(state, here("/x/a", "1:10:0"))).toMatchObject({ kind: "known", changed: false });
    expect(matchHere(state, here("/x/b", "1:10:0"))).toMatchObject({ kind: "unclear", doubt: "birthless" });
    expect(matchHere(state, here("/x/a", "1:11:0"))).toMatchObject({ kind: "unclear", doubt: "replaced" });
  });
});

describe("subfolders", () => {
  it("a subfolder of a repository is the repository's, of a plain folder its own; and stays it when a repository comes above", () => {
    folder("plain/sub");
    const [outer, inner] = [open("plain"), open("plain/sub")];
    expect(outer.stateDir).not.toBe(inner.stateDir);
    git("plain", "init", "-q");
    expect(open("plain/sub")).toMatchObject({ stateDir: inner.stateDir, root: at("plain/sub"), top: at("plain/sub") });
    expect(open("plain").stateDir).toBe(outer.stateDir);
    folder("plain/other");
    expect(open("plain/other")).toMatchObject({ stateDir: outer.stateDir, root: at("plain/other"), top: at("plain") });
    const { project, left } = adoptProject({ cwd: at("plain/sub"), state, which: outer.id });
    expect([project.stateDir, left?.id]).toEqual([outer.stateDir, inner.id]);
    expect(open("plain/sub").stateDir).toBe(outer.stateDir);
  });
});

describe("a moved folder", () => {
  it("takes the contexts of its subfolders along, leaves other projects' alone, and does nothing twice", async () => {
    repository("p");
    folder("p/sub");
    folder("p-other");
    const contexts = await openContexts({ cwd: at("p"), state });
    const roots = [at("p"), at("p/sub"), at("p-other"), ""];
    for (const root of roots) await contexts.create({ task: "t", title: root, ...(root && { root }) });
    await contexts.close();
    fs.renameSync(at("p"), at("q"));
    const rootsNow = async () => {
      const again = await openContexts({ cwd: at("q/sub"), state });
      const all = await again.list();
      await again.close();
      return all.map((one) => [one.title, one.root, one.events]).sort();
    };
    const once = await rootsNow();
    expect(once.map(([title, root]) => [title, root])).toEqual(
      [
        [at("p"), at("q")],
        [at("p/sub"), at("q/sub")],
        [at("p-other"), at("p-other")],
        ["", ""],
      ].sort(),
    );
    expect(await rootsNow()).toEqual(once);
    expect(open("q").formerly).toEqual([]);
  });

  it("a fork from before the move works where the folder is now", async () => {
    folder("p");
    const contexts = await openContexts({ cwd: at("p"), state });
    const { id } = await contexts.create({ task: "one", root: at("p") });
    await (await contexts.get(id)).checkpoint("early");
    await contexts.close();
    fs.renameSync(at("p"), at("q"));
    const again = await openContexts({ cwd: at("q"), state });
    const fork = await (await again.get(id)).fork("early");
    const ledger = await openLedger({
      store: again.store,
      name: fork.id,
      ...readers(mechanismsOf({ root: at("q"), jobsDir: "" })),
    });
    const { root, agents } = contextState(ledger);
    expect([root, agents.lead?.cwd]).toEqual([at("q"), at("q")]);
    await again.close();
  });

  it("a damaged context does not keep the others from being found", async () => {
    folder("p");
    const contexts = await openContexts({ cwd: at("p"), state });
    const ids: string[] = [];
    for (const task of ["one", "two"]) ids.push((await contexts.create({ task, root: at("p") })).id);
    await contexts.close();
    const db = new DatabaseSync(fileOf(open("p")));
    db.exec(`DELETE FROM events WHERE key = (SELECT (n << 32) + head FROM ledgers WHERE name = '${ids[0]}')`);
    db.close();
    fs.renameSync(at("p"), at("q"));
    const again = await openContexts({ cwd: at("q"), state });
    expect((await again.list()).find((one) => one.id === ids[1])?.root).toBe(at("q"));
    await again.close();
  });

  it("is followed by the worktrees that lie in the state directory", async () => {
    repository("p");
    const { stateDir, ledgers } = open("p");
    const tree = path.join(stateDir, "worktrees/one");
    git("p", "worktree", "add", "-q", tree);
    fs.renameSync(at("p"), at("q"));
    const store = await openStore(ledgers);
    await settleMovedRoots(store, open("q"));
    await store.close();
    expect(execFileSync("git", ["rev-parse", "--git-common-dir"], { cwd: tree, encoding: "utf8" }).trim()).toBe(
      at("q/.git"),
    );
  });

  it("back and forth, and away for another's sake: each path means who is there", () => {
    folder("a");
    const first = used(open("a"));
    fs.renameSync(at("a"), at("b"));
    expect(open("b")).toMatchObject({ stateDir: first.stateDir, formerly: [at("a")] });
    folder("a");
    const second = used(open("a")); // its first folder lives on: nobody is asked
    expect(second.stateDir).not.toBe(first.stateDir);
    fs.renameSync(at("a"), at("c"));
    fs.renameSync(at("b"), at("a"));
    expect([open("a").stateDir, open("c").stateDir]).toEqual([first.stateDir, second.stateDir]);
  });
});

describe("what was never finished", () => {
  it("a project's folder without a place, half a folder, a place without a project: one project comes of it", () => {
    folder("p");
    const { id, stateDir } = open("p");
    fs.rmSync(path.join(state, "places"), { recursive: true });
    expect(open("p")).toMatchObject({ id, stateDir });
    fs.mkdirSync(path.join(state, "projects/.new-gone"));
    fs.utimesSync(path.join(state, "projects/.new-gone"), 1, 1);
    fs.writeFileSync(path.join(state, "places/.half"), "{");
    fs.rmSync(stateDir, { recursive: true });
    expect(open("p")).toMatchObject({ id, stateDir });
    expect(listProjects({ cwd: at("p"), state }).map((one) => one.id)).toEqual([id]);
    folder("q");
    open("q");
    expect(fs.existsSync(path.join(state, "projects/.new-gone"))).toBe(false);
  });

  it("an empty project claims nothing: its folder made anew begins anew, unasked", () => {
    folder("p");
    const { id } = open("p");
    fs.rmSync(at("p"), { recursive: true });
    folder("p");
    const fresh = findProject({ cwd: at("p"), state });
    expect(fresh).toMatchObject({ id: expect.not.stringContaining(id), formerly: [] });
  });
});

it("an address that is none is refused, and becomes no folder", () => {
  for (const state of ["Redis://127.0.0.1:1/0", "valkey://h", "http://h", " redis://h", "redis+cluster://h"])
    expect(() => openProject({ cwd: os.tmpdir(), state })).toThrow(/is no place for state/);
});

it("folders of a project are its own, its worktrees and those known as its; a path out of them is none", () => {
  folder("p");
  const project = open("p");
  const inside = path.join(project.top, "sub");
  fs.mkdirSync(inside);
  const made = path.join(project.stateDir, "worktrees", "t");
  fs.mkdirSync(made, { recursive: true });
  const other = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-other-"));
  fs.symlinkSync(other, path.join(project.top, "link"));
  const asked = [project.top, inside, made, other, path.join(project.top, "link"), `${inside}/../..`, "/nowhere"];
  expect(asked.map((folder) => isFolderOf(project, folder))).toEqual([true, true, true, false, false, false, false]);
  fs.rmSync(other, { recursive: true });
});
