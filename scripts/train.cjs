// Runs a session of the built command line, in a folder that is thrown away, and keeps the bytecode of all that it used (bin/bytecode.js).
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { spawnSync } = require("node:child_process");
const { bytecodeOf, compileWith, nameOf } = require("../bin/bytecode.js");

const dist = path.join(__dirname, "../dist");
const cli = path.join(dist, "cli");
const work = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-train-")));
const scripts = [];
compileWith(
  cli,
  () => undefined,
  (file, script) => scripts.push([nameOf(file), script]),
);

/** What sessions are made of: each of the tools that most have, commands of a few kinds, some of them twice. */
const CALLS = [
  ["todo_write", { todos: [{ content: "look", status: "in_progress" }] }],
  ["glob", { pattern: "**/*.txt" }],
  ["grep", { pattern: "line" }],
  ["read_file", { path: "a.txt" }],
  ["bash", { command: "echo one" }],
  ["bash", { command: "cat a.txt | head -3 > c.txt && ls -la; git status --short" }],
  ["write_file", { path: "b.txt", content: "line 1\n" }],
  ["edit_file", { path: "b.txt", old_text: "line 1", new_text: "line 2" }],
  ["read_file", { path: "b.txt" }],
  ["bash", { command: "cd /; false" }],
];

async function train() {
  const { startModelServer } = await import(path.join(dist, "testing.js"));
  const script = [...CALLS.map(([name, input]) => ({ text: "So.", calls: [{ name, input }] })), { text: "Done." }];
  const server = await startModelServer({ script });
  const project = path.join(work, "project");
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, "a.txt"), "a line\n".repeat(40));
  fs.mkdirSync(path.join(work, ".claude/skills/one"), { recursive: true });
  fs.writeFileSync(
    path.join(work, ".claude/skills/one/SKILL.md"),
    "---\nname: one\ndescription: A skill.\n---\nDo it.\n",
  );
  spawnSync("git", ["init", "-q"], { cwd: project, env: { PATH: process.env.PATH, HOME: work } });
  process.chdir(project);
  for (const name of Object.keys(process.env)) if (/proxy/i.test(name)) delete process.env[name];
  Object.assign(process.env, {
    HOME: work,
    XDG_STATE_HOME: path.join(work, "state"),
    XDG_CONFIG_HOME: path.join(work, "config"),
    OPENAI_BASE_URL: server.openaiUrl,
    ANTHROPIC_BASE_URL: server.anthropicUrl,
    OPENAI_API_KEY: "none",
    ANTHROPIC_API_KEY: "none",
  });
  const { main } = require(path.join(cli, "main.cjs"));
  for (const [model, format] of [
    ["openai-compatible/none", "text"],
    ["anthropic/claude-sonnet-4-5", "stream-json"],
    ["openai-responses/none", "json"],
    ["rehearsal", "text"],
  ]) {
    const args = ["-p", "make a todo list", "--model", model, "--permission-mode", "bypass", "--output-format", format];
    const code = await main(args);
    if (code !== 0) throw new Error(`the training ended with exit code ${code}`);
  }
  await server.close();
}

/** `--terminal`, in one: words are typed, and it is left again. */
async function trainTerminal() {
  process.chdir(work);
  Object.assign(process.env, { HOME: work, XDG_STATE_HOME: path.join(work, "state"), TERM: "xterm-256color" });
  const typed = (text, ms) => setTimeout(() => process.stdin.emit("data", Buffer.from(text)), ms);
  const { main } = require(path.join(cli, "main.cjs"));
  typed("make a todo list\r", 1_200);
  typed("/he", 2_000);
  typed("\u0003", 2_300);
  typed("\u0004", 2_600);
  const code = await main(["--model", "rehearsal"]);
  if (code !== 0) throw new Error(`the training ended with exit code ${code}`);
}

/** What the first training has left out: what only the terminal loads. */
function keepMore() {
  const kept = bytecodeOf(cli);
  for (const [name, script] of scripts)
    if (!fs.existsSync(path.join(kept, name))) fs.writeFileSync(path.join(kept, name), script.createCachedData());
}

function keep() {
  const kept = bytecodeOf(cli);
  for (const dir of [kept, `${kept}.new`]) fs.rmSync(dir, { recursive: true, force: true });
  fs.mkdirSync(`${kept}.new`, { recursive: true });
  for (const [name, script] of scripts) fs.writeFileSync(path.join(`${kept}.new`, name), script.createCachedData());
  fs.renameSync(`${kept}.new`, kept);
}

const isTerminal = process.argv.includes("--terminal");
(isTerminal ? trainTerminal() : train())
  .then(isTerminal ? keepMore : keep)
  .catch((error) => {
    console.error(error);
    return 1;
  })
  .then((code = 0) => {
    process.chdir("/");
    fs.rmSync(work, { recursive: true, force: true, maxRetries: 5 });
    process.exit(code);
  });
