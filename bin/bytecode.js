// Owns loading dist with bytecode that the build kept. Node's own compile cache holds a module as it is before it runs: most functions are
// compiled again in every process. This one was taken after a whole session (scripts/train.cjs).
const { existsSync, readFileSync, statSync } = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const vm = require("node:vm");

/** Beside the files it belongs to, and thrown away with them; for one version of Node only. */
exports.bytecodeOf = (dir) => path.join(dir, ".bytecode", `${process.version}-${process.arch}`);

/** V8 looks at the length of a source alone: the name says the rest, so that a changed file has no bytecode. */
exports.nameOf = (file) => {
  const { size, mtimeMs } = statSync(file);
  return `${path.basename(file)}-${size}-${mtimeMs}`;
};

/** Contract: a file whose bytecode is missing, or not for this Node, is loaded as usual. */
exports.useBytecode = (dir) => {
  const kept = exports.bytecodeOf(dir);
  if (!existsSync(kept)) return false;
  quiet(/USE_MAIN_CONTEXT_DEFAULT_LOADER/);
  compileWith((file) => {
    try {
      return readFileSync(path.join(kept, exports.nameOf(file)));
    } catch {
      return undefined; // the training did not need it
    }
  });
  return true;
};

/** What is experimental is said to those who choose it. */
function quiet(what) {
  const warn = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (!what.test(String(warning))) warn.call(process, warning, ...rest);
  };
}

exports.compileWith = compileWith;

/** `each` sees every script, whether there was bytecode for it or not. */
function compileWith(bytecodeFor, each) {
  const asUsual = Module._extensions[".js"];
  Module._extensions[".cjs"] = (module, file) => {
    const cachedData = bytecodeFor(file);
    if (!cachedData && !each) return asUsual(module, file);
    const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
    const source = Module.wrap(readFileSync(file, "utf8"));
    const script = new vm.Script(source, { filename: file, cachedData, importModuleDynamically });
    if (script.cachedDataRejected && !each) return asUsual(module, file);
    each?.(file, script);
    const run = script.runInThisContext();
    run.call(module.exports, module.exports, Module.createRequire(file), module, file, path.dirname(file));
  };
}
