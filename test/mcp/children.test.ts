// Servers die with the harness, however it ends: those outside, those behind walls, and what they started.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { McpServer } from "../../src/mechanisms/mcp/port.ts";
import { tempDir } from "../house.ts";

/** Processes whose command line names that folder. */
const naming = (dir: string): string[] =>
  fs.readdirSync("/proc").flatMap((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? fs.readFileSync(`/proc/${pid}/cmdline`, "utf8") : "";
      return line.includes(dir) ? [`${pid} ${line.replaceAll("\0", " ")}`] : [];
    } catch {
      return [];
    }
  });

test("kill -9 of the harness leaves none of twenty servers, nor what they started", { timeout: 60_000 }, async () => {
  const dirs = [tempDir("mcp-root"), tempDir("mcp-state")];
  const [root, state] = dirs as [string, string];
  const serverIn = (dir: string, n: number): McpServer => ({
    name: `s${n}`,
    source: "test",
    repository: n % 2 === 1,
    timeoutMs: 30_000,
    transport: {
      kind: "stdio",
      command: "node", // the machine's own: ours may lie where walls hide it
      args: [path.join(dir, "server.mjs"), path.join(dir, `${n}.json`), path.join(dir, `${n}.log`)],
      env: {},
    },
  });
  // In the project: what is behind walls sees it too.
  fs.copyFileSync(path.join(import.meta.dirname, "fake-server.mjs"), path.join(root, "server.mjs"));
  const left: string[] = [];
  for (const moment of ["connected", "begun"]) {
    const servers = Array.from({ length: 10 }, (_, n) => serverIn(root, n));
    for (const n of servers.keys()) {
      fs.writeFileSync(path.join(root, `${n}.json`), JSON.stringify({ tools: [], child: true }));
      fs.rmSync(path.join(root, `${n}.log`), { force: true });
    }
    const given = JSON.stringify({ root, state, servers });
    const holder = spawn(process.execPath, [path.join(import.meta.dirname, "children/holder.ts"), given]);
    if (moment === "connected")
      expect(String((await once(holder.stdout, "data"))[0])).toBe(`${Array(10).fill("done").join()}\n`);
    else await expect.poll(() => fs.existsSync(path.join(root, "0.log")), { timeout: 20_000, interval: 5 }).toBe(true);
    expect(naming(root).length).toBeGreaterThan(moment === "connected" ? 20 : 1);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    await expect.poll(() => naming(root), { timeout: 10_000 }).toEqual([]);
    left.push(...naming(root));
  }
  expect(left).toEqual([]);
  for (const dir of dirs) fs.rmSync(dir, { recursive: true, force: true });
});
