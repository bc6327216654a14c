// Safety as a user meets it: what is checked, what is said when the sandbox is missing, rules and modes as flags.
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "../turn.ts";
import { runCli } from "./cli.ts";

function setUp() {
  const opts = { cwd: scratch(onTestFinished), state: scratch(onTestFinished) };
  const bare = scratch(onTestFinished);
  for (const name of ["bash", "git", "sh"]) fs.symlinkSync(`/usr/bin/${name}`, path.join(bare, name));
  const without = { ...opts, env: { PATH: bare } };
  const check = async (command: string, ...more: string[]) => {
    const { stdout, code } = await runCli(["permissions", "check", command, "--json", ...more], opts);
    return [JSON.parse(stdout).decision, code];
  };
  return { opts, without, check };
}

test("permissions check says what, why and part by part, and runs nothing", async () => {
  const { opts, check } = setUp();
  expect(await check("cat README.md | head -3")).toEqual(["allow", 0]);
  expect(await check("touch made && git push")).toEqual(["ask", 5]);
  expect(await check("rm -rf ~")).toEqual(["deny", 4]);
  expect(fs.readdirSync(opts.cwd)).toEqual([]);
  const { stdout } = await runCli(["permissions", "check", "git status && rm -rf dist"], opts);
  expect(stdout).toContain("✓ git status");
  expect(stdout).toMatch(/\? rm -rf dist +ask: it deletes a tree/);
  expect(stdout.match(/rm -rf dist/g)).toHaveLength(2); // the reason, and one row
  expect(await check("git fetch origin", "--allow", "Bash(git fetch *)", "--deny", "Bash(rm *)")).toEqual(["allow", 0]);
  expect(await check("touch made", "--mode", "acceptEdits")).toEqual(["allow", 0]);
});

test("json lines: one answer a line, in the shape that is promised; what is no query is an error line, never passed over", async () => {
  const { opts } = setUp();
  fs.mkdirSync(path.join(opts.cwd, "src"));
  const lines: unknown[] = [
    { id: "a", command: "ls" },
    { id: "b", command: "npm test -- -x", allow_rule: "npm test" },
    { id: "c", tool: "read_file", path: "../x" },
    { id: "d", tool: "write_file", path: "src/a.ts", mode: "acceptEdits" },
    { id: "e", command: "cat ../README.md", cwd: "src" },
    { id: "f", command: "cat ../README.md", cwd: path.join(opts.cwd, "src") },
    { id: "g", command: "git fetch origin", allow: ["Bash(git fetch *)"], deny: ["Bash(curl *)"] },
    { id: "h", command: "curl x\u2028y", allow: ["Bash"], deny: ["Bash(curl *)"] },
    { id: "i", command: "ls", cwd: "../.." },
    { id: "j", command: "ls", cwd: "/" },
    { id: "k", command: "ls", cmd: "x", mdoe: "auto" },
    { id: "l", command: "ls", mode: "autoo" },
    { id: "m", command: "ls", allow: ["Bash("] },
    { id: "n", tool: "write_file" },
  ];
  const stdin = `${lines.map((line) => JSON.stringify(line)).join("\n")}\nnot json\n`;
  const { stdout, code } = await runCli(["permissions", "check", "--json-lines"], { ...opts, stdin });
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers.slice(0, 8).map(({ id, decision, rule }) => [id, decision, rule])).toEqual([
    ["a", "allow", null],
    ["b", "allow", "Bash(npm test *)"],
    ["c", "ask", null],
    ["d", "allow", null],
    ["e", "allow", null],
    ["f", "allow", null],
    ["g", "allow", "Bash(git fetch *)"],
    ["h", "deny", "Bash(curl *)"],
  ]);
  expect(answers[6]).toEqual({
    id: "g",
    decision: "allow",
    reason: "allowed",
    rule: "Bash(git fetch *)",
    firm: false,
    network: true,
    git: true,
    withheld: [],
    outside: [],
    parts: [
      {
        text: "git fetch origin",
        decision: "allow",
        reason: "git fetch reaches another machine",
        rule: "Bash(git fetch *)",
      },
    ],
  });
  expect(answers.slice(8).map(({ decision }) => decision)).toEqual(Array(7).fill(undefined));
  expect(answers.slice(8).map(({ id, error }) => [id, error])).toEqual([
    ["i", expect.stringContaining('line 9: "cwd" is outside the project')],
    ["j", expect.stringContaining('line 10: "cwd" is outside the project')],
    ["k", expect.stringContaining('line 11: unknown "cmd", "mdoe": a line may say command, tool, path')],
    ["l", expect.stringContaining('line 12: "mode"')],
    ["m", expect.stringContaining("line 13: the rule")],
    ["n", 'line 14: "path" is missing'],
    [undefined, expect.stringContaining("line 15: not JSON")],
  ]);
  expect(code).toBe(2);
});

