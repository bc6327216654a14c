// Owns loading dist with bytecode that was kept. Node's own compile cache holds a module as it is before it runs: most functions are
// compiled again in every process. This one is taken after a session: in a clone by the build (scripts/train.cjs), in an installed
// package, which goes to many versions of Node, at the end of the first run that needs a file, in the user's cache folder.
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const vm = require("node:vm");

/** Beside the files it belongs to, and thrown away with them; for one version of Node only. Not published. */
exports.bytecodeOf = (dir) => path.join(dir, ".bytecode", `${process.version}-${process.arch}`);

/** V8 looks at the length of a source alone: the name says the rest, so that a changed file has no bytecode. */
exports.nameOf = (file) => {
  const { size, mtimeMs } = fs.statSync(file);
  return `${path.basename(file)}-${size}-${mtimeMs}`;
};

/** Contract: a file whose bytecode is missing, or not for this Node, is compiled. Returns what is to be called at the end of the run. */
exports.useBytecode = (main) => {
  const dir = path.dirname(main);
  const built = exports.bytecodeOf(dir);
  const isBuilt = fs.existsSync(built);
  const kept = isBuilt ? built : cacheFor(main);
  quiet(/USE_MAIN_CONTEXT_DEFAULT_LOADER/);
  const scripts = [];
  const hasAny = isBuilt || (kept !== undefined && fs.existsSync(kept));
  const bytecodeFor = (file) => {
    if (!hasAny) return undefined;
    try {
      return fs.readFileSync(path.join(kept, exports.nameOf(file)));
    } catch {
      return undefined; // no session has needed it yet
    }
  };
  const each = isBuilt || kept === undefined ? undefined : (file, script, had) => scripts.push({ file, script, had });
  compileWith(dir, bytecodeFor, each);
  return () => keepAll(kept, scripts);
};

/** What is experimental is said to those who choose it. */
function quiet(what) {
  const warn = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (!what.test(String(warning))) warn.call(process, warning, ...rest);
  };
}

exports.compileWith = compileWith;

/** The files of the command line are functions already (scripts/build.mjs). `each` sees every script, and whether there was bytecode for it. */
function compileWith(dir, bytecodeFor, each) {
  const asUsual = Module._extensions[".js"];
  Module._extensions[".cjs"] = (module, file) => {
    if (path.dirname(file) !== dir) return asUsual(module, file);
    const cachedData = bytecodeFor(file);
    const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    const script = new vm.Script(fs.readFileSync(file, "utf8"), {
      filename: file,
      cachedData,
      importModuleDynamically,
    });
    each?.(file, script, cachedData !== undefined && !script.cachedDataRejected);
    const run = script.runInThisContext();
    run.call(module.exports, module.exports, Module.createRequire(file), module, file, path.dirname(file));
  };
}

/** Undefined where nothing may be kept: bytecode is a program, so only a folder of the user's own is believed. */
function cacheFor(main) {
  if (process.env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  try {
    const base = process.env.XDG_CACHE_HOME;
    const parent = base && path.isAbsolute(base) ? base : path.join(os.homedir(), ".cache");
    const owner = fs.statSync(parent, { throwIfNoEntry: false })?.uid ?? process.getuid?.();
    if (owner !== process.getuid?.()) return undefined;
    // The chunks have a hash in their names, and main names them: its text stands for all of them.
    const id = `${process.version}-${process.arch}-${digest(fs.readFileSync(main, "latin1"))}`;
    return path.join(parent, "holdfast", "bytecode", id);
  } catch {
    return undefined;
  }
}

/** Not against malice, and without loading `node:crypto` for it. */
function digest(text) {
  let [a, b] = [0x811c9dc5, 0x1b873593];
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193);
    b = Math.imul(b + text.charCodeAt(i), 0x85ebca6b) ^ (b >>> 13);
  }
  return [a, b].map((n) => (n >>> 0).toString(16).padStart(8, "0")).join("");
}

/** A session of this many seconds has compiled more than a short one, and does not feel the 30 ms. */
const LONG = 30;
/** Versions of Node and of Holdfast that one user has side by side. */
const MOST_FOLDERS = 4;

function keepAll(folder, scripts) {
  const wanting = scripts.filter(({ had }) => !had || process.uptime() > LONG);
  if (wanting.length === 0) return;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const { file, script } of wanting) keep(path.join(folder, exports.nameOf(file)), script);
    const parent = path.dirname(folder);
    const age = (name) => -fs.statSync(path.join(parent, name)).mtimeMs;
    const others = fs.readdirSync(parent).sort((x, y) => age(x) - age(y));
    for (const old of others.slice(MOST_FOLDERS)) fs.rmSync(path.join(parent, old), { recursive: true, force: true });
  } catch {
    // no room, no right to write: the next start takes as long as this one did
  }
}

/** Whole or not at all: a file that a power loss cut short has the wrong length, and V8 refuses it. */
function keep(name, script) {
  const fresh = `${name}.${process.pid}`;
  const fd = fs.openSync(fresh, "wx", 0o600);
  try {
    fs.writeFileSync(fd, script.createCachedData());
  } finally {
    fs.closeSync(fd);
  }
  fs.renameSync(fresh, name);
}
