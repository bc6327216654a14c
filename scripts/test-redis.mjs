// npm run test:redis: tests of the command line once more, with their ledgers on a Redis server of their own. Arguments: other test files.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** What users do, whatever the store: the requests, prompts and their formats, contexts, teams, schedules, workflows, the terminal's lines. */
const FILES = [
  ...["requests", "team-request", "knowledge-requests", "readme"].map((name) => `test/scenarios/${name}.test.ts`),
  "test/workflow/example.test.ts",
];

const freePort = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const answers = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write("PING\r\n"));
    socket.on("data", (data) => {
      socket.destroy();
      resolve(String(data).startsWith("+PONG"));
    });
    socket.on("error", () => resolve(false));
  });

const dir = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-redis-"));
const port = await freePort();
const settings = [
  "--port",
  port,
  "--bind",
  "127.0.0.1",
  "--dir",
  dir,
  "--appendonly",
  "yes",
  "--appendfsync",
  "always",
];
const server = spawn("redis-server", [...settings, "--save", ""].map(String), { stdio: "ignore" });
try {
  while (!(await answers(port))) {
    if (server.exitCode !== null) throw new Error("redis-server did not start");
    await sleep(50);
  }
  const given = process.argv.slice(2);
  const { status } = spawnSync(
    path.join(root, "node_modules/.bin/vitest"),
    ["run", ...(given.length > 0 ? given : FILES)],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, XDG_STATE_HOME: dir, HOLDFAST_STATE: `redis://127.0.0.1:${port}/0` },
    },
  );
  process.exitCode = status ?? 1;
} finally {
  server.kill("SIGKILL");
  fs.rmSync(dir, { recursive: true, force: true });
}