test("without bubblewrap less is allowed, mode auto asks, and the user is told", async () => {
  const { opts, without } = setUp();
  const decision = async (where: typeof opts, ...args: string[]) => {
    const { stdout, stderr } = await runCli(["permissions", "check", ...args, "--json"], where);
    return [JSON.parse(stdout).decision, stderr.includes("no sandbox")];
  };
  expect(await decision(opts, "touch /tmp/a")).toEqual(["allow", false]);
  expect(await decision(without, "touch /tmp/a")).toEqual(["ask", true]);
  expect(await decision(without, "ls")).toEqual(["allow", true]);
  expect(await decision(opts, "./x.sh", "--permission-mode", "auto")).toEqual(["allow", false]);
  expect(await decision(without, "./x.sh", "--permission-mode", "auto")).toEqual(["ask", true]);
  // Switched off: each run says so too, whoever handed over the settings.
  const off = ["-p", "hello", "--model", "rehearsal", "--settings", '{"sandbox":{"enabled":false}}'];
  expect((await runCli(off, opts)).stderr).toContain(
    'holdfast: no sandbox: switched off by "sandbox": { "enabled": false } in your settings or in --settings; only what reads is allowed unasked\n',
  );
  const doctor = JSON.parse((await runCli(["doctor", "--json"], without)).stdout);
  expect(doctor.findings.find((f: { what: string }) => f.what === "sandbox")).toMatchObject({
    ok: false,
    says: expect.stringMatching(/bubblewrap.*Rules are then trust, not protection/),
  });
});

test("doctor says what a granted network is, and which hooks run what commands can change", async () => {
  const { opts } = setUp();
  const write = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { mode: 0o755 });
  };
  for (const name of ["scripts/fmt.js", ".claude/hooks/guard.sh"]) write(path.join(opts.cwd, name), "#!/bin/sh\n");
  const outside = path.join(opts.state, "bin/notify.sh");
  write(outside, "#!/bin/sh\n");
  const commands = [
    'node "$CLAUDE_PROJECT_DIR"/scripts/fmt.js',
    '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
    "jq -r .tool_input.file_path | xargs npx prettier --write",
    `${outside} --quiet`,
  ];
  const hooks = commands.map((command) => ({ type: "command", command }));
  write(path.join(opts.state, ".claude/settings.json"), JSON.stringify({ hooks: { PostToolUse: [{ hooks }] } }));
  const { stdout, code } = await runCli(["doctor", "--json"], opts);
  const { findings } = JSON.parse(stdout) as { findings: { what: string; says: string }[] };
  const said = (what: string) => findings.filter((f) => f.what === what).map((f) => f.says);
  expect(code).toBe(0);
  expect(said("network")).toEqual([expect.stringMatching(/loopback.*169\.254\.169\.254.*private networks/)]);
  expect(said("hooks")).toEqual([
    expect.stringContaining("runs scripts/fmt.js, which commands can change"),
    expect.stringContaining("runs npx, and with it what the project brings, which commands can change"),
  ]);
});

test("rules come as flags; a deny wins over any allow; a rule that cannot be read says so and nothing starts", async () => {
  const { opts, check } = setUp();
  expect(await check("npm test", "--allowedTools", "Bash(npm test *), Read")).toEqual(["allow", 0]);
  expect(await check("npm test", "--allowedTools", "Bash(npm *)", "--disallowedTools", "Bash(npm test *)")).toEqual([
    "deny",
    4,
  ]);
  const wrong = await runCli(["-p", "x", "--allowedTools", "Bash(npm"], opts);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("parenthesis")]);
});

test("settings are refused with file and line, and nothing starts", async () => {
  const { opts } = setUp();
  const file = path.join(opts.state, ".config/holdfast/settings.json");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, '{\n  "permissions": {\n    "alow": []\n  }\n}\n');
  const { code, stderr } = await runCli(["-p", "list Python files"], opts);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/settings\.json:3:5.*alow.*allow/)]);
});

test("a user's hooks run unchanged: a blocker by exit 2, a context injector", async () => {
  const { opts } = setUp();
  const file = path.join(opts.state, ".claude/settings.json");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const hook = (command: string, matcher?: string) => [
    { ...(matcher && { matcher }), hooks: [{ type: "command", command }] },
  ];
  fs.writeFileSync(
    file,
    JSON.stringify({
      hooks: {
        PreToolUse: hook("grep -q forbidden && { echo 'not this one' >&2; exit 2; }; exit 0", "Bash"),
        UserPromptSubmit: hook("echo 'The branch is main.'"),
      },
    }),
  );
  const script = path.join(opts.state, "s.yaml");
  fs.writeFileSync(
    script,
    "rounds:\n  - calls:\n      - { name: bash, input: { command: 'echo forbidden' } }\n      - { name: bash, input: { command: 'echo fine' } }\n  - text: done\n",
  );
  const { stdout } = await runCli(["-p", "go", "--model", `rehearsal:${script}`, "--output-format", "json"], opts);
  const result = JSON.parse(stdout);
  expect(result.permission_denials).toMatchObject([
    { tool_name: "Bash", reason: expect.stringContaining("not this one") },
  ]);
  const shown = await runCli(["contexts", "show", result.session_id], opts);
  expect(shown.stdout).toContain("\n· (note from what was added to the prompt) The branch is main.\n");
  expect(shown.stdout).toContain("fine");
});
