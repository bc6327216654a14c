// Makes the pictures of the monitor page in docs/pictures/ from real runs: a team with its plans, a long turn on a scripted model, a question, a process that was killed.
//   node scripts/build.mjs && node scripts/screenshots.mjs
// Needs bubblewrap (the runs are in /home/me, whatever machine this is) and Debian's chromium-headless-shell.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const out = path.join(root, "docs/pictures");
const home = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-screens-"));
const app = path.join(home, "app");
const running = [];

const TEAM =
  "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.";
const MODEL = "anthropic/claude-sonnet-5-5";

/** A turn of many rounds, as a provider counts it. */
function longTurn() {
  const rounds = [];
  const files = ["parser", "lexer", "dates", "format", "index"];
  for (let n = 0; n < 24; n++) {
    const file = `src/${files[n % files.length]}.ts`;
    const calls =
      n % 6 === 5
        ? [{ name: "write_file", input: { path: `notes/${n}.md`, content: `# Round ${n}\n\n日付は UTC で。\n` } }]
        : n % 3 === 2
          ? [{ name: "bash", input: { command: `sleep 0.3; echo "${40 + n} passed"` } }]
          : [{ name: "read_file", input: { path: file } }];
    const usage = { input: 700 + 40 * n, output: 160, cacheRead: 6_000 + 2_400 * n, cacheWrite: 2_200 };
    rounds.push({ text: `Looking at ${file}: the dates are read in local time.`, calls, usage, chunkDelayMs: 60 });
  }
  const said = "The date test failed on Sundays because **local time** was used. Dates are UTC now.";
  return [...rounds, { text: said, usage: { input: 900, output: 210, cacheRead: 64_000, cacheWrite: 900 } }];
}

/** Runs in /home/me/app. */
function start(program, args, env = {}) {
  const inside = ["--dev-bind", "/", "/", "--tmpfs", "/home", "--bind", home, "/home/me", "--chdir", "/home/me/app"];
  const base = { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, HOME: "/home/me", TERM: "dumb" };
  const child = spawn("bwrap", [...inside, "--die-with-parent", "--", program, ...args], {
    ...{ env: { ...base, ...env }, stdio: ["ignore", "pipe", "inherit"], detached: true },
  });
  running.push(child);
  return child;
}

const holdfast = (args, env) => start("node", [path.join(root, "bin/holdfast.js"), ...args], env);
const ended = (child) => new Promise((resolve) => child.once("exit", resolve));

async function firstLine(child) {
  let text = "";
  for await (const piece of child.stdout) {
    text += piece;
    if (text.includes("\n")) break;
  }
  return JSON.parse(text.split("\n")[0]);
}

function makeProject() {
  fs.mkdirSync(path.join(app, "src"), { recursive: true });
  fs.writeFileSync(path.join(app, "README.md"), "# App\n");
  for (const name of ["parser", "lexer", "dates", "format", "index"])
    fs.writeFileSync(path.join(app, `src/${name}.ts`), `export const ${name} = () => new Date().getDay();\n`);
  const who = ["-c", "user.name=me", "-c", "user.email=me@example.com"];
  for (const words of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "Begin"],
  ])
    spawnSync("git", [...who, ...words], { cwd: app });
}

async function work() {
  const script = path.join(home, "script.json");
  fs.writeFileSync(script, JSON.stringify(longTurn()));
  const server = start("node", [
    path.join(root, "src/testing/model-server-main.ts"),
    "--script",
    "/home/me/script.json",
  ]);
  const { listening } = await firstLine(server);
  const env = { ANTHROPIC_API_KEY: "sk-ant-pictures", ANTHROPIC_BASE_URL: `http://127.0.0.1:${listening}` };
  const prompt = "Why does the date test fail on Sundays? Fix it. 日曜日にだけ失敗します";
  await ended(
    holdfast(["-p", "--model", MODEL, "--permission-mode", "acceptEdits", "--allowedTools", "Bash", prompt], env),
  );
  await ended(holdfast(["-p", "Create a todo list for inspecting this repo, then list Markdown files"]));
  const killed = holdfast(["-p", "--permission-mode", "acceptEdits", "Run `sleep 60; echo done`"]);
  await sleep(3_000);
  process.kill(-killed.pid, "SIGKILL");
  holdfast(["-p", "--approvals", "wait", "Create a file notes.txt containing `hello`"]);
  holdfast(["-p", "--stay", "--permission-mode", "acceptEdits", TEAM]);
  await sleep(12_000);
}

async function shoot(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 });
  await page.emulateMedia({ colorScheme: "light" });
  const take = async (name) => {
    await sleep(1_200);
    await page.screenshot({ path: path.join(out, `monitor-${name}.png`) });
    console.log(`docs/pictures/monitor-${name}.png`);
  };
  await page.goto(url);
  await page.getByText("Why does the date test fail").first().waitFor();
  await take("home");
  const { contexts } = await overview(url);
  const at = (title, view) => {
    const { project, context } = contexts.find((one) => one.title.startsWith(title));
    return `#/p/${project}/c/${context}${view}`;
  };
  const show = (hash) => page.evaluate((to) => location.assign(to), hash);
  await show(at("Why does", "?view=timeline"));
  await take("timeline");
  await show(at("Why does", "?seq=60"));
  await take("past");
  await show(at("Why does", "?view=costs"));
  await take("costs");
  await page.emulateMedia({ colorScheme: "dark" });
  await show(at("Create two tasks", "").replace(/\/c\/.*/, ""));
  await page.getByRole("heading", { name: /^Tasks/ }).evaluate((heading) => heading.scrollIntoView());
  await take("project");
  await page.close();
}

async function overview(url) {
  const { origin, searchParams } = new URL(url);
  const headers = { authorization: `Bearer ${searchParams.get("token")}` };
  return (await fetch(`${origin}/api/overview`, { headers })).json();
}

/** A group each: nothing else of the machine's is ended. */
function endAll() {
  for (const { pid } of running) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // it has ended
    }
  }
}

fs.mkdirSync(out, { recursive: true });
makeProject();
try {
  await work();
  const { url } = await firstLine(holdfast(["monitor", "--json"]));
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell", args: ["--no-sandbox"] });
  await shoot(browser, url);
  await browser.close();
} finally {
  endAll();
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(0);
