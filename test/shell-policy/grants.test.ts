// What the parts of one call get besides: the network and the repository, never for what stands beside.
import { describe, expect, it } from "vitest";
import type { World } from "../../src/shell-policy/types.ts";
import { judgeCommand, makeWorld, type RuleTexts } from "./world.ts";

const FETCH = { allow: ["Bash(git fetch *)"] };

async function granted(world: World, command: string, rules: RuleTexts = {}) {
  const { decision, network, git, withheld } = await judgeCommand(world, command, rules);
  return [decision, network ? "network" : "", git ? "git" : "", withheld];
}

describe("the network", () => {
  it.each(["default", "auto", "bypassPermissions"] as const)(
    "is for the part that a rule names, in mode %s",
    async (mode) => {
      const world = makeWorld();
      const rules = { ...FETCH, mode };
      expect(await granted(world, "git fetch origin", rules)).toEqual(["allow", "network", "git", []]);
      expect(await granted(world, "git status && git fetch origin 2>&1 | tail -3", rules)).toEqual([
        "allow",
        "network",
        "git",
        [],
      ]);
      const beside = { what: "network", part: "git fetch origin", because: "beside" };
      for (const command of [
        "git fetch origin; bash ex.sh",
        "bash ex.sh & git fetch origin",
        "git fetch origin && $(bash ex.sh)",
      ]) {
        const judged = await judgeCommand(world, command, rules);
        expect([command, judged.network, judged.withheld[0]]).toEqual([command, false, beside]);
      }
    },
  );

  it("is not for two rules' commands when only one wants it", async () => {
    const rules = { allow: ["Bash(git fetch *)", "Bash(bash ex.sh)"] };
    expect(await granted(makeWorld(), "git fetch origin; bash ex.sh", rules)).toEqual([
      "allow",
      "",
      "",
      [
        { what: "network", part: "git fetch origin", because: "beside" },
        { what: "git", part: "git fetch origin", because: "beside" },
      ],
    ]);
    expect(
      await granted(makeWorld(), "curl https://example.org && git fetch", { allow: ["Bash(curl *)", ...FETCH.allow] }),
    ).toEqual(["allow", "network", "", [{ what: "git", part: "git fetch", because: "beside" }]]);
  });

  it("is not for a part of which the mode, and no rule, lifts something", async () => {
    const rules = { allow: ["Bash(npm pack *)"], mode: "auto" as const };
    const [, network] = await granted(makeWorld(), "npm pack --pack-destination ../outside", rules);
    expect(network).toBe("");
    expect(await granted(makeWorld(), "npm pack --workspace a ../outside", rules)).toEqual([
      "allow",
      "",
      "",
      [{ what: "network", part: "npm pack --workspace a ../outside", because: "no_rule" }],
    ]);
  });

  it("is missed by a command that wants it and has no rule, and the verdict says so", async () => {
    const missing = [{ what: "network", part: "npm install x", because: "no_rule" }];
    expect(await granted(makeWorld(), "npm install x", { mode: "auto" })).toEqual(["allow", "", "", missing]);
    expect(await granted(makeWorld({ openNetwork: true }), "npm install x", { mode: "auto" })).toEqual([
      "allow",
      "",
      "",
      [],
    ]);
    expect(await granted(makeWorld({ sandboxed: false }), "npm install x", { mode: "bypass" })).toEqual([
      "allow",
      "",
      "",
      [],
    ]);
  });
});

describe("the repository", () => {
  it("may be changed by what is git, and by nothing that says so", async () => {
    const world = makeWorld({}, ["mkdir -p vendor/x.git/objects vendor/x.git/refs", "touch vendor/x.git/HEAD"]);
    const git = async (command: string) => (await judgeCommand(world, command, { mode: "auto" })).git;
    const may = [
      "git commit -m x",
      "git add -A && git commit -m x",
      "mkdir -p a && cp README.md a/ && git add a && git commit -m 'x' | tail -1",
      "timeout 9 git stash",
      "GIT_SEQUENCE_EDITOR=\"sed -i '2s/pick/squash/'\" git rebase -i HEAD~2",
    ];
    const mayNot = [
      "bash wipe.sh # for git",
      "bash wipe.sh git",
      "git status; bash wipe.sh",
      "git commit -m x; bash wipe.sh",
      "npm test && git commit -am x",
      "git bisect run bash wipe.sh",
      "git rebase -x 'bash wipe.sh' HEAD~1",
      "./git commit",
      "cd vendor/x.git && git status",
      "git -C vendor/x.git gc",
      "git status",
    ];
    const wrong: string[] = [];
    for (const command of may) if (!(await git(command))) wrong.push(`not: ${command}`);
    for (const command of mayNot) if (await git(command)) wrong.push(`changed by: ${command}`);
    expect(wrong).toEqual([]);
  });
});

