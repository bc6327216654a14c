#!/usr/bin/env node
// Tiny launcher: checks the Node version, turns on the compile cache, loads dist.
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 15)) {
  const pinned = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));
  if (existsSync(pinned) && !process.env.HOLDFAST_RELAUNCHED) {
    const { spawnSync } = await import("node:child_process");
    const env = { ...process.env, HOLDFAST_RELAUNCHED: "1" };
    const run = spawnSync(pinned, process.argv.slice(1), { stdio: "inherit", env });
    process.exit(run.status ?? 1);
  }
  console.error(`holdfast needs Node 24.15 or newer, this is ${process.version}: install a current Node and try again`);
  process.exit(2);
}
const cli = new URL("../dist/cli.js", import.meta.url);
if (!existsSync(cli)) {
  console.error("holdfast is not built: run `npm ci` or `npm run build` in its folder first");
  process.exit(2);
}
module.enableCompileCache?.(fileURLToPath(new URL("../dist/.cache", import.meta.url)));
const { main } = await import(cli.href);
process.exitCode = await main(process.argv.slice(2));
