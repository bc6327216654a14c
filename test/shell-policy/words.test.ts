// Words with holes: what is not known is said beside the text, and no character in a command can stand for it.
import { describe, expect, it } from "vitest";
import {
  cut,
  field,
  fill,
  has,
  hole,
  isKnown,
  isSameWord,
  join,
  match,
  replaceAll,
  showField,
  split,
  word,
} from "../../src/shell-policy/shell/field.ts";
import { judgeCommand, judgeFile, makeWorld } from "./world.ts";

const kinds = (w: ReturnType<typeof word>) => w.holes.map(({ at, kind }) => `${at}:${kind}`);

describe("a word", () => {
  const name = join([word("-o"), hole(), word("/a"), hole("plain")]);

  it("keeps its holes when it is joined, cut, split, matched and replaced", () => {
    expect(kinds(name)).toEqual(["2:unknown", "5:plain"]);
    expect(kinds(cut(name, 2))).toEqual(["0:unknown", "3:plain"]);
    expect(kinds(cut(name, 3, 5))).toEqual([]);
    expect(split(join([word("a "), hole("names"), word(" b")]), / +/).map(kinds)).toEqual([[], ["0:names"], []]);
    expect(match(name, /^-o(.+)\/(.+)$/d)!.map((group) => kinds(group!))).toEqual([
      ["2:unknown", "5:plain"],
      ["0:unknown"],
      ["1:plain"],
    ]);
    expect(kinds(replaceAll(word("{}/{}"), "{}", hole("allNames")))).toEqual(["0:allNames", "2:allNames"]);
    expect(fill(name, { unknown: "u", names: "n", allNames: "h", plain: "0" })).toBe("-ou/a0");
    expect([showField(name), has(name, "unknown"), has(name, "names")]).toEqual(["-o$?/a$?", true, false]);
    expect([isSameWord(hole("plain"), hole("names")), isSameWord(hole(), hole())]).toEqual([false, true]);
  });

  it("is known whatever characters it has, but for the one that holes read as: that is not known", () => {
    for (const c of ["\0", "\x01", "\x02", "\x03"]) expect([c, isKnown(field(`a${c}`))]).toEqual([c, true]);
    expect(isKnown(field("a\ufffc"))).toBe(false);
  });
});

describe("a command", () => {
  it("cannot write what is not known: the characters that once meant it are refused, or are only themselves", async () => {
    const world = makeWorld();
    for (const c of ["\0", "\x01", "\x02", "\x03", "\ufffc"])
      expect(await judgeCommand(world, `cat ${c}`)).toMatchObject({ decision: "ask", firm: true, code: "unreadable" });
    for (const c of ["\\x01", "\\x02", "\\x03", "\\ufffc"])
      expect(await judgeCommand(world, `cat $'${c}'`)).toMatchObject({ decision: "ask", code: "runtime" });
  });

  it("is judged in a directory whose name has such characters as in any other", async () => {
    const world = makeWorld();
    for (const c of ["\x01", "\x02"]) {
      const home = `${world.base}/h${c}`;
      expect(await judgeCommand({ ...world, home }, 'echo x > "$HOME/file"')).toMatchObject({ decision: "deny" });
      expect(await judgeCommand({ ...world, home }, 'cat "$HOME/file"')).toMatchObject({ decision: "deny" });
    }
  });

  it("that names files of the project and something unknown in one word is asked, not refused for its characters", async () => {
    const judged = await judgeCommand(makeWorld(), 'cat "$(git ls-files)/$X"');
    expect([judged.decision, judged.code]).toEqual(["ask", "runtime"]);
  });

  it("is judged to its end where git is told of a directory that is not known", async () => {
    const world = makeWorld();
    expect(await judgeCommand(world, 'git -C "$X" status')).toMatchObject({ decision: "ask", firm: true });
    expect(await judgeCommand(world, 'git -C "$X" status; rm -rf ~')).toMatchObject({ decision: "deny" });
    expect(await judgeCommand(world, 'git -C "$(git ls-files)" log')).toMatchObject({ decision: "ask" });
  });
});

describe("a code", () => {
  it.each([
    ["cat ../outside/x", "ask", "outside"],
    ["echo x > new.txt", "ask", "edit"],
    ["sed -i s/a/b/ README.md", "ask", "edit"],
    ["npm test > test.log", "ask", "command"],
    ["rm -rf dist", "ask", "changes"],
    ["cat .env", "ask", "secret"],
    ["echo x > .npmrc", "ask", "protected"],
    ["curl https://example.org", "ask", "network"],
    ["make all", "ask", "runs_code"],
    ['cat "$X"', "ask", "runtime"],
    ["source ../outside/x", "deny", "outside"],
    ["if", "ask", "unreadable"],
  ])("says why, beside the sentence: %s", async (command, decision, code) => {
    expect(await judgeCommand(makeWorld(), command)).toMatchObject({ decision, code });
  });

  it("is the same for an edit by a tool and by a command; without a sandbox /tmp is temporary", async () => {
    const world = makeWorld();
    expect(await judgeFile(world, "write_file", { path: "new.txt" })).toMatchObject({ decision: "ask", code: "edit" });
    const bare = makeWorld({ sandboxed: false });
    expect(await judgeCommand(bare, "echo x > /tmp/x")).toMatchObject({ decision: "ask", code: "temporary" });
  });

  it("names the mode or the rule that decided, and is absent where nothing is in the way", async () => {
    const world = makeWorld();
    expect(await judgeCommand(world, "touch a", { mode: "plan" })).toMatchObject({ decision: "deny", code: "mode" });
    expect(await judgeCommand(world, "ls", { deny: ["Bash(ls)"] })).toMatchObject({ decision: "deny", code: "rule" });
    expect("code" in (await judgeCommand(world, "ls"))).toBe(false);
  });
});
