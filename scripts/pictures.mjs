// Makes the pictures of the terminal in docs/pictures/ from real runs: keys go to a terminal, what it shows becomes an SVG.
//   node scripts/build.mjs && node scripts/pictures.mjs [NAME …]
// Needs bubblewrap: the runs are in /home/me, whatever machine this is.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import xterm from "@xterm/headless";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const out = path.join(root, "docs/pictures");
const COLUMNS = 96;

const ESC = "\u001b";
const TEAM =
  "Create two tasks, create worktrees for them, then spawn alice and bob. Ask them to submit plans before claiming tasks.";

/** Steps: a text is waited for on the screen, `keys` are typed, `kill` is SIGKILL and a new start with -c. */
const PICTURES = {
  question: {
    rows: 26,
    steps: [
      { until: "Things to try" },
      { keys: "Create a file notes.txt containing `hello`\r" },
      { until: "[y] yes, this once" },
    ],
  },
  adopted: {
    rows: 24,
    args: ["--permission-mode", "acceptEdits"],
    steps: [
      { until: "Things to try" },
      { keys: 'Run `sleep 4; echo "41 passed, 1 failed"; exit 1`\r' },
      { until: "● bash" },
      { sleep: 1500 },
      { kill: true },
      { until: "ended with exit code 1", settled: true },
    ],
  },
  team: {
    rows: 30,
    args: ["--permission-mode", "acceptEdits"],
    steps: [
      { until: "Things to try" },
      { keys: `${TEAM}\r` },
      { until: "2 teammates", settled: true },
      { keys: "\u0014" },
      { until: "Worktrees" },
      { keys: `${ESC}[B` },
    ],
  },
};

function startIn(home, args, terminal) {
  const { cols, rows } = terminal;
  const program = ["node", path.join(root, "bin/holdfast.js"), ...args].map((word) => `'${word}'`).join(" ");
  const inside = ["--dev-bind", "/", "/", "--tmpfs", "/home", "--bind", home, "/home/me", "--chdir", "/home/me/app"];
  const child = spawn(
    "bwrap",
    [...inside, "--", "script", "-qec", `stty cols ${cols} rows ${rows} -echo; exec ${program}`, "/dev/null"],
    {
      env: { PATH: `${path.dirname(process.execPath)}:${process.env.PATH}`, HOME: "/home/me", TERM: "xterm-256color" },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  let last = Date.now();
  child.stdout.on("data", (data) => {
    last = Date.now();
    terminal.write(data);
  });
  return { child, quietFor: () => Date.now() - last };
}

const rowsOf = (terminal) => {
  const { active } = terminal.buffer;
  return Array.from({ length: terminal.rows }, (_, i) => active.getLine(active.baseY + i));
};
const screenOf = (terminal) =>
  rowsOf(terminal)
    .map((line) => line?.translateToString(true) ?? "")
    .join("\n");

async function until(terminal, text, what) {
  for (let i = 0; i < 600; i++) {
    if (screenOf(terminal).includes(text)) return;
    await sleep(50);
  }
  throw new Error(`${what}: "${text}" was not seen\n${screenOf(terminal)}`);
}

async function play(name, { rows, args = [], steps }) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-picture-"));
  const app = path.join(home, "app");
  fs.mkdirSync(app);
  fs.writeFileSync(path.join(app, "README.md"), "# App\n");
  const who = ["-c", "user.name=me", "-c", "user.email=me@example.com"];
  for (const words of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "Begin"],
  ])
    spawnSync("git", [...who, ...words], { cwd: app });
  let terminal = new xterm.Terminal({ cols: COLUMNS, rows, scrollback: 1000, allowProposedApi: true });
  let running = startIn(home, args, terminal);
  for (const step of steps) {
    if (step.until) await until(terminal, step.until, name);
    if (step.settled) while (running.quietFor() < 1500) await sleep(100);
    if (step.sleep) await sleep(step.sleep);
    if (step.keys) running.child.stdin.write(step.keys);
    if (step.kill) {
      killTerminal(running.child.pid);
      terminal = new xterm.Terminal({ cols: COLUMNS, rows, scrollback: 1000, allowProposedApi: true });
      running = startIn(home, ["-c"], terminal);
    }
  }
  await sleep(700);
  fs.mkdirSync(out, { recursive: true });
  fs.writeFileSync(path.join(out, `${name}.svg`), svgOf(terminal));
  killBelow(running.child.pid);
  fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** The terminal's own process, as kill -9 does: what it started goes on. */
function killTerminal(pid) {
  const list = spawnSync("ps", ["-o", "pid=,args=", "--ppid", String(pid)], { encoding: "utf8" }).stdout;
  for (const line of list.split("\n").filter(Boolean)) {
    const [child] = line.trim().split(" ");
    if (/^\d+ node \S*bin\/holdfast\.js/.test(line.trim())) process.kill(Number(child), "SIGKILL");
    else killTerminal(Number(child));
  }
}

/** The process and all that it started: nothing else of the machine's. */
function killBelow(pid) {
  const list = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" }).stdout;
  for (const child of list.split("\n").filter(Boolean)) killBelow(Number(child));
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

const FOREGROUND = "#d8dee9";
const BACKGROUND = "#1f2430";
const PALETTE = { 1: "#e06c75", 2: "#98c379", 3: "#e5c07b", 4: "#61afef", 5: "#c678dd", 6: "#56b6c2" };
const [CELL, LINE] = [8.4, 18];

const escaped = (text) => text.replace(/[&<>]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[char]);

/** One piece of text for each stretch of one look. */
function svgOf(terminal) {
  const pieces = [];
  const lines = rowsOf(terminal);
  const used = lines.findLastIndex((line) => line?.translateToString(true) !== "") + 1;
  for (const [y, line] of lines.slice(0, used).entries()) {
    let piece;
    for (let x = 0; x < terminal.cols; x++) {
      const cell = line?.getCell(x);
      if (!cell || cell.getWidth() === 0) continue;
      const look = [cell.getFgColorMode() ? cell.getFgColor() : -1, cell.isBold(), cell.isDim()].join();
      if (piece?.look !== look || cell.getWidth() === 2 || piece.isWide) {
        piece = { x, y, look, cell, text: "", isWide: cell.getWidth() === 2 };
        pieces.push(piece);
      }
      piece.text += cell.getChars() || " ";
    }
  }
  const texts = pieces
    .filter(({ text }) => text.trim() !== "")
    .map(({ x, y, text, cell }) => {
      const colour = cell.getFgColorMode() ? (PALETTE[cell.getFgColor()] ?? FOREGROUND) : FOREGROUND;
      const look = `${cell.isBold() ? ' font-weight="bold"' : ""}${cell.isDim() ? ' opacity="0.6"' : ""}`;
      const shown = text.trimEnd();
      const width = `textLength="${(CELL * [...shown].length).toFixed(1)}"`;
      return `<text x="${(12 + CELL * x).toFixed(1)}" y="${26 + LINE * y}" fill="${colour}"${look} ${width} xml:space="preserve">${escaped(shown)}</text>`;
    });
  const [width, height] = [Math.round(24 + CELL * terminal.cols), 24 + LINE * used];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    ...texts,
    "</svg>",
    "",
  ].join("\n");
}

const wanted = process.argv.slice(2);
for (const [name, picture] of Object.entries(PICTURES))
  if (wanted.length === 0 || wanted.includes(name)) {
    await play(name, picture);
    console.log(`docs/pictures/${name}.svg`);
  }
process.exit(0);
