// Memory as files that people can read: MEMORY.md, and one file a memory. The ledger is what counts; these follow it.
import fs from "node:fs";
import path from "node:path";
import { makeDir } from "../../ledger/make-dir.ts";
import type { Memory } from "./memories.ts";

/** Contract: whole files or none; what is no longer remembered is taken away last. */
export function writeMemoryFiles(dir: string, memories: readonly Memory[]): void {
  makeDir(dir);
  const files = new Map(memories.map((memory) => [`${memory.name}.md`, fileOf(memory)]));
  files.set("MEMORY.md", indexOf(memories));
  for (const [name, text] of files) replace(path.join(dir, name), text);
  for (const name of fs.readdirSync(dir)) if (name.endsWith(".md") && !files.has(name)) fs.rmSync(path.join(dir, name));
}

function replace(file: string, text: string): void {
  if (fs.existsSync(file) && fs.readFileSync(file, "utf8") === text) return;
  const fresh = `${file}.${process.pid}.tmp`;
  fs.writeFileSync(fresh, text, { mode: 0o600 });
  fs.renameSync(fresh, file);
}

const indexOf = (memories: readonly Memory[]): string =>
  `# Memory\n\n${memories.map(({ name, description }) => `- [${name}](${name}.md): ${description}`).join("\n")}\n`;

function fileOf({ name, description, type, text, from }: Memory): string {
  const where = [from.context, from.branch && `branch ${from.branch}`].filter(Boolean).join(", ");
  const head = [`name: ${name}`, `description: ${JSON.stringify(description)}`, `type: ${type}`];
  return `---\n${[...head, `said by: ${from.said}${where && ` (${where})`}`].join("\n")}\n---\n\n${text}\n`;
}
