// `@path` in instructions: another file that belongs to them. Not in code: there it is an address or an example.

const MOST = 50;
const NAMED = /(?<=^|[\s(])@((?:~\/|\.{0,2}\/)?[^\s`"'<>()@,;]+)/g;

/** Contract: linear in the text; each once, in order, at most fifty. */
export function importsIn(text: string): string[] {
  const found = new Set<string>();
  for (const line of withoutCode(text)) {
    for (const [, name] of line.matchAll(NAMED)) {
      if (name !== undefined && found.size < MOST) found.add(name.replace(/[.:!?、。]+$/u, ""));
    }
  }
  return [...found].filter((name) => name !== "");
}

function* withoutCode(text: string): Iterable<string> {
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else yield line.includes("`") ? line.replace(/(`+)[^`]*\1/g, " ") : line;
  }
}
