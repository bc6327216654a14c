// Hostile commands, executed: inside the sandbox nothing outside the project changes and nothing reaches the network.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/mechanisms/jobs/sandbox.ts";
import { probeSandbox } from "../../src/mechanisms/jobs/sandbox-state.ts";
import { scratch } from "../turn.ts";

const LONG = process.env.HOLDFAST_LONG === "1";
const PATIENCE_MS = 1_500;
/** What a sandbox of files and processes does not hold back: using up the machine. */
const USES_UP = /:\s*\(\)|fork|\|\s*\w+\s*&\s*\}|\byes\b|\/dev\/zero|\/dev\/urandom|fallocate|stress/;

interface Attack {
  id: string;
  command: string;
  kind: string;
}

const attacks: Attack[] = ["corpus.jsonl", "corpus-extra.jsonl"]
  .flatMap((name) =>
    readFileSync(join(import.meta.dirname, "../shell-policy", name), "utf8")
      .trim()
      .split("\n"),
  )
  .map((line) => JSON.parse(line))
  .filter((one: Attack) => one.kind === "attack" && !USES_UP.test(one.command) && !one.command.includes("\0"));
const chosen = LONG ? attacks : attacks.filter((_, i) => i % 24 === 0);

test(`${chosen.length} hostile commands leave every canary outside as it was`, { timeout: 1_200_000 }, async () => {
  const base = scratch(onTestFinished);
  const state = probeSandbox(join(base, "probe"));
  if (!state.works) throw new Error(state.why);
  const template = join(base, "template");
  makeProject(template);
  makeOutside(base);
  const calls: string[] = [];
  const listener = createServer((socket) => {
    calls.push("connected");
    socket.destroy();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void listener.close());
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as { port: number };
  const before = canaries(base);
  const harmed: string[] = [];
  for (const [n, { id, command }] of chosen.entries()) {
    const root = join(base, "work", String(n), "project");
    mkdirSync(join(root, ".."), { recursive: true });
    cpSync(template, root, { recursive: true });
    const real = command
      .replaceAll("@AGENT_DIR@", ".claude")
      .replaceAll("198.51.100.7", "127.0.0.1")
      .replaceAll(/127\.0\.0\.1([:/ ])\d+/g, `127.0.0.1$1${port}`);
    await runIn(createSandbox(state.bwrap, { root, home: join(base, "home"), dir: join(base, "private") }), root, real);
    const beside = readdirSync(join(root, ".."));
    if (canaries(base) !== before || beside.join() !== "project") harmed.push(`${id}: ${command}`);
    rmSync(join(base, "work", String(n)), { recursive: true, force: true });
  }
  expect({ harmed, calls }).toEqual({ harmed: [], calls: [] });
});

async function runIn(enclose: ReturnType<typeof createSandbox>, root: string, command: string): Promise<void> {
  const { outer, wrap } = enclose({
    context: "c",
    agent: "",
    callId: "",
    command,
    cwd: root,
    background: false,
    grants: { git: /\bgit\b/.test(command) },
  });
  const env = { PATH: process.env.PATH, HOME: join(root, "../../../home"), USER: "u", TERM: "dumb" };
  const child = spawn(outer[0]!, [...outer.slice(1), ...wrap, "/bin/bash", "-c", command], {
    cwd: root,
    env,
    stdio: "ignore",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
}

function makeProject(root: string): void {
  mkdirSync(join(root, "src"), { recursive: true });
  for (const name of ["README.md", "package.json", "src/index.ts", "a.txt", "payload", ".env", "x", "x.sh"]) {
    writeFileSync(join(root, name), name === "package.json" ? '{"scripts":{"test":"true"}}' : `${name}\n`);
  }
  execFileSync("git", ["init", "-q"], { cwd: root });
}

function makeOutside(base: string): void {
  const files = [
    "home/.bashrc",
    "home/.profile",
    "home/.ssh/id_ed25519",
    "home/.ssh/authorized_keys",
    "home/.aws/credentials",
    "home/.gitconfig",
    "home/.npmrc",
    "home/bin/tool",
    "outside/secret.txt",
    "outside/dir/f",
    "evil/package.json",
  ];
  for (const name of files) {
    mkdirSync(join(base, name, ".."), { recursive: true });
    writeFileSync(join(base, name), `canary ${name}\n`);
  }
}

/** Everything outside the project that a command may go for, by name, kind and content. */
function canaries(base: string): string {
  const hash = createHash("sha256");
  const take = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const at = join(path, entry.name);
      hash.update(`${at}\0`);
      if (entry.isDirectory()) take(at);
      else if (entry.isSymbolicLink()) hash.update(readlinkSync(at));
      else if (entry.isFile()) hash.update(readFileSync(at));
    }
  };
  for (const name of ["home", "outside", "evil"]) take(join(base, name));
  for (const file of ["/etc/passwd", "/etc/hosts", "/etc/crontab", "/etc/profile"]) {
    try {
      hash.update(readFileSync(file));
    } catch {
      hash.update("missing");
    }
  }
  return hash.digest("hex");
}
