#!/usr/bin/env node
// Tiny launcher: checks the Node version, loads dist with what the build kept of its bytecode. CommonJS, because that starts faster.
const { existsSync } = require("node:fs");
const path = require("node:path");

const home = path.dirname(__dirname);
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 24 || (major === 24 && minor < 15)) relaunch();
else start();

/** A clone brings the right Node along, whatever the machine's own is. */
function relaunch() {
  const pinned = path.join(home, "node_modules/node/bin/node");
  if (existsSync(pinned) && !process.env.HOLDFAST_RELAUNCHED) {
    const { spawnSync } = require("node:child_process");
    const env = { ...process.env, HOLDFAST_RELAUNCHED: "1" };
    process.exit(spawnSync(pinned, process.argv.slice(1), { stdio: "inherit", env }).status ?? 1);
  }
  console.error(`holdfast needs Node 24.15 or newer, this is ${process.version}: install a current Node and try again`);
  process.exit(2);
}

function start() {
  const cli = path.join(home, "dist/cli/main.cjs");
  if (!existsSync(cli)) {
    console.error("holdfast is not built: run `npm ci` or `npm run build` in its folder first");
    process.exit(2);
  }
  if (!require("./bytecode.js").useBytecode(path.dirname(cli))) {
    const { constants, enableCompileCache } = require("node:module");
    const cache = enableCompileCache(path.join(home, "dist/.cache"));
    if (cache.status === constants.compileCacheStatus.FAILED) enableCompileCache(); // installed where only root may write
  }
  require(cli)
    .main(process.argv.slice(2))
    .then((code) => process.exit(code));
}
