// Builds dist/: the command line and the library, bundled and split so that lazy imports stay lazy. `--if-stale` does nothing when dist is newer than src.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildMonitorPage } from "./monitor-page.ts";
import { buildTypes, ENTRIES } from "./types.ts";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const at = (...p) => path.join(root, ...p);

function newest(dir) {
  let max = 0;
  for (const entry of fs.readdirSync(dir, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) max = Math.max(max, fs.statSync(path.join(entry.parentPath, entry.name)).mtimeMs);
  }
  return max;
}

const stamp = at("dist/.built");
if (process.argv.includes("--if-stale") && fs.existsSync(stamp)) {
  const built = fs.statSync(stamp).mtimeMs;
  if (built >= newest(at("src")) && built >= fs.statSync(at("package.json")).mtimeMs) process.exit(0);
}

const { rolldown } = await import("rolldown");
const shellFile = await import("../src/file-access/shell-file.ts");
const { toolSchemas } = await import("./tool-schemas.mjs");
const version = JSON.stringify(JSON.parse(fs.readFileSync(at("package.json"), "utf8")).version);
const fresh = at(`dist.${process.pid}`);
fs.rmSync(fresh, { recursive: true, force: true });

/** What is loaded with a module, whatever happens: its static imports and theirs. Types are no imports. */
function loadedWith(entry, seen = new Set()) {
  const file = at(entry);
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = /^(?:import|export)\s(?!type\s)[^;]*?from\s+"(\.[^"]+)"/gm;
  for (const [, target] of fs.readFileSync(file, "utf8").matchAll(imports)) {
    loadedWith(path.relative(root, path.resolve(path.dirname(file), target)), seen);
  }
  return seen;
}

/** Commands that look at the store, and neither run an agent nor read the ledgers of contexts. */
const LIGHT = ["tasks", "agents", "jobs", "trust", "permissions", "project", "contexts", "contexts-all"];

/** A prompt needs all of this: three files instead of thirty are quicker to open. What `--version` needs stays small, and so does what light commands need. */
function chunksForCommands() {
  const front = loadedWith("src/cli/main.ts");
  const prompt = loadedWith("src/cli/headless.ts");
  const light = new Set(LIGHT.flatMap((name) => [...loadedWith(`src/cli/commands/${name}.ts`)]));
  const inPrompt = (id) => prompt.has(id) && !front.has(id);
  const groups = [
    {
      name: "pi-tui",
      test: (id) => /node_modules\/(?:@earendil-works|marked|get-east-asian-width)\//.test(id),
      priority: 10,
    },
    { name: "front", test: (id) => front.has(id) && !id.endsWith("/main.ts") },
    { name: "light", test: (id) => inPrompt(id) && light.has(id) },
    { name: "prompt", test: (id) => inPrompt(id) || /node_modules\/zod\//.test(id) },
  ];
  return { codeSplitting: { groups } };
}

/**
 * For the library: a Node that is too old shall read which one it takes (bin/require-node.js, loaded first), not which name a builtin
 * module lacks. ES modules look for those names before anything runs; asked for by a call, they are looked for when that line is reached.
 */
const saysWhichNode = {
  name: "says-which-node",
  renderChunk(code, chunk) {
    const late = code.replace(/^import \{([^}]*)\} from "(node:[^"]+)";$/gm, (_, names, module) => {
      const wanted = names.replaceAll(/(\w+) as (\w+)/g, "$1: $2");
      return `const {${wanted}} = process.getBuiltinModule("${module}");`;
    });
    return chunk.isEntry ? `import "../bin/require-node.js";\n${late}` : late;
  },
};

/** One letter beyond ASCII makes V8 keep a whole file in two bytes a letter, and read it twice as long at every start. */
const inAscii = {
  name: "in-ascii",
  renderChunk(code) {
    const odd = /(?<!\\)(?:\\\\)*\\[^\0-\x7f]/.exec(code);
    if (odd)
      throw new Error(`a backslash stands before a letter beyond ASCII: ${code.slice(odd.index - 40, odd.index + 40)}`);
    return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  },
};

/** A builtin module is loaded when one of its names is first used: `node:zlib` alone takes two milliseconds of a start. */
const builtinsWhenUsed = {
  name: "builtins-when-used",
  renderChunk(code) {
    const late = [];
    const head = code.replace(/^let (node_\w+) = require\("(node:[^"]+)"\);\n(?!\1 = )/gm, (_, name, module) => {
      late.push(name);
      return `let kept_${name};\nconst ${name} = () => kept_${name} ??= require("${module}");\n`;
    });
    return late.reduce((text, name) => text.replaceAll(new RegExp(`\\b${name}\\.`, "g"), `(${name}()).`), head);
  },
};

/** As Node wraps a file when it loads it: wrapped here, a megabyte of text is not copied at every start (bin/bytecode.js). */
const asFunction = {
  name: "as-function",
  generateBundle(_, files) {
    for (const file of Object.values(files))
      file.code = `(function (exports, require, module, __filename, __dirname) { ${file.code}\n})`;
  },
};

/** Lines that can be read in dist too. */
const asTemplate = (text) => `\`${text.replaceAll(/[\\`]|\$\{/g, "\\$&")}\``;

