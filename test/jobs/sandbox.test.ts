import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { createSandbox } from "../../src/mechanisms/jobs/sandbox.ts";
import { probeSandbox } from "../../src/mechanisms/jobs/sandbox-state.ts";
import { scratch, testTurn } from "../turn.ts";
import { gitInit, setUp, state, works } from "./sandboxed.ts";

test.runIf(works)("a command writes in the project and nowhere else", async () => {
  const { base, run, text } = setUp({ files: { "outside/canary": "safe" } });
  const said = await run(
    `echo in > a.txt; echo no > ${base}/outside/canary; echo no > /etc/holdfast-canary; echo no > ../x; cat a.txt`,
  );
  expect(said).toContain("Read-only file system");
  expect([text("project/a.txt"), text("outside/canary"), text("x")]).toEqual(["in\n", "safe", undefined]);
  expect(existsSync("/etc/holdfast-canary")).toBe(false);
});

test.runIf(works)("a link out of the project leads to what cannot be written", async () => {
  const { base, root, run, text } = setUp({ files: { "outside/canary": "safe" } });
  symlinkSync(join(base, "outside"), join(root, "link"));
  await run("echo no > link/canary; echo no > link/new");
  expect([text("outside/canary"), text("outside/new")]).toEqual(["safe", undefined]);
});

test.runIf(works)("the home's secrets are not there; tools are", async () => {
  const { run, home, text } = setUp({
    files: {
      "home/.ssh/id_ed25519": "KEY",
      "home/.aws/credentials": "KEY",
      "home/notes.txt": "KEY",
      "home/.local/bin/tool": "TOOL",
    },
  });
  const said = await run(
    `cat ${home}/.ssh/id_ed25519 ${home}/.aws/credentials ${home}/notes.txt ${home}/.local/bin/tool; echo x > ${home}/.bashrc; ls -A ${home}`,
  );
  expect(said).not.toContain("KEY");
  expect(said).toContain("TOOL");
  expect(text("home/.bashrc")).toBe(undefined);
});

test.runIf(works)("a project that is the home itself shows no secrets either", async () => {
  const base = scratch(onTestFinished);
  mkdirSync(join(base, ".ssh"));
  writeFileSync(join(base, ".ssh/id_rsa"), "KEY");
  if (!state.works) throw new Error(state.why);
  const wrap = createSandbox(state.bwrap, { root: base, home: base, dir: join(base, ".local/state/holdfast") });
  const turn = testTurn([createJobs({ dir: join(scratch(onTestFinished), "jobs"), sandbox: wrap })], { root: base });
  const said = (await turn.call("bash", { command: "cat .ssh/id_rsa; ls -A .local/state" })).content as string;
  expect(said).not.toContain("KEY");
  expect(said).not.toContain("holdfast\n");
});

test.runIf(works)("a call with a grant has a fresh home: nothing that another wrote there but caches", async () => {
  const { base, run, home, turn, text } = setUp({
    files: {
      "home/.local/bin/tool": "TOOL",
      "home/.gitconfig": "[user]\n\tname = u\n",
      "home/.ssh/id_rsa": "KEY",
      "state/x": "x",
    },
  });
  const granted = async (command: string) =>
    (await turn.call("bash", { command }, { grants: { network: true } })).content as string;
  await run(
    `cd ${home}; mkdir -p .config/x .npm/_cacache; for f in .curlrc .config/x/y .npm/_cacache/a .npm/_logs; do echo planted > $f; done; ln -s ${base}/made .cargo; ln -s ${base}/state .m2`,
  );
  const all = `cd ${home}; find . -type f | sort`;
  expect(
    await granted(`${all}; cat .npm/_cacache/a; echo b > .npm/_cacache/b; echo b > .curlrc; echo no > .gitconfig`),
  ).toBe(
    `./.gitconfig\n./.local/bin/tool\n./.npm/_cacache/a\nplanted\nbash: line 1: .gitconfig: Read-only file system\n[exit code 1]\n[directory stays ${base}/project: ${home} is outside ${base}/project]`,
  );
  expect(await granted(`${all}; echo no > .local/bin/tool; ls -A /run/holdfast-home`)).toContain(
    "./.gitconfig\n./.local/bin/tool\n./.npm/_cacache/a\n./.npm/_cacache/b\nbash: line 1: .local/bin/tool: Read-only file system\n[",
  );
  expect(await run(`cat ${home}/.npm/_cacache/b ${home}/.curlrc`)).toBe("b\nplanted");
  // Whatever is in the way of a cache, the next call runs, without it.
  await run(`cd ${home}; rm -r .npm; touch .npm .cache`);
  expect(await granted(`${all}; ls -A .cargo`)).toContain("./.gitconfig\n./.local/bin/tool\n");
  // The way to a cache is not followed out of the context's home.
  expect([existsSync(join(base, "made")), readdirSync(join(base, "state")), text("home/.curlrc")]).toEqual([
    false,
    ["x"],
    undefined,
  ]);
});

