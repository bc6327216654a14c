// Ways out of the sandbox that reviews found.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createJobs } from "../../src/mechanisms/jobs/index.ts";
import { createSandbox } from "../../src/mechanisms/jobs/sandbox.ts";
import { scratch, testTurn } from "../turn.ts";
import { gitInit, setUp, setUpOver, state, works } from "./sandboxed.ts";

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
  const script = `import { createJobs } from ${JSON.stringify(join(import.meta.dirname, "../../src/mechanisms/jobs/index.ts"))};
    import { createSandbox } from ${JSON.stringify(join(import.meta.dirname, "../../src/mechanisms/jobs/sandbox.ts"))};
    import { testTurn } from ${JSON.stringify(join(import.meta.dirname, "../turn.ts"))};
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

test.runIf(works)("settings of the kernel are read-only, also for root", async () => {
  const before = readFileSync("/proc/sys/vm/stat_interval", "utf8");
  const { run } = setUp();
  expect(await run(`echo ${before.trim()} > /proc/sys/vm/stat_interval; cat /proc/sys/vm/stat_interval`)).toMatch(
    /(?:Read-only file system|Permission denied)\n\d+$/,
  );
});

test.runIf(works)(
  "what one command made that may not be is not taken for the user's by another beside it",
  async () => {
    const { root, run, turn } = setUp();
    gitInit(root);
    const first = turn.call("bash", { command: "echo x > .mcp.json; echo ../x > .git/commondir; sleep 0.8 # git" });
    await sleep(300);
    await run("sleep 1; echo evil > .mcp.json; mkdir -p .claude; echo evil > .git/commondir # git");
    await first;
    expect(readdirSync(root)).toEqual([".git"]);
    expect(existsSync(join(root, ".git/commondir"))).toBe(false);
  },
);

test.runIf(works)(
  "a directory that swaps itself with a link while other commands start is mounted for none",
  async () => {
    const { base, root, run, turn } = setUp({ files: { "home/notes": "KEY" } });
    const swap =
      "mkdir .git; ln -s ../home l; while :; do mv -T .git g2; mv -T l .git; mv -T .git l; mv -T g2 .git; done 2>/dev/null";
    const swapping = turn.call("bash", { command: `${swap} # git`, run_in_background: true });
    const { content } = await swapping;
    for (let i = 0; i < 12; i++)
      expect(await run(`cat ${base}/home/notes; echo owned > ${base}/home/new; echo ${i} # git`)).not.toContain("KEY");
    expect(existsSync(join(base, "home/new"))).toBe(false);
    await turn.call("job_kill", { id: /job_\w+/.exec(content as string)![0] });
    expect(existsSync(root)).toBe(true);
  },
  30_000,
);

test.runIf(works)("a writable directory that became a link is not followed", async () => {
  const base = scratch(onTestFinished);
  for (const dir of ["home", "project/pkg/data"]) mkdirSync(join(base, dir), { recursive: true });
  const { run } = setUpOver(base, { writable: [join(base, "project/pkg/data"), join(base, "missing")] });
  expect(await run("mv pkg p2; mkdir pkg; ln -s ../../home pkg/data; echo moved")).toContain("moved");
  await run(`echo owned > ${base}/home/new # git`);
  expect(readdirSync(join(base, "home"))).toEqual([]);
});

test.runIf(works)("a repository's file that points elsewhere cannot be pointed elsewhere again", async () => {
  const { root, run, text } = setUp({ files: { "project/.git": "gitdir: ../elsewhere\n" } });
  await run("echo 'gitdir: evil' > .git # git");
  expect(text("project/.git")).toBe("gitdir: ../elsewhere\n");
  await run("printf 'ref: refs/heads/x' > HEAD; mkdir -p objects refs");
  expect(existsSync(join(root, "HEAD"))).toBe(false);
});

test.runIf(works)("a home inside the project keeps its masks, and state in it is not seen", async () => {
  const base = scratch(onTestFinished);
  for (const dir of ["project/u/.ssh", "project/state/private"]) mkdirSync(join(base, dir), { recursive: true });
  writeFileSync(join(base, "project/u/.ssh/id"), "KEY");
  writeFileSync(join(base, "project/state/ledger.db"), "KEY");
  const { run } = setUpOver(base, { home: join(base, "project/u"), state: join(base, "project/state") });
  await run("mv u v; mkdir -p u; mv state s2; touch new");
  expect(await run("cat u/.ssh/id v/.ssh/id state/ledger.db s2/ledger.db; true")).not.toContain("KEY");
});

test.runIf(works)("a tool's file that is a link to nowhere stops nothing", async () => {
  const { home, run } = setUp();
  symlinkSync("/nonexistent/at/all", join(home, ".gitconfig"));
  expect(await run("echo fine")).toBe("fine");
});

test.runIf(works)("a repository that a file points at is protected under its own name too", async () => {
  const { root, run, text } = setUp();
  execFileSync("git", ["init", "-q", "--bare", ".bare"], { cwd: root });
  execFileSync("git", ["--git-dir=.bare", "config", "core.bare", "false"], { cwd: root });
  writeFileSync(join(root, ".git"), "gitdir: ./.bare\n");
  const before = text("project/.bare/config");
  const attack = "echo x >> .bare/config; echo x > .bare/hooks/pre-commit; mv .bare b2; mkdir .bare; cp -r b2/. .bare";
  for (const command of [attack, `${attack}; rm .git`]) {
    await run(command);
    expect([text("project/.bare/config"), text("project/.git"), existsSync(join(root, "b2"))]).toEqual([
      before,
      "gitdir: ./.bare\n",
      false,
    ]);
    expect(existsSync(join(root, ".bare/hooks/pre-commit"))).toBe(false);
  }
  expect(
    await run("echo x > a && git add a && git -c user.name=n -c user.email=e@x commit -qm one && git log --oneline"),
  ).toContain("one");
});
