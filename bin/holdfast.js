#!/usr/bin/env node
// Tiny launcher: checks the Node version, loads dist with what is kept of its bytecode. CommonJS, because that starts faster.
const { existsSync } = require("node:fs");
const path = require("node:path");

const home = path.dirname(__dirname);
const problem = require("./node-version.js").tooOld();
if (problem) relaunch();
else start();

/** A clone brings the right Node along, whatever the machine's own is. */
function relaunch() {
  const pinned = path.join(home, "node_modules/node/bin/node");
  if (existsSync(pinned) && !process.env.HOLDFAST_RELAUNCHED) {
    const { spawnSync } = require("node:child_process");
    const env = { ...process.env, HOLDFAST_RELAUNCHED: "1" };
    process.exit(spawnSync(pinned, process.argv.slice(1), { stdio: "inherit", env }).status ?? 1);
  }
  console.error(problem);
  process.exit(2);
}

function start() {
  const cli = path.join(home, "dist/cli/main.cjs");
  if (!existsSync(cli)) {
    console.error("holdfast is not built: run `npm ci` or `npm run build` in its folder first");
    process.exit(2);
  }
  const keep = require("./bytecode.js").useBytecode(cli);
  require(cli)
    .main(process.argv.slice(2))
    .then((code) => {
      keep();
      process.exit(code);
    });
}