test.runIf(works)("/tmp is the context's own, and stays from command to command", async () => {
  const { run } = setUp();
  const name = `holdfast-canary-${process.pid}`;
  writeFileSync(join("/tmp", name), "outside");
  onTestFinished(() => rmSync(join("/tmp", name)));
  expect(await run(`cat /tmp/${name}; echo mine > /tmp/${name}.note; echo $TMPDIR`)).toContain("No such file");
  expect(await run(`cat /tmp/${name}.note`)).toBe("mine");
  expect(existsSync(`/tmp/${name}.note`)).toBe(false);
});

test.runIf(works)("what is protected and there cannot be changed; git works all the same", async () => {
  const { root, run, text } = setUp({ files: { "project/.mcp.json": "{}", "project/.claude/settings.json": "{}" } });
  gitInit(root);
  const before = text("project/.git/config");
  await run(
    "echo x > .mcp.json; echo x > .claude/settings.json; rm -rf .claude .mcp.json; echo x > .git/config; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit",
  );
  expect([text("project/.mcp.json"), text("project/.claude/settings.json"), text("project/.git/config")]).toEqual([
    "{}",
    "{}",
    before,
  ]);
  expect(text("project/.git/hooks/pre-commit")).toBe(undefined);
  const said = await run(
    "echo a > a && git add a && git -c user.name=n -c user.email=e commit -qm first && git log --oneline; git config x.y z; echo x > .git/hooks/post-commit",
  );
  expect(said).toMatch(/[0-9a-f]{7} first/);
  expect([text("project/.git/config"), text("project/.git/hooks/post-commit")]).toEqual([before, undefined]);
});

test.runIf(works)("a command that does not speak of git cannot touch the repository at all", async () => {
  const { root, run } = setUp();
  gitInit(root);
  const before = readdirSync(join(root, ".git"));
  await run("rm -rf .[a-z]*; find . -delete");
  expect(readdirSync(join(root, ".git"))).toEqual(before);
});

test.runIf(works)("what is protected and missing does not come to be, and no empty file stays behind", async () => {
  const { root, run } = setUp();
  const said = await run(
    "mkdir .claude .vscode && echo evil > .claude/settings.json && echo evil > .mcp.json && ln -s /etc/passwd .envrc && echo ok > fine; ls -A",
  );
  expect(said).toMatch(
    /\[taken away, because commands may not make it here: .claude, .envrc, .mcp.json, .vscode \(kept in .+\)\]/,
  );
  expect(readdirSync(root)).toEqual(["fine"]);
  const kept = /kept in (.+)\)\]/.exec(said)![1]!;
  expect(readFileSync(join(kept, ".mcp.json"), "utf8")).toBe("evil\n");
  expect(await run("echo again")).toBe("again");
  expect(readdirSync(root)).toEqual(["fine"]);
});

test.runIf(works)("a protected name that is a dangling link, and a home that is not there, stop nothing", async () => {
  const { run, root } = setUp({ sandbox: { home: "/nowhere/at/all" } });
  symlinkSync("missing", join(root, ".mcp.json"));
  expect(await run("echo ran")).toBe("ran");
});

test.runIf(works)("what a protected name links to is protected like it, and the link stays", async () => {
  const { root, run, text } = setUp({
    files: {
      "project/conf/settings.json": "{}",
      "project/conf/agents/g.md": "good",
      "project/more/local.json": "{}",
      "project/.holdfast/x": "x",
      "project/real/mcp.json": "{}",
      "project/src/a": "a",
    },
  });
  const link = (to: string, name: string) => symlinkSync(to, join(root, name));
  link("conf", ".claude");
  link("../more/local.json", "conf/settings.local.json");
  link("../more/agents", ".holdfast/agents"); // leads nowhere yet
  link("..", ".holdfast/all"); // the whole tree stays writable
  link("real/mcp.json", ".mcp.json");
  link("/somewhere/else", ".npmrc");
  gitInit(root);
  renameSync(join(root, ".git"), join(root, "repository"));
  link("repository", ".git");
  const config = text("project/repository/config");
  const attack =
    "for f in conf/settings.json conf/agents/g.md conf/new more/local.json real/mcp.json repository/config src/a; do echo evil > $f; done; mkdir more/agents && echo evil > more/agents/e.md; mv conf away; mv real away2; mv more away3; mv repository away4; rm .claude .mcp.json .npmrc; mkdir .claude; echo evil | tee .mcp.json .npmrc > .claude/settings.json";
  await run(`${attack}; rm .git; mkdir .git`);
  // The same of a command that may change the repository.
  const said = await run(
    `${attack}; git add src && git -c user.name=n -c user.email=e commit -qm first && git log --oneline`,
  );
  expect(said).toMatch(/[0-9a-f]{7} first/);
  const links = [".claude", ".mcp.json", ".npmrc", ".git"].map((name) => readlinkSync(join(root, name)));
  expect(links).toEqual(["conf", "real/mcp.json", "/somewhere/else", "repository"]);
  const files =
    "conf/settings.json conf/agents/g.md conf/new more/local.json more/agents/e.md real/mcp.json repository/config src/a";
  expect(files.split(" ").map((name) => text(`project/${name}`))).toEqual([
    ...["{}", "good", undefined, "{}", undefined, "{}", config],
    "evil\n",
  ]);
});

