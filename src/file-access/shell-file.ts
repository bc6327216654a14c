// Loads a shell program from its .sh file, without its comments and indentation. scripts/build.mjs puts the text in place of each call.
import { readFileSync } from "node:fs";

/** Contract: called with `import.meta.url` and the name of the file, both written out: the build looks for exactly that. */
export const shellText = (from: string, file: string): string => linesOf(new URL(file, from)).join("\n");

/** The same on one line, for a program whose own lines must not count as lines of the text that it evaluates. */
export function shellLine(from: string, file: string): string {
  const [first = "", ...rest] = linesOf(new URL(file, from));
  return rest.reduce((text, line) => {
    if (text.endsWith("\\")) return text.slice(0, -1) + line;
    return `${text}${/(?:\{|&&|\|\|)$/.test(text) ? " " : "; "}${line}`;
  }, first);
}

/** `source ./name.sh` stands for that file. Contract: no text in the files is longer than a line, but for lines of shell. */
function linesOf(file: URL): string[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line) => {
    const text = line.trimStart();
    if (text === "" || text.startsWith("#")) return [];
    const part = /^source (\.\/[\w-]+\.sh)$/.exec(text)?.[1];
    return part === undefined ? [text] : linesOf(new URL(part, file));
  });
}
