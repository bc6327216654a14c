// Memory as files that people can read: MEMORY.md, and one file a memory. The ledger is what counts; these follow it.
import fs from "node:fs";
import path from "node:path";
import type { Memories, Memory } from "./memories.ts";

const INDEX = "MEMORY.md";

/**
 * Contract: they say what the ledger says, or something older until the next process that uses memory: one that was killed, or had no
 * room, is made up for. Whole files or none; what is older never takes the place of what is newer.
 */
export async function followMemory(dir: string, memories: Memories): Promise<void> {
  const at = await memories.readings.changed();
  const index = path.join(dir, INDEX);
  const written = fs.existsSync(index) ? writtenAt(fs.readFileSync(index, "utf8")) : 0;
  if (written === at) return;
  const all = await memories.list();
  const { changeFile } = await import("../../ledger/change-file.ts");
  // The index comes last and says of which event all of it is.
  await changeFile(index, (text) => {
    if (text !== undefined && writtenAt(text) > at && written !== writtenAt(text)) return undefined;
    writeEach(dir, all);
    return indexOf(all, at);
  });
}

function writeEach(dir: string, memories: readonly Memory[]): void {
  const files = new Map(memories.map((memory) => [`${memory.name}.md`, fileOf(memory)]));
  for (const [name, text] of files) if (name !== INDEX) replace(path.join(dir, name), text);
  for (const name of fs.readdirSync(dir)) {
    const isOld = name.endsWith(".md") && name !== INDEX && !files.has(name);
    if (isOld || LEFTOVER.test(name)) fs.rmSync(path.join(dir, name), { force: true });
  }
}

/** Of a writer that was killed: they write one after the other. */
const LEFTOVER = /\.md(?:\.\d+)?\.tmp$/;

function replace(file: string, text: string): void {
  if (fs.existsSync(file) && fs.readFileSync(file, "utf8") === text) return;
  const fresh = `${file}.tmp`;
  fs.writeFileSync(fresh, text, { mode: 0o600 });
  fs.renameSync(fresh, file);
}

const writtenAt = (index: string): number => Number(/^<!-- event (\d+) -->$/m.exec(index)?.[1] ?? 0);

const indexOf = (memories: readonly Memory[], at: number): string =>
  `# Memory\n\n<!-- event ${at} -->\n\n${memories.map(({ name, description }) => `- [${name}](${name}.md): ${description}`).join("\n")}\n`;

function fileOf({ name, description, type, text, from }: Memory): string {
  const where = [from.context, from.branch && `branch ${from.branch}`].filter(Boolean).join(", ");
  const head = [`name: ${name}`, `description: ${JSON.stringify(description)}`, `type: ${type}`];
  return `---\n${[...head, `said by: ${from.said}${where && ` (${where})`}`].join("\n")}\n---\n\n${text}\n`;
}