/** Shell programs are files in src; in the bundles their text stands where they are loaded (src/file-access/shell-file.ts). */
const shellPrograms = {
  name: "shell-programs",
  transform(code, id) {
    const call = /\b(shellText|shellLine)\(import\.meta\.url, "(\.\/[^"]+\.sh)"\)/g;
    return code.replace(call, (_, load, file) => asTemplate(shellFile[load](pathToFileURL(id).href, file)));
  },
  renderChunk(code) {
    if (/\b(?:shellText|shellLine)\b/.test(code)) throw new Error("a shell program would be looked for in dist");
  },
};

/** The steps of the Redis store are .lua files in src; in the bundles their text stands where they are loaded (src/ledger/redis/scripts.ts). */
const luaPrograms = {
  name: "lua-programs",
  transform(code, id) {
    const call = /\bluaText\(import\.meta\.url, "(\.\/[^"]+\.lua)"\)/g;
    return code.replace(call, (_, file) => asTemplate(fs.readFileSync(new URL(file, pathToFileURL(id)), "utf8")));
  },
  renderChunk(code) {
    if (/\bluaText\b/.test(code)) throw new Error("a step of the Redis store would be looked for in dist");
  },
};

/** The programs of threads: each a file of its own, which needs no other and is loaded by Node alone (bin/bytecode.js is not for threads). */
const THREADS = { "reader-main": "src/file-snapshots/reader-main.ts" };

/** Where the sources start a thread with the file beside them, a bundle takes the one in dist. */
const threadsInDist = (dir) => ({
  name: "threads-in-dist",
  transform(code) {
    const up = path.relative(dir, ".") || ".";
    return code.replace(/new URL\("\.\/([\w-]+)\.ts", import\.meta\.url\)/g, (url, name) =>
      name in THREADS ? `new URL("${up}/${name}.cjs", import.meta.url)` : url,
    );
  },
});

async function bundle(input, dir, format) {
  const built = await rolldown({
    cwd: root,
    input,
    plugins: [
      shellPrograms,
      luaPrograms,
      toolSchemas,
      threadsInDist(dir),
      ...(format === "esm" ? [saysWhichNode] : [builtinsWhenUsed, inAscii, asFunction]),
    ],
    platform: "node",
    onLog(level, log) {
      if (level !== "warn") return;
      throw new Error(`the bundler warns: ${log.message}`); // an import that was meant to be lazy, most often
    },
    external: [
      /^node:/,
      /^@ai-sdk\//,
      /^@vscode\/ripgrep/,
      /^@modelcontextprotocol\//,
      ...(dir === "cli" ? [] : [/^@redis\//]),
      "vitest",
      "fast-check",
    ],
    transform: { define: { __VERSION__: version } },
  });
  const ext = format === "cjs" ? "cjs" : "js";
  const names = { entryFileNames: `[name].${ext}`, chunkFileNames: `chunk-[name]-[hash].${ext}` };
  await built.write({
    dir: path.join(fresh, dir),
    format,
    minify: false, // names and lines as they were written, for whoever reads a stack; measured, starting takes no longer with them
    ...names,
    ...(dir === "cli" && { comments: false, ...chunksForCommands() }),
  });
  await built.close();
}

// The command line is CommonJS: measured, a fifth less CPU to the first request than the same code as ES modules.
await bundle({ main: "src/cli/main.ts" }, "cli", "cjs");
await bundle(ENTRIES, ".", "esm");
for (const [name, file] of Object.entries(THREADS)) {
  const built = await rolldown({ cwd: root, input: { [name]: file }, platform: "node", external: [/^node:/] });
  await built.write({ dir: fresh, format: "cjs", entryFileNames: "[name].cjs", codeSplitting: false });
  await built.close();
}
await buildMonitorPage(path.join(fresh, "monitor"));
// `require` of an ES module is new too: an old Node gets no further than the first line.
for (const name of Object.keys(ENTRIES)) {
  const lines = [`require("../bin/require-node.js");`, `module.exports = require("./${name}.js");`, ""];
  fs.writeFileSync(path.join(fresh, `${name}.cjs`), lines.join("\n"));
}
if (process.argv.includes("--types") || process.env.npm_lifecycle_event === "prepare")
  buildTypes(path.join(fresh, "types"));
fs.rmSync(at("dist"), { recursive: true, force: true });
fs.renameSync(fresh, at("dist"));
try {
  execFileSync(process.execPath, [at("scripts/train.cjs")], { stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 });
} catch (error) {
  console.error(
    `no bytecode was kept, so that starting takes a little longer: ${String(error.stderr || error).trim()}`,
  );
}
await trainInTerminal();
fs.writeFileSync(stamp, "");

/** Where there is a `script` that gives one; what it does not do costs nothing but a few milliseconds of a start. */
function trainInTerminal() {
  return new Promise((resolve) => {
    const line = `"${process.execPath}" "${at("scripts/train.cjs")}" --terminal`;
    const child = spawn("script", ["-qec", line, "/dev/null"], {
      stdio: ["pipe", "ignore", "ignore"],
      timeout: 30_000,
    });
    child.on("error", resolve);
    child.on("exit", resolve);
  });
}
