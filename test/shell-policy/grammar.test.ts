// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell commands, not templates
import { describe, expect, it } from "vitest";
import { makeWorld, others } from "./world.ts";

describe("the shell grammar", () => {
  it("finds what is destroyed wherever it hides", async () => {
    const world = makeWorld();
    const hidden = [
      "x=rm; $x -rf ~",
      'a=(rm -rf ~); "${a[@]}"',
      'set -- rm -rf ~; "$@"',
      'f() { "$@"; }; f rm -rf ~',
      "rm${IFS}-rf${IFS}~",
      "$'\\x72m' -rf ~",
      "r\\m -rf ~",
      "{rm,-rf,~}",
      "/bin/../bin/rm -rf ~",
      "echo $(rm -rf ~)",
      "echo `rm -rf ~`",
      "cat <(rm -rf ~)",
      "cat <<E\n$(rm -rf ~)\nE",
      "echo ${x:-$(rm -rf ~)}",
      "echo $((a[$(rm -rf ~)]))",
      "x='a[$(rm -rf ~)]'; echo $((x))",
      "[[ 'a[$(rm -rf ~)]' -eq 1 ]]",
      "let 'a[$(rm -rf ~)]=1'",
      "case x in x) rm -rf ~;; esac",
      "if rm -rf ~; then :; fi",
      "for i in 1; do rm -rf ~; done",
      "while rm -rf ~; do :; done",
      "{ rm -rf ~; }",
      "(rm -rf ~)",
      "! rm -rf ~",
      "time rm -rf ~",
      "coproc rm -rf ~",
      "ls; rm -rf ~",
      "ls | rm -rf ~",
      "ls & rm -rf ~",
      "ls\nrm -rf ~",
      "trap 'rm -rf ~' EXIT",
      "bash <<< 'rm -rf ~'",
      "f() { rm -rf ~; }",
      "rm -rf ${PWD%/*}",
      "x=ls; if true; then x=rm; fi; $x -rf ~",
    ];
    expect(await others(world, hidden, "deny")).toEqual([]);
  });

  it("follows the current directory", async () => {
    const world = makeWorld({}, ["ln -s ../outside link"]);
    const outside = [
      "cd .. && touch x",
      "cd /; touch x",
      "(cd ..; touch x)",
      "cd src/../.. && touch x",
      "if true; then cd ..; fi; touch x",
      "true && cd ..; touch x",
      "for i in 1 2; do cd ..; done; touch x",
      "f() { cd ..; }; f; touch x",
      "cd link && touch x",
      "cd .git && touch x",
      "pushd .. && touch x",
      "env -C .. touch x",
    ];
    expect(await others(world, outside, "deny")).toEqual([]);
    expect(await others(world, ['cd "$X" && touch y', "cd ../outside && npm test"], "ask")).toEqual([]);
    expect(
      await others(
        world,
        ["cd src && touch x", "cd src && ls && cd .. && touch y", "(cd src); touch x", "mkdir n && cd n && touch x"],
        "allow",
        { mode: "acceptEdits" },
      ),
    ).toEqual([]);
  });

  it("asks firmly for what it cannot read", async () => {
    const world = makeWorld();
    const odd = [
      "git\u00a0status",
      "ls \u202e",
      "ls\u200b",
      "ls \u001b[2J",
      "ls\0",
      "echo 'open",
      "ls )",
      "if ls",
      "cat <<E\nno end",
      `echo ${"a".repeat(10_000)}`,
      `${"(".repeat(300)}ls${")".repeat(300)}`,
    ];
    expect(await others(world, odd, "ask", { mode: "bypass", allow: ["Bash"] })).toEqual([]);
  });

  it("takes quoted text for text", async () => {
    const world = makeWorld();
    expect(
      await others(
        world,
        [
          "echo 'rm -rf /'",
          "printf '%s' '$(not run)'",
          "git log --grep='rm -rf ~'",
          "cat <<'E'\n$(rm -rf ~)\nE",
          "grep -n '`id`' a",
          'echo "a; b && c | d"',
        ],
        "allow",
      ),
    ).toEqual([]);
  });
});