test.runIf(works)("a server in the background is reached by the next command", async () => {
  const { run, turn } = setUp();
  const { content } = await turn.call("bash", {
    command: 'exec node -e \'require("http").createServer((q,s)=>s.end("here")).listen(8123)\'',
    run_in_background: true,
  });
  const said = await run(
    "for i in 1 2 3 4 5 6 7 8 9 10; do exec 3<>/dev/tcp/127.0.0.1/8123 && break; sleep 0.1; done 2>/dev/null; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; tail -1 <&3",
  );
  await turn.call("job_kill", { id: /job_[0-9a-z]+/.exec(content as string)![0] });
  expect(said).toContain("here");
});

test.runIf(works)("no network, unless this call was granted it", async () => {
  const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const { run, turn } = setUp();
  const command = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -1 <&3`;
  expect(await run(command)).toContain("Connection refused");
  const granted = await turn.call("bash", { command }, { grants: { network: true } });
  expect(granted.content).toContain("reached");
});

test.runIf(works)("a command that failed and asked for another machine is told that it had no network", async () => {
  const { run, turn } = setUp();
  const note = "the sandbox has no network for this call";
  const connect = "exec 3<>/dev/tcp/198.51.100.7/80"; // an address of nobody; there is no way to it
  expect(await run(`bash -c '${connect}'; (exit 3)`)).toContain(`[exit code 3]\n[${note}`);
  expect(await run("node -e 'fetch(\"http://registry.example/\").catch(() => process.exit(4))'")).toContain(note);
  // Not what failed for another reason, what asked its own machine, or what went well without it.
  for (const other of [
    "false",
    "exec 3<>/dev/tcp/127.0.0.1/9",
    `(${connect}); true`,
    `echo '${note}: EAI_AGAIN'; false`,
  ])
    expect(await run(other)).not.toContain(`\n[${note}`);
  const granted = await turn.call("bash", { command: "false" }, { grants: { network: true } });
  expect(granted.content).toBe("[exit code 1]");
  const { content } = await turn.call("bash", { command: `sleep 0.2; ${connect}`, run_in_background: true });
  const id = /job_\w+/.exec(content as string)![0];
  const shown = async () => (await turn.call("job_output", { id })).content as string;
  while ((await shown()).includes("still running")) await sleep(20);
  expect(await shown()).toContain(`\n[${note}`);
});

test.runIf(works)(
  "a command that leaves its process group still dies with the call, and sees no process but its own",
  async () => {
    const { run, root } = setUp();
    const said = await run(
      "setsid sh -c 'while :; do echo beat >> alive; sleep 0.05; done' & sleep 0.3; ls /proc | grep -c '^[0-9]'",
    );
    expect(Number(said)).toBeLessThan(12);
    await sleep(100);
    const beats = readFileSync(join(root, "alive"), "utf8");
    expect(beats).toContain("beat");
    await sleep(400);
    expect(readFileSync(join(root, "alive"), "utf8")).toBe(beats);
  },
);

test.runIf(works)("an interrupted command is asked kindly first", async () => {
  const { turn, root } = setUp();
  const abort = new AbortController();
  const calling = turn.call(
    "bash",
    { command: "trap 'echo bye > said; exit 3' TERM; echo on > on; while :; do sleep 0.05; done" },
    { signal: abort.signal },
  );
  while (!existsSync(join(root, "on"))) await sleep(5);
  abort.abort();
  expect((await calling).content).toContain("interrupted by the user");
  expect(readFileSync(join(root, "said"), "utf8")).toBe("bye\n");
});

test.runIf(works)("nothing of ours is open in a command", async () => {
  const { run } = setUp();
  expect(
    await run(
      "ls -l /proc/self/fd /proc/1/fd /proc/$$/fd 2>&1 | grep -o -- '-> .*' | grep -v 'pipe:\\|/dev/null\\|/proc/\\|eventfd\\|/jobs/job_[a-z0-9]*/\\(out\\|cwd\\)$\\|/jobs/.\\(err\\|end\\)' | sort -u",
    ),
  ).toBe("(no output)");
});

test.runIf(works)("a protected file that somebody replaces is protected as before", async () => {
  const { root, run, text } = setUp({ files: { "project/.npmrc": "one" } });
  const write = "echo evil > .npmrc";
  await run(write);
  for (const replace of [
    () => rmSync(join(root, ".npmrc")), // the number of the old one is given to the new one
    () => {},
    () => renameSync(join(root, "fresh"), join(root, ".npmrc")),
  ]) {
    writeFileSync(join(root, "fresh"), "two");
    replace();
    if (existsSync(join(root, "fresh"))) writeFileSync(join(root, ".npmrc"), "two");
    expect(await run(write)).toContain("Read-only file system");
    expect(text("project/.npmrc")).toBe("two");
  }
});

test.runIf(works)("a command does not see the directories of jobs, its own included", async () => {
  const { base, run } = setUp();
  const said = await run(
    `ls -A /run/holdfast ${base}/jobs ${base}/taken; grep -c holdfast /proc/self/mountinfo; echo x > /run/holdfast/y; cat /run/holdfast/y`,
  );
  expect(said).not.toContain("job_");
  expect(readdirSync(join(base, "taken"))).toEqual([]);
});

test.runIf(works)("what is kept of a job is nobody else's to read; what it makes has the usual rights", async () => {
  const { base, root, turn } = setUp();
  const { content } = await turn.call("bash", { command: "umask; touch made; sleep 60", run_in_background: true });
  while (!existsSync(join(root, "made"))) await sleep(10);
  probeSandbox(join(base, "jobs"));
  const open = readdirSync(join(base, "jobs"), { recursive: true, encoding: "utf8" }).filter(
    (name) => (statSync(join(base, "jobs", name)).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
  expect(statSync(join(root, "made")).mode & 0o777).toBe(0o666 & ~process.umask());
  await turn.call("job_kill", { id: /job_\w+/.exec(content as string)![0] });
});

const BROKEN = ["bwrap", "--dev-bind", "/", "/", "--bind", "/nowhere/at/all", "/x"];
test.runIf(works).each([
  ["around all", { outer: BROKEN }],
  ["around one", { wrap: [...BROKEN, "--"] }],
])("a sandbox %s that cannot be started says why, and the command is not run without it", async (_, broken) => {
  const { base, root, sandbox } = setUp();
  const jobs = createJobs({ dir: join(base, "jobs2"), sandbox: (spec) => ({ ...sandbox(spec), ...broken }) });
  const turn = testTurn([jobs], { root });
  const { content, isError } = await turn.call("bash", { command: "echo ran > ran" });
  expect([isError, content]).toEqual([true, expect.stringContaining("/nowhere/at/all")]);
  expect(existsSync(join(root, "ran"))).toBe(false);
});

test.runIf(works)("a worktree's repository is found by what points back at it, and only then", async () => {
  const { root, base, run } = setUp({ files: { "main/a": "a", "victim/.git/config": "[core]" } });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...args], { cwd: join(base, "main") });
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "one");
  execFileSync("rmdir", [root]);
  git("worktree", "add", "-q", root);
  const own = setUpAt(base, root);
  expect(
    await own(
      "echo b > b && git add b && git -c user.name=n -c user.email=e commit -qm two && git log --oneline | wc -l",
    ),
  ).toBe("2");
  writeFileSync(join(root, ".git"), `gitdir: ${base}/victim/.git\n`);
  const hostile = setUpAt(base, root);
  await hostile(`git status; echo x > ${base}/victim/.git/config`);
  expect(readFileSync(join(base, "victim/.git/config"), "utf8")).toBe("[core]");
  void run;
});

function setUpAt(base: string, root: string) {
  if (!state.works) throw new Error(state.why);
  const wrap = createSandbox(state.bwrap, { root: realpathSync(root), home: homedir(), dir: join(base, "private") });
  const turn = testTurn([createJobs({ dir: join(base, "jobs3"), sandbox: wrap })], { root });
  return async (command: string) => (await turn.call("bash", { command }, { grants: { git: true } })).content as string;
}
