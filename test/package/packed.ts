// The package as npm would pack it, beside a program that uses it: only the files of the tarball, and the dependencies that come with it.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { buildTypes } from "../../scripts/types.ts";

const root = path.join(import.meta.dirname, "../..");

export interface Packed {
  /** A folder of somebody's own in which `holdfast` is installed. */
  dir: string;
  /** As they stand in the tarball. */
  files: string[];
  text(file: string): string;
}

/** Contract: dist is built. Its types are made where the build was one without them (`npm run test:fast`, `npm run build`). */
export function installPacked(dir: string): Packed {
  const types = path.join(root, "dist/types");
  if (!fs.existsSync(types)) buildTypes(types);
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [{ files }] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: "pipe" }));
  const names = files.map((file: { path: string }) => file.path).sort();
  const home = path.join(dir, "node_modules/holdfast");
  for (const name of names) {
    fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    fs.copyFileSync(path.join(root, name), path.join(home, name));
  }
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    const target = path.join(dir, "node_modules", name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.symlinkSync(path.join(root, "node_modules", name), target);
  }
  fs.writeFileSync(path.join(dir, "package.json"), JSON.stringify({ name: "somebody", type: "module", private: true }));
  return { dir, files: names, text: (file) => fs.readFileSync(path.join(home, file), "utf8") };
}

export interface Example {
  /** `docs/library.md tool.ts`, or by its number on the page. */
  name: string;
  file: string;
}

/** Every TypeScript example of the published pages, as a file of its own; those of one page stand in one folder and may import each other. */
export function writeExamples({ dir, files, text }: Packed): Example[] {
  return files
    .filter((file) => file.endsWith(".md"))
    .flatMap((page) => {
      const folder = path.join(dir, "pages", page.replaceAll(/\W/g, "-"));
      return [...text(page).matchAll(/^( *)```ts\n([\s\S]*?)^ *```$/gm)].map(([, indent, code], i) => {
        const own = /^\/\/ ([\w-]+\.ts)\n/.exec(code!)?.[1];
        const file = path.join(folder, own ?? `${i + 1}.ts`);
        fs.mkdirSync(folder, { recursive: true });
        fs.writeFileSync(file, code!.replaceAll(new RegExp(`^${indent}`, "gm"), "").concat("export {};\n"));
        return { name: `${page} ${own ?? i + 1}`, file };
      });
    });
}
