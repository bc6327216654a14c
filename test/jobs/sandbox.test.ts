import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createJobs, createSandbox, probeSandbox, type SandboxOptions } from "../../src/mechanisms/jobs/index.ts";
import { scratch, testTurn } from "../tools/turn.ts";

const state = probeSandbox(scratch((clean) => beforeAll(() => clean)));
const works = state.works || process.env.CI === "true"; // under CI a missing sandbox fails, it does not skip

interface Setup {
  /** Made before the first command. */
  files?: Record<string, string>;
  sandbox?: Partial<SandboxOptions>;
}

function setUp({ files = {}, sandbox = {} }: Setup = {}) {
  if (!state.works) throw new Error(state.why);
  const base = scratch(onTestFinished);
  const root = join(base, "project");
  const home = join(base, "home");
  for (const dir of [root, home]) mkdirSync(dir);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(base, name, ".."), { recursive: true });
    writeFileSync(join(base, name), text);
  }
  const enclose = createSandbox(state.bwrap, { root, home, dir: join(base, "private"), ...sandbox });
  const turn = testTurn([createJobs({ dir: join(base, "jobs"), sandbox: enclose })], { root });
  const run = async (command: string) => {
    const { content } = await turn.call("bash", { command });
    return content as string;
  };
  const text = (name: string) => (existsSync(join(base, name)) ? readFileSync(join(base, name), "utf8") : undefined);
  return { base, root, home, turn, run, text, sandbox: enclose };
}

const gitInit = (root: string) => execFileSync("git", ["init", "-q"], { cwd: root });

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

test.runIf(works)("/tmp is the context's own, and stays from command to command", async () => {
  const { run } = setUp();
  const name = `holdfast-canary-${process.pid}`;
  writeFileSync(join("/tmp", name), "outside");
  onTestFinished(() => rmSync(join("/tmp", name)));
  expect(await run(`cat /tmp/${name}; echo mine > /tmp/note; echo $TMPDIR`)).toContain("No such file");
  expect(await run("cat /tmp/note")).toBe("mine");
  expect(existsSync("/tmp/note")).toBe(false);
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
      "ls -l /proc/self/fd /proc/1/fd /proc/$$/fd | grep -o -- '-> .*' | grep -v 'pipe:\\|/dev/null\\|/proc/\\|eventfd\\|/jobs/job_[a-z0-9]*/\\(out\\|cwd\\)$\\|/jobs/.\\(err\\|done\\)' | sort -u",
    ),
  ).toBe("(no output)");
});

test.runIf(works)(
  "a link that a command put in the repository is not followed by what is mounted for the next",
  async () => {
    const { base, root, run } = setUp({ files: { "home/.aws/config": "KEY", "home/notes": "KEY" } });
    gitInit(root);
    const read = `cat ${base}/home/notes ${base}/home/.aws/config /etc/shadow; echo done # git`;
    for (const plant of [
      "ln -s ../../home .git/worktrees",
      "rm -f .git/worktrees; ln -s ../../../../../../etc/shadow .git/worktrees",
      "rm -f .git/worktrees; ln -s /nonexistent .git/worktrees",
      "rm -f .git/worktrees; mv .git .g; ln -s ../home/.aws .git",
    ]) {
      await run(`${plant} # git`);
      const said = await run(read);
      expect(said).toContain("done");
      expect(said).not.toMatch(/KEY|root:/);
    }
  },
);

test.runIf(works)(
  "the repository cannot be moved away, nor sent elsewhere, to have another configuration",
  async () => {
    const { base, root, run, text } = setUp();
    gitInit(root);
    const before = text("project/.git/config");
    await run("mv .git .g; cp -r .g .git; echo '[core]' >> .git/config # git");
    expect([text("project/.git/config"), existsSync(join(root, ".g"))]).toEqual([before, false]);
    expect(await run("mkdir evil; echo ../evil > .git/commondir # git")).toContain("taken away");
    expect(existsSync(join(base, "project/.git/commondir"))).toBe(false);
  },
);

test.runIf(works)("what must not be there goes, also when it cannot be kept", async () => {
  const { root, run } = setUp();
  const deep = "cd .claude; for i in $(seq 60); do mkdir $(printf %0250d 1) && cd $(printf %0250d 1); done";
  await run(`mkdir .claude; echo evil > .claude/settings.json; (${deep})`);
  expect(existsSync(join(root, ".claude"))).toBe(false);
});

test.runIf(works)("descriptors that the harness was started with do not reach a command", async () => {
  const { base, root } = setUp({ files: { "outside/canary": "safe" } });
  const script = `import { createJobs, createSandbox } from ${JSON.stringify(join(import.meta.dirname, "../../src/mechanisms/jobs/index.ts"))};
    import { testTurn } from ${JSON.stringify(join(import.meta.dirname, "../tools/turn.ts"))};
    const sandbox = createSandbox(${JSON.stringify(state.works && state.bwrap)}, { root: ${JSON.stringify(root)}, home: "/nonexistent", dir: ${JSON.stringify(join(base, "private2"))} });
    const turn = testTurn([createJobs({ dir: ${JSON.stringify(join(base, "jobs2"))}, sandbox })], { root: ${JSON.stringify(root)} });
    console.log((await turn.call("bash", { command: "cat /proc/self/fd/50/canary; echo no > /proc/self/fd/50/canary" })).content);
    process.exit();`;
  const file = join(base, "run.mjs");
  writeFileSync(file, script);
  const said = execFileSync("bash", ["-c", `exec 50<"${base}/outside"; exec "${process.execPath}" "${file}"`], {
    encoding: "utf8",
  });
  expect(said).not.toContain("safe");
  expect(readFileSync(join(base, "outside/canary"), "utf8")).toBe("safe");
});

test.runIf(works)("in a project that is the home, what is masked cannot be moved from under its mask", async () => {
  const base = scratch(onTestFinished);
  mkdirSync(join(base, ".local/state/holdfast"), { recursive: true });
  writeFileSync(join(base, ".local/state/holdfast/ledger"), "KEY");
  if (!state.works) throw new Error(state.why);
  const enclose = createSandbox(state.bwrap, { root: base, home: base, dir: join(scratch(onTestFinished), "private") });
  const turn = testTurn([createJobs({ dir: join(scratch(onTestFinished), "jobs"), sandbox: enclose })], { root: base });
  await turn.call("bash", { command: "mv .local .l2; mkdir -p .local/state; touch new" });
  const said = (
    await turn.call("bash", { command: "cat .l2/state/holdfast/ledger .local/state/holdfast/ledger; true" })
  ).content;
  expect(said).not.toContain("KEY");
});

test.runIf(works)("a tool's file that is a link to nowhere stops nothing", async () => {
  const { home, run } = setUp();
  symlinkSync("/nonexistent/at/all", join(home, ".gitconfig"));
  expect(await run("echo fine")).toBe("fine");
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
  return async (command: string) => (await turn.call("bash", { command })).content as string;
}
