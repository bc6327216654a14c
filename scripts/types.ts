// The declarations of what the package exports, for dist/types: those of the entries, and what these name.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const root = path.join(import.meta.dirname, "..");

/** The package's doors, by the name of their file in dist. */
export const ENTRIES = {
  index: "src/index.ts",
  contexts: "src/contexts.ts",
  hub: "src/hub.ts",
  testing: "src/testing/index.ts",
};

/** Contract: `dir` is there whole, or not at all. */
export function buildTypes(dir: string): void {
  const fresh = `${dir}.${process.pid}`;
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", path.join(root, "tsconfig.types.json"), "--outDir", fresh], {
    stdio: "inherit",
  });
  dropUnreachable(
    fresh,
    Object.values(ENTRIES).map((entry) => entry.replace(/^src\/(.*)\.ts$/, "$1.d.ts")),
  );
  fs.rmSync(dir, { recursive: true, force: true });
  fs.renameSync(fresh, dir);
}

function dropUnreachable(dir: string, entries: string[]): void {
  const reached = new Set<string>();
  const look = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, target] of fs.readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)\.ts"/g)) {
      look(path.join(path.dirname(file), `${target}.d.ts`));
    }
  };
  for (const entry of entries) look(path.join(dir, entry));
  for (const entry of fs.readdirSync(dir, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(file)) fs.rmSync(file);
  }
}
