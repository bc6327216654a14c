// The files of the page, read once.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PageFiles } from "./server.ts";

const TYPES: Readonly<Record<string, [file: string, type: string]>> = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/app.js": ["app.js", "text/javascript; charset=utf-8"],
  "/app.css": ["app.css", "text/css; charset=utf-8"],
};

export function pageFiles(folder: string): PageFiles {
  const read = new Map<string, ReturnType<PageFiles["file"]>>();
  return {
    file(path) {
      const known = TYPES[path];
      if (!known || read.has(path)) return read.get(path);
      const [name, type] = known;
      const file = join(folder, name);
      const found = existsSync(file) ? { type, body: new Uint8Array(readFileSync(file)) } : undefined;
      read.set(path, found);
      return found;
    },
  };
}