it("does not let a copied link lead where its original does", async () => {
  const world = makeWorld({}, ["ln -s .git l2", "ln -s src l3", "ln -s ../outside l4"]);
  const decisions = [];
  for (const command of [
    "cp -P l2 l; echo junk > l/HEAD; git add a",
    "cp -a l2 l",
    "cp -R l4 l; echo x > l/y",
    "rsync -a l2 l",
    "cp -P l3 l; echo x > l/a.ts",
    "cp -r src copy",
  ])
    decisions.push([command, (await judgeCommand(world, command, { mode: "auto" })).decision]);
  expect(decisions).toEqual([
    ["cp -P l2 l; echo junk > l/HEAD; git add a", "deny"],
    ["cp -a l2 l", "deny"],
    ["cp -R l4 l; echo x > l/y", "deny"],
    ["rsync -a l2 l", "deny"],
    ["cp -P l3 l; echo x > l/a.ts", "allow"],
    ["cp -r src copy", "allow"],
  ]);
});

it("destroys nothing of git's unasked in mode auto, and a rule has to name the subcommand", async () => {
  const world = makeWorld();
  const grave = [
    "git branch -D main",
    "git branch -f main HEAD~5",
    "git reset --hard HEAD~5",
    "git clean -fdx",
    "git reflog expire --expire=now --all",
    "git gc --prune=now",
    "git update-ref -d refs/heads/main",
    "git stash clear",
    "git checkout -f main",
  ];
  const said: unknown[] = [];
  for (const command of grave) {
    const { decision, code } = await judgeCommand(world, command, { mode: "auto" });
    const wide = await judgeCommand(world, command, { allow: ["Bash(git *)"] });
    const named = await judgeCommand(world, command, {
      allow: [`Bash(${command.split(" ").slice(0, 2).join(" ")} *)`],
    });
    if (`${decision} ${code} ${wide.decision} ${named.decision}` !== "ask changes ask allow")
      said.push([command, decision, code, wide, named]);
  }
  expect(said).toEqual([]);
  // What others have there is gone over only by a rule that says so.
  for (const [command, rule] of [
    ["git push --force origin main", "Bash(git push --force *)"],
    ["git push origin +HEAD:main", "Bash(git push origin +HEAD:main)"],
    ["git push origin :main", "Bash(git push origin :main)"],
  ] as const)
    expect([
      command,
      (await judgeCommand(world, command, { mode: "auto" })).decision,
      (await judgeCommand(world, command, { allow: ["Bash(git push *)"] })).decision,
      (await judgeCommand(world, command, { allow: [rule] })).decision,
    ]).toEqual([command, "ask", "ask", "allow"]);
  const usual = [
    "git clean -n",
    "git branch -d done",
    "git reset HEAD~1",
    "git push --force-with-lease",
    "git stash pop",
    "git gc",
  ];
  for (const command of usual)
    expect([command, (await judgeCommand(world, command, { mode: "auto" })).decision]).toEqual([command, "allow"]);
});

it("asks about git in a bare repository of the project, whatever its name, and no wide rule lifts it", async () => {
  const world = makeWorld({}, [
    "mkdir -p vendor/x.git/objects vendor/x.git/refs vendor/x.git/sub plain/objects",
    "touch vendor/x.git/HEAD",
    "ln -s vendor/x.git link",
  ]);
  const commands = [
    "cd vendor/x.git && git status",
    "git -C vendor/x.git log",
    "cd vendor/x.git/sub && git status",
    "cd link && git diff",
  ];
  for (const command of commands)
    for (const allow of [[], ["Bash(git *)", "Bash(cd *)"]])
      expect([command, (await judgeCommand(world, command, { allow })).code]).toEqual([command, "runs_code"]);
  expect((await judgeCommand(world, "cd plain && git status")).decision).toBe("allow");
});
