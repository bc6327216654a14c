// Builds the page of `holdfast monitor`: one script, one style sheet, one document. For dist (scripts/build.mjs), and for tests into a cache.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

const root = path.join(import.meta.dirname, "..");
const page = path.join(root, "src/front/monitor/page");

/** Contract: `dir` is there whole, or not at all. */
export async function buildMonitorPage(dir: string): Promise<void> {
  const { rolldown } = await import("rolldown");
  const fresh = `${dir}.${process.pid}`;
  fs.rmSync(fresh, { recursive: true, force: true });
  const built = await rolldown({
    cwd: root,
    input: { app: path.join(page, "main.tsx") },
    platform: "browser",
    transform: {
      define: { "process.env.NODE_ENV": '"production"' },
    },
    onLog(level, log) {
      if (level === "warn") throw new Error(`the bundler warns: ${log.message}`);
    },
  });
  await built.write({
    dir: fresh,
    format: "esm",
    entryFileNames: "[name].js",
    minify: true,
    comments: false,
  });
  await built.close();
  fs.writeFileSync(path.join(fresh, "app.css"), styleSheet());
  fs.copyFileSync(path.join(page, "index.html"), path.join(fresh, "index.html"));
  fs.rmSync(dir, { recursive: true, force: true });
  fs.renameSync(fresh, dir);
}

/** Colours and spaces first, then the rest by name: of two rules for the same thing the order must not change by chance. */
function styleSheet(): string {
  const own = fs.globSync("**/*.css", { cwd: page }).sort();
  const first = own.filter((name) => name.startsWith("styles/"));
  const files = [...first, ...own.filter((name) => !first.includes(name))].map((name) => path.join(page, name));
  return files.map(shortened).join("\n");
}

const shortened = (file: string): string =>
  fs
    .readFileSync(file, "utf8")
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,]) ?/g, "$1")
    .trim();

/** The page of these sources: built once for each state that they are in, for whoever runs them without a build. */
export async function monitorPageOfSources(): Promise<string> {
  const sum = createHash("sha256");
  const shared = ["src/front/monitor/api.ts", "src/front/presentation/format.ts", "package-lock.json"];
  const own = fs.globSync("**/*.{ts,tsx,css,html}", { cwd: page }).map((name) => path.join(page, name));
  for (const file of [...own.sort(), ...shared.map((name) => path.join(root, name)), import.meta.filename])
    sum.update(file).update(fs.readFileSync(file));
  const cache = path.join(root, "node_modules/.cache/monitor-page");
  const dir = path.join(cache, sum.digest("hex").slice(0, 16));
  if (fs.existsSync(dir)) return dir;
  fs.mkdirSync(cache, { recursive: true });
  await buildMonitorPage(dir).catch((error) => {
    // Another process was quicker with the same.
    if (!fs.existsSync(dir)) throw error;
  });
  return dir;
}
